"""The roots of a count, share by share for whoever has nothing to do."""

from __future__ import annotations

from threading import Lock

from gquery.executor.progress import Control

_FEWEST = 64  # parts of what each is about to do: the last shares are that small


class Shares:
    """Roots 0 .. count - 1 for so many workers: large shares first, small ones at the end."""

    def __init__(self, count: int, workers: int, control: Control) -> None:
        self._count = count
        self._workers = workers
        self._control = control
        self._begun = 0
        self._lock = Lock()
        self.stopped = False

    def next(self) -> tuple[int, int] | None:
        """From a root to another, the last not included; None when there are none left."""
        with self._lock:
            left = self._count - self._begun
            if self.stopped or not left:
                return None
            size = min(left, max(1, left // (4 * self._workers), self._count // (_FEWEST * self._workers)))
            self._begun += size
            self._control.fraction = self._begun / self._count
            return self._begun - size, self._begun

    def stop(self) -> None:
        """Nobody gets another share, and those that work stop soon."""
        self.stopped = True
