"""Arrow columns of times as moments and durations, to the nanosecond and of any year, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from gquery.values.durations import SECOND, TOO_LONG, Duration
from gquery.values.elements import is_zoned_time, tags_of
from gquery.values.moments import DAY, Moment, moved

_UNITS = {"s": SECOND, "ms": 10**6, "us": 1000, "ns": 1}


def exact_values(column: pa.Array, arrow: pa.DataType) -> list[Any]:
    """The values of a column as DuckDB gives it. arrow: the type that they have, which says the zone of points in time;
    durations are structs of their parts."""
    if pa.types.is_null(arrow) or pa.types.is_null(column.type):
        return [None] * len(column)
    if pa.types.is_interval(arrow):
        return [None if row is None else Duration(*row.values()) for row in column.to_pylist()]
    if pa.types.is_date(arrow):
        return [None if day is None else Moment(date=day) for day in column.cast(pa.int32()).to_pylist()]
    if pa.types.is_time(arrow):
        return [None if time is None else Moment(time=time) for time in _nanoseconds(column)]
    if pa.types.is_timestamp(arrow):
        return [None if time is None else _point(time, arrow.tz) for time in _nanoseconds(column)]
    if pa.types.is_struct(arrow) and is_zoned_time(arrow):
        parts = zip(_nanoseconds(column.field("time")), column.field("offset_seconds").to_pylist(), strict=True)
        return [None if time is None else Moment(time=time, offset=offset) for time, offset in parts]
    if pa.types.is_struct(arrow):
        fields = (exact_values(column.field(index), field.type) for index, field in enumerate(arrow))
        names = [field.name for field in arrow]
        rows = [dict(zip(names, row, strict=True)) for row in zip(*fields, strict=True)]
        return [row if known else None for row, known in zip(rows, column.is_valid().to_pylist(), strict=True)]
    if pa.types.is_union(arrow):
        members = [exact_values(column.field(index), field.type) for index, field in enumerate(arrow)]
        return [members[tag][row] for row, tag in enumerate(tags_of(column))]
    values: list[Any] = column.to_pylist()
    return values


def _nanoseconds(column: pa.Array) -> list[int | None]:
    unit = _UNITS[column.type.unit]
    return [None if number is None else number * unit for number in column.cast(pa.int64()).to_pylist()]


def _point(utc: int, zone: str | None) -> Moment:
    moment = Moment(utc // DAY, utc % DAY, None if zone is None else 0)
    return moment if zone in (None, "UTC") else moved(moment, str(zone))


def column_of(values: Sequence[Any], arrow: pa.DataType) -> pa.Array:
    """Moments and durations as a column of the type, durations as structs. Raises ValueError for one that the type does
    not hold."""
    try:
        if pa.types.is_interval(arrow):
            if not all(each is None or each.can_be_stored for each in values):
                raise ValueError(TOO_LONG)
            return _struct([each and (each.months, each.days, each.nanoseconds) for each in values], _PARTS)
        if pa.types.is_struct(arrow):
            return _struct([each and (each.time, each.offset) for each in values], arrow)
        if pa.types.is_date(arrow):
            return pa.array([each and each.date for each in values], pa.int32()).cast(arrow)
        unit = _UNITS[arrow.unit]
        return pa.array([each and _exact(each, arrow) // unit for each in values], pa.int64()).cast(arrow)
    except (pa.ArrowException, OverflowError):
        raise ValueError("a point in time with nanoseconds lies in the years 1678 to 2261") from None


_PARTS = pa.struct([("months", pa.int32()), ("days", pa.int32()), ("nanoseconds", pa.int64())])


def _struct(rows: list[tuple[int, ...] | None], arrow: pa.DataType) -> pa.Array:
    names = [field.name for field in arrow]
    return pa.array([row and dict(zip(names, row, strict=True)) for row in rows], arrow)


def _exact(moment: Moment, arrow: pa.DataType) -> int:
    """Nanoseconds since 1970, or of the day."""
    if pa.types.is_time(arrow):
        return moment.time or 0
    if arrow.tz == "UTC" and moment.offset:
        raise ValueError(
            "a computed point in time cannot keep its offset from UTC; write out its time zone, or use time()"
        )
    return moment.instant
