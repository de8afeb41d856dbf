"""Tallies on their way from the thread that counts to the one that looks for their classes."""

from __future__ import annotations

from collections.abc import Iterator
from queue import SimpleQueue
from threading import Semaphore

from gquery.executor.census.counts import Tallies
from gquery.stopping import Check

_POLL = 0.02  # seconds between two looks at the check


class Handing:
    """One waits to be taken while another is worked on."""

    def __init__(self, check: Check) -> None:
        """check: raises when nobody takes any more."""
        self._check = check
        self._room = Semaphore()
        self._waiting: SimpleQueue[Tallies | None] = SimpleQueue()

    def offer(self, some: Iterator[Tallies]) -> None:
        """Hands on the next of some, where there is room."""
        if self._room.acquire(blocking=False):
            self._hand_on(some)

    def give(self, some: Iterator[Tallies]) -> None:
        """Hands on all that are left of some, as there is room."""
        there = True
        while there:
            while not self._room.acquire(timeout=_POLL):
                self._check()
            there = self._hand_on(some)

    def _hand_on(self, some: Iterator[Tallies]) -> bool:
        tallies = next(some, None)
        if tallies is None:
            self._room.release()
            return False
        self._waiting.put(tallies)
        return True

    def end(self) -> None:
        """Nothing more comes."""
        self._waiting.put(None)

    def taken(self) -> Iterator[Tallies]:
        """What is handed on, until the end."""
        while (tallies := self._waiting.get()) is not None:
            self._room.release()
            yield tallies
