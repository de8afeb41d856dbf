"""What the workers of one search share: the pool, work that was given away, what is finished, and who waits.

Rows of the pool are handed out inside the kernels, by a counter. When it is used up, a worker that has nothing to do
goes to sleep; that it waits is a signal that the others' kernels read. One of them claims it, ends its slice, and gives
half of what it has left.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from gquery.executor.backend import PartialMatches
from gquery.executor.cpu.kernels.workspace import CLAIMS, NEXT_ROW, PARTS, POOL_ROWS, SIGNAL_SLOTS, STOPPED, WANTED
from gquery.executor.cpu.machine.native import address
from gquery.executor.cpu.search.giving import Begun

Item = TypeVar("Item")

_PARTS = 8  # for each worker: shares of the pool become smaller as it is used up


@dataclass(frozen=True, slots=True)
class Task:
    """Work for whoever takes it: `given` goes through one stage. begun: or what is left of a search through it."""

    stage: int
    given: PartialMatches
    begun: Begun | None = None


class Sharing(Generic[Item]):
    """`workers` threads, of which one consumes what they finish; so many finished items may wait for it as `room`
    says. rows: of the pool; in_kernels: whether kernels take them, or else chunks of so many are tasks."""

    def __init__(self, workers: int, pool: PartialMatches, chunk: int, in_kernels: bool, room: int) -> None:
        self.in_kernels = in_kernels
        self.stopped = False
        self.failure: BaseException | None = None
        self.pool = pool
        self._chunk = chunk
        self._room = room
        self._signals = np.zeros(SIGNAL_SLOTS, np.int64)
        self._signals[POOL_ROWS], self._signals[PARTS] = pool.count, _PARTS * workers
        self.signals = address(self._signals)
        self._tasks: list[Task] = []
        self._finished: deque[Item] = deque()
        self._working = self._waiting = self._promised = 0
        self._settled = 0  # claims of kernels whose workers have given, or had nothing
        lock = threading.RLock()
        self._changed = threading.Condition(lock)  # for those who wait for work
        self._news = threading.Condition(lock)  # for the consumer, who waits for what is finished too
        self._consumed = threading.Condition(lock)  # for those who have finished something

    @property
    def handed_out(self) -> int:
        """Rows of the pool that somebody has taken."""
        return int(min(self._signals[NEXT_ROW], self.pool.count))

    @property
    def is_over(self) -> bool:
        """Whether nobody has anything to do any more."""
        return self.stopped or not (self._working or self._tasks or self.handed_out < self.pool.count)

    # --- work ----------------------------------------------------------------------------------------------------

    def take(self, was_working: bool, patience: float | None) -> Task | None:
        """The next piece of work; None when there is none within `patience` seconds, or none any more."""
        with self._changed:
            self._working -= was_working
            task = self._next()
            if task is None and not self.is_over and patience != 0.0:
                self._wait(patience)
                task = self._next()
            self._working += task is not None
            if self.is_over:
                self._changed.notify_all()
                self._news.notify()
            return task

    def _wait(self, patience: float | None) -> None:
        """Waits for work; the consumer, who alone has a patience, for what is finished too."""
        self._waiting += 1
        self._signal()
        try:
            if patience is None:
                self._changed.wait_for(lambda: self._tasks or self.is_over)
            else:
                self._news.wait_for(lambda: self._tasks or self.is_over or self._finished, patience)
        finally:
            self._waiting -= 1
            self._signal()

    def _next(self) -> Task | None:
        """A task that was given away, else rows of the pool."""
        if self.stopped:
            return None
        if self._tasks:
            task = self._tasks.pop()
            self._signal()
            return task
        begin, rows = self.handed_out, self.pool.count
        if begin == rows:
            return None
        if self.in_kernels:
            return Task(0, self.pool)
        end = self._signals[NEXT_ROW] = min(begin + self._chunk, rows)
        return Task(0, PartialMatches(np.ascontiguousarray(self.pool.positions[:, begin:end]), int(end) - begin))

    def _signal(self) -> None:
        wanted = self._settled + self._waiting - self._promised - len(self._tasks)
        self._signals[WANTED] = STOPPED if self.stopped else wanted

    @property
    def is_wanted(self) -> bool:
        """Whether somebody waits to whom nobody gives anything yet."""
        return bool(self._signals[WANTED] > self._signals[CLAIMS])

    def promises(self) -> bool:
        """Whether somebody still waits to whom nobody gives anything; then the caller has to `give`."""
        with self._changed:
            wanted = not self.stopped and self.is_wanted
            self._promised += wanted
            self._signal()
            return wanted

    def give(self, task: Task | None, claimed: bool) -> None:
        """Keeps a promise, or settles a claim of a kernel, with nothing if there is nothing to give."""
        with self._changed:
            self._settled += claimed
            self._promised -= not claimed
            if task is not None:
                self._tasks.append(task)
                self._changed.notify()
                self._news.notify()
            self._signal()

    def stop(self, failure: BaseException | None = None) -> None:
        """Ends all slices soon. failure: to be raised where the results are consumed."""
        with self._changed:
            self.stopped = True
            self.failure = self.failure or failure
            self._signal()
            self._changed.notify_all()
            self._news.notify()
            self._consumed.notify_all()

    # --- results -------------------------------------------------------------------------------------------------

    def wait(self, patience: float) -> None:
        """Until something is finished or nothing left to do, but only so many seconds."""
        with self._news:
            self._news.wait_for(lambda: self._finished or self.is_over, patience)

    def deliver(self, item: Item) -> None:
        """Hands a finished item to the consumer, when there is room."""
        with self._consumed:
            self._consumed.wait_for(lambda: len(self._finished) < self._room or self.stopped)
            self._finished.append(item)
            self._news.notify()

    def finished(self) -> Iterator[Item]:
        """What has been delivered so far."""
        while self._finished:
            with self._consumed:
                item = self._finished.popleft()
                self._consumed.notify()
            yield item
