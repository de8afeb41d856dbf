"""Days of the Gregorian calendar, before and after it was made, as whole numbers counted from 1970-01-01.

Exact for every year. Weeks are ISO 8601's: the first of a year is the one with its first Thursday.
"""

from __future__ import annotations

from gquery.records import record

_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def day_of(year: int, month: int = 1, day: int = 1) -> int:
    """Raises ValueError for a day that no calendar has."""
    if not 1 <= month <= 12:
        raise ValueError(f"there is no month {month}")
    if not 1 <= day <= month_length(year, month):
        raise ValueError(f"there is no day {day} in {year:04}-{month:02}")
    shifted = year - (month < 3)  # years that begin in March end with the day that some years have more
    era, of_era = divmod(shifted, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


def date_of(day: int) -> tuple[int, int, int]:
    """Year, month and day."""
    era, of_era = divmod(day + 719468, 146097)
    year_of_era = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + (3 if shifted < 10 else -9)
    return year_of_era + era * 400 + (month < 3), month, of_year - (153 * shifted + 2) // 5 + 1


def month_length(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if leap and month == 2 else _MONTHS[month - 1]


def months_later(day: int, months: int) -> int:
    """The same day of another month, or its last where it is shorter."""
    year, month, of_month = date_of(day)
    years, month = divmod(month - 1 + months, 12)
    return day_of(year + years, month + 1, min(of_month, month_length(year + years, month + 1)))


@record(frozen=True, slots=True)
class Week:
    """A day by its week. day: Monday is 1."""

    year: int
    week: int
    day: int


def week_of(day: int) -> Week:
    weekday = (day + 3) % 7 + 1
    year, *_ = date_of(day - weekday + 4)
    return Week(year, (day - weekday + 4 - day_of(year)) // 7 + 1, weekday)


def day_of_week(year: int, week: int = 1, weekday: int = 1) -> int:
    first = day_of(year, 1, 4)
    found = first - (first + 3) % 7 + (week - 1) * 7 + weekday - 1
    if not 1 <= weekday <= 7 or not 1 <= week <= 53 or week_of(found).year != year:
        raise ValueError(f"there is no day {weekday} of week {week} in {year:04}")
    return found


def day_of_year(year: int, ordinal: int) -> int:
    found = day_of(year) + ordinal - 1
    if ordinal < 1 or date_of(found)[0] != year:
        raise ValueError(f"there is no day {ordinal} in {year:04}")
    return found


def day_of_quarter(year: int, quarter: int = 1, ordinal: int = 1) -> int:
    if not 1 <= quarter <= 4:
        raise ValueError(f"there is no quarter {quarter}")
    found = day_of(year, 3 * quarter - 2) + ordinal - 1
    if ordinal < 1 or quarter_of(found)[:2] != (year, quarter):
        raise ValueError(f"there is no day {ordinal} in quarter {quarter} of {year:04}")
    return found


def quarter_of(day: int) -> tuple[int, int, int]:
    """Year, quarter and the day in it."""
    year, month, _ = date_of(day)
    quarter = (month + 2) // 3
    return year, quarter, day - day_of(year, 3 * quarter - 2) + 1
