"""Sums of moments and durations. Months come first, then days, then hours, as a clock in the moment's zone has them."""

from __future__ import annotations

from gquery.executor.relational.sql.time.durations import joined, made, repeated
from gquery.executor.relational.sql.time.moments import (
    begun,
    floored,
    instant_of,
    is_fine,
    local,
    nanoseconds,
    zone_of,
    zoned_time,
)
from gquery.executor.relational.sql.values import sql_type
from gquery.planner.ir.expr import Call, Kind, Type
from gquery.planner.ir.types.common_type import temporal_family

_DAY = 86400 * 10**9  # nanoseconds


def calculated(call: Call, arguments: list[str]) -> str:
    """`+`, `-`, `*` or `/` where there is a duration or a moment."""
    left, right = arguments
    one, other = (argument.type for argument in call.arguments)
    if Kind.NULL in (one.kind, other.kind):
        return f"NULL::{sql_type(call.type)}"
    if call.function == "*":  # by a whole number; what else is multiplied or divided is calculated
        return repeated(left, right) if _family(one) == "duration" else repeated(right, left)
    families = _family(one), _family(other)
    if call.type.kind is Kind.TEMPORAL and _family(call.type) != "duration":
        moment, duration, type_ = (right, left, other) if families[0] == "duration" else (left, right, one)
        return _later(moment, duration, type_, call.function)
    if "duration" in families:
        return joined(left, right, call.function)
    if families[0] == "date":
        return made("0", "0", f"({left} - {right})::BIGINT * {_DAY}")
    return made("0", "0", f"{nanoseconds(left, one)} - {nanoseconds(right, other)}")


def truncated(call: Call, arguments: list[str]) -> str:
    """The beginning of a unit, as a clock in the moment's zone has it."""
    unit, moment = arguments
    type_ = call.type
    cut = f"date_trunc({unit}, {begun(local(moment, type_), type_)})"
    if _family(type_) == "date":
        return f"{cut}::DATE"
    fine = f"{cut}::TIMESTAMP_NS" if is_fine(type_) else cut
    return fine if zone_of(type_) is None else instant_of(fine, type_, like=moment)


def _family(type_: Type) -> str | None:
    return temporal_family(type_.arrow) if type_.kind is Kind.TEMPORAL else None


def _later(moment: str, duration: str, type_: Type, sign: str) -> str:
    """Months and days as a clock in the moment's zone has them, then the time that passes."""
    months, days, nanoseconds = (f"struct_extract({duration}, '{part}')" for part in ("months", "days", "nanoseconds"))
    dates = f"{sign} to_months({months}) {sign} to_days({days})"
    if _family(type_) == "date":
        return f"({moment} {dates} {sign} to_days(({nanoseconds} // {_DAY})::INTEGER))::DATE"
    fine, zone = is_fine(type_), zone_of(type_)
    if _family(type_) in ("time", "zoned time"):
        clock = f"(((epoch_ns({local(moment, type_)}) {sign} {nanoseconds} % {_DAY}) % {_DAY} + {_DAY}) % {_DAY})"
        if not fine:
            return f"make_timestamp({clock} // 1000)::TIME"
        shown = f"make_timestamp_ns({clock})::TIME_NS"
        return shown if _family(type_) == "time" else zoned_time(shown, f"{moment}.offset_seconds")
    shown = local(moment, type_)
    if fine:
        below = f"(epoch_ns({shown}) % 1000 + 1000) % 1000"
        moved = f"make_timestamp_ns(epoch_us({begun(shown, type_)} {dates}) * 1000 + {below})"
    else:
        moved = f"({shown} {dates})"
    instant = moved if zone is None else instant_of(moved, type_, like=moment)
    if not fine:
        passed = floored(f"({sign} {nanoseconds}::HUGEINT)", 1000)  # the microsecond that has begun
        return f"({instant} + to_microseconds({passed}::BIGINT))"
    made_ = f"make_timestamp_ns(epoch_ns({instant}) {sign} {nanoseconds})"
    return made_ if zone is None else f"timezone('UTC', {made_})"
