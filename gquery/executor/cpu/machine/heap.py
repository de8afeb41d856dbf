"""Keeps the memory of one query for the next.

The C library gives large freed blocks back to the system at once, and every query would fetch its megabytes anew: a
page fault for every 4 kB, which for queries of a few milliseconds was a third of the time.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import weakref
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

_KEPT = 64 << 20  # bytes of free memory that stay with the process
_MAPPED = 32 << 20  # bytes from which on a block has pages of its own, given back when it is freed
_LARGE_PAGES = 4 << 20  # bytes from which on large pages are asked for
_WASTED = 4  # times as many pages of zeros as are needed, at most
_FREED = 2  # of these that are kept, each of half as much memory as stays

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # parameters of mallopt(3)


def keep_freed_memory() -> None:
    """Raises the thresholds of glibc's malloc; does nothing elsewhere, or where the user has set them."""
    if any(name.startswith("MALLOC_") or name == "GLIBC_TUNABLES" for name in os.environ):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if mallopt is not None:
        mallopt(_TRIM_THRESHOLD, _KEPT)
        mallopt(_MMAP_THRESHOLD, _MAPPED)


def scattered_zeros(size: int, dtype: type[Any], written: NDArray[np.integer[Any]]) -> NDArray[Any]:
    """Zeros that are written at some places alone: the pages of the others are never made, where kept memory would be
    cleared. When nobody has them any more, those places are cleared for the next who asks."""
    itemsize = np.dtype(dtype).itemsize
    pages = _FREE.take(size * itemsize) or _fresh(max(1, size * itemsize))
    lent = (ctypes.c_char * len(pages)).from_buffer(pages)
    weakref.finalize(lent, _FREE.give, pages, np.dtype(f"u{itemsize}"), written).atexit = False
    return np.frombuffer(memoryview(lent), dtype, size)


def dense_zeros(size: int, dtype: type[Any]) -> NDArray[Any]:
    """Zeros most of which are written, all over the place: on large pages where the system has some, which are made as
    they are written. Kept memory would be cleared first, by one thread."""
    if size * np.dtype(dtype).itemsize < _LARGE_PAGES:
        return np.zeros(size, dtype)
    pages = _fresh(size * np.dtype(dtype).itemsize)
    with suppress(AttributeError, OSError):  # elsewhere than on Linux, and where they are switched off
        pages.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(pages, dtype, size)


def _fresh(size: int) -> mmap.mmap:
    """Pages of zeros that no other process may have: shared ones are never large, and take twice as long to make."""
    if os.name == "posix":
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return mmap.mmap(-1, size)


class _Free:
    """Pages of zeros that nobody has, the newest last. Safe from several threads without a lock: what is given back may
    be so by the collection of garbage, in the middle of anything."""

    def __init__(self) -> None:
        self._pages: list[mmap.mmap] = []

    def take(self, size: int) -> mmap.mmap | None:
        """Some of so many bytes at least, but not of many more."""
        for pages in reversed(self._pages.copy()):
            if size <= len(pages) <= _WASTED * size:
                try:
                    self._pages.remove(pages)
                    return pages
                except ValueError:  # somebody else has just taken them
                    continue
        return None

    def give(self, pages: mmap.mmap, dtype: np.dtype[Any], written: NDArray[np.integer[Any]]) -> None:
        """Takes pages back that were written at some places."""
        np.frombuffer(pages, dtype, len(pages) // dtype.itemsize)[written] = 0
        if len(pages) <= _KEPT // _FREED:
            self._pages.append(pages)
            del self._pages[:-_FREED]


_FREE = _Free()
