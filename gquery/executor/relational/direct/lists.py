"""Lists: an item of each, ranges of numbers, and a row for each item."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import filled, of_values, pc, to_arrow, to_numpy, truths
from gquery.executor.relational.direct.types import MOST_BYTES, Value, as_array
from gquery.executor.relational.sql.lists.weights import LONGEST_LIST
from gquery.stopping import check_of_this_thread
from gquery.values.many import in_parts

MOST_ITEMS = 1 << 18  # of all lists together that are made at once: of more, a statement makes a part at a time


def item_at(items: Value, places: Value) -> Value:
    """The item of each list at a place, which counts from the end where it is negative; null where there is none."""
    if isinstance(items, pa.Scalar) and isinstance(places, pa.Array):
        return _items_at(as_array(items, 1), places)  # one list for all of them
    return _of_each(_items_at, items, places)


def is_among(value: Value, items: Value) -> Value:
    """Whether a value is an item of a list: unknown where one of them is null, but nothing is among no items. Raises
    ArrowException where rows have lists of their own."""
    if not (isinstance(items, pa.Scalar) and items.is_valid):
        raise pa.ArrowNotImplementedError("lists of rows are DuckDB's")
    found = pc.is_in(value, items.values, skip_nulls=True)
    if not len(items.values):
        return found
    unknown = pa.scalar(None, pa.bool_())
    among = found if items.values.null_count == 0 else pc.if_else(found, found, unknown)
    return pc.if_else(pc.is_valid(value), among, unknown)


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
    """lists: as many as places, or one."""
    offsets = to_numpy(lists.offsets).astype(np.int64)
    at, lengths = filled(place, 0), np.diff(offsets)
    at = np.where(at < 0, at + lengths, at)
    inside = (at >= 0) & (at < lengths) & truths(lists.is_valid()) & truths(place.is_valid())
    return lists.values.take(to_arrow(np.where(inside, offsets[:-1] + at, 0), inside))


def _numbers_between(begin: pa.Array, end: pa.Array) -> pa.Array:
    known = truths(begin.is_valid()) & truths(end.is_valid())
    lowest, highest = filled(begin, 0), filled(end, 0)
    further = np.where(known & (highest >= lowest), highest.view(np.uint64) - lowest.view(np.uint64), 0)
    if further.sum(dtype=np.float64) > LONGEST_LIST:
        raise pa.ArrowNotImplementedError("lists of so many numbers are DuckDB's")
    lengths = further.astype(np.int64) + (known & (highest >= lowest))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    numbers = np.arange(offsets[-1]) + np.repeat(lowest - offsets[:-1], lengths)
    made = pa.ListArray.from_arrays(to_arrow(offsets.astype(np.int32)), to_arrow(numbers))
    return made if known.all() else pc.if_else(to_arrow(known), made, pa.scalar(None, made.type))


def given_list(values: list[Any], wanted: pa.DataType) -> pa.ListScalar:
    """A list of Python's, which may be long. Raises ArrowException or OverflowError for values that Arrow lacks."""
    parts = [of_values(part, wanted.value_type) for part in in_parts(values, check_of_this_thread())]
    items = pa.concat_arrays(parts) if parts else pa.array([], wanted.value_type)
    return pa.ListArray.from_arrays(to_arrow(np.array([0, len(items)], np.int32)), items)[0]


def unwound(columns: list[pa.Array], place: int) -> Iterator[list[pa.Array]]:
    """The columns with a row for each item of the lists at a place, none for no list, in parts that take little."""
    lists = columns[place]
    lengths = filled(pc.list_value_length(lists), 0).astype(np.int64)
    items, begins = lists.flatten(), np.concatenate([[0], np.cumsum(lengths)])
    others = [column for number, column in enumerate(columns) if number != place]
    for rows, inside in _in_parts(others, lengths):
        count = lengths[rows] if inside is None else [len(inside)]
        again = to_arrow(np.repeat(np.arange(rows.start, rows.stop), count))
        first = int(begins[rows.start]) + (inside.start if inside is not None else 0)
        found = items.slice(first, len(again))
        yield [found if number == place else column.take(again) for number, column in enumerate(columns)]


def _in_parts(others: list[pa.Array], lengths: NDArray[np.int64]) -> Iterator[tuple[slice, range | None]]:
    """Rows, and of a row by itself which of its items, so that what else the rows have is not repeated too often."""
    pending = [slice(0, len(lengths))]
    while pending:
        rows = pending.pop()
        count, size = rows.stop - rows.start, sum(column[rows].nbytes for column in others)
        if lengths[rows].sum() <= MOST_ITEMS and int(lengths[rows].max(initial=0)) * size <= MOST_BYTES:
            yield rows, None
        elif count > 1:
            middle = rows.start + count // 2
            pending += [slice(middle, rows.stop), slice(rows.start, middle)]
        else:
            most = max(1, min(MOST_ITEMS, MOST_BYTES // max(1, size)))
            length = int(lengths[rows.start])
            yield from ((rows, range(begin, min(begin + most, length))) for begin in range(0, length, most))
