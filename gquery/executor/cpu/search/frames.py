"""The state of one running vertex group: what the kernels need to go on after a slice."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from sys import getrefcount

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import PartialMatches
from gquery.executor.cpu.kernels.blocks import new_blocks
from gquery.executor.cpu.kernels.list_blocks import extend
from gquery.executor.cpu.kernels.sums.adaptive import sum_adaptively
from gquery.executor.cpu.kernels.sums.chain import sweep
from gquery.executor.cpu.kernels.sums.inside import sum_inside
from gquery.executor.cpu.kernels.sums.neighbourhood import Room, new_room
from gquery.executor.cpu.kernels.sums.push import Counters, new_counters, sum_push
from gquery.executor.cpu.kernels.sums.remembered import ENTRY
from gquery.executor.cpu.kernels.sums.tree import total
from gquery.executor.cpu.kernels.sums.weigh import weigh
from gquery.executor.cpu.kernels.workspace import (
    CLAIMED,
    DEPTH,
    DONE,
    EACH,
    HANDED,
    HEAVY,
    MADE,
    MORE,
    PATIENT,
    ROW,
    ROW_END,
    STATUS,
    TAKEN,
    found_in,
    new_work,
)
from gquery.executor.cpu.machine.heap import dense_zeros
from gquery.executor.cpu.machine.native import address
from gquery.executor.cpu.search import adapting
from gquery.executor.cpu.search.giving import half_of_block, half_of_tree, moved, put
from gquery.executor.cpu.search.packed import InsideRoom, PackedPlan
from gquery.executor.cpu.search.sharing import Task
from gquery.records import record

SLICE = 1 << 16  # looks at neighbours in a short slice: about a millisecond
_LONGEST = 16  # times as many in later ones, if they take not too long
_PATIENT, _PATIENT_LISTING = 2, 32  # quanta before work is given away; in a list it costs a batch of its own
_SHORT, _LONG = 0.006, 0.02  # seconds that a slice may take at least, and at most
_BESIDE = 8  # times as long of a count, beside the caller's thread: what has to stop does so sooner
_PAUSE = 0.002  # seconds that a worker stands still before it looks again whether it may go on
_OWN_REFERENCES = 3  # to an output that nobody else reads: the memory's, a variable's and `getrefcount`'s


@record(frozen=True, slots=True)
class Stage:
    """One vertex group: levels `start .. stop - 1`, listed or summed out."""

    start: int
    stop: int
    summing: bool


class Memory:
    """What one worker remembers from frame to frame. entries: the sums, as in `sums/remembered.py`, which all workers
    share; marks, an address, and marked: as in `row_bitset.py`. looks: how many neighbours the next slice may look at,
    few at first in the caller's thread, which looks at the clock only between slices; is_caller: whether it is that."""

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
        self._inside: Room | None = None
        self._counters: Counters | None = None
        self._adaptive: adapting.Room | None = None
        self._used = False
        self.is_caller = caller is None
        self.seconds = 0.0  # of CPU time in kernels
        self.looks = SLICE if caller is None else _LONGEST * SLICE

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


@record(frozen=True, slots=True)
class Search:
    """What all frames of one search have in common. capacity: of the outputs; modulus: what sums are reduced by, 0 for
    2^64; counting: only the sum over the whole pool is wanted."""

    plan: PackedPlan
    stages: tuple[Stage, ...]
    capacity: int
    modulus: int
    counting: bool


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
            self.memory.looks = min(2 * self.memory.looks, times * _LONGEST * SLICE)
        elif took > times * _LONG:
            self.memory.looks = max(self.memory.looks // 2, SLICE)
        self.memory.seconds += took
        return int(self.work[STATUS])

    def run_unmeasured(self) -> int:
        """One short slice; returns the status. Asking for a thread's time takes longer than many a small search."""
        self._run(SLICE)
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
        """What the last slices made. It is the caller's now: a full output is not copied, and not written to again
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


class ListingFrame(Frame):
    """Writes the matches of its levels to the memory's output of its stage."""

    patience = _PATIENT_LISTING

    def __init__(self, search: Search, task: Task, memory: Memory, signals: int, in_kernels: bool) -> None:
        super().__init__(search, task, memory, signals, in_kernels)
        if task.begun is not None:
            put(self.plan, task.begun, memory.blocks(self.stage))

    def _run(self, looks: int) -> None:
        memory, work = self.memory, self.work
        output = memory.output(self.search, self.stage, bool(work[MADE]))
        extend(self.plan.tables, work, memory.marked, memory.blocks(self.stage), self.given.positions, output, looks)

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
        looks, given = adapts.trial.slice(looks, SLICE), self.given.positions
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
        kept = np.flatnonzero(self.sizes[begin:end]) + begin
        made = PartialMatches(self.given.positions[:, kept], len(kept), self.sums[kept], self.sizes[kept])
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
