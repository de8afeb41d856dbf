"""Rows that are alike are counted before DuckDB groups them.

A grouping that reads nothing but properties sees few different rows where these have few values, however many matches
there are. Each value of such a property gets a number, its code; the codes of a row make one number, and how often that
comes is counted in an array. DuckDB is given each different row once, with the number of times that it came.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from math import prod

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_arrow, to_numpy
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
from gquery.storage.graph import Snapshot

_MOST_ROWS = 2**20  # different rows that are counted
_FEWEST = 2**14  # rows that are worth counting
_EXACT = 2**53  # up to which floats count exactly


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


Numbered = tuple[NDArray[np.int64], NDArray[np.int64] | None]
"""The numbers of some rows, and their weights."""


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
        if not self._counter.add(batch):
            yield from self._read.batches(_weighted(batch), control)


class Counter:
    """How often each combination of codes comes; several threads may add to it. codes: by the column's name in the
    relation, and its variable."""

    def __init__(self, codes: Mapping[tuple[str, str], Codes]) -> None:
        self._codes = codes
        self._counts = np.zeros(prod(len(each.values) for each in codes.values()), np.int64)
        self._waiting: list[Numbered] = []
        self._rows_waiting = 0
        self._most = 0
        self._lock = threading.Lock()

    def add(self, batch: pa.RecordBatch) -> bool:
        """Counts the rows; False when it cannot, since they stand for too many."""
        weights = to_numpy(batch.column(WEIGHT)) if WEIGHT in batch.schema.names else None
        most = batch.num_rows if weights is None else batch.num_rows * int(weights.max(initial=0))
        with self._lock:
            if self._most + most >= _EXACT:
                return False
            self._most += most
        self._count(self._together((self._numbers(batch), weights)))
        return True

    def _numbers(self, batch: pa.RecordBatch) -> NDArray[np.int64]:
        """One number for all codes of a row."""
        numbers = np.zeros(batch.num_rows, np.int64)
        for (_, variable), codes in self._codes.items():
            numbers *= len(codes.values)
            numbers += codes.of(batch.column(variable))
        return numbers

    def _together(self, rows: Numbered) -> list[Numbered]:
        """What waits to be counted, with these rows, once it is worth going through all numbers there are."""
        with self._lock:
            self._waiting.append(rows)
            self._rows_waiting += len(rows[0])
            return self._all_waiting() if self._rows_waiting >= len(self._counts) else []

    def _all_waiting(self) -> list[Numbered]:
        waiting, self._waiting, self._rows_waiting = self._waiting, [], 0
        return waiting

    def rows(self, schema: pa.Schema, control: Control) -> Iterator[pa.RecordBatch]:
        """Each different row once, with its weight."""
        self._count(self._all_waiting())
        found = np.flatnonzero(self._counts)
        size = max(1, batch_bytes(control) // sum(8 + each.longest for each in self._codes.values()))
        for begin in range(0, len(found), size):
            control.check()
            yield self._decoded(found[begin : begin + size], schema)

    def _count(self, waiting: list[Numbered]) -> None:
        for rows, weights in waiting:
            counts = np.bincount(rows, weights, len(self._counts)).astype(np.int64, copy=False)
            with self._lock:
                self._counts += counts

    def _decoded(self, found: NDArray[np.int64], schema: pa.Schema) -> pa.RecordBatch:
        columns = {WEIGHT: to_arrow(self._counts[found])}
        for (name, _), codes in reversed(tuple(self._codes.items())):
            found, code = np.divmod(found, len(codes.values))
            columns[name] = cast(codes.values.take(to_arrow(code)), schema.field(name).type)
        return pa.record_batch([columns[name] for name in schema.names], schema=schema)


def _weighted(batch: pa.RecordBatch) -> pa.RecordBatch:
    if WEIGHT in batch.schema.names:
        return batch
    return batch.append_column(WEIGHT, to_arrow(np.ones(batch.num_rows, np.int64)))
