"""Dates and times. A point in time with a zone is an instant in DuckDB; its zone is its type's, and its year, hour or
date are those of the zone.

Sessions run in UTC: a point in time without a zone is taken for UTC's where it meets one with a zone.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pyarrow as pa

from gquery.executor.relational.sql.time.durations import is_duration, text_of_duration, written
from gquery.executor.relational.sql.words import literal
from gquery.planner.ir.expr import Call, Kind, Type
from gquery.planner.ir.types.common_type import temporal_family
from gquery.planner.ir.types.temporal import known_moment
from gquery.values.durations import Duration
from gquery.values.moments import Moment

_NOW = "now()"
_BEYOND = "beside nanoseconds there are points in time from 1677 to 2262 only"


def alike(one: Type, other: Type) -> bool:
    """Whether DuckDB compares values of the two types as they are. Where only one knows nanoseconds, or both do and one
    has a zone, it has no comparison, or one that fails for years that nanoseconds do not reach."""
    if not one.kind is other.kind is Kind.TEMPORAL or (is_duration(one) and is_duration(other)):
        return True
    if pa.types.is_struct(one.arrow) or pa.types.is_struct(other.arrow):
        return False
    return _sql_type(one.arrow) == _sql_type(other.arrow) or not (is_fine(one) or is_fine(other))


def nanoseconds(text: str, type_: Type) -> str:
    """A point in time or a time of the day as a whole number, of any year."""
    if pa.types.is_struct(type_.arrow):
        return f"(epoch_ns({subject_time(text)})::HUGEINT - {text}.offset_seconds * 1000000000::HUGEINT)"
    if is_fine(type_):
        return f"epoch_ns({text})::HUGEINT"
    return f"(epoch_us({text})::HUGEINT * 1000)"


def zoned_time(clock: str, offset: str) -> str:
    """A time of the day with an offset; null where the clock is."""
    return f"CASE WHEN {clock} IS NOT NULL THEN {{time: {clock}, offset_seconds: {offset}}} END"


def subject_time(zoned: str) -> str:
    """What the clock shows of a time of the day with an offset."""
    return f"{zoned}.time"


def in_units_of(text: str, wanted: Type) -> str:
    """A date, a time or a point in time as one of finer units. Nanoseconds reach from 1677 to 2262."""
    finer = f"TRY_CAST({text} AS {_sql_type(wanted.arrow)})"
    return f"coalesce({finer}, CASE WHEN {text} IS NOT NULL THEN error({literal(_BEYOND)}) END)"


def date_of(call: Call, arguments: list[str]) -> str:
    if not arguments:
        return "current_date"
    type_ = call.arguments[0].type
    return f"{begun(local(arguments[0], type_), type_)}::DATE"


def clock_of(call: Call, arguments: list[str]) -> str:
    """localtime() of a point in time or a time of the day."""
    if not arguments:
        return f"timezone('UTC', {_NOW})::TIME::{_sql_type(call.type.arrow)}"
    return f"{local(arguments[0], call.arguments[0].type)}::{_sql_type(call.type.arrow)}"


def local_datetime_of(call: Call, arguments: list[str]) -> str:
    """localdatetime() of a point in time or a date."""
    if not arguments:
        return f"timezone('UTC', {_NOW})"
    return f"{local(arguments[0], call.arguments[0].type)}::{_sql_type(call.type.arrow)}"


def begun(local: str, type_: Type) -> str:
    """The microsecond that has begun: DuckDB rounds nanoseconds, and a year would begin before its time."""
    if not is_fine(type_):
        return local
    if pa.types.is_time(type_.arrow) or pa.types.is_struct(type_.arrow):
        return f"(TIME '00:00:00' + to_microseconds(epoch_ns({local}) // 1000))"
    return f"make_timestamp({floored(f'epoch_ns({local})', 1000)})"


def floored(number: str, by: int) -> str:
    """DuckDB's own division of whole numbers goes towards zero."""
    return f"(({number} - (({number} % {by}) + {by}) % {by}) // {by})"


def datetime_of(call: Call, arguments: list[str]) -> str:
    """datetime() of a point in time or a date."""
    if not arguments:
        return _NOW
    local_type = "TIMESTAMP_NS" if is_fine(call.type) else "TIMESTAMP"
    zoned = zone_of(call.arguments[0].type) is not None
    return arguments[0] if zoned else f"timezone('UTC', {arguments[0]}::{local_type})"


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
    return instant_of(f"{text}::{'TIMESTAMP_NS' if is_fine(type_) else 'TIMESTAMP'}", type_)


def instant_of(local: str, type_: Type, like: str | None = None) -> str:
    """The instant at which a clock in the type's zone shows this. Where it does so twice, as clocks are put back, the
    one with the offset that another instant has; the first, where none is given."""
    zone = zone_of(type_) or "UTC"
    minutes = _minutes_of(zone)
    if minutes is not None:
        return f"timezone('UTC', {_later(local, -minutes, type_)})"
    there = partial("timezone({}, {})".format, literal(zone))
    last = there(local)  # what DuckDB takes
    other = like or f"({last}::TIMESTAMPTZ - INTERVAL 1 DAY)"
    number, made = ("epoch_ns", "make_timestamp_ns") if is_fine(type_) else ("epoch_us", "make_timestamp")
    ahead = f"({number}({there(other)}) - {number}({other}))"
    found = f"timezone('UTC', {made}({number}({local}) - {ahead}))"
    return f"CASE WHEN {there(found)} = {local} THEN {found} ELSE {last} END"


def _sql_type(arrow: Any) -> str:
    exact = "_NS" if getattr(arrow, "unit", "us") == "ns" else ""
    if pa.types.is_timestamp(arrow):
        return f"TIMESTAMP{'TZ' if arrow.tz else ''}{exact}"
    return f"TIME{exact}" if pa.types.is_time(arrow) else "DATE"


def moment(call: Call, arguments: list[str]) -> str:
    """A moment or a duration that is known, of which the call's argument is the text."""
    value = known_moment(call)
    if isinstance(value, Duration):
        return written(value)
    arrow, exact = call.type.arrow, is_fine(call.type)
    if value.date is None:
        clock = f"CAST({literal(str(Moment(time=value.time)))} AS TIME{'_NS' * exact})"
        zoned = pa.types.is_struct(arrow)
        return zoned_time(clock, f"({value.offset})::INTEGER") if zoned else clock
    if value.time is None:
        return f"(DATE '1970-01-01' + ({value.date})::INTEGER)"
    made = f"make_timestamp_ns({value.instant})" if exact else f"make_timestamp({value.instant // 1000})"
    return f"timezone('UTC', {made})" if zone_of(call.type) else made


def text_of(subject: str, type_: Type) -> str:
    """As ISO 8601 has it, with the offset and, where it has a name, the zone."""
    if temporal_family(type_.arrow) == "duration":
        return text_of_duration(subject)
    if pa.types.is_struct(type_.arrow):
        return f"({subject_time(subject)}::VARCHAR || {offset_of(subject, type_)})"
    text = f"replace({_shown(local(subject, type_), type_)}, ' ', 'T')"
    zone = zone_of(type_)
    if zone is None:
        return text
    if zone == "UTC":
        return f"{text} || 'Z'"
    if _minutes_of(zone) is not None:
        return f"{text} || {literal(zone)}"
    return f"{text} || {offset_of(subject, type_)} || {literal(f'[{zone}]')}"


def _shown(local: str, type_: Type) -> str:
    """A year before 0 or beyond 9999 has a sign. DuckDB has none, and calls the year 0 `0001 (BC)`."""
    text, year = f"{local}::VARCHAR", f"date_part('year', {local})"
    if is_fine(type_) or pa.types.is_time(type_.arrow):  # which have no such years
        return text
    sign = f"CASE WHEN {year} < 0 THEN '-' WHEN {year} > 9999 THEN '+' ELSE '' END"
    rest = rf"regexp_replace({text}, '^\d+(-\d\d-\d\d)( \(BC\))?', '\1')"
    return f"CASE WHEN {year} < 1 OR {year} > 9999 THEN {sign} || printf('%04d', abs({year})) || {rest} ELSE {text} END"


def offset_of(subject: str, type_: Type) -> str:
    """How far a clock in the zone is ahead of UTC, as a text."""
    seconds = f"({offset_seconds(subject, type_)})"
    sign = f"CASE WHEN {seconds} < 0 THEN '-' ELSE '+' END"
    shown = f"printf('%02d:%02d', abs({seconds}) // 3600, abs({seconds}) // 60 % 60)"
    last = f"CASE WHEN {seconds} % 60 = 0 THEN '' ELSE printf(':%02d', abs({seconds}) % 60) END"
    return f"CASE WHEN {seconds} = 0 THEN 'Z' ELSE {sign} || {shown} || {last} END"


def offset_seconds(subject: str, type_: Type) -> str:
    if pa.types.is_struct(type_.arrow):
        return f"{subject}.offset_seconds"
    minutes = _minutes_of(zone_of(type_) or "UTC")
    if minutes is not None:
        return f"CASE WHEN {subject} IS NOT NULL THEN {minutes * 60} END"
    return f"date_diff('second', timezone('UTC', {subject}), {local(subject, type_)})"


def local(subject: str, type_: Type) -> str:
    """The point in time as a clock at its zone shows it."""
    if pa.types.is_struct(type_.arrow):
        return subject_time(subject)
    zone = zone_of(type_)
    if zone is None:
        return subject
    minutes = _minutes_of(zone)
    if minutes is None:
        return f"timezone({literal(zone)}, {subject})"
    return _later(f"timezone('UTC', {subject})", minutes, type_)


def _later(local: str, minutes: int, type_: Type) -> str:
    """DuckDB's own addition rounds nanoseconds away."""
    if minutes and is_fine(type_):
        return f"make_timestamp_ns(epoch_ns({local}) + {minutes * 60 * 10**9})"
    return f"({local} + INTERVAL ({minutes}) MINUTE)" if minutes else local


def is_fine(type_: Type) -> bool:
    """Whether it knows nanoseconds."""
    return pa.types.is_struct(type_.arrow) or _sql_type(type_.arrow).endswith("_NS")


def zone_of(type_: Type) -> str | None:
    return type_.arrow.tz if type_.arrow is not None and pa.types.is_timestamp(type_.arrow) else None


def _minutes_of(zone: str) -> int | None:
    """The minutes of a zone that is an offset from UTC; None for one that has a name and changes its clocks."""
    if zone == "UTC":
        return 0
    match = re.fullmatch(r"([+-])(\d{2}):?(\d{2})", zone, re.ASCII)
    return int(f"{match[1]}1") * (int(match[2]) * 60 + int(match[3])) if match else None
