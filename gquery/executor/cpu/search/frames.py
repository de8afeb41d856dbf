"""The state of one running vertex group: what the kernels need to go on after a slice."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import PartialMatches
from gquery.executor.cpu.kernels.blocks import Blocks
from gquery.executor.cpu.kernels.list_blocks import extend
from gquery.executor.cpu.kernels.sum_chain import sweep
from gquery.executor.cpu.kernels.sum_tree import total
from gquery.executor.cpu.kernels.workspace import MADE, ROW, ROW_END, STATE_SLOTS, STATUS, TAKEN, new_work
from gquery.executor.cpu.machine.native import address
from gquery.executor.cpu.search.packed import PackedPlan

SLICE = 1 << 16  # looks at neighbours in one slice: about a millisecond


@dataclass(frozen=True, slots=True)
class Stage:
    """One vertex group: levels `start .. stop - 1`, listed or summed out."""

    start: int
    stop: int
    summing: bool


class Memory:
    """What one worker remembers of sums and marks, from frame to frame; the columns are those of `total`."""

    def __init__(self, plan: PackedPlan) -> None:
        self.entries = np.zeros((max(1, plan.slots), 3), np.int64)
        self.sizes = self.entries.view(np.float64)
        self._marks = np.zeros(max(1, plan.marks), np.uint64)
        self.marks = address(self._marks)
        self.marked = np.full((max(1, plan.marked), 3), -1, np.int64)
        self._plan = plan
        self._blocks: dict[int, Blocks] = {}
        self._used = False

    def blocks(self, stage: int) -> Blocks:
        """The blocks of a stage: one frame of each can be under way."""
        if stage not in self._blocks:
            self._blocks[stage] = Blocks(self._plan.width, self._plan.room)
        return self._blocks[stage]

    def forget(self) -> None:
        """Before another run, whose sums are other numbers."""
        if self._used:
            self.entries.fill(0)
        self._used = True


class Frame(ABC):
    """Takes the rows of `given` through one stage, slice by slice."""

    def __init__(self, plan: PackedPlan, stage: int, stages: tuple[Stage, ...], given: PartialMatches) -> None:
        self.plan = plan
        self.stage = stage
        self.start, self.stop = stages[stage].start, stages[stage].stop
        self.given = given
        self.work = new_work(plan, given.count)
        self.matched = np.zeros((2, plan.width), np.int32)

    @abstractmethod
    def run(self) -> int:
        """One slice; returns the status."""

    @abstractmethod
    def drain(self) -> PartialMatches:
        """What the last slices made; it is the caller's now."""

    @property
    def found(self) -> NDArray[np.int64]:
        """Matches found at each level so far."""
        return self.work[STATE_SLOTS : STATE_SLOTS + self.plan.width]

    @property
    def rows_left(self) -> int:
        return int(self.work[ROW_END] - max(self.work[ROW], self.work[TAKEN]))

    def split(self) -> PartialMatches:
        """Gives away the second half of the input that is left."""
        end = int(self.work[ROW_END])
        middle = end - self.rows_left // 2
        self.work[ROW_END] = middle
        return PartialMatches(np.ascontiguousarray(self.given.positions[:, middle:end]), end - middle)


class ListingFrame(Frame):
    """Writes the matches of its levels to `output`, int32[stop, capacity]."""

    def __init__(
        self,
        plan: PackedPlan,
        stage: int,
        stages: tuple[Stage, ...],
        given: PartialMatches,
        memory: Memory,
        output: NDArray[np.int32],
    ) -> None:
        super().__init__(plan, stage, stages, given)
        self.output = output
        self._memory = memory

    def run(self) -> int:
        blocks = self._memory.blocks(self.stage)
        extend(
            self.plan.tables,
            self.work,
            self.matched,
            blocks.columns,
            blocks.spans,
            blocks.fill,
            self.given.positions,
            self.output,
            self._memory.marks,
            self._memory.marked,
            self.start,
            self.stop,
            SLICE,
        )
        return int(self.work[STATUS])

    def drain(self) -> PartialMatches:
        made = int(self.work[MADE])
        self.work[MADE] = 0
        return PartialMatches(self.output[:, :made].copy(), made)


class SummingFrame(Frame):
    """Sums the levels of its stage out: the rows of `given` stay, and get their numbers of matches.

    sums uint64[rows], sizes float64[rows]: what is known of them so far, as in PartialMatches; 0 for the others.
    """

    def __init__(
        self,
        plan: PackedPlan,
        stage: int,
        stages: tuple[Stage, ...],
        given: PartialMatches,
        memory: Memory,
        modulus: int,
    ) -> None:
        super().__init__(plan, stage, stages, given)
        self.modulus = np.uint64(modulus)
        self.sums = np.zeros(given.count, np.uint64)
        self.sizes = np.zeros(given.count, np.float64)
        self._memory = memory
        self._exact = np.zeros((2, plan.width), np.uint64)
        self._approximate = np.zeros((2, plan.width), np.float64)
        self._drained = 0

    def run(self) -> int:
        memory = self._memory
        if self.plan.is_chain:
            blocks = memory.blocks(self.stage)
            sweep(
                self.plan.tables,
                self.work,
                self.matched,
                blocks.columns,
                blocks.products,
                blocks.sizes,
                blocks.spans,
                blocks.fill,
                self.given.positions,
                self.sums,
                self.sizes,
                memory.marks,
                memory.marked,
                self.start,
                self.modulus,
                SLICE,
            )
            return int(self.work[STATUS])
        total(
            self.plan.tables,
            self.work,
            self.matched,
            self._exact,
            self._approximate,
            self.given.positions,
            self.sums,
            self.sizes,
            memory.entries,
            memory.sizes,
            memory.marks,
            memory.marked,
            self.start,
            self.modulus,
            SLICE,
        )
        return int(self.work[STATUS])

    def drain(self) -> PartialMatches:
        """The rows done since the last drain for which there are any matches."""
        begin, end = self._drained, int(self.work[ROW])
        self._drained = end
        kept = np.flatnonzero(self.sizes[begin:end]) + begin
        return PartialMatches(self.given.positions[:, kept], len(kept), self.sums[kept], self.sizes[kept])
