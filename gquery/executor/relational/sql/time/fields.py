"""What dates, times and durations are made of: `a.born.year`, `d.days`."""

from __future__ import annotations

from gquery.errors import BindError, Span
from gquery.executor.relational.sql.time.durations import FIELDS
from gquery.executor.relational.sql.time.moments import (
    begun,
    floored,
    is_fine,
    local,
    nanoseconds,
    offset_of,
    offset_seconds,
    zone_of,
)
from gquery.executor.relational.sql.words import literal
from gquery.planner.ir.expr import Type
from gquery.planner.ir.types.common_type import temporal_family

_OF_DATES = {
    "year": "year", "quarter": "quarter", "month": "month", "week": "week", "weekYear": "isoyear", "day": "day",
    "dayOfWeek": "isodow", "weekDay": "isodow", "ordinalDay": "doy",
}  # fmt: skip
_OF_CLOCKS = {"hour": "hour", "minute": "minute", "second": "second"}
_OF_SECONDS = {"millisecond": 10**6, "microsecond": 1000, "nanosecond": 1}
_OF_INSTANTS = {"epochSeconds": 10**9, "epochMillis": 10**6}
_OF_ZONES = ("timezone", "offset", "offsetMinutes", "offsetSeconds")


def field_of_time(subject: str, type_: Type, key: str, span: Span) -> str:
    """`subject.year` and the like, in the zone of the subject."""
    known = fields_of(type_)
    if key not in known:
        called = {"duration": "duration", "date": "date"}.get(temporal_family(type_.arrow), "point in time")
        raise BindError(f"a {called} has no `{key}`", span=span, hint="it has " + ", ".join(known))
    if key in FIELDS:
        return f"({FIELDS[key].format(subject)})::BIGINT"
    if key in _OF_ZONES:
        return _of_zone(subject, type_, key)
    if key in _OF_INSTANTS:
        return f"({floored(nanoseconds(subject, type_), _OF_INSTANTS[key])})::BIGINT"
    shown = local(subject, type_)
    if key in _OF_SECONDS:
        number, second = ("epoch_ns", 10**9) if is_fine(type_) else ("epoch_us", 10**6)  # which is of any year
        within = f"({number}({shown}) % {second} + {second}) % {second}"
        return f"(({within}) * {10**9 // second} // {_OF_SECONDS[key]})::BIGINT"
    clock = begun(shown, type_)
    if key == "dayOfQuarter":  # date_trunc() has no years but those of points in time
        begin = f"make_date(date_part('year', {clock}), 3 * date_part('quarter', {clock}) - 2, 1)"
        return f"({clock}::DATE - {begin} + 1)"
    return f"date_part('{(_OF_DATES | _OF_CLOCKS)[key]}', {clock})"


def fields_of(type_: Type) -> tuple[str, ...]:
    """The names of what values of the type are made of."""
    family = temporal_family(type_.arrow)
    dates, clocks = (*_OF_DATES, "dayOfQuarter"), (*_OF_CLOCKS, *_OF_SECONDS)
    zones = _OF_ZONES if family == "zoned time" or zone_of(type_) is not None else ()
    return {
        "duration": tuple(FIELDS), "date": dates, "time": clocks, "zoned time": (*clocks, *zones),
        "datetime": (*dates, *clocks, *zones, *(_OF_INSTANTS if zones else ())),
    }[family]  # fmt: skip


def _of_zone(subject: str, type_: Type, key: str) -> str:
    seconds = offset_seconds(subject, type_)
    if key == "offsetSeconds":
        return f"({seconds})::BIGINT"
    if key == "offsetMinutes":
        return f"(({seconds}) // 60)::BIGINT"
    zone = zone_of(type_)
    named = key == "timezone" and zone is not None and "/" in zone
    return f"CASE WHEN {subject} IS NOT NULL THEN {literal(zone)} END" if named else offset_of(subject, type_)
