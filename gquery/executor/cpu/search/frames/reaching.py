"""Stages that list pairs which others join."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import PartialMatches
from gquery.executor.cpu.kernels.lists.reached import list_reached
from gquery.executor.cpu.kernels.workspace import DEPTH, MADE, ROW
from gquery.executor.cpu.search.frames.frame import Frame
from gquery.executor.cpu.search.frames.memory import Memory
from gquery.executor.cpu.search.frames.stages import Search
from gquery.executor.cpu.search.sharing import Task


class ReachingFrame(Frame):
    """Writes what is reached from its rows, with the numbers of ways, to the memory's output of its stage. What is left
    of a root is not given away: its counters are this worker's."""

    def __init__(self, search: Search, task: Task, memory: Memory, signals: int, in_kernels: bool) -> None:
        super().__init__(search, task, memory, signals, in_kernels)
        self._new_numbers()

    def _new_numbers(self) -> None:
        self._sums = np.empty(self.search.capacity, np.uint64)
        self._sizes = np.empty(self.search.capacity, np.float64)

    def _run(self, looks: int) -> None:
        memory = self.memory
        output: NDArray[np.int32] = memory.output(self.search, self.stage, bool(self.work[MADE]))
        given, counters = self.given.positions, memory.counters()
        list_reached(
            self.plan.tables, self.work, memory.marked, counters, given, output, self._sums, self._sizes, looks
        )

    def drain(self) -> PartialMatches:
        made, self.work[MADE] = int(self.work[MADE]), 0
        output = self.memory.output(self.search, self.stage, bool(made))
        rows, sums, sizes = output[:, :made], self._sums[:made], self._sizes[:made]
        if 2 * made > self.search.capacity:
            self._new_numbers()
            return PartialMatches(rows, made, sums, sizes)
        return PartialMatches(rows.copy(), made, sums.copy(), sizes.copy())

    def _half(self) -> Task | None:
        return None

    @property
    def _untouched(self) -> int:
        return int(self.work[ROW]) + bool(self.work[DEPTH] >= 0)
