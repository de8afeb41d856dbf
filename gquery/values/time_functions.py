"""The functions of dates, times and durations: of texts, maps of parts, and each other. All raise ValueError or
OverflowError for what they cannot take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gquery.values.durations import Duration, duration_of, parse_duration, parted, times
from gquery.values.moments import Family, Moment, converted, moment_of, parse_moment
from gquery.values.time_arithmetic import between, in_days, in_months, in_seconds, truncated

FAMILIES: tuple[Family, ...] = ("date", "localtime", "time", "localdatetime", "datetime")
_CLOCKS = ("transaction", "statement", "realtime")
EPOCHS = ("datetime.fromepoch", "datetime.fromepochmillis")
"""Functions of whole numbers."""

_BASES = frozenset({"date", "time", "datetime", "epochSeconds", "epochMillis"})  # of a map


def calculated(name: str, arguments: list[Any]) -> Moment | Duration | None:
    """What the function gives; null where an argument is."""
    return None if None in arguments else (SCALINGS.get(name) or FUNCTIONS[name][1])(*arguments)


def _made(family: Family) -> Callable[[Any], Moment | None]:
    def make(value: Any) -> Moment | None:
        if isinstance(value, str):
            return parse_moment(value, family)
        if isinstance(value, Mapping):
            return None if _is_unknown(value) else moment_of(_named(value), family)
        if isinstance(value, Moment):
            return converted(value, family)
        raise ValueError(f"{family}() takes a text, a map or another date or time, not {value!r}")

    return make


def _is_unknown(parts: Mapping[str, Any]) -> bool:
    """Whether what all other parts stand on is null."""
    missing = {name for name, part in parts.items() if part is None}
    return bool(missing & _BASES) or ("year" in missing and parts.keys().isdisjoint(_BASES))


def _named(parts: Mapping[str, Any]) -> dict[str, Any]:
    """A part that is null is as one that is not named."""
    return {name: part for name, part in parts.items() if part is not None}


def _since_epoch(*keys: str) -> Callable[..., Moment]:
    def since(*numbers: Any) -> Moment:
        if not all(type(number) is int for number in numbers):
            raise ValueError("points in time are made of whole numbers here")
        return moment_of(dict(zip(keys, numbers, strict=True)), "datetime")

    return since


def _made_duration(value: Any) -> Duration:
    if isinstance(value, str):
        return parse_duration(value)
    if isinstance(value, Mapping):
        return duration_of(value)
    if isinstance(value, Duration):
        return value
    raise ValueError(f"duration() takes a text, a map or another duration, not {value!r}")


def _cut(family: Family) -> Callable[..., Moment]:
    def cut(unit: Any, value: Any, parts: Any = None) -> Moment:
        if not isinstance(value, Moment) or not isinstance(unit, str) or not isinstance(parts, Mapping | None):
            raise ValueError(f"{family}.truncate() takes the name of a unit, a date or time, and a map")
        return truncated(unit, value, family, _named(parts or {}))

    return cut


def _between(function: Callable[[Moment, Moment], Duration]) -> Callable[[Any, Any], Duration]:
    def lying(one: Any, other: Any) -> Duration:
        if not isinstance(one, Moment) or not isinstance(other, Moment):
            raise ValueError("a duration lies between two dates or times")
        return function(one, other)

    return lying


SCALINGS: Mapping[str, Callable[[Any, Any], Duration]] = {
    "*": lambda one, other: times(one, other) if isinstance(one, Duration) else times(other, one),
    "/": parted,
}
"""Operators of a duration and a number."""

FUNCTIONS: Mapping[str, tuple[int, Callable[..., Moment | Duration | None]]] = {
    **{family: (1, _made(family)) for family in FAMILIES},
    **{f"{family}.{clock}": (1, _made(family)) for family in FAMILIES for clock in _CLOCKS},
    **{f"{family}.truncate": (3, _cut(family)) for family in FAMILIES},
    "datetime.fromepoch": (2, _since_epoch("epochSeconds", "nanosecond")),
    "datetime.fromepochmillis": (1, _since_epoch("epochMillis")),
    "duration": (1, _made_duration), "duration.between": (2, _between(between)),
    "duration.inmonths": (2, _between(in_months)), "duration.indays": (2, _between(in_days)),
    "duration.inseconds": (2, _between(in_seconds)),
}  # fmt: skip
"""How many arguments each takes, and what it gives: null, too, of a map without what its parts stand on."""
