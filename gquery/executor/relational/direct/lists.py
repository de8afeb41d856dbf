"""Lists: an item of each, ranges of numbers, and a row for each item."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gquery.arrays import filled, to_arrow, to_numpy, truths
from gquery.executor.relational.direct.types import Value, as_array, expect_room

MOST_ITEMS = 1 << 18  # of all lists together that are made at once: of more, a statement makes a part at a time


def item_at(items: Value, places: Value) -> Value:
    """The item of each list at a place, which counts from the end where it is negative; null where there is none."""
    return _of_each(_items_at, items, places)


def numbers_between(first: Value, last: Value) -> Value:
    """The whole numbers from one to another. Raises ArrowException for more than are made at once."""
    return _of_each(_numbers_between, first, last)


def _of_each(make: Callable[[pa.Array, pa.Array], pa.Array], one: Value, other: Value) -> Value:
    """What is made of the values of each row, of which one at most is the same for all; a value where both are."""
    rows = next((len(each) for each in (one, other) if isinstance(each, pa.Array)), None)
    if rows is None:
        return make(as_array(one, 1), as_array(other, 1))[0]
    return make(as_array(one, rows), as_array(other, rows))


def _items_at(lists: pa.Array, place: pa.Array) -> pa.Array:
    offsets = to_numpy(lists.offsets).astype(np.int64)
    at, lengths = filled(place, 0), np.diff(offsets)
    at = np.where(at < 0, at + lengths, at)
    inside = (at >= 0) & (at < lengths) & truths(lists.is_valid()) & truths(place.is_valid())
    return lists.values.take(to_arrow(np.where(inside, offsets[:-1] + at, 0), inside))


def _numbers_between(begin: pa.Array, end: pa.Array) -> pa.Array:
    known = truths(begin.is_valid()) & truths(end.is_valid())
    lowest, highest = filled(begin, 0), filled(end, 0)
    further = np.where(known & (highest >= lowest), highest.view(np.uint64) - lowest.view(np.uint64), 0)
    if further.sum(dtype=np.float64) > MOST_ITEMS:
        raise pa.ArrowNotImplementedError("lists of so many numbers are DuckDB's")
    lengths = further.astype(np.int64) + (known & (highest >= lowest))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    numbers = np.arange(offsets[-1]) + np.repeat(lowest - offsets[:-1], lengths)
    made = pa.ListArray.from_arrays(to_arrow(offsets.astype(np.int32)), to_arrow(numbers))
    return made if known.all() else pc.if_else(to_arrow(known), made, pa.scalar(None, made.type))


def unwound(columns: list[pa.Array], place: int) -> list[pa.Array]:
    """The columns with a row for each item of the lists at a place; none for no list. Raises ArrowException for more
    than are made at once."""
    lists = columns[place]
    lengths = filled(pc.list_value_length(lists), 0)
    if lengths.sum() > MOST_ITEMS:
        raise pa.ArrowNotImplementedError("lists of so many items are unwound by DuckDB")
    longest = int(lengths.max(initial=0))
    expect_room(longest * sum(column.nbytes for number, column in enumerate(columns) if number != place))
    again = to_arrow(np.repeat(np.arange(len(lists)), lengths))
    return [lists.flatten() if number == place else column.take(again) for number, column in enumerate(columns)]
