"""The hybrid BFS-DFS loop on all cores.

What is listed goes block by block inside the kernels, sums behind it too, or depth first: each block breadth first, and
the deepest always goes on (EGSM section 5.2, with blocks of some hundred partial matches between any two levels instead
of all of them between groups). Memory is bounded by workers x levels x capacity whatever the number of matches.

The caller's thread is the first worker: a query that is done in a few milliseconds starts no thread at all. Others
join when the query lasts. Where a single step of a kernel may last for ever, they do all of it. What is done with
partial matches behind the kernels is done by the workers, too; the caller only takes what is finished.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from gquery.errors import QueryCancelled
from gquery.executor.backend import PartialMatches
from gquery.executor.cpu.kernels.workspace import DONE, MORE, SIGNAL_SLOTS
from gquery.executor.cpu.machine.helper import Helper
from gquery.executor.cpu.machine.native import address
from gquery.executor.cpu.search.frames.frame import Frame
from gquery.executor.cpu.search.frames.listing import GatheringFrame, ListingFrame
from gquery.executor.cpu.search.frames.memory import Memory
from gquery.executor.cpu.search.frames.reaching import ReachingFrame
from gquery.executor.cpu.search.frames.stages import Search
from gquery.executor.cpu.search.frames.summing import SummingFrame
from gquery.executor.cpu.search.sharing import Sharing, Task
from gquery.executor.progress import Control
from gquery.stopping import stoppable

Item = TypeVar("Item")
Behind = Callable[[PartialMatches], Iterable[Item]]

_SMALLEST_CHUNK = 4096  # rows: a batch should be worth its cost, and heavy ones are given away later
_HEAVY_CHUNK = 256  # rows, when much work is expected of each
_ALONE = 0.0005  # seconds before other workers are started
_WAITING = 8  # finished batches that may wait for the consumer
_PATIENCE = 0.02  # seconds between two checks while the caller's thread has nothing to do
_FEW = 64  # rows of a pool that may be done at once
_NOBODY = np.zeros(SIGNAL_SLOTS, np.int64)  # signals of who shares with nobody
_LATE = 0.1  # seconds after which matches leave a buffer that is not full


class Enumeration:
    """One run of a search from a start pool (positions, int32[width, n]) to batches or a sum.

    batches(): what `behind` makes of partial matches as wide as what is listed. total(): the number of matches, if
    `search` is counting. Use one of them, once. memory: the caller's. lasting: the search is expected to take long, so
    all workers start at once.
    """

    def __init__(
        self, search: Search, pool: NDArray[np.int32], threads: int, control: Control, memory: Memory, lasting: bool
    ) -> None:
        self.search = search
        self.threads = threads
        self.control = control
        self.memory = memory
        self.found = np.zeros(search.plan.width, np.int64)
        self.seconds_until = {stage.stop: 0.0 for stage in search.stages}
        self.worker_seconds: list[float] = []
        self._pool = PartialMatches(pool, pool.shape[1])
        self._alone = 0.0 if lasting or search.plan.lingers else _ALONE
        chunk = min(search.capacity, pool.shape[1] // (threads * 8) + 1)
        self._chunk = max(_HEAVY_CHUNK if lasting else _SMALLEST_CHUNK, chunk)
        self._lock = threading.Lock()
        # A kernel in the caller's thread would keep it from looking at the control, and from hearing Ctrl-C.
        self._helpers = threads if search.plan.lingers else threads - 1

    def total(self) -> tuple[int, float]:
        """Runs to the end; returns the number of matches, modulo 2^64 or the modulus, and about how many there are."""
        at_once = self._at_once()
        if at_once is not None:
            return at_once
        total, size = 0, 0.0
        for sums, sizes in self.batches(lambda batch: [(batch.sums, batch.sizes)]):
            assert sums is not None
            assert sizes is not None
            total += int(sums.sum())
            size += float(sizes.sum())
        return total % (self.search.modulus or 2**64), size

    def _at_once(self) -> tuple[int, float] | None:
        """What `total` returns, where few rows take one slice: then nothing is shared with anybody. None where they
        take more, which begin anew; not so what would leave counters behind that are not zero."""
        stages, plan = self.search.stages, self.search.plan
        if len(stages) != 1 or not stages[0].summing or self._pool.count > _FEW or not self._alone:
            return None
        if plan.inside is not None or plan.counters:
            return None
        frame = SummingFrame(self.search, Task(0, self._pool), self.memory, address(_NOBODY), False)
        self.control.check()
        began = time.perf_counter()
        if frame.run_unmeasured() != DONE:
            self.memory = Memory(plan)
            return None
        self.note(frame, time.perf_counter() - began)
        self.note_frame(frame)
        self.found[len(self._pool.positions) - 1] += self._pool.count
        rows = frame.drain()
        self.note_matches(rows)
        assert rows.sums is not None
        assert rows.sizes is not None
        return int(rows.sums.sum()) % (self.search.modulus or 2**64), float(rows.sizes.sum())

    def batches(self, behind: Behind[Item]) -> Generator[Item, None, None]:
        """What `behind` makes of the full matches, batch by batch; closing the generator stops all workers."""
        stages = self.search.stages
        in_kernels = bool(stages) and (self.search.counting or not stages[0].summing)
        room = max(_WAITING, self.threads)
        sharing: Sharing[Item] = Sharing(self.threads, self._pool, self._chunk, in_kernels, room)
        worker = Worker(self, sharing, self.memory, behind)
        others: list[Helper] = []
        began = time.monotonic()
        try:
            while True:
                self.control.check()
                if sharing.failure:
                    raise sharing.failure
                yield from sharing.finished()
                lingers = self.search.plan.lingers and not sharing.is_over
                has_work = not lingers and worker.has_work(_PATIENCE if others else 0.0)
                if (lingers or has_work) and not others and time.monotonic() - began >= self._alone:
                    self._start(others, sharing, behind)
                if lingers:
                    sharing.wait(_PATIENCE)
                elif has_work:
                    yield from worker.advance()
                elif sharing.is_over:
                    break
                self.control.reached(sharing.handed_out / max(1, self._pool.count))
            yield from sharing.finished()
            if sharing.failure:
                raise sharing.failure
        finally:
            sharing.stop()
            for helper in others:  # each has started the next one before it ends
                helper.join()
            worker.finish()
            self.found[len(self._pool.positions) - 1] += sharing.handed_out

    def _start(self, others: list[Helper], sharing: Sharing[Item], behind: Behind[Item]) -> None:
        """Starts another worker, which starts the next one: those that are there work meanwhile."""
        number = len(others) + 1
        if number <= self._helpers and not sharing.stopped:
            helper = Helper(partial(self._work, others, sharing, behind))
            others.append(helper)
            helper.start()

    def _work(self, others: list[Helper], sharing: Sharing[Item], behind: Behind[Item]) -> None:
        """What the other workers do."""

        def expect_going_on() -> None:
            if sharing.stopped:
                raise QueryCancelled("the query has stopped")

        try:
            self._start(others, sharing, behind)
            worker = Worker(self, sharing, Memory(self.search.plan, self.memory), behind)
            try:
                with stoppable(expect_going_on):
                    while worker.has_work(None):
                        for item in worker.advance():  # a match may stand for billions of rows
                            if sharing.stopped:
                                return
                            sharing.deliver(item)
            finally:
                worker.finish()
        except BaseException as failure:  # raised where the results are consumed
            sharing.stop(failure)

    def note(self, frame: Frame, seconds: float) -> None:
        """Adds a slice to the profile."""
        with self._lock:
            self.seconds_until[frame.stop] += seconds

    def note_matches(self, rows: PartialMatches) -> None:
        """Adds finished rows to the progress."""
        found = rows.count if rows.sizes is None else int(min(rows.sizes.sum(), sys.float_info.max))
        with self._lock:
            self.control.found(found)

    def note_frame(self, frame: Frame) -> None:
        """Adds what a frame found at each level to the profile."""
        with self._lock:
            self.found += frame.found


class Worker(Generic[Item]):
    """A stack of frames, one for each stage in progress; the deepest runs."""

    def __init__(self, enumeration: Enumeration, sharing: Sharing[Item], memory: Memory, behind: Behind[Item]) -> None:
        self.enumeration = enumeration
        self.frames: list[Frame] = []
        self._sharing = sharing
        self._memory = memory
        self._behind = behind
        self._task: Task | None = None
        self._passed = time.monotonic()
        self._was_wanted = False

    def has_work(self, patience: float | None) -> bool:
        """Whether there is anything to do, if need be after waiting so long for it, or to the end."""
        if self._sharing.stopped:
            return False
        if self.frames:
            return True
        self._task = self._sharing.take(self._task is not None, patience)
        return self._task is not None

    def advance(self) -> Iterator[Item]:
        """One slice of work; gives what it finished."""
        if not self.frames:
            assert self._task is not None
            if not self.enumeration.search.stages:  # a pattern of one vertex: the start pool is the answer
                yield from self._finished(self._task.given)
                return
            self._push(self._task)
        frame = self.frames[-1]
        began = time.perf_counter()
        status = frame.run(self._was_wanted)
        self.enumeration.note(frame, time.perf_counter() - began)
        if frame.claims():
            self._give(True)
        elif status == MORE or (status == DONE and len(self.frames) > 1):
            self._share()
        if status == MORE and not self._is_late(frame):
            return
        made = frame.drain()
        if status == DONE:
            self.frames.pop()
            self.enumeration.note_frame(frame)
        if made.count and frame.stage + 1 < len(self.enumeration.search.stages):
            self._push(Task(frame.stage + 1, made))
        elif made.count:
            yield from self._finished(made)

    def finish(self) -> None:
        """Adds what unfinished frames found to the profile."""
        for frame in self.frames:
            self.enumeration.note_frame(frame)
        self.frames.clear()
        self.enumeration.worker_seconds.append(self._memory.seconds)
        self._memory.seconds = 0.0

    def _finished(self, rows: PartialMatches) -> Iterator[Item]:
        self._passed = time.monotonic()
        self.enumeration.note_matches(rows)
        yield from self._behind(rows)

    def _is_late(self, frame: Frame) -> bool:
        """Whether matches have waited long enough in the last stage's output: rare matches are shown early."""
        return frame.stage + 1 == len(self.enumeration.search.stages) and time.monotonic() - self._passed > _LATE

    def _push(self, task: Task) -> None:
        search, sharing = self.enumeration.search, self._sharing
        in_kernels = sharing.in_kernels and task is self._task and task.given is sharing.pool
        kind = _frame_of(search, task.stage)
        self.frames.append(kind(search, task, self._memory, sharing.signals, in_kernels))

    def _share(self) -> None:
        """Gives work away where somebody waits for it and no kernel lasts as long as to see that, but only what still
        lasts a slice later: of what is done by then the others would have nothing but the handing over."""
        wanted = self._sharing.is_wanted
        if wanted and self._was_wanted and self._sharing.promises():
            self._give(False)
        self._was_wanted = wanted

    def _give(self, claimed: bool) -> None:
        """Keeps the promise, or what the kernel has claimed: gives of the shallowest frame that has anything to
        give."""
        task: Task | None = None
        try:
            for frame in self.frames:
                task = frame.give()
                if task is not None:
                    return
        finally:
            self._sharing.give(task, claimed)


def _frame_of(search: Search, number: int) -> type[ListingFrame | ReachingFrame | SummingFrame]:
    """The kind of frame that a stage takes."""
    if search.stages[number].summing:
        return SummingFrame
    if search.plan.counters:
        return ReachingFrame
    is_last = number + 1 == len(search.stages)
    return GatheringFrame if is_last and search.columns is not None else ListingFrame
