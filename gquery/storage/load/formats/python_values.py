"""Columns of Python's values: Arrow's, but for what Arrow would change without a word."""

from __future__ import annotations

import datetime
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from gquery.errors import shortened
from gquery.storage.schema import ZONED_TIME

_MISSING = ("NaTType", "NAType")  # pandas' gaps
_Kind = type[datetime.datetime] | type[datetime.time]


def column_of(values: Sequence[Any], gaps: bool = False) -> pa.Array | pa.ChunkedArray:
    """A column of some values. gaps: NaN and the like are nulls. Raises what Arrow raises, and ValueError for the first
    value that is of another type than those before it, and where some points in time have a zone, or some times of the
    day an offset, and others none: Arrow would take these for UTC's, or leave the offsets out. So it would the hours of
    points in time that stand among dates. All that holds inside of lists and maps, too."""
    if any(type(value).__name__ in _MISSING for value in values):
        values = [None if type(value).__name__ in _MISSING else value for value in values]
    try:
        column = pa.array(values, from_pandas=gaps)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise ValueError(_misfit(values, gaps, error)) from None
    if not has_time(column.type):
        return column
    kept = _kept(values, column.type)
    return column if kept == column.type else pa.array(list(_held(values, kept)), kept, from_pandas=gaps)


def _misfit(values: Sequence[Any], gaps: bool, error: Exception) -> str:
    """Names the first value that Arrow does not take, at all or behind the others."""

    def fails(begin: int, end: int) -> bool:
        try:
            pa.array(values[begin:end], from_pandas=gaps)
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            return True
        return False

    row = bisect_left(range(len(values) - 1), True, key=lambda row: fails(0, row + 1))
    reason = f": {error}" if fails(row, row + 1) else " is of another type than the values before it"
    return f"{shortened(repr(values[row]))}{reason} (row {row + 1})"


def has_time(type: pa.DataType) -> bool:
    """Whether values are times of any kind, or hold such."""
    if pa.types.is_nested(type):
        return any(has_time(type.field(index).type) for index in range(type.num_fields))
    return bool(pa.types.is_temporal(type))


def _kept(values: Sequence[Any], type: pa.DataType) -> pa.DataType:
    """The type in which nothing of the values is lost, given the one that Arrow sees in them."""
    types = pa.types
    if types.is_list(type):
        return pa.list_(_kept([item for value in values if _has_items(value) for item in value], type.value_type))
    if types.is_struct(type):
        maps = [value for value in values if isinstance(value, Mapping)]
        return pa.struct([(each.name, _kept([a.get(each.name) for a in maps], each.type)) for each in type])
    if types.is_date(type):
        _expect_dates(values)
    elif types.is_timestamp(type):
        _have_offsets(values, datetime.datetime)
        if any(getattr(value, "nanosecond", 0) for value in values):  # of pandas'
            return pa.timestamp("ns", type.tz)
    elif types.is_duration(type) and any(getattr(value, "nanoseconds", 0) for value in values):
        return pa.duration("ns")
    elif types.is_time(type) and _have_offsets(values, datetime.time):
        return ZONED_TIME
    return type


def _held(values: Sequence[Any], type: pa.DataType) -> Iterator[Any]:
    """The values as Arrow takes them for a type that is not the one that it sees in them: as a graph holds times of the
    day with an offset, by what a clock there shows and seconds of the offset."""
    for value in values:
        if type == ZONED_TIME:
            offset = value.utcoffset() if isinstance(value, datetime.time) else None
            yield None if offset is None else (value.replace(tzinfo=None), int(offset.total_seconds()))
        elif pa.types.is_list(type) and _has_items(value):
            yield list(_held(list(value), type.value_type))
        elif pa.types.is_struct(type) and isinstance(value, Mapping):
            yield {each.name: next(_held([value.get(each.name)], each.type)) for each in type}
        else:
            yield value


def _has_items(value: Any) -> bool:
    return hasattr(value, "__iter__") and not isinstance(value, str | bytes)


def _expect_dates(values: Sequence[Any]) -> None:
    timed = next((value for value in values if isinstance(value, datetime.datetime) and value == value), None)
    if timed is not None:
        raise ValueError(f"{timed} has a time of the day, which other values of its column have not")


def _have_offsets(values: Sequence[Any], kind: _Kind) -> bool:
    """Whether all have one."""
    found = [value for value in values if isinstance(value, kind) and value == value]  # a gap equals nothing
    without = [value for value in found if value.utcoffset() is None]
    if without and len(without) < len(found):
        raise ValueError(f"{without[0]} has no offset, which other values of its column have")
    return bool(found) and not without
