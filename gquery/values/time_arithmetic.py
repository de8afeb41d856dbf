"""Moments and durations calculated with: sums, what lies between, and moments cut at a unit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gquery.values import days
from gquery.values.durations import SECOND, Duration
from gquery.values.moments import DAY, Family, Moment, converted, moment_of, moved, offset_text, placed

_MILLENNIA = {"millennium": 1000, "century": 100, "decade": 10, "year": 1}
_CLOCKS = {
    "day": DAY, "hour": 3600 * SECOND, "minute": 60 * SECOND, "second": SECOND, "millisecond": 10**6,
    "microsecond": 1000,
}  # fmt: skip
UNITS = (*_MILLENNIA, "weekYear", "quarter", "month", "week", *_CLOCKS)


def later(moment: Moment, duration: Duration, sign: int = 1) -> Moment:
    """The moment so much later; a date by whole days, a time of the day round the clock."""
    nanoseconds = sign * duration.nanoseconds
    if moment.date is None:
        return replace(moment, time=((moment.time or 0) + nanoseconds) % DAY)
    date = days.months_later(moment.date, sign * duration.months) + sign * duration.days
    if moment.time is None:
        whole = abs(nanoseconds) // DAY
        return replace(moment, date=date + (whole if nanoseconds > 0 else -whole))
    if moment.zone:  # clocks are turned: hours are those that pass
        begun = placed(replace(moment, date=date), moment.zone)
        utc = Moment(*divmod(begun.instant + nanoseconds, DAY), 0)
        return moved(utc, moment.zone)
    more, time = divmod(moment.time + nanoseconds, DAY)
    return replace(moment, date=date + more, time=time)


def between(one: Moment, other: Moment) -> Duration:
    """Months, then days, as clocks show them, then the time that passes from there to the second."""
    first, second = _beside(one, other)
    if one.date is None or other.date is None:
        return Duration(nanoseconds=second.instant - first.instant)
    begun, months = _months(first, second)
    left = _local(second) - _local(begun)
    whole = abs(left) // DAY * (1 if left > 0 else -1)
    near = later(begun, Duration(days=whole))
    return Duration(months, whole, second.instant - near.instant)


def in_months(one: Moment, other: Moment) -> Duration:
    first, second = _beside(one, other)
    if one.date is None or other.date is None:
        return Duration()
    return Duration(months=_months(first, second)[1])


def in_days(one: Moment, other: Moment) -> Duration:
    first, second = _beside(one, other)
    if one.date is None or other.date is None:
        return Duration()
    left = _local(second) - _local(first)
    return Duration(days=abs(left) // DAY * (1 if left > 0 else -1))


def in_seconds(one: Moment, other: Moment) -> Duration:
    first, second = _beside(one, other)
    return Duration(nanoseconds=second.instant - first.instant)


def truncated(unit: str, moment: Moment, family: Family, parts: Mapping[str, object]) -> Moment:
    """The moment at which its unit began, as one of a family, with some parts changed. Raises ValueError."""
    if unit not in UNITS:
        raise ValueError(f"there is no unit {unit!r}; there are {', '.join(UNITS)}")
    if unit not in _CLOCKS and moment.date is None:
        raise ValueError(f"{moment} has no {unit}")
    if moment.time is None and unit in _CLOCKS and unit != "day":
        raise ValueError(f"{moment} has no {unit}")
    date = moment.date if unit in _CLOCKS or moment.date is None else _begun(unit, moment.date)
    time = None if moment.time is None else moment.time // _CLOCKS[unit] * _CLOCKS[unit] if unit in _CLOCKS else 0
    cut = replace(moment, date=date, time=time)
    cut = placed(cut, cut.zone) if cut.zone else cut
    zone = parts.get("timezone")
    if isinstance(zone, str) and family in ("time", "datetime"):
        cut = placed(converted(cut, "localdatetime" if cut.date is not None else "localtime"), zone)
    own = converted(cut, family)
    others = {name: value for name, value in parts.items() if name != "timezone"}
    if not others:
        return own
    base = {name: own for name in ("date", "time") if getattr(own, name) is not None}
    return moment_of({**base, **others}, family)


def _begun(unit: str, date: int) -> int:
    year, month, _ = days.date_of(date)
    if unit in _MILLENNIA:
        return days.day_of(year // _MILLENNIA[unit] * _MILLENNIA[unit])
    if unit == "weekYear":
        return days.day_of_week(days.week_of(date).year)
    if unit == "quarter":
        return days.day_of(year, (month - 1) // 3 * 3 + 1)
    return days.day_of(year, month) if unit == "month" else date - days.week_of(date).day + 1


def _beside(one: Moment, other: Moment) -> tuple[Moment, Moment]:
    """Both as clocks of one zone show them, the first's where both have one; times of the day in their own, as no day
    is there that could be another one."""
    first, second = _completed(one, other), _completed(other, one)
    return first, second if first.offset is None or first.date is None else moved(second, _zone(first))


def _completed(moment: Moment, other: Moment) -> Moment:
    """With the date and the zone of the other where it has none of its own, so that these do not count; at midnight
    where it has no time."""
    found = replace(moment, date=other.date if moment.date is None else moment.date, time=moment.time or 0)
    return placed(found, _zone(other)) if found.offset is None and other.offset is not None else found


def _zone(moment: Moment) -> str:
    return moment.zone or offset_text(moment.offset or 0)


def _local(moment: Moment) -> int:
    return (moment.date or 0) * DAY + (moment.time or 0)


def _months(first: Moment, second: Moment) -> tuple[Moment, int]:
    """How many whole months lie between, and the first that much later. From the 31st to the end of a shorter month
    is no whole one."""
    assert first.date is not None
    assert second.date is not None
    (year, month, day), (other_year, other_month, other_day) = days.date_of(first.date), days.date_of(second.date)
    months = (other_year - year) * 12 + other_month - month
    begun, ended = (day, first.time or 0), (other_day, second.time or 0)
    if months > 0 and ended < begun:
        months -= 1
    elif months < 0 and _local(_months_later(first, months)) < _local(second):  # also where a day 31 becomes a day 30
        months += 1
    return _months_later(first, months), months


def _months_later(moment: Moment, months: int) -> Moment:
    assert moment.date is not None
    return replace(moment, date=days.months_later(moment.date, months))
