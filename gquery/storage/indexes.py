"""Indexes: the rows of a table in the order of a column's values. Rows that have a value are found by bisection.

An index is not worth making for one question: sorting a column takes as long as scanning it some fifty times. So it is
made once a column was asked for that often, but for ids of saved graphs, which were sorted when they were saved, and
for columns that ascend from row to row, as ids often do: there is nothing to sort, and others soon show that they do
not.
"""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, wait
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import of_values, pc, ranges, to_arrow, to_numpy, truths
from gquery.stopping import Check, start, unchecked
from gquery.storage.cache import Cache, Meter
from gquery.storage.tables import VertexTable

FEWEST = 1 << 14  # rows of a table that has any
ENOUGH = 16  # times that a column is scanned before it is sorted
_PROBE = 2_000  # rows scanned while one value is looked up
_FEW = 16  # values that are looked up one by one in the time in which a few times as many are together
_LOOKED_AT = 1 << 16  # values that are compared to tell whether all differ
_POLL = 0.02  # seconds between two looks at the clock
_BLOCK = 1 << 17  # rows looked at together


class Index:
    """values: of all rows. order: int32, the rows whose value is not null, ascending by value and then by row."""

    def __init__(self, values: pa.ChunkedArray, order: NDArray[np.int32]) -> None:
        self.values = values
        self.order = order
        self.nbytes = order.nbytes
        whole = pa.types.is_int64(values.type) and values.num_chunks == 1
        self._numbers = to_numpy(values) if whole else None  # one of NumPy's is there in a tenth of the time

    def places(self, wanted: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where in `order` the rows of each of some values begin and end: all values are bisected for at once."""
        return self._before(wanted, pc.less), self._before(wanted, pc.less_equal)

    def _before(self, wanted: pa.Array, is_before: Callable[[Any, pa.Array], Any]) -> NDArray[np.int64]:
        """For each of some values, how many rows have one that is before it."""
        low, high = np.zeros(len(wanted), np.int64), np.full(len(wanted), len(self.order))
        while np.any(open_ := low < high):
            middle = np.minimum((low + high) // 2, len(self.order) - 1)
            before = truths(is_before(self.values.take(to_arrow(self.order[middle])), wanted)) & open_
            low, high = np.where(before, middle + 1, low), np.where(open_ & ~before, middle, high)
        return low

    def rows(self, wanted: Iterable[Any]) -> NDArray[np.int32]:
        """The rows that have one of some values of the column's type, ascending. O(log n) for each."""
        distinct = [value for value in set(wanted) if value is not None]
        if len(distinct) == 1:
            return self._equal(distinct[0])
        if len(distinct) > _FEW:
            begins, ends = self.places(of_values(distinct, self.values.type))
            return np.sort(self.order[ranges(begins, ends)])
        found = [self.order[:0], *map(self._equal, distinct)]
        return np.sort(np.concatenate(found))

    def _equal(self, value: Any) -> NDArray[np.int32]:
        places = range(len(self.order))
        begin = self._guessed(value)
        if begin is None:
            begin = bisect_left(places, value, key=self._value)
            if begin == len(places) or self._value(begin) != value:
                return self.order[:0]
        end = begin + 1
        if end < len(places) and self._value(end) == value:  # most often values are unique
            end = bisect_right(places, value, lo=end, key=self._value)
        return self.order[begin:end]

    def _guessed(self, value: Any) -> int | None:
        """The place of a number that stands where it would if all counted up from the first one, as ids often do."""
        if not isinstance(value, int) or not len(self.order):
            return None
        place = value - int(self._value(0))
        if not 0 <= place < len(self.order) or self._value(place) != value:
            return None
        return place if place == 0 or self._value(place - 1) != value else None

    def _value(self, place: int) -> Any:
        row = self.order[place]
        return self.values[int(row)].as_py() if self._numbers is None else self._numbers[row]


_Name = tuple[int, str | None]
"""A table's column, by its number and name."""


class Indexes:
    """The indexes of a graph's vertex tables, kept in its cache."""

    def __init__(self, tables: tuple[VertexTable, ...], cache: Cache) -> None:
        self._tables = tables
        self._cache = cache
        self._asked: Counter[_Name] = Counter()
        self._ascending: dict[_Name, bool] = {}
        self._indexed: dict[_Name, pa.ChunkedArray | None] = {}

    def index(self, table: int, name: str | None, wanted: int, check: Check, meter: Meter) -> Index | None:
        """Of a property, or of the users' ids when `name` is None, to look up so many values. None where there is none
        yet, where its type has none, or where scanning is quicker."""
        key = (table, name)
        if key not in self._indexed:
            column = self._tables[table].column(name)
            self._indexed[key] = column if column is not None and _has_index(column) else None
        values = self._indexed[key]
        if values is None or min(wanted, _FEW + wanted // _FEW) * _PROBE > len(values):
            return None
        stored = self._tables[table].orders.get(name)
        self._asked[key] += 1
        if key not in self._ascending:
            self._ascending[key] = stored is None and _ascends(values, check)
        ascending = self._ascending[key]
        if stored is None and not ascending and self._asked[key] <= ENOUGH:
            return None

        def made() -> Index:
            if ascending:
                return Index(values, np.arange(len(values), dtype=np.int32))
            return Index(values, stored(check) if stored else _apart(lambda: order_of(values), check))

        return self._cache.get(("order", *key), made, 16 * len(values), "an index", meter)

    def seems_unique(self, table: int, name: str | None) -> bool:
        """Whether no two vertices of a table share a value, of those that are looked at: there is one for each id."""
        shown = self._tables[table]
        values = None if name in (None, shown.id_name) else shown.column(name)
        if values is None:
            return True
        coded = pa.types.is_dictionary(values.type)
        if not _is_plain(values.type.value_type if coded else values.type):
            return False
        values = values.slice(0, _LOOKED_AT)
        distinct = pc.count_distinct(values.unique() if coded else values)
        return bool(distinct.as_py() == len(values) - values.null_count)

    def orders(self, table: int) -> Mapping[str | None, NDArray[np.int32]]:
        """By column, the orders of a table that are worth saving: of its ids, and of what was asked for often."""
        names = [name for number, name in self._asked if number == table and self._asked[number, name] > ENOUGH]
        columns = {name: self._tables[table].column(name) for name in (None, *self._tables[table].orders, *names)}
        return {name: order_of(values) for name, values in columns.items() if values is not None and _has_index(values)}


def _has_index(values: pa.ChunkedArray) -> bool:
    """Whether a column is long enough, and of a type that has an index."""
    return len(values) >= FEWEST and _is_plain(values.type)


def _is_plain(type_: pa.DataType) -> bool:
    """Whether values are ordered in Python as they are in Arrow, and equal where they are the same."""
    types = pa.types
    return any(test(type_) for test in (types.is_integer, types.is_string, types.is_large_string, types.is_date32))


def _ascends(values: pa.ChunkedArray, check: Check) -> bool:
    """Whether no row has a value before that of an earlier one, and none is null."""
    for begin in range(0, len(values), _BLOCK):
        check()
        here = values.slice(begin, _BLOCK + 1)  # the first of the next block too
        if here.null_count or not pc.all(pc.less_equal(here[:-1], here[1:]), min_count=0).as_py():
            return False
    return True


def order_of(values: pa.ChunkedArray) -> NDArray[np.int32]:
    """The rows whose value is not null, ascending by value and then by row."""
    rows = pc.sort_indices(values)  # stable, nulls at the end
    return to_numpy(rows)[: len(values) - values.null_count].astype(np.int32)


def is_order(order: NDArray[np.int32], values: pa.ChunkedArray, check: Check = unchecked) -> bool:
    """Whether an order is the one of some values. `check` raises what is to end looking at them."""
    if len(order) != len(values) - values.null_count:
        return False
    for begin in range(0, len(order), _BLOCK):
        check()
        rows = order[begin : begin + _BLOCK + 1]  # the first of the next block too
        if rows.min() < 0 or rows.max() >= len(values):
            return False
        here = values.take(to_arrow(rows)).combine_chunks()
        low, high = here[:-1], here[1:]
        ascending = pc.or_(pc.less(low, high), pc.and_(pc.equal(low, high), to_arrow(rows[:-1] < rows[1:])))
        if here.null_count or not pc.all(ascending, min_count=0).as_py():
            return False
    return True


def _apart(work: Any, check: Check) -> NDArray[np.int32]:
    """What `work` gives, in a thread of its own: nothing stops Arrow in the middle of it. Who stops waiting leaves it
    to its end."""
    outcome: Future[NDArray[np.int32]] = Future()

    def fulfil() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:  # raised again by who waits
            outcome.set_exception(error)

    start(threading.Thread(target=fulfil, name="gquery-sorting"))
    while not wait([outcome], _POLL).done:
        check()
    return outcome.result()
