"""Texts that can be read as dates and times, and the zones that they are in."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from gquery.planner.ir.expr import Call, Constant
from gquery.planner.ir.types.common_type import temporal_family
from gquery.records import record
from gquery.stopping import Check, unchecked
from gquery.values.durations import Duration, parse_duration
from gquery.values.many import columns_of, in_parts, kinds_of
from gquery.values.moments import Family, Moment, parse_moment

_OFFSET = r"(?P<offset>Z|[+-](?:0\d|1[0-8])(?::?[0-5]\d)?)?"
_CLOCK = r"\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?"
_POINT = re.compile(rf"(?P<date>\d{{4}}-\d{{2}}-\d{{2}})(?:[T ](?P<clock>{_CLOCK}){_OFFSET})?", re.ASCII)
_TIME = re.compile(_CLOCK, re.ASCII)


@record(frozen=True, slots=True)
class Reading:
    """What a text can be read as. `zone`: the offset from UTC that it names, as Arrow spells it: `UTC`, `+01:00`.
    `unit`: the one that it needs, whatever the values beside it have: nanoseconds are named, or the year has none."""

    family: Literal["date", "datetime", "time"]
    zone: str | None = None
    unit: Literal["us", "ns"] | None = None


def reading(text: str) -> Reading | None:
    """None for a text that is no ISO 8601 date, date and time, or time of the day, or that names nanoseconds of a year
    that has none."""
    if not text[:1].isdigit() or len(text) > 40 or (text[2:3] != ":" and text[4:5] != "-"):
        return None
    point = _POINT.fullmatch(text)
    clock = point["clock"] if point else text
    try:
        if point:
            datetime.date.fromisoformat(point["date"])
        elif not _TIME.fullmatch(text):
            return None
        if clock:
            datetime.time.fromisoformat(clock[:15])
    except ValueError:
        return None
    unit: Literal["us", "ns"] | None = "ns" if clock and len(clock.partition(".")[2].rstrip("0")) > 6 else None
    if point is None:
        return Reading("time", unit=unit)
    if not "1678" <= point["date"][:4] < "2262":
        if unit == "ns":
            return None
        unit = "us"
    return Reading("datetime" if clock else "date", _zone_of(point["offset"]), unit)


def readings(value: object, check: Check = unchecked) -> object:
    """What binding asks of the texts in a parameter's value: nothing (None) of most."""
    match value:
        case None | bool() | int() | float():
            return None
        case str():
            return reading(value)
        case Mapping():
            found = tuple((str(key), readings(item, check)) for key, item in value.items())
            return found if any(each for _, each in found) else None
        case list() | tuple() | set() | frozenset():
            return frozenset(each for part in in_parts(value, check) for each in _readings_of(part, check)) or None
    return None if plain(value) is value else readings(plain(value), check)


def _readings_of(items: list[Any], check: Check) -> Iterable[object]:
    """Those of items that have any."""
    kinds = kinds_of(items)
    if kinds <= _UNREADABLE:
        return ()
    if kinds == {str}:
        return filter(None, map(reading, filter(None, items)))
    columns = columns_of(items)
    if columns is not None and not any(any(_readings_of(values, check)) for values in columns.values()):
        return ()
    return filter(None, (readings(item, check) for item in items))


_UNREADABLE = frozenset({int, float, bool})


def plain(value: Any) -> Any:
    """A NumPy scalar or array, a pandas or Arrow column as Python's own value; everything else as it is."""
    listed = getattr(value, "tolist", None)
    return listed() if callable(listed) else value


def _zone_of(offset: str | None) -> str | None:
    if offset is None:
        return None
    digits = offset[1:].replace(":", "").ljust(4, "0")
    return "UTC" if offset == "Z" or digits == "0000" else f"{offset[0]}{digits[:2]}:{digits[2:]}"


def known_moment(expression: Call) -> Moment | Duration:
    """What the call `moment` stands for."""
    (text,) = expression.arguments
    assert isinstance(text, Constant)
    family = temporal_family(expression.type.arrow)
    if family == "duration":
        return parse_duration(str(text.value))
    zoned = getattr(expression.type.arrow, "tz", None) is not None
    names: Mapping[str, Family] = {"date": "date", "time": "localtime", "zoned time": "time"}
    return parse_moment(str(text.value), names.get(family, "datetime" if zoned else "localdatetime"))
