"""The state of one running stage: what the kernels need to go on after a slice."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import PartialMatches
from gquery.executor.cpu.kernels.workspace import (
    CLAIMED,
    DEPTH,
    EACH,
    HANDED,
    PATIENT,
    ROW_END,
    STATUS,
    TAKEN,
    found_in,
    new_work,
)
from gquery.executor.cpu.search.frames.memory import Memory
from gquery.executor.cpu.search.frames.stages import Search
from gquery.executor.cpu.search.giving import moved
from gquery.executor.cpu.search.sharing import Task

_PATIENT = 2  # quanta before work is given away
_SHORT, _LONG = 0.006, 0.02  # seconds that a slice may take at least, and at most
_BESIDE = 8  # times as long of a count, beside the caller's thread: what has to stop does so sooner


class Frame(ABC):
    """Takes the rows of a task through its stage, slice by slice. in_kernels: the kernels take the rows, of the pool,
    until none is left. patience: how many quanta of looks it goes on while somebody waits for work."""

    patience = _PATIENT

    def __init__(self, search: Search, task: Task, memory: Memory, signals: int, in_kernels: bool) -> None:
        stage = search.stages[task.stage]
        self.search = search
        self.plan = search.plan
        self.stage = task.stage
        self.stop = stage.stop
        self.given = task.given
        self.memory = memory
        self._may_rest = False  # nobody waits for work, or there is some to give
        self._has_given = True  # where it was last asked for work
        if task.begun is not None:
            self.work = moved(self.plan, task.begun, memory.marks, signals)
            return
        self.work = new_work(self.plan, stage.start, stage.stop, search.modulus, memory.marks, signals)
        self.work[ROW_END] = 0 if in_kernels else task.given.count
        self.work[HANDED] = in_kernels
        self.work[EACH] = not search.counting
        self.work[PATIENT] = self.patience

    def run(self, is_wanted: bool) -> int:
        """One slice; returns the status. A slice is as long as the clock allows. is_wanted: somebody waits for work."""
        began = time.thread_time()
        self._may_rest = self._has_given or not is_wanted
        self._run(self.memory.looks)
        took = time.thread_time() - began
        times = _BESIDE if self.search.counting and not self.memory.is_caller else 1
        if took < times * _SHORT:
            self.memory.looks = min(2 * self.memory.looks, times * self.memory.longest)
        elif took > times * _LONG:
            self.memory.looks = max(self.memory.looks // 2, self.memory.shortest)
        self.memory.seconds += took
        return int(self.work[STATUS])

    def run_unmeasured(self) -> int:
        """One short slice; returns the status. Asking for a thread's time takes longer than many a small search."""
        self._run(self.memory.shortest)
        return int(self.work[STATUS])

    @abstractmethod
    def _run(self, looks: int) -> None:
        """Searches on until about so many neighbours have been looked at."""

    def claims(self) -> bool:
        """Whether the last slice has ended because somebody waits for work: then the worker has to give some."""
        claimed = bool(self.work[CLAIMED])
        self.work[CLAIMED] = 0
        return claimed

    @abstractmethod
    def drain(self) -> PartialMatches:
        """What the last slices made. It is the caller's now: what is about full is not copied, and not written to again
        while anybody reads it."""

    @abstractmethod
    def _half(self) -> Task | None:
        """Half of what is left of the rows in progress, for another worker."""

    @property
    def found(self) -> NDArray[np.int64]:
        """Matches found at each level so far."""
        return found_in(self.work, self.plan.width)

    def give(self) -> Task | None:
        """Gives away half of the rows that are left, else half of what is left of those in progress."""
        task = self._part()
        self._has_given = task is not None
        return task

    def _part(self) -> Task | None:
        end, busy = int(self.work[ROW_END]), bool(self.work[DEPTH] >= 0)
        untouched = end - self._untouched
        given = (untouched + busy) // 2
        if given < 1:
            return self._half() if busy else None
        self.work[ROW_END] = end - given
        return Task(self.stage, PartialMatches(self.given.positions[:, end - given : end].copy(), given))

    @property
    def _untouched(self) -> int:
        """The first row of the input that has not been begun."""
        return int(self.work[TAKEN])
