"""The state of one running vertex group: what the kernels need to go on after a slice."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import PartialMatches
from gquery.executor.cpu.kernels.blocks import new_blocks
from gquery.executor.cpu.kernels.list_blocks import extend
from gquery.executor.cpu.kernels.sum_chain import sweep
from gquery.executor.cpu.kernels.sum_tree import total
from gquery.executor.cpu.kernels.workspace import MADE, ROW, ROW_END, STATUS, TAKEN, found_in, new_work
from gquery.executor.cpu.machine.native import address
from gquery.executor.cpu.search.packed import PackedPlan
from gquery.records import record

SLICE = 1 << 16  # looks at neighbours in one slice: about a millisecond


@record(frozen=True, slots=True)
class Stage:
    """One vertex group: levels `start .. stop - 1`, listed or summed out."""

    start: int
    stop: int
    summing: bool


class Memory:
    """What one worker remembers of sums and marks, from frame to frame: `entries` as in `sum_tree.py`, `marked` as in
    `row_bitset.py`; `marks` is an address."""

    def __init__(self, plan: PackedPlan) -> None:
        self.entries = np.zeros((max(1, plan.slots), 3), np.int64)
        self._marks = np.zeros(max(1, plan.marks), np.uint64)
        self.marks = address(self._marks)
        self.marked = np.full((max(1, plan.marked), 3), -1, np.int64)
        self._plan = plan
        self._blocks: dict[int, NDArray[np.int64]] = {}
        self._used = False

    def blocks(self, stage: int) -> NDArray[np.int64]:
        """The blocks of a stage: one frame of each can be under way."""
        if stage not in self._blocks:
            self._blocks[stage] = new_blocks(self._plan.width, self._plan.room)
        return self._blocks[stage]

    def forget(self) -> None:
        """Before another run, whose sums are other numbers."""
        if self._used:
            self.entries.fill(0)
        self._used = True


class Frame(ABC):
    """Takes the rows of `given` through one stage, slice by slice. modulus: what sums are reduced by, 0 for 2^64."""

    def __init__(
        self,
        plan: PackedPlan,
        stage: int,
        stages: tuple[Stage, ...],
        given: PartialMatches,
        memory: Memory,
        modulus: int = 0,
    ) -> None:
        self.plan = plan
        self.stage = stage
        self.stop = stages[stage].stop
        self.given = given
        self.memory = memory
        self.work = new_work(plan, given.count, stages[stage].start, self.stop, modulus, memory.marks)

    @abstractmethod
    def run(self) -> int:
        """One slice; returns the status."""

    @abstractmethod
    def drain(self) -> PartialMatches:
        """What the last slices made; it is the caller's now."""

    @property
    def found(self) -> NDArray[np.int64]:
        """Matches found at each level so far."""
        return found_in(self.work, self.plan.width)

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
        super().__init__(plan, stage, stages, given, memory)
        self.output = output

    def run(self) -> int:
        blocks = self.memory.blocks(self.stage)
        extend(self.plan.tables, self.work, self.memory.marked, blocks, self.given.positions, self.output, SLICE)
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
        super().__init__(plan, stage, stages, given, memory, modulus)
        self.sums = np.zeros(given.count, np.uint64)
        self.sizes = np.zeros(given.count, np.float64)
        self._drained = 0

    def run(self) -> int:
        memory, given = self.memory, self.given.positions
        if self.plan.is_chain:
            blocks = memory.blocks(self.stage)
            sweep(self.plan.tables, self.work, memory.marked, blocks, given, self.sums, self.sizes, SLICE)
        else:
            total(self.plan.tables, self.work, memory.marked, memory.entries, given, self.sums, self.sizes, SLICE)
        return int(self.work[STATUS])

    def drain(self) -> PartialMatches:
        """The rows done since the last drain for which there are any matches."""
        begin, end = self._drained, int(self.work[ROW])
        self._drained = end
        kept = np.flatnonzero(self.sizes[begin:end]) + begin
        return PartialMatches(self.given.positions[:, kept], len(kept), self.sums[kept], self.sizes[kept])
