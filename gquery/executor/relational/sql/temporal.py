"""Dates and times. A point in time with a zone is an instant in DuckDB; its zone is its type's, and its year, hour or
date are those of the zone.

Sessions run in UTC: a point in time without a zone is taken for UTC's where it meets one with a zone.
"""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from gquery.errors import BindError, Span
from gquery.executor.relational.sql.words import literal
from gquery.planner.ir.expr import Call, Kind, Type
from gquery.planner.ir.types.common_type import temporal_family

_FIELDS = {
    "year": "year", "quarter": "quarter", "month": "month", "week": "week", "day": "day", "hour": "hour",
    "minute": "minute", "second": "second", "dayOfWeek": "isodow", "ordinalDay": "doy",
}  # fmt: skip
_ELSEWHERE = r"[T ].*([+-]0*:?0*[1-9]|[A-Za-z]{2})"  # an offset that is not zero, the name of a zone
_LOST_OFFSET = (
    "datetime() of a computed text cannot keep its offset from UTC; "
    "give a parameter that is a datetime, or load the column as timestamps"
)

_BEYOND = "beside nanoseconds there are points in time from 1677 to 2262 only"


def alike(one: Type, other: Type) -> bool:
    """Whether DuckDB compares values of the two types as they are. Where only one knows nanoseconds, or both do and one
    has a zone, it has no comparison, or one that fails for years that nanoseconds do not reach."""
    if not one.kind is other.kind is Kind.TEMPORAL or "duration" in map(temporal_family, (one.arrow, other.arrow)):
        return True
    return _sql_type(one.arrow) == _sql_type(other.arrow) or not (_is_fine(one) or _is_fine(other))


def nanoseconds(text: str, type_: Type) -> str:
    """A point in time or a time of the day as a whole number, of any year."""
    if _is_fine(type_):
        return f"epoch_ns({text})::HUGEINT"
    return f"(epoch_us({text})::HUGEINT * 1000)"


def in_units_of(text: str, wanted: Type) -> str:
    """A date, a time or a point in time as one of finer units. Nanoseconds reach from 1677 to 2262."""
    finer = f"TRY_CAST({text} AS {_sql_type(wanted.arrow)})"
    return f"coalesce({finer}, CASE WHEN {text} IS NOT NULL THEN error({literal(_BEYOND)}) END)"


def field_of_time(subject: str, type_: Type, key: str, span: Span) -> str:
    """`subject.year` and the like, in the zone of the subject."""
    if key not in _FIELDS:
        raise BindError(f"a point in time has no `{key}`", span=span, hint="it has " + ", ".join(_FIELDS))
    return f"date_part('{_FIELDS[key]}', {_begun(_local(subject, type_), type_)})"


def date_of(call: Call, arguments: list[str]) -> str:
    type_ = call.arguments[0].type
    return f"{_begun(_local(arguments[0], type_), type_)}::DATE"


def _begun(local: str, type_: Type) -> str:
    """The microsecond that has begun: DuckDB rounds nanoseconds, and a year would begin before its time."""
    if not _is_fine(type_):
        return local
    if pa.types.is_time(type_.arrow):
        return f"(TIME '00:00:00' + to_microseconds(epoch_ns({local}) // 1000))"
    return f"make_timestamp((epoch_ns({local}) - (epoch_ns({local}) % 1000 + 1000) % 1000) // 1000)"


def datetime_of(call: Call, arguments: list[str]) -> str:
    """A computed text has no offset but UTC's: its zone could not be known before it is read."""
    (text,) = arguments
    if call.arguments[0].type.kind is not Kind.STRING:
        return text if call.arguments[0].type == call.type else f"{text}::TIMESTAMP"
    elsewhere = f"regexp_matches({text}, {literal(_ELSEWHERE)})"
    return f"CASE WHEN {elsewhere} THEN error({literal(_LOST_OFFSET)}) ELSE timezone('UTC', {text}::TIMESTAMPTZ) END"


def read(call: Call, arguments: list[str]) -> str:
    """A text, or each of a list, as a point in time of the call's type; it says its offset itself, if it has one."""
    if call.type.item is not None:
        return f"CAST({arguments[0]} AS {_sql_type(call.type.item.arrow)}[])"
    return f"CAST({arguments[0]} AS {_sql_type(call.type.arrow)})"


def read_there(call: Call, arguments: list[str]) -> str:
    """A text without an offset, or each of a list, as a point in time in the zone of the call's type."""
    if call.type.item is not None:
        item = '" text"'
        return f"list_transform({arguments[0]}, lambda {item}: {_instant(item, call.type.item)})"
    return _instant(arguments[0], call.type)


def _instant(text: str, type_: Type) -> str:
    zone = _zone(type_) or "UTC"
    minutes = _minutes_of(zone)
    local = f"{text}::{'TIMESTAMP_NS' if _is_fine(type_) else 'TIMESTAMP'}"
    if minutes is None:
        return f"timezone({literal(zone)}, {local})"
    return f"timezone('UTC', {_later(local, -minutes, type_)})"


def _sql_type(arrow: Any) -> str:
    exact = "_NS" if getattr(arrow, "unit", "us") == "ns" else ""
    if pa.types.is_timestamp(arrow):
        return f"TIMESTAMP{'TZ' if arrow.tz else ''}{exact}"
    return f"TIME{exact}" if pa.types.is_time(arrow) else "DATE"


def text_of(subject: str, type_: Type) -> str:
    """As ISO 8601 has it, with the offset and, where it has a name, the zone."""
    if temporal_family(type_.arrow) == "duration":
        return _duration_text(subject)
    text = f"replace({_local(subject, type_)}::VARCHAR, ' ', 'T')"
    zone = _zone(type_)
    if zone is None:
        return text
    if zone == "UTC":
        return f"{text} || 'Z'"
    if _minutes_of(zone) is not None:
        return f"{text} || {literal(zone)}"
    minutes = f"date_diff('minute', timezone('UTC', {subject}), {_local(subject, type_)})"
    sign = f"CASE WHEN {minutes} < 0 THEN '-' ELSE '+' END"
    offset = f"printf('%02d:%02d', abs({minutes}) // 60, abs({minutes}) % 60)"
    return f"{text} || {sign} || {offset} || {literal(f'[{zone}]')}"


def _duration_text(subject: str) -> str:
    """`P1Y2M3DT4.5S`: the parts that are not zero."""

    def part(field: str, unit: str) -> str:
        number = f"date_part('{field}', {subject})"
        return f"CASE WHEN {number} <> 0 THEN {number} || '{unit}' ELSE '' END"

    millionths = f"date_part('microsecond', {subject})"
    digits = f"rtrim(rtrim(({millionths} * 0.000001::DECIMAL(7,6))::DECIMAL(18,6)::VARCHAR, '0'), '.')"
    date = " || ".join((part("year", "Y"), part("month", "M"), part("day", "D")))
    seconds = f"CASE WHEN {millionths} <> 0 THEN {digits} || 'S' ELSE '' END"
    time = " || ".join((part("hour", "H"), part("minute", "M"), seconds))
    text = f"rtrim('P' || ({date}) || 'T' || ({time}), 'T')"
    return f"CASE WHEN {subject} IS NOT NULL THEN coalesce(nullif({text}, 'P'), 'PT0S') END"


def _local(subject: str, type_: Type) -> str:
    """The point in time as a clock at its zone shows it."""
    zone = _zone(type_)
    if zone is None:
        return subject
    minutes = _minutes_of(zone)
    if minutes is None:
        return f"timezone({literal(zone)}, {subject})"
    return _later(f"timezone('UTC', {subject})", minutes, type_)


def _later(local: str, minutes: int, type_: Type) -> str:
    """DuckDB's own addition rounds nanoseconds away."""
    if minutes and _is_fine(type_):
        return f"make_timestamp_ns(epoch_ns({local}) + {minutes * 60 * 10**9})"
    return f"({local} + INTERVAL ({minutes}) MINUTE)" if minutes else local


def _is_fine(type_: Type) -> bool:
    return _sql_type(type_.arrow).endswith("_NS")


def _zone(type_: Type) -> str | None:
    return type_.arrow.tz if type_.arrow is not None and pa.types.is_timestamp(type_.arrow) else None


def _minutes_of(zone: str) -> int | None:
    """The minutes of a zone that is an offset from UTC; None for one that has a name and changes its clocks."""
    if zone == "UTC":
        return 0
    match = re.fullmatch(r"([+-])(\d{2}):?(\d{2})", zone, re.ASCII)
    return int(f"{match[1]}1") * (int(match[2]) * 60 + int(match[3])) if match else None
