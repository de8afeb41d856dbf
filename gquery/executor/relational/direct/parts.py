"""What maps, days, points in time and the time between two of these are made of."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pyarrow as pa

from gquery.arrays import pc
from gquery.executor.relational.direct.types import Unsaid, Value, can_be_carried, is_day, is_moment
from gquery.executor.relational.gather import travelling_type
from gquery.planner.ir.expr import Call, Expression, Kind, Type

_OF_DAYS = ("year", "month", "day")  # by Arrow's names too
_OF_MOMENTS = (*_OF_DAYS, "hour", "minute", "second")
_BETWEEN = {"hours": 3600 * 10**9, "minutes": 60 * 10**9, "seconds": 10**9, "milliseconds": 10**6}  # nanoseconds
_DAY = {"date32[day]": 1, "timestamp[s]": 86_400, "timestamp[ms]": 86_400_000, "timestamp[us]": 86_400_000_000}
_LAST_DAY = 11_000_000  # since 1970: Arrow's calendar ends some years later


def part_of(subject: Expression, key: str, type_: Type) -> tuple[tuple[Expression, ...], Callable[..., Value]]:
    """What a part is computed of, and how. Raises Unsaid."""
    of = subject.type
    match subject:
        case Call(function="-", arguments=(one, other)) if is_moment(one.type) and is_moment(other.type):
            if key in _BETWEEN:
                return (one, other), partial(_between, _BETWEEN[key])
    if of.kind is Kind.MAP and can_be_carried(of) and dict(of.fields).get(key) == type_:
        place, wanted = [name for name, _ in of.fields].index(key), travelling_type(type_)
        return (subject,), lambda value: pc.struct_field(value, place).cast(wanted)
    if is_day(of) and key in _OF_DAYS:
        return (subject,), partial(_from_calendar, key)
    if is_moment(of) and key in _OF_MOMENTS:
        return (subject,), partial(_from_calendar, key)
    raise Unsaid


def _from_calendar(part: str, value: Value) -> Value:
    """Raises ArrowException for years that Arrow's calendar does not have."""
    plain = value.cast(pa.int32() if pa.types.is_date32(value.type) else pa.int64())
    least, most = (bound.as_py() or 0 for bound in pc.min_max(plain).values())
    last = _LAST_DAY * _DAY[str(value.type)]
    if least < -last or most > last:
        raise pa.ArrowNotImplementedError("such years are DuckDB's")
    return getattr(pc, part)(value)


def _between(unit: int, one: Value, other: Value) -> Value:
    """So many whole units, towards zero. Raises ArrowException for what 64 bits of nanoseconds do not hold."""
    micros = pc.subtract_checked(*(each.cast(pa.timestamp("us")).cast(pa.int64()) for each in (one, other)))
    return pc.divide(pc.multiply_checked(micros, 1000), unit)
