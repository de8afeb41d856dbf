"""Rows that are alike are counted before DuckDB groups them.

A grouping that reads nothing but properties sees few different rows where these have few values, however many matches
there are. Each value of such a property gets a number, its code; the codes of a row make one number, and how often that
comes is counted in an array. DuckDB is given each different row once, with the number of times that it came.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from math import prod
from typing import TypeGuard

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import filled, pc, to_arrow, to_numpy
from gquery.executor.progress import Control
from gquery.executor.relational.gather import gather, plain_type
from gquery.executor.relational.inputs import Inputs
from gquery.executor.relational.selection import WEIGHT, WEIGHTS
from gquery.executor.relational.sql.expressions import inputs
from gquery.executor.relational.streams import through
from gquery.executor.relational.unions import cast
from gquery.executor.relational.widths import batch_bytes
from gquery.planner.ir.expr import Attribute, Column, Expression, Kind, is_volatile
from gquery.planner.ir.segments import Projection
from gquery.records import record
from gquery.storage.graph import Snapshot
from gquery.storage.numbering import Segment
from gquery.storage.tables import EdgeTable, VertexTable

_CODED = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.STRING, Kind.TEMPORAL})  # kinds whose equal values are the same
_MOST_VALUES = 2**12  # of a property that gets codes
_MOST_ROWS = 2**20  # different rows that are counted
_ROW_BYTES = 128  # about what a different row takes
_FEWEST = 2**14  # rows that are worth counting
_WORTH = 4  # elements for each row that has come, up to which they are given codes
_AT_ONCE = 2**16  # elements that are given codes between two looks at the clock
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
        and all(_may_have_codes(part) and part.key not in ids for part in read)
        and not any(map(is_volatile, expressions))
    )


def _may_have_codes(part: Expression) -> TypeGuard[Column]:
    return isinstance(part, Column) and part.attribute is Attribute.PROPERTY and part.type.kind in _CODED


Numbered = tuple[NDArray[np.int64], NDArray[np.int64] | None]
"""The numbers of some rows, and their weights."""


@record(frozen=True, slots=True)
class Codes:
    """codes uint16[elements], by internal id: where the value is among `values`, the last of which is null. longest:
    bytes of one. A property with too many values has no codes."""

    codes: pa.Array
    values: pa.Array
    longest: int

    @property
    def nbytes(self) -> int:
        return int(self.codes.nbytes + self.values.nbytes)

    def of(self, ids: pa.Array) -> NDArray[np.uint16]:
        """The code of each id; null ids have the null's."""
        taken = self.codes.take(ids)
        codes: NDArray[np.uint16] = filled(taken, len(self.values) - 1)
        return codes


class AlikeRows:
    """Feeds a statement that reads properties, and weights. read: both, by their names. Rows are counted in the threads
    that make them."""

    def __init__(self, read: Inputs) -> None:
        self._read = read
        self._columns = {name: part for name, part in read.read.items() if isinstance(part, Column) and part != WEIGHTS}
        self._lock = threading.Lock()
        self._seen = 0
        self._counter: Counter | None = None

    def batches(self, rows: Iterator[pa.RecordBatch], control: Control) -> Generator[pa.RecordBatch, None, None]:
        """The relation that the statement reads: first rows as they are, the others counted once there are many."""
        needed = self._needed()
        with closing(through(rows, lambda batch: self._uncounted(batch, needed, control))) as uncounted:
            yield from uncounted
        if self._counter is not None:
            yield from self._counter.rows(self._read.schema, control)

    def _uncounted(self, batch: pa.RecordBatch, needed: int, control: Control) -> Iterator[pa.RecordBatch]:
        """What of the batch cannot be counted, or need not be."""
        with self._lock:
            if self._seen < needed <= self._seen + batch.num_rows:
                self._counter = self._new_counter(control)
            self._seen += batch.num_rows
        if self._counter is None or not self._counter.add(batch):
            yield from self._read.batches(_weighted(batch), control)

    def _needed(self) -> int:
        """How many rows there must be until codes pay."""
        snapshot, kinds = self._read.snapshot, self._read.kinds
        found = [_segments(snapshot, kinds[column.variable], column) for column in self._columns.values()]
        elements = max(sum(end - begin for begin, end, *_ in segments) for segments in found)
        return max(_FEWEST, elements // _WORTH)

    def _new_counter(self, control: Control) -> Counter | None:
        """None where the properties have too many values, or their combinations."""
        codes = {}
        for name, column in self._columns.items():
            found = _codes(self._read.snapshot, self._read.kinds[column.variable], column, control)
            if found is None or not len(found.values):
                return None
            codes[name, column.variable] = found
        available = control.memory.available
        most = _MOST_ROWS if available is None else min(_MOST_ROWS, available // _ROW_BYTES)
        return Counter(codes) if prod(len(each.values) for each in codes.values()) <= most else None


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


def _segments(snapshot: Snapshot, kind: Kind, column: Column) -> list[Segment]:
    """The ids of elements that may have the property."""
    tables: Sequence[VertexTable | EdgeTable] = snapshot.vertex_tables if kind is Kind.NODE else snapshot.edge_tables
    numbers = snapshot.vertex_numbers if kind is Kind.NODE else snapshot.edges.numbers
    return numbers.of(number for number, table in enumerate(tables) if column.key in table.columns.types)


def _codes(snapshot: Snapshot, kind: Kind, column: Column, control: Control) -> Codes | None:
    """The codes of a property, made when they are first asked for: without values where there are too many; None where
    there is no memory for them."""
    elements = snapshot.vertex_count if kind is Kind.NODE else snapshot.edge_count
    size, available = 4 * elements + _MOST_VALUES * _ROW_BYTES, control.memory.available
    if available is not None and available < 2 * size:
        return None
    key = ("codes", kind, column.key, plain_type(column.type))
    make = partial(_made, snapshot, kind, column, elements, control)
    return snapshot.cache.get(key, make, size, "the codes of a property", control.memory)


def _made(snapshot: Snapshot, kind: Kind, column: Column, elements: int, control: Control) -> Codes:
    places, parts = [], []
    for begin, end, *_ in _segments(snapshot, kind, column):
        for first in range(begin, end, _AT_ONCE):
            control.check()
            last = min(first + _AT_ONCE, end)
            ids = np.arange(first, last, dtype=np.int32 if kind is Kind.NODE else np.int64)
            part = gather(snapshot, kind, column, to_arrow(ids)).dictionary_encode()
            if len(part.dictionary) > _MOST_VALUES:
                return _no_codes()
            places.append(slice(first, last))
            parts.append(part)
    encoded = pa.chunked_array(parts, pa.dictionary(pa.int32(), plain_type(column.type))).unify_dictionaries().chunks
    values = encoded[0].dictionary if encoded else pa.nulls(0, plain_type(column.type))
    if len(values) > _MOST_VALUES:
        return _no_codes()
    codes = np.full(elements, len(values), np.uint16)
    for place, part in zip(places, encoded, strict=True):
        codes[place] = filled(part.indices, len(values))
    longest = pc.max(pc.binary_length(values)).as_py() if column.type.kind is Kind.STRING else None
    return Codes(to_arrow(codes), pa.concat_arrays([values, pa.nulls(1, values.type)]), longest or _ROW_BYTES)


def _no_codes() -> Codes:
    return Codes(pa.array([], pa.uint16()), pa.array([], pa.null()), 0)
