"""The roots of a count, share by share for whoever has nothing to do."""

from __future__ import annotations

import time
from threading import Lock, get_ident

from gquery.executor.progress import Control

_PARTS = 32  # of what each is about to do: no share is smaller
_LARGEST = 8  # parts of all at least, while nobody has joined the first
_SOON = 0.02  # seconds; what takes less is followed by twice as much


class Shares:
    """Roots 0 .. count - 1 for so many workers, share by share. The first begins alone with little, and takes twice as
    much each time that it is soon back; from when others have joined, large shares come first and small ones last."""

    def __init__(self, count: int, workers: int, control: Control) -> None:
        self._count = count
        self._control = control
        self._begun = 0
        self._least = self._step = max(1, count // (_PARTS * workers))
        self._joined: set[int] = set()
        self._asked = time.monotonic()
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
            size = min(left, self._size(left))
            self._begun += size
            self._control.reached(self._begun / self._count)
            return self._begun - size, self._begun

    def _size(self, left: int) -> int:
        if len(self._joined) > 1:
            return max(self._least, left // (2 * len(self._joined)))
        before, self._asked = self._asked, time.monotonic()
        if self._begun and self._asked - before < _SOON:
            self._step = min(2 * self._step, max(self._step, self._count // _LARGEST))
        return self._step

    def stop(self) -> None:
        """Nobody gets another share, and those that work stop soon."""
        self.stopped = True
