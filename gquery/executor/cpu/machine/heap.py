"""Keeps the memory of one query for the next.

The C library gives large freed blocks back to the system at once, and every query would fetch its megabytes anew: a
page fault for every 4 kB, which for queries of a few milliseconds was a third of the time.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

_KEPT = 64 << 20  # bytes of free memory that stay with the process
_MAPPED = 32 << 20  # bytes from which on a block has pages of its own, given back when it is freed

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # parameters of mallopt(3)


def keep_freed_memory() -> None:
    """Raises the thresholds of glibc's malloc; does nothing elsewhere, or where the user has set them."""
    if any(name.startswith("MALLOC_") or name == "GLIBC_TUNABLES" for name in os.environ):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if mallopt is not None:
        mallopt(_TRIM_THRESHOLD, _KEPT)
        mallopt(_MMAP_THRESHOLD, _MAPPED)


def scattered_zeros(size: int, dtype: type[Any]) -> NDArray[Any]:
    """Zeros few of which are looked at: the pages of the others are never made, where kept memory would be cleared."""
    return np.frombuffer(mmap.mmap(-1, max(1, size * np.dtype(dtype).itemsize)), dtype, size)
