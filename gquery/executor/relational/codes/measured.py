"""Values of rows are added up by groups where the rows are found.

What the aggregates of a grouping ask of numbers that lie side by side, how many there are, how much together, the least
and the largest, is kept in arrays, by the numbers of groups. So no row goes any further, nothing is hashed, and there
is one row for each group.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import filled, pc, to_arrow, to_numpy
from gquery.errors import ExecutionError
from gquery.executor.progress import Control
from gquery.executor.relational.codes.groups import Groups
from gquery.executor.relational.codes.property_codes import Codes, codes_of
from gquery.executor.relational.codes.waiting import Waiting
from gquery.executor.relational.gather import stored_column
from gquery.executor.relational.inputs import Inputs
from gquery.executor.relational.selection import WEIGHT
from gquery.executor.relational.unions import cast
from gquery.executor.relational.widths import batch_bytes
from gquery.planner.ir.expr import Aggregate, Attribute, Column, Kind
from gquery.records import record
from gquery.stopping import Check, stoppable
from gquery.storage.graph import Snapshot

FEWEST = 1 << 15  # rows that are worth it
_WORTH = 4  # groups for each row, up to which their arrays are made
_MOST = 1 << 25  # numbers that are kept
_EACH = 1 << 18  # groups up to which each thread has arrays of its own; beyond all have the same
_TOGETHER = 4  # threads that add to the same places
_ANY = 1 << 62  # elements of any number
_SHARED = 1 << 20  # of whole numbers that several threads add up in the same place: no sum is ever too large
_SUM = 1 << 62  # that whole numbers come to at most before a part of it is put elsewhere
_LARGEST = 1 << 40  # of whole numbers that are added up
_LOW = 0xFFFFFFFF
_MAGNITUDE = 0x7FFFFFFFFFFFFFFF  # all bits of a float but its sign


@record(frozen=True, slots=True)
class _Key:
    """A part of the numbers of groups, of which there are `size`, the last for no value: of vertices from `first` on,
    or the codes of a property. variable: whose ids tell it."""

    variable: str
    size: int
    first: int = 0
    codes: Codes | None = None


@record(frozen=True, slots=True)
class _Measure:
    """What is kept for groups of the elements from `first` on, so many. function: as the kernel has it; values: None
    where only their number is asked for; largest: of whole numbers that are added up; ordered: whether these stand for
    floats in their order."""

    function: int
    variable: str
    first: int
    size: int
    values: NDArray[Any] | None = None
    largest: int = 0
    ordered: bool = False

    @property
    def is_float(self) -> bool:
        return self.values is not None and self.values.dtype == np.float64


class _Kept:
    """counts int64[groups]: the rows of each group. made, none, high int64[measures, groups]: what is made of the
    values of a measure, the bits of floats; the rows without any; and of sums of whole numbers what is beyond 32 bits,
    as far as it was put there."""

    def __init__(self, measures: Sequence[_Measure], groups: int) -> None:
        from gquery.executor.cpu.kernels.lists.tally import LARGEST, LEAST

        self.measures = measures
        self.counts = np.zeros(groups, np.int64)
        self.made, self.none, self.high = (np.zeros((len(measures), groups), np.int64) for _ in range(3))
        self._largest = max((each.largest for each in measures), default=0)
        self._all = self._rows = 0  # since sums were made smaller
        for number, each in enumerate(measures):
            if each.function in (LEAST, LARGEST):
                self.made[number] = np.iinfo(np.int64).max if each.function == LEAST else np.iinfo(np.int64).min

    def expect(self, rows: int) -> None:
        """Before so many rows are added: sums are made smaller where they might be too large then. Raises
        ExecutionError for more rows than a number can count."""
        self._all += rows
        if self._all > _SUM:
            raise ExecutionError("a group has more than 2^62 rows")
        if (self._rows + rows) * self._largest > _SUM:
            self.lower()
        self._rows += rows

    def lower(self) -> None:
        for number, each in enumerate(self.measures):
            if each.largest:
                self.high[number] += self.made[number] >> 32
                self.made[number] &= _LOW
        self._rows = (1 << 32) // max(1, self._largest) + 1

    def join(self, other: _Kept) -> None:
        """What another thread has added."""
        from gquery.executor.cpu.kernels.lists.tally import LARGEST, LEAST

        if (self._rows + other._rows) * self._largest > _SUM:
            self.lower()
            other.lower()
        self._rows += other._rows
        for own, more in ((self.counts, other.counts), (self.none, other.none), (self.high, other.high)):
            own += more
        for number, measure in enumerate(self.measures):
            made, more = self.made[number], other.made[number]
            if measure.function in (LEAST, LARGEST):
                (np.minimum if measure.function == LEAST else np.maximum)(made, more, out=made)
            elif measure.is_float:
                made.view(np.float64)[:] += more.view(np.float64)
            else:
                made += more

    def value(self, aggregate: Aggregate, number: int, found: NDArray[np.int64]) -> pa.Array:
        """An aggregate, of a measure, of some groups. Raises ExecutionError for a sum of more than 64 bits."""
        known = self.counts[found] - self.none[number][found]
        if aggregate.function == "count":
            return to_arrow(known)
        made, high = self.made[number][found], self.high[number][found]
        values = made.view(np.float64) if self.measures[number].is_float else made
        if aggregate.function == "avg":
            values = (values + high * 2.0**32) / np.maximum(known, 1)
        elif aggregate.function == "sum":
            if high.any():
                whole = high + (made >> 32)
                if np.any((whole >= 1 << 31) | (whole < -(1 << 31))):
                    raise ExecutionError("a sum of whole numbers has more than 64 bits")
                values = (whole << 32) + (made & _LOW)
            return to_arrow(values)
        elif self.measures[number].ordered:
            values = _floats(made)
        return to_arrow(values) if known.all() else pa.array(values, mask=known == 0)


class MeasuredRows:
    """Feeds who reads groups: rows are added where they are found, by several threads. keys: by the names of columns of
    codes, or of vertices. measures: by the names of the columns that stand for aggregates, None for how many rows there
    are."""

    def __init__(
        self, read: Inputs, groups: Groups, keys: Mapping[str, _Key], measures: Mapping[str, _Measure | None]
    ) -> None:
        self._read = read
        self._groups = groups
        self._keys = keys
        self._size = prod(each.size for each in keys.values())
        self._is_shared = self._size > _EACH
        self._measures = [each for each in measures.values() if each is not None]
        self._numbers = {each: n for n, each in enumerate(name for name, each in measures.items() if each is not None)}
        told = (*(each.variable for each in keys.values()), *(each.variable for each in self._measures))
        self._variables = tuple(dict.fromkeys(told))
        self._free: list[_Kept] = []  # which nobody adds to now
        self._lock = threading.Lock()

    @classmethod
    def of(cls, read: Inputs, groups: Groups, rows: Waiting, control: Control, threads: int) -> MeasuredRows | None:
        """None where there are few rows beside groups, or values lie apart, or are too large to be added up; or so many
        threads that these group faster than they add to the same places. read: by who reads groups."""
        keys = _keys(read, groups, control)
        size = prod(each.size for each in keys.values())
        if not keys or size * (1 + 3 * len(groups.measures)) > _MOST or not rows.are(size // _WORTH):
            return None
        measures = {}
        for name, aggregate in groups.measures.items():
            measures[name] = _measure(aggregate, groups, read.snapshot)
            if measures[name] is None and aggregate.argument is not None:
                return None
        if size > _EACH and (threads > _TOGETHER or not all(map(_can_be_shared, measures.values()))):
            return None
        return cls(read, groups, keys, measures)

    def batches(self, rows: Waiting, control: Control) -> Generator[pa.RecordBatch, None, None]:
        """The relation of groups."""
        added = rows.through(partial(self._added, check=control.check))
        try:
            yield from added
        finally:
            added.close()
        first, *others = self._free or [_Kept(self._measures, self._size)]
        for each in others:
            first.join(each)
        found = np.flatnonzero(first.counts)
        size = max(1, batch_bytes(control) // (64 * max(1, len(self._read.read))))
        for begin in range(0, len(found), size):
            control.check()
            yield self._relation(found[begin : begin + size], first)

    def _added(self, batch: pa.RecordBatch, check: Check) -> Iterator[pa.RecordBatch]:
        from gquery.executor.cpu.kernels.lists.tally import AT_ONCE, MEASURE_COLUMNS, measure

        ids = {name: filled(batch.column(name), -1) for name in self._variables}
        keys = np.array([_key_row(each, ids[each.variable]) for each in self._keys.values()], np.int64)
        weights = to_numpy(batch.column(WEIGHT)) if WEIGHT in batch.schema.names else None
        of_weights = 0 if weights is None else pa.py_buffer(weights).address
        with self._mine() as kept, stoppable(check):
            kept.expect(batch.num_rows if weights is None else int(weights.sum(dtype=np.float64)))
            rows = [_measure_row(number, each, ids[each.variable], kept) for number, each in enumerate(self._measures)]
            measures = np.array(rows, np.int64).reshape(-1, MEASURE_COLUMNS)
            room = np.empty(AT_ONCE, np.int64)
            measure(keys, measures, of_weights, batch.num_rows, room, kept.counts, self._is_shared)
        return iter(())

    @contextmanager
    def _mine(self) -> Iterator[_Kept]:
        """What a thread adds to: its own where there are few groups, else that of all."""
        with self._lock:
            known = self._free.pop() if self._free else _Kept(self._measures, self._size)
            if self._is_shared:
                self._free.append(known)
        yield known
        if not self._is_shared:
            with self._lock:
                self._free.append(known)

    def _relation(self, found: NDArray[np.int64], kept: _Kept) -> pa.RecordBatch:
        """The relation for some groups."""
        places, told = found, dict[str, pa.Array]()
        for name, key in reversed(list(self._keys.items())):
            places, code = np.divmod(places, key.size)
            if key.codes is not None:
                told[name] = key.codes.values.take(to_arrow(code))
            else:
                told[name] = pa.array((code + key.first).astype(np.int32), mask=code == key.size - 1)
        vertices = {name: told[name] for name in self._groups.vertices}
        batch = pa.record_batch(list(vertices.values()), names=list(vertices)) if vertices else None
        columns = []
        for name, part in self._read.read.items():
            assert isinstance(part, Column)
            if part.variable in self._groups.measures:
                number, aggregate = self._numbers.get(part.variable), self._groups.measures[part.variable]
                values = to_arrow(kept.counts[found]) if number is None else kept.value(aggregate, number, found)
            elif part.variable in vertices:
                assert batch is not None
                values = self._read.read_one(part, batch)
            else:
                values = told[name]
            columns.append(cast(values, self._read.schema.field(name).type))
        return pa.record_batch(columns, schema=self._read.schema)


def _in_order(floats: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whole numbers in the order of floats: their bits, of negative ones turned; NaN is the largest."""
    bits = np.where(np.isnan(floats), np.nan, floats).view(np.int64)
    return bits ^ (bits >> 63 & _MAGNITUDE)


def _floats(ordered: NDArray[np.int64]) -> NDArray[np.float64]:
    """The floats that these stand for."""
    return (ordered ^ (ordered >> 63 & _MAGNITUDE)).view(np.float64)


def _can_be_shared(measure: _Measure | None) -> bool:
    """Whether several threads can add to the same at once."""
    from gquery.executor.cpu.kernels.lists.tally import SUM

    if measure is None or measure.is_float:
        return measure is None
    return measure.function != SUM or measure.largest <= _SHARED


def _key_row(key: _Key, ids: NDArray[Any]) -> tuple[int, ...]:
    """A key as the kernel has it."""
    if key.codes is not None:
        return key.codes.column(ids)
    return 0, 0, pa.py_buffer(ids).address, ids.itemsize, key.size, key.first


def _measure_row(number: int, measure: _Measure, ids: NDArray[Any], kept: _Kept) -> tuple[int, ...]:
    """A measure as the kernel has it."""
    values = (0, 0) if measure.values is None else (pa.py_buffer(measure.values).address, measure.values.itemsize)
    made, none = (pa.py_buffer(each[number]).address for each in (kept.made, kept.none))
    of_ids = pa.py_buffer(ids).address, ids.itemsize, measure.first, measure.size
    return measure.function, values[0], int(measure.is_float), values[1], *of_ids, made, none


def _keys(read: Inputs, groups: Groups, control: Control) -> dict[str, _Key]:
    """Nothing where a property has too many values, or vertices lie apart."""
    found: dict[str, _Key] = {}
    for name, part in read.read.items():
        assert isinstance(part, Column)
        if part.variable in groups.vertices:
            segments = read.snapshot.vertex_numbers.of(groups.types[part.variable].tables)
            if len(segments) != 1:
                return {}
            begin, end, *_ = segments[0]
            found[part.variable] = _Key(part.variable, end - begin + 1, begin)
        elif part.variable not in groups.measures:
            codes = codes_of(read.snapshot, read.kinds[part.variable], part, control)
            if codes is None or not len(codes.values):
                return {}
            found[name] = _Key(part.variable, len(codes.values), 0, codes)
    return found


def _measure(aggregate: Aggregate, groups: Groups, snapshot: Snapshot) -> _Measure | None:
    """None for how many rows there are, and where values lie apart, or are too large."""
    from gquery.executor.cpu.kernels.lists.tally import HOW_MANY, LARGEST, LEAST, SUM

    of = aggregate.argument
    if not isinstance(of, Column):
        return None
    type_ = groups.types[of.variable]
    if of.attribute is Attribute.ELEMENT:
        return _Measure(HOW_MANY, of.variable, 0, _ANY)
    is_node = type_.kind is Kind.NODE
    tables, numbers = (
        (snapshot.vertex_tables, snapshot.vertex_numbers) if is_node else (snapshot.edge_tables, snapshot.edges.numbers)
    )
    segments = numbers.of(type_.tables)
    if len(type_.tables) != 1 or len(segments) != 1:
        return None
    (begin, end, *_), stored = segments[0], stored_column(tables[type_.tables[0]], of)
    if stored is None or stored.num_chunks != 1 or stored.null_count:
        return None
    if aggregate.function == "count":
        return _Measure(HOW_MANY, of.variable, begin, end - begin)
    if not (pa.types.is_signed_integer(stored.type) or pa.types.is_float64(stored.type)):
        return None
    values, largest = to_numpy(stored.chunk(0)), 0
    function = {"min": LEAST, "max": LARGEST}.get(aggregate.function, SUM)
    if function != SUM and values.dtype == np.float64:
        return _Measure(function, of.variable, begin, end - begin, _in_order(values), ordered=True)
    if function == SUM and values.dtype != np.float64:
        ends = pc.min_max(stored)
        largest = max(abs(ends["min"].as_py()), abs(ends["max"].as_py()), 1)
        if largest > _LARGEST:
            return None
    return _Measure(function, of.variable, begin, end - begin, values, largest)
