"""The budget of one query: what it holds besides the graph, counted before it is allocated."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from gquery.errors import MemoryLimitError

DEFAULT_BUFFERS = 256 * 2**20  # bytes for partial matches when no limit is set
_ROW = 2**10  # bytes of a limit for each row of a batch, which is in several hands at once
_FEWEST_ROWS = 1 << 13


class Budget:
    """Bytes in use and at most; `limit` None counts without refusing. Safe from several threads."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.used = 0
        self.peak = 0
        self._lock = threading.Lock()

    def reserve(self, size: int, purpose: str) -> None:
        """Takes `size` bytes; raises MemoryLimitError when they would pass the limit."""
        with self._lock:
            if self.limit is not None and self.used + size > self.limit:
                raise MemoryLimitError(
                    f"{purpose} needs {_readable(size)}, {_readable(max(0, self.limit - self.used))} are left of the "
                    f"limit of {_readable(self.limit)}",
                    hint="raise memory_limit, or make the pattern more selective",
                )
            self.used += size
            self.peak = max(self.peak, self.used)

    def release(self, size: int) -> None:
        with self._lock:
            self.used -= size

    @contextmanager
    def taken(self, size: int, purpose: str) -> Iterator[None]:
        """Takes `size` bytes for a while."""
        self.reserve(size, purpose)
        try:
            yield
        finally:
            self.release(size)

    def rows(self, most: int) -> int:
        """How many rows a batch may have: `most`, or fewer where the limit is small."""
        return most if self.limit is None else min(most, max(_FEWEST_ROWS, self.limit // _ROW))

    def part(self) -> PartOfBudget:
        return PartOfBudget(self)

    @property
    def available(self) -> int | None:
        """Bytes left, None when there is no limit."""
        return None if self.limit is None else max(0, self.limit - self.used)


class Reserved(NamedTuple):
    """What something took of a budget: at most, and for as long as it is used."""

    most: int
    left: int

    def again(self, memory: Budget, purpose: str) -> None:
        """Takes the same."""
        memory.reserve(self.most, purpose)
        memory.release(self.most - self.left)


class Taking:
    """What is taken of a budget from now on, by one who is alone with it."""

    def __init__(self, memory: Budget) -> None:
        self._memory, self._used, self._peak = memory, memory.used, memory.peak

    def reserved(self) -> Reserved:
        memory = self._memory
        left = memory.used - self._used
        return Reserved(memory.peak - self._used if memory.peak > self._peak else max(0, left), left)


class PartOfBudget(Budget):
    """What a step of a query takes of the whole's budget: `close` gives all of it back."""

    def __init__(self, whole: Budget) -> None:
        super().__init__(whole.limit)
        self._whole = whole

    def reserve(self, size: int, purpose: str) -> None:
        self._whole.reserve(size, purpose)
        with self._lock:
            self.used += size
            self.peak = max(self.peak, self.used)

    def release(self, size: int) -> None:
        self._whole.release(size)
        super().release(size)

    @property
    def available(self) -> int | None:
        return self._whole.available

    def close(self) -> None:
        self.release(self.used)


def _readable(size: int) -> str:
    value = float(size)
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
