"""Durations in SQL: structs of months, days and nanoseconds, as Arrow has them and DuckDB's own intervals have not.

Two are equal when their parts are; they are sorted as if a month were a twelfth of the mean year, and a day 24 hours.
"""

from __future__ import annotations

from gquery.planner.ir.expr import Kind, Type
from gquery.planner.ir.types.common_type import temporal_family
from gquery.values.durations import Duration

SQL_TYPE = "STRUCT(months INTEGER, days INTEGER, nanoseconds BIGINT)"
_DAY, _MONTH = 86400 * 10**9, 2629746 * 10**9  # nanoseconds
_MONTHS, _DAYS, _NANOSECONDS = (f"struct_extract({{0}}, '{name}')" for name in ("months", "days", "nanoseconds"))
FIELDS = {
    "years": f"{_MONTHS} // 12", "quarters": f"{_MONTHS} // 3", "months": _MONTHS, "weeks": f"{_DAYS} // 7",
    "days": _DAYS, "hours": f"{_NANOSECONDS} // {3600 * 10**9}", "minutes": f"{_NANOSECONDS} // {60 * 10**9}",
    "seconds": f"{_NANOSECONDS} // {10**9}", "milliseconds": f"{_NANOSECONDS} // {10**6}",
    "microseconds": f"{_NANOSECONDS} // 1000", "nanoseconds": _NANOSECONDS,
    "quartersOfYear": f"{_MONTHS} // 3 % 4", "monthsOfQuarter": f"{_MONTHS} % 3", "monthsOfYear": f"{_MONTHS} % 12",
    "daysOfWeek": f"{_DAYS} % 7", "minutesOfHour": f"{_NANOSECONDS} // {60 * 10**9} % 60",
    "secondsOfMinute": f"{_NANOSECONDS} // {10**9} % 60", "millisecondsOfSecond": f"{_NANOSECONDS} // {10**6} % 1000",
    "microsecondsOfSecond": f"{_NANOSECONDS} // 1000 % 1000000", "nanosecondsOfSecond": f"{_NANOSECONDS} % {10**9}",
}  # fmt: skip
"""What a duration is made of, with {0} for the duration."""


def is_duration(type_: Type) -> bool:
    return type_.kind is Kind.TEMPORAL and temporal_family(type_.arrow) == "duration"


def made(months: str, days: str, nanoseconds: str) -> str:
    """Null where a part is."""
    parts = f"{{months: ({months})::INTEGER, days: ({days})::INTEGER, nanoseconds: ({nanoseconds})::BIGINT}}"
    return f"CASE WHEN ({months}) IS NOT NULL AND ({nanoseconds}) IS NOT NULL THEN {parts} END"


def written(duration: Duration) -> str:
    months, days, nanoseconds = (f"({part})" for part in (duration.months, duration.days, duration.nanoseconds))
    return f"{{months: {months}::INTEGER, days: {days}::INTEGER, nanoseconds: {nanoseconds}::BIGINT}}"


def length(duration: str) -> str:
    """About how many nanoseconds it is."""
    months, days, nanoseconds = _parts(duration)
    return f"({months}::HUGEINT * {_MONTH} + {days}::HUGEINT * {_DAY} + {nanoseconds})"


def text_of_duration(duration: str) -> str:
    """`P1Y2M3DT4.5S`: the parts that are not zero, each with its sign."""
    months, days, nanoseconds = _parts(duration)
    seconds = f"{nanoseconds} % {60 * 10**9}"
    digits = (
        f"rtrim(rtrim((({seconds})::DECIMAL(20,0) * 0.000000001::DECIMAL(10,9))::DECIMAL(30,9)::VARCHAR, '0'), '.')"
    )
    parts = ((f"{months} // 12", "Y"), (f"{months} % 12", "M"), (days, "D"))
    date = " || ".join(_unless_zero(part, unit) for part, unit in parts)
    clocks = ((f"{nanoseconds} // {3600 * 10**9}", "H"), (f"{nanoseconds} // {60 * 10**9} % 60", "M"))
    time = " || ".join(_unless_zero(part, unit) for part, unit in clocks)
    second = f"CASE WHEN {seconds} <> 0 THEN {digits} || 'S' ELSE '' END"
    text = f"rtrim('P' || ({date}) || 'T' || ({time} || {second}), 'T')"
    return f"CASE WHEN {duration} IS NOT NULL THEN coalesce(nullif({text}, 'P'), 'PT0S') END"


def joined(one: str, other: str, sign: str) -> str:
    """The sum or the difference of two."""
    return made(*(f"{mine} {sign} {theirs}" for mine, theirs in zip(_parts(one), _parts(other), strict=True)))


def repeated(duration: str, number: str) -> str:
    """So many times, a whole number."""
    return made(*(f"{part}::BIGINT * ({number})" for part in _parts(duration)))


def _parts(duration: str) -> tuple[str, str, str]:
    return _MONTHS.format(duration), _DAYS.format(duration), _NANOSECONDS.format(duration)


def _unless_zero(number: str, unit: str) -> str:
    return f"CASE WHEN {number} <> 0 THEN ({number}) || '{unit}' ELSE '' END"
