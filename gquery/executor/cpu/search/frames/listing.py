"""Stages that list matches: as positions, or as columns of an answer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import PartialMatches
from gquery.executor.cpu.kernels.lists.extend import extend
from gquery.executor.cpu.kernels.lists.gather import GATHER_COLUMNS
from gquery.executor.cpu.kernels.workspace import MADE
from gquery.executor.cpu.search.frames.frame import Frame
from gquery.executor.cpu.search.frames.memory import Memory
from gquery.executor.cpu.search.frames.stages import Search
from gquery.executor.cpu.search.giving import half_of_block, put
from gquery.executor.cpu.search.sharing import Task

_PATIENT = 32  # quanta before work is given away, which costs a batch of its own
_NO_COLUMNS = np.zeros((0, GATHER_COLUMNS), np.int64)


class ListingFrame(Frame):
    """Writes the matches of its levels to the memory's output of its stage."""

    patience = _PATIENT

    def __init__(self, search: Search, task: Task, memory: Memory, signals: int, in_kernels: bool) -> None:
        super().__init__(search, task, memory, signals, in_kernels)
        if task.begun is not None:
            put(self.plan, task.begun, memory.blocks(self.stage))

    def _run(self, looks: int) -> None:
        output = self.memory.output(self.search, self.stage, bool(self.work[MADE]))
        self._extend(output, _NO_COLUMNS, 0, looks)

    def _extend(self, output: NDArray[np.int32], columns: NDArray[np.int64], room: int, looks: int) -> None:
        memory, given = self.memory, self.given.positions
        blocks, tables = memory.blocks(self.stage), self.plan.tables
        extend(tables, self.work, memory.marked, blocks, given, output, columns, room, looks)

    def drain(self) -> PartialMatches:
        made = int(self.work[MADE])
        rows = self.memory.output(self.search, self.stage, bool(made))[:, :made]
        self.work[MADE] = 0
        return PartialMatches(rows if 2 * made > self.search.capacity else rows.copy(), made)

    def _half(self) -> Task | None:
        begun = half_of_block(self.plan, self.work, self.memory.blocks(self.stage), self.stop - 1)
        if begun is None:
            return None
        return Task(self.stage, PartialMatches(np.empty((len(self.given.positions), 0), np.int32), 0), begun)


class GatheringFrame(ListingFrame):
    """Writes columns of an answer for the matches of its levels, of which none is left."""

    def _run(self, looks: int) -> None:
        room = self.memory.gathered(self.search)
        self._extend(room.staged, room.table, room.rows, looks)

    def drain(self) -> PartialMatches:
        made, self.work[MADE] = int(self.work[MADE]), 0
        columns = self.memory.gathered(self.search).written(made)
        return PartialMatches(np.empty((0, made), np.int32), made, columns=columns)
