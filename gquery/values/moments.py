"""Dates, times of the day and points in time: exact, to the nanosecond, of any year, with offsets and named zones."""

from __future__ import annotations

import datetime
import re
import zoneinfo
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from gquery.records import record
from gquery.values import days
from gquery.values.durations import SECOND

Family = Literal["date", "localtime", "time", "localdatetime", "datetime"]
DAY = 86400 * SECOND  # nanoseconds
_MINUTE, _HOUR = 60 * SECOND, 3600 * SECOND

_DATE = (
    r"(?P<year>[+-]\d{1,9}|\d{4})(?:-?(?:W(?P<week>\d\d)(?:-?(?P<weekday>\d))?|(?P<ordinal>\d{3})(?!\d)"
    r"|(?P<month>\d\d)(?:-?(?P<day>\d\d))?))?"
)
_CLOCK = r"(?P<hour>\d\d)(?::?(?P<minute>\d\d)(?::?(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?)?"
_OFFSET = r"Z|[+-]\d\d(?::?\d\d(?::?\d\d)?)?"
_ZONE = rf"(?P<offset>{_OFFSET})?(?:\[(?P<zone>[\w/+-]+)\])?"
_DATED = re.compile(rf"{_DATE}(?:[T ](?P<clock>{_CLOCK}){_ZONE})?", re.ASCII)
_TIMED = re.compile(rf"T?(?P<clock>{_CLOCK}){_ZONE}", re.ASCII)

DATE_PARTS = ("year", "month", "day", "week", "dayOfWeek", "ordinalDay", "quarter", "dayOfQuarter")
TIME_PARTS = ("hour", "minute", "second", "millisecond", "microsecond", "nanosecond")
_OTHERS = ("date", "time", "datetime", "timezone", "epochSeconds", "epochMillis")
_HAS_DATE = ("date", "localdatetime", "datetime")


@record(frozen=True, slots=True)
class Moment:
    """date: days since 1970-01-01; time: nanoseconds of the day; both as a clock on the wall shows them. offset:
    seconds that this clock is ahead of UTC. zone: the name of the zone, if it has one. None where there is no such
    part."""

    date: int | None = None
    time: int | None = None
    offset: int | None = None
    zone: str | None = None

    @property
    def family(self) -> Family:
        if self.time is None:
            return "date"
        if self.date is None:
            return "localtime" if self.offset is None else "time"
        return "localdatetime" if self.offset is None else "datetime"

    @property
    def instant(self) -> int:
        """Nanoseconds since 1970-01-01 in UTC; of a time of the day, those of the day in UTC."""
        return (self.date or 0) * DAY + (self.time or 0) - (self.offset or 0) * SECOND

    def __str__(self) -> str:
        date = "" if self.date is None else _date_text(self.date)
        time = "" if self.time is None else _time_text(self.time)
        offset = "" if self.offset is None else offset_text(self.offset)
        return date + ("T" if date and time else "") + time + offset + (f"[{self.zone}]" if self.zone else "")

    def __repr__(self) -> str:
        """Users see it within elements, where Python has no such year."""
        return str(self)


# --- from texts --------------------------------------------------------------------------------------------------


def parse_moment(text: str, family: Family) -> Moment:
    """The text as one of the family; what it has no zone for is UTC's. Raises ValueError."""
    dated = family in _HAS_DATE
    found = (_DATED if dated else _TIMED).fullmatch(text) if len(text) <= 80 else None
    if found is None or (family == "date" and found["clock"]):
        raise ValueError(f"{text!r} is no {_CALLED[family]}")
    date = _read_date(found) if dated else None
    time = None if family == "date" else _read_clock(found) if found["clock"] else 0
    if family in ("date", "localtime", "localdatetime"):
        if time is not None and (found["offset"] or found["zone"]):
            raise ValueError(f"{text!r} has a zone, which a {_CALLED[family]} has not")
        return Moment(date, time)
    if found["zone"]:
        moment = placed(Moment(date, time), found["zone"])
        known = found["offset"] is None or seconds_of(found["offset"]) == moment.offset
        return moment if known else moved(Moment(date, time, seconds_of(found["offset"])), found["zone"])
    return Moment(date, time, seconds_of(found["offset"] or "Z"))


_CALLED = {
    "date": "date", "localtime": "time of the day without a zone", "time": "time of the day",
    "localdatetime": "point in time without a zone", "datetime": "point in time",
}  # fmt: skip


def _read_date(found: re.Match[str]) -> int:
    year = int(found["year"])
    if found["week"]:
        return days.day_of_week(year, int(found["week"]), int(found["weekday"] or 1))
    if found["ordinal"]:
        return days.day_of_year(year, int(found["ordinal"]))
    return days.day_of(year, int(found["month"] or 1), int(found["day"] or 1))


def _read_clock(found: re.Match[str]) -> int:
    fraction = int((found["fraction"] or "0").ljust(9, "0"))
    return _clock(int(found["hour"]), int(found["minute"] or 0), int(found["second"] or 0), fraction)


def _clock(hour: int, minute: int, second: int, nanosecond: int) -> int:
    limits = (("hour", hour, 24), ("minute", minute, 60), ("second", second, 60), ("nanosecond", nanosecond, SECOND))
    for name, value, limit in limits:
        if not 0 <= value < limit:
            raise ValueError(f"there is no {name} {value}")
    return hour * _HOUR + minute * _MINUTE + second * SECOND + nanosecond


# --- zones -------------------------------------------------------------------------------------------------------


def seconds_of(offset: str) -> int:
    """Of an offset that is written as `Z`, `+01`, `+0130` or `+01:30`."""
    if offset == "Z":
        return 0
    digits = offset[1:].replace(":", "").ljust(6, "0")
    hours, minutes, seconds = int(digits[:2]), int(digits[2:4]), int(digits[4:])
    if hours * 3600 + minutes * 60 + seconds > 18 * 3600 or minutes > 59 or seconds > 59:
        raise ValueError(f"there is no offset {offset}")
    return (hours * 3600 + minutes * 60 + seconds) * (-1 if offset[0] == "-" else 1)


def offset_text(seconds: int) -> str:
    if not seconds:
        return "Z"
    hours, rest = divmod(abs(seconds), 3600)
    last = f":{rest % 60:02}" if rest % 60 else ""
    return f"{'-' if seconds < 0 else '+'}{hours:02}:{rest // 60:02}{last}"


def placed(moment: Moment, zone: str) -> Moment:
    """What the clock shows, in a zone: an offset or a name. Where it shows that twice, as clocks are put back, with the
    offset that the moment has already; else the first time."""
    if re.fullmatch(_OFFSET, zone):
        return replace(moment, offset=seconds_of(zone), zone=None)
    shown, own = (moment.date or 0) * 86400 + (moment.time or 0) // SECOND, moment.offset
    offset = _offset_at(zone, shown, local=True)
    if own is not None and own != offset and _offset_at(zone, shown - own, local=False) == own:
        offset = own
    return replace(moment, offset=offset, zone=None if moment.date is None else zone)


def moved(moment: Moment, zone: str) -> Moment:
    """The same instant in another zone."""
    is_offset = re.fullmatch(_OFFSET, zone)
    offset = seconds_of(zone) if is_offset else _offset_at(zone, moment.instant // SECOND, local=False)
    local = moment.instant + offset * SECOND
    named = None if is_offset or moment.date is None else zone
    return Moment(None if moment.date is None else local // DAY, local % DAY, offset, named)


def _offset_at(zone: str, seconds: int, local: bool) -> int:
    """The seconds that a zone is ahead of UTC. Beyond the years that Python has, those of the year nearest to it."""
    try:
        known = zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"there is no time zone {zone!r}") from None
    least, most = -62135510400, 253402214400
    at = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=min(max(seconds, least), most))
    found = at.replace(tzinfo=known) if local else at.replace(tzinfo=datetime.UTC).astimezone(known)
    offset = found.utcoffset()
    assert offset is not None
    return int(offset.total_seconds())


# --- from parts --------------------------------------------------------------------------------------------------


def moment_of(parts: Mapping[str, object], family: Family) -> Moment:
    """Of parts by their names; `date`, `time` and `datetime` give those that are not named. Raises ValueError."""
    _expect_known(parts, family)
    of = {name: value for name, value in parts.items() if isinstance(value, int) and not isinstance(value, bool)}
    if "epochSeconds" in of or "epochMillis" in of:
        return _from_epoch(of, parts, family)
    date = _based(parts, "date") if family in _HAS_DATE else None
    time = _based(parts, "time") if family != "date" else None
    clock = time or Moment()
    base = Moment(None if date is None else date.date, clock.time or 0, clock.offset, clock.zone)
    if family == "date":
        return Moment(_select_date(of, base.date))
    found = Moment(None if family == "localtime" or family == "time" else _select_date(of, base.date), base.time)
    if family in ("localtime", "localdatetime"):
        return replace(found, time=_select_time(of, base.time or 0))
    zone = parts.get("timezone")
    if zone is not None and not isinstance(zone, str):
        raise ValueError(f"a time zone is a text, not {zone!r}")
    if base.offset is not None:
        found = placed(replace(found, offset=base.offset), base.zone or offset_text(base.offset))
        found = moved(found, zone) if zone else found
    shown = replace(found, time=_select_time(of, found.time or 0))
    if found.offset is not None and not found.zone:
        return shown
    return placed(shown, found.zone or zone or "Z")


def _expect_known(parts: Mapping[str, object], family: Family) -> None:
    known = (*(DATE_PARTS if family in _HAS_DATE else ()), *(TIME_PARTS if family != "date" else ()), *_OTHERS)
    for name, value in parts.items():
        if name not in known:
            raise ValueError(f"a {_CALLED[family]} has no {name}; it has {', '.join(known)}")
        if name not in _OTHERS and (isinstance(value, bool) or not isinstance(value, int)):
            raise ValueError(f"{name} is a whole number, not {value!r}")


def _based(parts: Mapping[str, object], name: str) -> Moment | None:
    base = parts.get(name, parts.get("datetime"))
    if base is not None and not isinstance(base, Moment):
        raise ValueError(f"{name} is a {name}, not {base!r}")
    if base is not None and (base.date if name == "date" else base.time) is None:
        raise ValueError(f"{base} has no {name}")
    return base


def _from_epoch(of: Mapping[str, int], parts: Mapping[str, object], family: Family) -> Moment:
    nanoseconds = of.get("epochSeconds", 0) * SECOND + of.get("epochMillis", 0) * 10**6 + of.get("nanosecond", 0)
    utc = Moment(nanoseconds // DAY, nanoseconds % DAY, 0)
    return converted(moved(utc, str(parts.get("timezone") or "Z")), family)


def _select_date(of: Mapping[str, int], base: int | None) -> int:
    if "year" not in of and base is None:
        raise ValueError("a date needs a year")
    if "week" in of or "dayOfWeek" in of:
        week = days.Week(0, 1, 1) if base is None else days.week_of(base)
        return days.day_of_week(of.get("year", week.year), of.get("week", week.week), of.get("dayOfWeek", week.day))
    year, month, day = (0, 1, 1) if base is None else days.date_of(base)
    if "ordinalDay" in of:
        return days.day_of_year(of.get("year", year), of["ordinalDay"])
    if "quarter" in of or "dayOfQuarter" in of:
        _, quarter, ordinal = (0, 1, 1) if base is None else days.quarter_of(base)
        return days.day_of_quarter(of.get("year", year), of.get("quarter", quarter), of.get("dayOfQuarter", ordinal))
    return days.day_of(of.get("year", year), of.get("month", month), of.get("day", day))


def _select_time(of: Mapping[str, int], base: int) -> int:
    """Of a second that is not named whole, the thousandths, millionths and billionths add up."""
    hour, minute, second = base // _HOUR, base // _MINUTE % 60, base // SECOND % 60
    finer = {"millisecond": 10**6, "microsecond": 1000, "nanosecond": 1}
    left, below, fraction = base % SECOND, SECOND, 0
    for name, unit in finer.items():
        own, left = divmod(left, unit)
        limit = below // unit if any(other in of for other in finer if finer[other] > unit) or own else SECOND // unit
        if name in of and not 0 <= of[name] < limit:
            raise ValueError(f"there is no {name} {of[name]}")
        fraction += of.get(name, own) * unit
        below = unit if name in of or own else below
    return _clock(of.get("hour", hour), of.get("minute", minute), of.get("second", second), fraction)


def converted(moment: Moment, family: Family) -> Moment:
    """As one of another family: without what that does not have; midnight where there is no time, UTC where no zone."""
    if family in _HAS_DATE and moment.date is None:
        raise ValueError(f"{moment} has no date")
    if family in ("localtime", "time") and moment.time is None:
        raise ValueError(f"{moment} has no time")
    date = moment.date if family in _HAS_DATE else None
    time = None if family == "date" else moment.time or 0
    if family in ("time", "datetime"):
        return Moment(date, time, moment.offset or 0, moment.zone if family == "datetime" else None)
    return Moment(date, time)


# --- texts -------------------------------------------------------------------------------------------------------


def _date_text(date: int) -> str:
    year, month, day = days.date_of(date)
    shown = f"{year:04}" if 0 <= year <= 9999 else f"{'-' if year < 0 else '+'}{abs(year):04}"
    return f"{shown}-{month:02}-{day:02}"


def _time_text(time: int) -> str:
    """Seconds only where there are some, and no more digits than it takes."""
    minutes, nanoseconds = divmod(time, _MINUTE)
    shown = f"{minutes // 60:02}:{minutes % 60:02}"
    if not nanoseconds:
        return shown
    seconds, fraction = divmod(nanoseconds, SECOND)
    return f"{shown}:{seconds:02}" + (f".{fraction:09}".rstrip("0") if fraction else "")
