"""The roots of a count, share by share for whoever has nothing to do."""

from __future__ import annotations

import time
from threading import Lock, get_ident

from gquery.executor.progress import Control

_PARTS = 64  # of what each is about to do: no share is smaller


class Shares:
    """Roots 0 .. count - 1 for so many workers, share by share. The first begins alone with little, which tells how
    much it can do until others join, `after` seconds from now. From when they have joined, large shares come first and
    small ones last: guided self-scheduling (Polychronopoulos and Kuck, 1987)."""

    def __init__(self, count: int, workers: int, control: Control, after: float) -> None:
        self._count = count
        self._control = control
        self._begun = 0
        self._least = max(1, count // (_PARTS * workers))
        self._joined: set[int] = set()
        self._started = time.monotonic()
        self._until = self._started + after
        self._lock = Lock()
        self.stopped = False

    def next(self) -> tuple[int, int] | None:
        """From a root to another, the last not included; None when there are none left. Each worker asks in a thread of
        its own."""
        with self._lock:
            left = self._count - self._begun
            self._joined.add(get_ident())
            if self.stopped or not left:
                return None
            size = min(left, max(self._least, self._size(left)))
            self._begun += size
            self._control.reached(self._begun / self._count)
            return self._begun - size, self._begun

    def _size(self, left: int) -> int:
        if len(self._joined) > 1:
            return left // (2 * len(self._joined))
        now = time.monotonic()
        spent = max(now - self._started, 1e-9)
        return int(self._begun * (self._until - now) / spent) if self._begun else 0

    def stop(self) -> None:
        """Nobody gets another share, and those that work stop soon."""
        self.stopped = True
