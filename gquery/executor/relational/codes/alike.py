"""Rows that are alike are counted before DuckDB groups them.

A grouping that reads nothing but properties sees few different rows where these have few values, however many matches
there are. Each value of such a property gets a number, its code; the codes of a row make one number, and how often that
comes is counted in an array. DuckDB is given each different row once, with the number of times that it came.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from math import prod

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import filled, to_arrow, to_numpy
from gquery.executor.progress import Control
from gquery.executor.relational.codes.property_codes import ROW_BYTES, Codes, codes_of, may_have_codes
from gquery.executor.relational.codes.waiting import Waiting, enough_for
from gquery.executor.relational.inputs import Inputs
from gquery.executor.relational.selection import WEIGHT, WEIGHTS
from gquery.executor.relational.sql.expressions import inputs
from gquery.executor.relational.unions import cast
from gquery.executor.relational.widths import batch_bytes
from gquery.planner.ir.expr import Column, Expression, is_volatile
from gquery.planner.ir.segments import Projection
from gquery.stopping import Check, stoppable
from gquery.storage.graph import Snapshot

_MOST_ROWS = 2**20  # different rows that are counted
_FEWEST = 2**14  # rows that are worth counting
_MOST = 2**63 - 1  # rows that a number can count
_EACH = 2**16  # different rows up to which each thread counts by itself


def can_be_alike(projection: Projection, others: tuple[Expression, ...], snapshot: Snapshot) -> bool:
    """Whether the rows of a grouping, of which conditions speak too, may be counted first: those with the users' ids
    are all different."""
    expressions = (*projection.expressions, *others)
    read = [part for expression in expressions for part in inputs(expression)]
    ids = {table.id_name for table in snapshot.vertex_tables}
    return (
        bool(read)
        and projection.weighs_repeats
        and all(may_have_codes(part) and part.key not in ids for part in read)
        and not any(map(is_volatile, expressions))
    )


class AlikeRows:
    """Feeds a statement that reads properties, and weights. read: both, by their names. Rows are counted in the threads
    that make them."""

    def __init__(self, read: Inputs, counter: Counter) -> None:
        self._read = read
        self._counter = counter

    @classmethod
    def of(cls, read: Inputs, rows: Waiting, control: Control) -> AlikeRows | None:
        """None where there are few rows, or the properties have too many values, or combinations of them."""
        columns = {name: part for name, part in read.read.items() if isinstance(part, Column) and part != WEIGHTS}
        if not rows.are(enough_for(read, columns, _FEWEST, control)):
            return None
        codes = {}
        for name, column in columns.items():
            found = codes_of(read.snapshot, read.kinds[column.variable], column, control)
            if found is None or not len(found.values):
                return None
            codes[name, column.variable] = found
        available = control.memory.available
        most = _MOST_ROWS if available is None else min(_MOST_ROWS, available // ROW_BYTES)
        return cls(read, Counter(codes)) if prod(len(each.values) for each in codes.values()) <= most else None

    def batches(self, rows: Waiting, control: Control) -> Generator[pa.RecordBatch, None, None]:
        """The relation that the statement reads: each different row once."""
        with closing(rows.through(lambda batch: self._uncounted(batch, control))) as uncounted:
            yield from uncounted
        yield from self._counter.rows(self._read.schema, control)

    def _uncounted(self, batch: pa.RecordBatch, control: Control) -> Iterator[pa.RecordBatch]:
        """What of the batch cannot be counted."""
        if not self._counter.add(batch, control.check):
            yield from self._read.batches(_weighted(batch), control)


class Counter:
    """How often each combination of codes comes; several threads may add to it. codes: by the column's name in the
    relation, and its variable."""

    def __init__(self, codes: Mapping[tuple[str, str], Codes]) -> None:
        self._codes = codes
        self._size = prod(len(each.values) for each in codes.values())
        self._counts: list[NDArray[np.int64]] = []  # which nobody adds to now
        self._most = 0
        self._lock = threading.Lock()

    def add(self, batch: pa.RecordBatch, check: Check) -> bool:
        """Counts the rows; False when it cannot, since they stand for too many."""
        weights = to_numpy(batch.column(WEIGHT)) if WEIGHT in batch.schema.names else None
        most = batch.num_rows if weights is None else batch.num_rows * int(weights.max(initial=0))
        with self._lock:
            if self._most + most > _MOST:
                return False
            self._most += most
        from gquery.executor.cpu.kernels.lists.tally import AT_ONCE, tally  # Numba takes half a second to import

        ids = [filled(batch.column(variable), -1) for _, variable in self._codes]
        table = np.array([codes.column(own) for codes, own in zip(self._codes.values(), ids, strict=True)], np.int64)
        with self._counting() as counts, stoppable(check):
            address = 0 if weights is None else pa.py_buffer(weights).address
            tally(table, address, batch.num_rows, np.empty(AT_ONCE, np.int64), counts, self._is_large)
        return True

    @property
    def _is_large(self) -> bool:
        """Whether all threads add to the same array."""
        return self._size > _EACH

    @contextmanager
    def _counting(self) -> Iterator[NDArray[np.int64]]:
        """An array that a thread adds to."""
        with self._lock:
            counts = self._counts.pop() if self._counts else np.zeros(self._size, np.int64)
            if self._is_large:
                self._counts.append(counts)
        yield counts
        if not self._is_large:
            with self._lock:
                self._counts.append(counts)

    def rows(self, schema: pa.Schema, control: Control) -> Iterator[pa.RecordBatch]:
        """Each different row once, with its weight."""
        first, *others = self._counts or [np.zeros(0, np.int64)]
        for counts in others:
            first += counts
        found = np.flatnonzero(first)
        size = max(1, batch_bytes(control) // sum(8 + each.longest for each in self._codes.values()))
        for begin in range(0, len(found), size):
            control.check()
            part = found[begin : begin + size]
            yield self._decoded(part, first[part], schema)

    def _decoded(self, found: NDArray[np.int64], weights: NDArray[np.int64], schema: pa.Schema) -> pa.RecordBatch:
        columns = {WEIGHT: to_arrow(weights)}
        for (name, _), codes in reversed(tuple(self._codes.items())):
            found, code = np.divmod(found, len(codes.values))
            columns[name] = cast(codes.values.take(to_arrow(code)), schema.field(name).type)
        return pa.record_batch([columns[name] for name in schema.names], schema=schema)


def _weighted(batch: pa.RecordBatch) -> pa.RecordBatch:
    if WEIGHT in batch.schema.names:
        return batch
    return batch.append_column(WEIGHT, to_arrow(np.ones(batch.num_rows, np.int64)))
