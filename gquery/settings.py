"""Everything a session or a single query can set, with its default."""

from __future__ import annotations

import math
import numbers
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast, get_args

from gquery.errors import BindError, did_you_mean

MatchMode = Literal["different edges", "different nodes", "repeatable elements", "induced"]
Device = Literal["auto", "cpu", "gpu"]


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Settings:
    """mode: how far matches may repeat elements; device: where patterns are matched; timeout: seconds or None;
    memory_limit: bytes that one query may hold besides the graph, or None; threads: workers of the CPU backend; strict:
    whether labels, types and properties that the graph does not have are errors, or no element's and warned of."""

    mode: MatchMode = "different edges"
    device: Device = "auto"
    timeout: float | None = None
    memory_limit: int | None = None
    threads: int = field(default_factory=_usable_cores)
    strict: bool = True

    def changed(self, **changes: Any) -> Settings:
        """These settings with others; values as users write them. Raises BindError for one that does not exist or has
        no sense."""
        if not changes:
            return self
        for name in changes.keys() - _READERS.keys():
            hint = did_you_mean(name, _READERS) or "there are " + ", ".join(_READERS)
            raise BindError(f"there is no setting `{name}`", hint=hint)
        return replace(self, **{name: _READERS[name](value) for name, value in changes.items()})


def parse_mode(text: str) -> MatchMode:
    """A match mode by name, in any case and spacing."""
    name = " ".join(str(text).lower().replace("_", " ").split())
    if name not in get_args(MatchMode):
        raise BindError(
            f"unknown match mode `{text}`",
            hint=did_you_mean(name, get_args(MatchMode)) or "the modes are " + ", ".join(get_args(MatchMode)),
        )
    return cast(MatchMode, name)


def parse_device(text: str) -> Device:
    """A device by name."""
    name = str(text).lower()
    if name not in get_args(Device):
        raise BindError(f"there is no device `{text}`", hint="there are " + ", ".join(get_args(Device)))
    return cast(Device, name)


_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_MOST_MEMORY = 2**62  # bytes


def parse_memory(size: int | str | None) -> int | None:
    """Bytes from an integer or from text such as `512MB`, `1GiB`, `2.5 GB`."""
    if size is None:
        return None
    match = re.fullmatch(r"\s*(\d{1,30}(?:\.\d{1,30})?)\s*([kmgt]?i?)b?\s*", _shortened(size).lower(), re.ASCII)
    bytes_ = float(match[1]) * _UNITS[match[2]] if match and match[2] in _UNITS else 0.0
    if isinstance(size, bool) or not 1 <= bytes_ < _MOST_MEMORY:
        raise BindError(
            f"memory limit `{_shortened(size)}` is not a size", hint="write bytes, or a text such as '512MB' or '2GiB'"
        )
    return int(bytes_)


def _shortened(value: object) -> str:
    """A value as text, cut where nobody would read on: a number may have too many digits to be written at all."""
    try:
        return f"{value!s:.80}"
    except ValueError:
        return "a number of thousands of digits"


def parse_timeout(seconds: float | None) -> float | None:
    """A positive number of seconds, or None for no end."""
    if seconds is None:
        return None
    number = 0.0
    if isinstance(seconds, numbers.Real) and not isinstance(seconds, bool):
        with suppress(OverflowError):
            number = float(seconds)
    if not 0 < number < math.inf:
        raise BindError(
            f"timeout `{_shortened(seconds)}` is not a number of seconds", hint="write a number above 0, such as 0.5"
        )
    return number


_MOST_THREADS = 1024


def parse_threads(threads: int) -> int:
    """A number of workers."""
    number = -1
    if isinstance(threads, numbers.Integral) and not isinstance(threads, bool):
        number = int(threads)
    if not 1 <= number <= _MOST_THREADS:
        raise BindError(f"`{_shortened(threads)}` is not a number of threads", hint=f"write 1 to {_MOST_THREADS}")
    return number


def parse_strict(strict: bool | str) -> bool:
    """True or false; as text also `on` and `off`."""
    found = {"true": True, "on": True, "false": False, "off": False}.get(str(strict).lower())
    if found is None:
        raise BindError(f"strict is on or off, not `{_shortened(strict)}`")
    return found


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "mode": parse_mode,
    "device": parse_device,
    "timeout": parse_timeout,
    "memory_limit": parse_memory,
    "threads": parse_threads,
    "strict": parse_strict,
}
