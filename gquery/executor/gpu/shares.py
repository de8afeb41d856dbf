"""What a count consists of, share by share for whoever has nothing to do."""

from __future__ import annotations

import time
from collections.abc import Hashable
from threading import Lock, get_ident

from gquery.executor.progress import Control

_PARTS = 64  # of what each is about to do: no share is smaller
_AHEAD = 1.5  # times as much as its part is left for each worker, joined or not, when one takes a share


class Shares:
    """Numbers 0 .. count - 1 of one piece of a count after the other, each of which workers take share by share. The
    first begins alone with little, which tells how much it can do until others join, `after` seconds from now. From
    when they have joined, large shares come first and small ones last: guided self-scheduling (Polychronopoulos and
    Kuck, 1987)."""

    def __init__(self, workers: int, control: Control, after: float) -> None:
        self._workers = workers
        self._control = control
        self._begun: dict[Hashable, int] = {}
        self._joined: set[int] = set()
        self._started = time.monotonic()
        self._until = self._started + after
        self._lock = Lock()
        self.stopped = False

    def next(
        self, count: int, piece: Hashable = None, span: tuple[float, float] = (0.0, 1.0)
    ) -> tuple[int, int] | None:
        """From a number to another, the last not included; None when there are none left of this piece, which is that
        span of all. Each worker asks in a thread of its own."""
        with self._lock:
            begun = self._begun.setdefault(piece, 0)
            self._joined.add(get_ident())
            if self.stopped or begun == count:
                return None
            least = max(1, count // (_PARTS * self._workers))
            end = min(count, begun + max(least, self._size(begun, count - begun)))
            self._begun[piece] = end
            self._control.reached(span[0] + (span[1] - span[0]) * end / count)
            return begun, end

    def _size(self, begun: int, left: int) -> int:
        if len(self._joined) > 1:
            return int(left / (_AHEAD * self._workers))
        now = time.monotonic()
        spent = max(now - self._started, 1e-9)
        return int(begun * (self._until - now) / spent) if begun else 0

    def stop(self) -> None:
        """Nobody gets another share, and those that work stop soon."""
        self.stopped = True
