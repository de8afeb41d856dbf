"""Copies of long arrays of which few numbers change: only the pages that are written to are copied."""

from __future__ import annotations

import mmap
import os

import numpy as np
from numpy.typing import NDArray

_SHORT = 1 << 20  # bytes that are copied as quickly as they are mapped


class PrivateCopies:
    """An array in a file that is in memory alone, where the system has such: a copy is a private map of it."""

    def __init__(self, words: NDArray[np.uint64]) -> None:
        self._words: NDArray[np.uint64] | None = words
        self._file: int | None = None
        self._count = len(words)
        if words.nbytes > _SHORT and hasattr(os, "memfd_create"):
            self._file = os.memfd_create("gquery")
            os.ftruncate(self._file, words.nbytes)
            with mmap.mmap(self._file, words.nbytes) as whole:
                np.frombuffer(whole, np.uint64)[:] = words
            self._words = None

    def copy(self, count: int) -> NDArray[np.uint64]:
        """The numbers, to be written to; zeros behind them, where more are asked for."""
        if self._words is not None:
            return np.concatenate([self._words, np.zeros(count - self._count, np.uint64)])
        assert self._file is not None
        if count > self._count:
            os.ftruncate(self._file, 8 * count)
            self._count = count
        private = mmap.mmap(self._file, 8 * count, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        return np.frombuffer(private, np.uint64)

    def __del__(self) -> None:
        if self._file is not None:
            os.close(self._file)
