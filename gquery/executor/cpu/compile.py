"""How kernels are compiled: once per machine, without the interpreter's lock and without Numba's runtime.

Kernels allocate nothing, so they can do without the runtime, and then their array arguments are not reference counted:
the atomic counting inside the inner loops took more than half of the enumeration's time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

_OPTIONS: dict[str, Any] = {"nogil": True, "cache": True, "_nrt": False}


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """A compiled function that stays a function."""
    compiled: Callable[..., Any] = njit(**_OPTIONS)(function)
    return compiled


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """A compiled function that becomes part of its callers: passing many arrays costs more than the work done."""
    compiled: Callable[..., Any] = njit(inline="always", **_OPTIONS)(function)
    return compiled
