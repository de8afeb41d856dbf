"""Stages that sum levels out."""

from __future__ import annotations

import time

import numpy as np

from gquery.executor.backend import PartialMatches
from gquery.executor.cpu.kernels.sums.adaptive import sum_adaptively
from gquery.executor.cpu.kernels.sums.chain import sweep
from gquery.executor.cpu.kernels.sums.inside import sum_inside
from gquery.executor.cpu.kernels.sums.neighbourhood import Room
from gquery.executor.cpu.kernels.sums.push import sum_push
from gquery.executor.cpu.kernels.sums.tree import total
from gquery.executor.cpu.kernels.sums.weigh import weigh
from gquery.executor.cpu.kernels.workspace import CLAIMED, DEPTH, DONE, EACH, HEAVY, MORE, ROW, STATUS, TAKEN
from gquery.executor.cpu.machine.native import address
from gquery.executor.cpu.search import adapting
from gquery.executor.cpu.search.frames.frame import Frame
from gquery.executor.cpu.search.frames.memory import Memory
from gquery.executor.cpu.search.frames.stages import Search
from gquery.executor.cpu.search.giving import half_of_block, half_of_tree, put
from gquery.executor.cpu.search.sharing import Task

_PAUSE = 0.002  # seconds that a worker stands still before it looks again whether it may go on


class SummingFrame(Frame):
    """Sums the levels of its stage out: the rows of `given` stay, and get their numbers of matches.

    sums uint64[rows], sizes float64[rows]: what is known of them so far, as in PartialMatches; 0 for the others. One
    sum for all when nothing but the number of matches is wanted.
    """

    def __init__(
        self, search: Search, task: Task, memory: Memory, signals: int, in_kernels: bool, depth_first: bool = False
    ) -> None:
        super().__init__(search, task, memory, signals, in_kernels)
        self.sums = np.zeros(1 if search.counting else task.given.count, np.uint64)
        self.sizes = np.zeros(len(self.sums), np.float64)
        self._drained = 0
        self._signals = signals
        self._depth_first = depth_first
        self._heavy: SummingFrame | None = None  # a row that has no room where the others are summed
        if task.begun is not None and self.plan.is_chain:
            put(self.plan, task.begun, memory.blocks(self.stage))
        elif task.begun is not None and self.plan.adapting is not None:
            memory.adaptive(self.plan.adapting).put(task.begun)

    def _run(self, looks: int) -> None:
        memory, given = self.memory, self.given.positions
        tables, work, marked, sums, sizes = self.plan.tables, self.work, memory.marked, self.sums, self.sizes
        if self.plan.adapting is not None:
            self._run_adaptively(memory.adaptive(self.plan.adapting), self.plan.adapting, looks)
        elif self.plan.inside is not None and not self._depth_first:
            self._run_inside(memory.inside(self.plan.inside), looks)
        elif self.plan.counters:
            sum_push(tables, work, marked, memory.counters(), given, sums, sizes, looks)
        elif self.plan.is_chain:
            sweep(tables, work, marked, memory.blocks(self.stage), given, sums, sizes, looks)
        elif len(given) == self.plan.width:
            weigh(tables, work, marked, given, sums, sizes, looks)
        else:
            total(tables, work, marked, address(memory.entries), given, sums, sizes, looks)

    def _run_adaptively(self, room: adapting.Room, adapts: adapting.Adapting, looks: int) -> None:
        """Goes on in orders of partial matches, or stands still for a moment; if somebody waits for work, as long as
        there is some to give."""
        if not room.goes_on() and self._may_rest:
            self.work[STATUS] = MORE
            time.sleep(_PAUSE)
            return
        looks, given = adapts.trial.slice(looks, self.memory.shortest), self.given.positions
        stack = room.stack()
        sum_adaptively(adapts.pattern, room.left, stack, self.work, given, adapts.roots, self.sums, self.sizes, looks)

    def _run_inside(self, room: Room, looks: int) -> None:
        """Goes on inside of neighbourhoods; rows for which there is no room are summed depth first."""
        work, given = self.work, self.given.positions
        if self._heavy is None:
            sum_inside(self.plan.tables, work, self.memory.marked, room, given, self.sums, self.sizes, looks)
            if work[STATUS] != HEAVY:
                return
            row = int(work[ROW])
            task = Task(self.stage, PartialMatches(given[:, row : row + 1].copy(), 1))
            self._heavy = SummingFrame(self.search, task, self.memory, self._signals, False, True)
            work[DEPTH] = 0  # the row is in progress
        self._heavy._run(looks)
        work[STATUS], work[CLAIMED] = MORE, self._heavy.claims()
        if self._heavy.work[STATUS] == DONE:
            place = int(work[ROW] * work[EACH])
            total, modulus = int(self.sums[place]) + int(self._heavy.sums[0]), self.search.modulus or 2**64
            self.sums[place] = total % modulus
            self.sizes[place] += self._heavy.sizes[0]
            self.found[:] += self._heavy.found
            work[ROW] += 1
            work[DEPTH] = -1
            self._heavy = None

    def drain(self) -> PartialMatches:
        """The rows done since the last drain for which there are any matches. What is wanted of the pool alone is known
        at any time."""
        begin, end = self._drained, int(self.work[ROW])
        if self.search.counting:
            begin, end = 0, 1
        self._drained = end
        there = np.flatnonzero(self.sizes[begin:end])
        kept = slice(begin, end) if len(there) == end - begin else there + begin
        sums, sizes = self.sums[kept].copy(), self.sizes[kept].copy()
        made = PartialMatches(self.given.positions[:, kept], len(there), sums, sizes)
        if self.search.counting:
            self.sums[0] = self.sizes[0] = 0
        return made

    def _half(self) -> Task | None:
        if self.plan.inside is not None or self.plan.counters:
            return None
        if self.plan.adapting is not None:
            begun = self.memory.adaptive(self.plan.adapting).half(self.plan, self.work)
        elif self.plan.is_chain:
            begun = half_of_block(self.plan, self.work, self.memory.blocks(self.stage), self.plan.width)
        else:
            begun = half_of_tree(self.plan, self.work)
        if begun is None:
            return None
        positions = np.ascontiguousarray(self.given.positions[:, begun.rows])
        return Task(self.stage, PartialMatches(positions, len(begun.rows)), begun)

    @property
    def _untouched(self) -> int:
        if self.plan.is_chain:
            return int(self.work[TAKEN])
        return int(self.work[ROW]) + bool(self.work[DEPTH] >= 0)
