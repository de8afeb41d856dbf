"""What a worker remembers from frame to frame, and the buffers that its kernels write to."""

from __future__ import annotations

from sys import getrefcount

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.kernels.blocks import new_blocks
from gquery.executor.cpu.kernels.sums.neighbourhood import Room, new_room
from gquery.executor.cpu.kernels.sums.push import Counters, new_counters
from gquery.executor.cpu.kernels.sums.remembered import ENTRY
from gquery.executor.cpu.machine.heap import dense_zeros
from gquery.executor.cpu.machine.native import address
from gquery.executor.cpu.search import adapting
from gquery.executor.cpu.search.frames import columns
from gquery.executor.cpu.search.frames.stages import Search
from gquery.executor.cpu.search.packed import InsideRoom, PackedPlan

_SLICE = 1 << 16  # looks at neighbours in a short slice: about a millisecond
_LONGEST = 16  # times as many in later ones, if they take not too long
_OWN_REFERENCES = 3  # to an output that nobody else reads: the memory's, a variable's and `getrefcount`'s


class Memory:
    """What one worker remembers from frame to frame. entries: the sums, as in `sums/remembered.py`, which all workers
    share; marks, an address, and marked: as in `row_bitset.py`. looks: how many neighbours the next slice may look at,
    from the `shortest` to the `longest`; few at first in the caller's thread, which looks at the clock only between
    slices; is_caller: whether it is that."""

    def __init__(self, plan: PackedPlan, caller: Memory | None = None) -> None:
        """caller: that of the thread which has started the worker, None for its own."""
        self.entries: NDArray[np.int64] = (
            caller.entries if caller else dense_zeros(max(1, plan.slots) * ENTRY, np.int64)
        )
        self._marks = np.zeros(max(1, plan.marks), np.uint64)
        self.marks = address(self._marks)
        self.marked = np.full((max(1, plan.marked), 3), -1, np.int64)
        self._plan = plan
        self._blocks: dict[int, NDArray[np.int64]] = {}
        self._outputs: dict[int, NDArray[np.int32]] = {}
        self._gathered: columns.Room | None = None
        self._inside: Room | None = None
        self._counters: Counters | None = None
        self._adaptive: adapting.Room | None = None
        self._used = False
        self.is_caller = caller is None
        self.seconds = 0.0  # of CPU time in kernels
        self.shortest, self.longest = _SLICE, _LONGEST * _SLICE
        self.looks = self.shortest if caller is None else self.longest

    def blocks(self, stage: int) -> NDArray[np.int64]:
        """The blocks of a stage: one frame of each can be under way."""
        if stage not in self._blocks:
            self._blocks[stage] = new_blocks(self._plan.width, self._plan.room)
        return self._blocks[stage]

    def output(self, search: Search, stage: int, begun: bool) -> NDArray[np.int32]:
        """The output of a stage, int32[stop, capacity]; one frame of each can be under way. begun: whether it has rows
        that were not drained yet. Else it is another one where what was drained is still in use."""
        output = self._outputs.get(stage)
        if output is None or (not begun and getrefcount(output) > _OWN_REFERENCES):
            output = self._outputs[stage] = np.empty((search.stages[stage].stop, search.capacity), np.int32)
        return output

    def gathered(self, search: Search) -> columns.Room:
        """Room for a batch of columns: one frame at a time gathers any."""
        if self._gathered is None:
            assert search.columns is not None
            self._gathered = columns.Room(search.columns, self._plan.width, search.capacity)
        return self._gathered

    def inside(self, room: InsideRoom) -> Room:
        """Room for the neighbourhood of one root: one frame at a time goes inside."""
        if self._inside is None:
            self._inside = new_room(room)
        return self._inside

    def counters(self) -> Counters:
        """Counters for the chains of one root: one frame at a time pushes sums."""
        if self._counters is None:
            self._counters = new_counters(self._plan.counters, self._plan.universe)
        return self._counters

    def adaptive(self, adapts: adapting.Adapting) -> adapting.Room:
        """Room for a sum that orders vertices as it goes: one frame at a time."""
        if self._adaptive is None:
            self._adaptive = adapting.Room(adapts)
        return self._adaptive

    def forget(self) -> None:
        """Before another run, whose sums are other numbers."""
        if self._used:
            self.entries.fill(0)
            if self._plan.adapting is not None:
                self._plan.adapting.sums.forget()
        self._used = True
