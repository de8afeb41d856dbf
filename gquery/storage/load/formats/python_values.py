"""Columns of Python's values: Arrow's, but for what Arrow would change without a word."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from gquery.storage.schema import ZONED_TIME

_Kind = type[datetime.datetime] | type[datetime.time]


def column_of(values: Sequence[Any], gaps: bool = False) -> pa.Array | pa.ChunkedArray:
    """A column of some values. gaps: NaN and the like are nulls. Raises what Arrow raises, and ValueError where some
    points in time have a zone, or some times of the day an offset, and others none: Arrow would take these for UTC's,
    or leave the offsets out. So it would the hours of points in time that stand among dates."""
    column = pa.array(values, from_pandas=gaps)
    if pa.types.is_date(column.type):
        _expect_dates(values)
    elif pa.types.is_timestamp(column.type):
        _have_offsets(values, datetime.datetime)
        if any(getattr(value, "nanosecond", 0) for value in values):  # of pandas'
            return pa.array(values, pa.timestamp("ns", column.type.tz), from_pandas=gaps)
    elif pa.types.is_duration(column.type) and any(getattr(value, "nanoseconds", 0) for value in values):
        return pa.array(values, pa.duration("ns"), from_pandas=gaps)
    elif pa.types.is_time(column.type) and _have_offsets(values, datetime.time):
        return pa.array(_times(values), ZONED_TIME)
    return column


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


def _times(values: Sequence[Any]) -> Iterator[tuple[datetime.time, int] | None]:
    """As a graph holds them: what a clock there shows, and seconds of the offset."""
    for value in values:
        offset = value.utcoffset() if isinstance(value, datetime.time) else None
        yield None if offset is None else (value.replace(tzinfo=None), int(offset.total_seconds()))
