"""Everything a session or a single query can set, with its default."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Literal, cast, get_args

from gquery.errors import BindError, did_you_mean

MatchMode = Literal["different edges", "different nodes", "repeatable elements", "induced"]
Device = Literal["auto", "cpu", "gpu"]


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Settings:
    """mode: how far matches may repeat elements; device: where patterns are matched; timeout: seconds or None;
    memory_limit: bytes that one query may hold besides the graph, or None; threads: workers of the CPU backend."""

    mode: MatchMode = "different edges"
    device: Device = "auto"
    timeout: float | None = None
    memory_limit: int | None = None
    threads: int = field(default_factory=_usable_cores)


def parse_mode(text: str) -> MatchMode:
    """A match mode by name, in any case and spacing."""
    name = " ".join(text.lower().replace("_", " ").split())
    if name not in get_args(MatchMode):
        raise BindError(
            f"unknown match mode `{text}`",
            hint=did_you_mean(name, get_args(MatchMode)) or "the modes are " + ", ".join(get_args(MatchMode)),
        )
    return cast(MatchMode, name)


_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


def parse_memory(size: int | str | None) -> int | None:
    """Bytes from an integer or from text such as `512MB`, `1GiB`, `2.5 GB`."""
    if size is None:
        return None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", str(size).lower())
    if not match or match[2] not in _UNITS or float(match[1]) <= 0:
        raise BindError(f"memory limit `{size}` is not a size", hint="write bytes, or a text such as '512MB' or '2GiB'")
    return int(float(match[1]) * _UNITS[match[2]])
