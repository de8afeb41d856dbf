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

_FIELDS = {
    "year": "year", "quarter": "quarter", "month": "month", "week": "week", "day": "day", "hour": "hour",
    "minute": "minute", "second": "second", "dayOfWeek": "isodow", "ordinalDay": "doy",
}  # fmt: skip
_ELSEWHERE = r"[T ].*([+-]0*:?0*[1-9]|[A-Za-z]{2})"  # an offset that is not zero, the name of a zone
_LOST_OFFSET = (
    "datetime() of a computed text cannot keep its offset from UTC; "
    "give a parameter that is a datetime, or load the column as timestamps"
)


def field_of_time(subject: str, type_: Type, key: str, span: Span) -> str:
    """`subject.year` and the like, in the zone of the subject."""
    if key not in _FIELDS:
        raise BindError(f"a point in time has no `{key}`", span=span, hint="it has " + ", ".join(_FIELDS))
    return f"date_part('{_FIELDS[key]}', {_local(subject, type_)})"


def date_of(call: Call, arguments: list[str]) -> str:
    return f"{_local(arguments[0], call.arguments[0].type)}::DATE"


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
    if minutes is None:
        return f"timezone({literal(zone)}, {text}::TIMESTAMP)"
    return f"timezone('UTC', {text}::TIMESTAMP - INTERVAL ({minutes}) MINUTE)"


def _sql_type(arrow: Any) -> str:
    exact = "_NS" if getattr(arrow, "unit", "us") == "ns" else ""
    if pa.types.is_timestamp(arrow):
        return f"TIMESTAMP{'TZ' if arrow.tz else ''}{exact}"
    return f"TIME{exact}" if pa.types.is_time(arrow) else "DATE"


def text_of(subject: str, type_: Type) -> str:
    """As ISO 8601 has it, with the offset and, where it has a name, the zone."""
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


def _local(subject: str, type_: Type) -> str:
    """The point in time as a clock at its zone shows it."""
    zone = _zone(type_)
    if zone is None:
        return subject
    minutes = _minutes_of(zone)
    if minutes is None:
        return f"timezone({literal(zone)}, {subject})"
    return f"(timezone('UTC', {subject}) + INTERVAL ({minutes}) MINUTE)" if minutes else f"timezone('UTC', {subject})"


def _zone(type_: Type) -> str | None:
    return type_.arrow.tz if type_.arrow is not None and pa.types.is_timestamp(type_.arrow) else None


def _minutes_of(zone: str) -> int | None:
    """The minutes of a zone that is an offset from UTC; None for one that has a name and changes its clocks."""
    if zone == "UTC":
        return 0
    match = re.fullmatch(r"([+-])(\d{2}):?(\d{2})", zone, re.ASCII)
    return int(f"{match[1]}1") * (int(match[2]) * 60 + int(match[3])) if match else None
