"""Durations: months, days and seconds, none of which is made of another, as a month has no fixed length."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from gquery.records import record

SECOND = 10**9
TOO_LONG = "a duration has at most 2^31 months, 2^31 days and 2^63 nanoseconds"
_MONTH = 2629746  # seconds of a month, a twelfth of the mean year: what a part of a month is
_DAY = 86400
_NUMBER = r"[+-]?\d+(?:[.,]\d+)?"
_PARTS = re.compile(
    rf"([+-]?)P(?=[\dT+-])(?:({_NUMBER})Y)?(?:({_NUMBER})M)?(?:({_NUMBER})W)?(?:({_NUMBER})D)?"
    rf"(?:T(?=[\d+-])(?:({_NUMBER})H)?(?:({_NUMBER})M)?(?:({_NUMBER})S)?)?",
    re.ASCII,
)
_AS_DATE = re.compile(r"P(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d(?:\.\d{1,9})?)", re.ASCII)
_WRITTEN = ("years", "months", "weeks", "days", "hours", "minutes", "seconds")
PARTS = (*_WRITTEN, "quarters", "milliseconds", "microseconds", "nanoseconds")


@record(frozen=True, slots=True)
class Duration:
    months: int = 0
    days: int = 0
    nanoseconds: int = 0

    @property
    def can_be_stored(self) -> bool:
        """Whether Arrow has it: two numbers of 32 bits and one of 64."""
        dates = (self.months, self.days)
        return all(-(2**31) <= part < 2**31 for part in dates) and -(2**63) <= self.nanoseconds < 2**63

    def __str__(self) -> str:
        """As ISO 8601 has it, `P1Y2M3DT4.5S`; each part has a sign of its own."""
        years, months = _divided(self.months, 12)
        minutes, nanoseconds = _divided(self.nanoseconds, 60 * SECOND)
        hours, minutes = _divided(minutes, 60)
        seconds = format((Decimal(nanoseconds) / SECOND).normalize(), "f") if nanoseconds else 0
        dates = zip((years, months, self.days), "YMD", strict=True)
        times = zip((hours, minutes, seconds), "HMS", strict=True)
        date, time = ("".join(f"{number}{unit}" for number, unit in parts if number) for parts in (dates, times))
        return f"P{date}{'T' if time else ''}{time}" if date or time else "PT0S"


def duration_of(parts: Mapping[str, object]) -> Duration:
    """Of numbers by their units; a part of a month is days and seconds, a part of a day seconds. Raises ValueError."""
    unknown = [name for name in parts if name not in PARTS]
    if unknown:
        raise ValueError(f"a duration has no {unknown[0]}; it has {', '.join(PARTS)}")
    of = dict.fromkeys(PARTS, Fraction()) | {
        name: Fraction(_exact(name, value)) for name, value in parts.items() if value is not None
    }
    seconds = of["hours"] * 3600 + of["minutes"] * 60 + of["seconds"]
    parts_of_second = of["milliseconds"] * 10**6 + of["microseconds"] * 1000 + of["nanoseconds"]
    whole = (
        of["years"] * 12 + of["quarters"] * 3 + of["months"],
        of["weeks"] * 7 + of["days"],
        seconds * SECOND + parts_of_second,
    )
    over = math.lcm(*(each.denominator for each in whole))
    months, days, nanoseconds = (int(each * over) for each in whole)
    return _of(months, days, nanoseconds, over)


def parse_duration(text: str) -> Duration:
    """Raises ValueError for a text that is no ISO 8601 duration; a sign before it is that of all its parts."""
    if as_date := _AS_DATE.fullmatch(text):
        names = ("years", "months", "days", "hours", "minutes", "seconds")
        return duration_of({name: Decimal(part) for name, part in zip(names, as_date.groups(), strict=True)})
    found = _PARTS.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no duration")
    sign, *numbers = found.groups()
    parts = zip(_WRITTEN, numbers, strict=True)
    given = duration_of({name: _number(part) for name, part in parts if part is not None})
    return times(given, -1) if sign == "-" else given


def _number(text: str) -> int | Decimal:
    return Decimal(text.replace(",", ".")) if "." in text or "," in text else int(text)


def plus(one: Duration, other: Duration, sign: int = 1) -> Duration:
    months, days = one.months + sign * other.months, one.days + sign * other.days
    return Duration(months, days, one.nanoseconds + sign * other.nanoseconds)


def times(duration: Duration, number: int | float | Decimal) -> Duration:
    return _scaled(duration, *_exact("factors of durations", number).as_integer_ratio())


def parted(duration: Duration, number: int | float | Decimal) -> Duration:
    """One of so many equal parts."""
    divisor, over = _exact("divisors of durations", number).as_integer_ratio()
    if not divisor:
        raise ValueError("a duration is divided by zero")
    return _scaled(duration, -over if divisor < 0 else over, abs(divisor))


def _scaled(duration: Duration, by: int, over: int) -> Duration:
    return _of(duration.months * by, duration.days * by, duration.nanoseconds * by, over)


def _of(months: int, days: int, nanoseconds: int, over: int) -> Duration:
    """So many parts of each, of which `over` are a whole one; what is less than a nanosecond falls away."""
    whole_months, months = _divided(months, over)
    whole_days, seconds = _divided(days * _DAY + months * _MONTH, over * _DAY)
    whole_nanoseconds, _ = _divided(nanoseconds + seconds * SECOND, over)
    return Duration(whole_months, whole_days, whole_nanoseconds)


def _exact(name: str, value: object) -> int | Decimal:
    """A float is the number that it is written as."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError(f"{name} are a number, not {value!r}")
    if not math.isfinite(value):
        raise ValueError(f"{name} are finite, not {value}")
    return Decimal(repr(value)) if isinstance(value, float) else value


def _divided(number: int, by: int) -> tuple[int, int]:
    """Quotient and remainder, both of the number's sign."""
    sign = -1 if number < 0 else 1
    return sign * (abs(number) // by), sign * (abs(number) % by)
