"""The hybrid BFS-DFS loop on all cores.

Between vertex groups partial matches are materialised (breadth first, EGSM section 5.2); inside a group the kernels go
block by block, or depth first. Buffers are small and the deepest group always goes first, so memory is bounded by
workers x groups x capacity whatever the number of matches.

The caller's thread is the first worker: a query that is done in a few milliseconds starts no thread at all. Others
join when the query lasts. An idle worker asks for work, and busy ones answer between two slices by giving away half of
their input rows, shallowest group first.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gquery.errors import QueryCancelled
from gquery.executor.backend import PartialMatches
from gquery.executor.cpu.kernels.workspace import DONE, MORE
from gquery.executor.cpu.machine.compile import stoppable
from gquery.executor.cpu.search.frames import Frame, ListingFrame, Memory, Stage, SummingFrame
from gquery.executor.cpu.search.packed import PackedPlan
from gquery.executor.progress import Control

_SMALLEST_CHUNK = 4096  # rows: a batch should be worth its cost, and heavy ones are given away later
_HEAVY_CHUNK = 256  # rows, when much work is expected of each
_ALONE = 0.002  # seconds before other workers are started
_WAITING = 8  # finished batches that may wait for the consumer
_POLL = 0.05  # seconds between two looks at the stop flag while the consumer is slow
_LATE = 0.1  # seconds after which matches leave a buffer that is not full


class Enumeration:
    """One run of a packed plan from a start pool (positions, int32[width, n]) to batches or a sum.

    batches(): PartialMatches as wide as what is listed. total(): the number of matches. Use one of them, once.
    memory: the caller's. modulus: what sums are reduced by; 0 for 2^64. lasting: the search is expected to take long,
    so all workers start at once.
    """

    def __init__(
        self,
        plan: PackedPlan,
        stages: tuple[Stage, ...],
        pool: NDArray[np.int32],
        capacity: int,
        threads: int,
        control: Control,
        memory: Memory,
        modulus: int = 0,
        lasting: bool = False,
    ) -> None:
        self.plan = plan
        self.stages = stages
        self.capacity = capacity
        self.threads = threads
        self.control = control
        self.memory = memory
        self.modulus = modulus
        self.found = np.zeros(plan.width, np.int64)
        self.seconds_until = {stage.stop: 0.0 for stage in stages}
        self.worker_seconds: list[float] = []
        self._pool = pool
        self._next = 0
        self._alone = 0.0 if lasting else _ALONE
        self._chunk = max(
            _HEAVY_CHUNK if lasting else _SMALLEST_CHUNK, min(capacity, pool.shape[1] // (threads * 8) + 1)
        )
        self._shared: list[tuple[int, PartialMatches]] = []
        self._hungry = 0
        self._working = 0
        self._failure: BaseException | None = None
        self._others: list[threading.Thread] = []
        self._lock: threading.Lock  # these three are made when there may be other workers
        self._stop: threading.Event
        self._results: queue.Queue[PartialMatches]

    def total(self) -> tuple[int, float]:
        """Runs to the end; returns the number of matches, modulo 2^64 or the modulus, and about how many there are."""
        total, size = 0, 0.0
        frame = self._began()
        if frame is not None:
            status, begun, thread_begun = MORE, time.perf_counter(), time.thread_time()
            while status == MORE and time.perf_counter() - begun < _ALONE:
                self.control.check()
                status = frame.run()
            self.seconds_until[frame.stop] += time.perf_counter() - begun
            self.worker_seconds.append(time.thread_time() - thread_begun)
            if status == DONE:
                self.found += frame.found
                return int(frame.sums.sum()) % (self.modulus or 2**64), float(frame.sizes.sum())
        for batch in self.batches(frame):
            assert batch.sums is not None
            assert batch.sizes is not None
            total += int(batch.sums.sum())
            size += float(batch.sizes.sum())
        return total % (self.modulus or 2**64), size

    def _began(self) -> SummingFrame | None:
        """The frame of a sum over a small pool: most are done before workers would have been set up."""
        if [stage.summing for stage in self.stages] != [True] or self._pool.shape[1] > self._chunk or not self._alone:
            return None
        self._next = self._pool.shape[1]
        rows = PartialMatches(self._pool, self._pool.shape[1])
        frame = SummingFrame(self.plan, 0, self.stages, rows, self.memory, self.modulus)
        self.found[len(self._pool) - 1] = self._next
        return frame

    def batches(self, begun: Frame | None = None) -> Iterator[PartialMatches]:
        """The full matches, batch by batch; closing the generator stops all workers. `begun`: a frame to go on with."""
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._results = queue.Queue(_WAITING)
        worker = Worker(self, self.memory)
        if begun is not None:
            worker.frames.append(begun)
            worker.working = True
            self._working = 1
        began = time.monotonic()
        try:
            while True:
                self.control.check()
                if self._failure:
                    raise self._failure
                yield from self._finished()
                if not self._others and self.threads > 1 and time.monotonic() - began >= self._alone:
                    self._start_others()
                batch, active = worker.advance()
                if batch is not None:
                    yield batch
                elif not active:
                    if self._idle():
                        break
                    yield from self._wait()
            yield from self._finished()
            if self._failure:
                raise self._failure
        finally:
            self._stop.set()
            for thread in self._others:
                if thread.is_alive():  # Ctrl-C may have come before it was started
                    thread.join()
            worker.finish()

    def _start_others(self) -> None:
        for number in range(1, self.threads):
            thread = threading.Thread(target=self._work, name=f"gquery-{number}", daemon=True)
            self._others.append(thread)
            thread.start()

    def _work(self) -> None:
        worker = Worker(self, Memory(self.plan))
        try:
            with stoppable(self._expect_going_on):
                while not self._stop.is_set():
                    batch, active = worker.advance()
                    if batch is not None:
                        self._deliver(batch)
                    elif not active:
                        if self._idle():
                            break
                        self._stop.wait(0.0005)
        except BaseException as failure:  # handed to the consumer, which raises it
            self._failure = failure
        finally:
            worker.finish()

    def _expect_going_on(self) -> None:
        if self._stop.is_set():
            raise QueryCancelled("the query has stopped")

    def _deliver(self, batch: PartialMatches) -> None:
        while not self._stop.is_set():
            try:
                self._results.put(batch, timeout=_POLL)
                return
            except queue.Full:
                continue

    def _finished(self) -> Iterator[PartialMatches]:
        while True:
            try:
                yield self._results.get_nowait()
            except queue.Empty:
                return

    def _wait(self) -> Iterator[PartialMatches]:
        try:
            yield self._results.get(timeout=0.0005)
        except queue.Empty:
            return

    # --- work sharing ------------------------------------------------------------------------------------------

    def take(self, worker: Worker) -> tuple[int, PartialMatches] | None:
        """The next piece of work: shared partial matches, else a chunk of the pool. Keeps count of who works and
        waits."""
        with self._lock:
            task: tuple[int, PartialMatches] | None = None
            if self._shared:
                task = self._shared.pop()
            elif self._next < self._pool.shape[1]:
                begin = self._next
                self._next = min(begin + self._chunk, self._pool.shape[1])
                chunk = np.ascontiguousarray(self._pool[:, begin : self._next])
                task = (0, PartialMatches(chunk, chunk.shape[1]))
                self.control.fraction = begin / self._pool.shape[1]
            self._working += (task is not None) - worker.working
            self._hungry += (task is None) - worker.waiting
            worker.working = task is not None
            worker.waiting = task is None
            return task

    @property
    def hungry(self) -> bool:
        """Whether a worker waits while nothing is left to take."""
        return self._hungry > 0 and not self._shared

    def share(self, stage: int, rows: PartialMatches) -> None:
        with self._lock:
            self._shared.append((stage, rows))

    def _idle(self) -> bool:
        with self._lock:
            return self._working == 0 and not self._shared and self._next >= self._pool.shape[1]

    def note(self, stage: int, seconds: float) -> None:
        """Adds a slice to the profile."""
        with self._lock:
            self.seconds_until[self.stages[stage].stop] += seconds

    def note_matches(self, rows: PartialMatches) -> None:
        """Adds finished rows to the progress."""
        found = rows.count if rows.sizes is None else int(rows.sizes.sum())
        with self._lock:
            self.control.matches += found

    def note_frame(self, frame: Frame) -> None:
        """Adds what a frame found at each level to the profile, and the rows that were handed out."""
        with self._lock:
            self.found += frame.found
            self.found[len(self._pool) - 1] = self._next


class Worker:
    """A stack of frames, one for each vertex group in progress; the deepest runs."""

    def __init__(self, enumeration: Enumeration, memory: Memory) -> None:
        self.enumeration = enumeration
        self.frames: list[Frame] = []
        self._free: list[list[NDArray[np.int32]]] = [[] for _ in enumeration.stages]
        self._memory = memory
        self.working = False
        self.waiting = False
        self._passed = time.monotonic()
        self._seconds = 0.0

    def advance(self) -> tuple[PartialMatches | None, bool]:
        """One slice of work. Returns a finished batch, if any, and whether there was anything to do."""
        if not self.frames:
            task = self.enumeration.take(self)
            if task is None:
                return None, False
            if not self.enumeration.stages:  # a pattern of one vertex: the start pool is the answer
                self.enumeration.note_matches(task[1])
                return task[1], True
            self._push(*task)
        frame = self.frames[-1]
        began, thread_began = time.perf_counter(), time.thread_time()
        status = frame.run()
        self._seconds += time.thread_time() - thread_began
        self.enumeration.note(frame.stage, time.perf_counter() - began)
        if self.enumeration.hungry:
            self._give()
        if status == MORE and not self._is_late(frame):
            return None, True
        made = frame.drain()
        if status == DONE:
            self.frames.pop()
            if isinstance(frame, ListingFrame):
                self._free[frame.stage].append(frame.output)
            self.enumeration.note_frame(frame)
        return self._pass_on(frame.stage, made), True

    def finish(self) -> None:
        """Adds what unfinished frames found to the profile."""
        for frame in self.frames:
            self.enumeration.note_frame(frame)
        self.frames.clear()
        self.enumeration.worker_seconds.append(self._seconds)

    def _is_late(self, frame: Frame) -> bool:
        """Whether matches have waited long enough in the last stage's output: rare matches are shown early."""
        return frame.stage + 1 == len(self.enumeration.stages) and time.monotonic() - self._passed > _LATE

    def _pass_on(self, stage: int, rows: PartialMatches) -> PartialMatches | None:
        """Made rows go to the next stage, or out when this was the last."""
        if not rows.count:
            return None
        if stage + 1 < len(self.enumeration.stages):
            self._push(stage + 1, rows)
            return None
        self._passed = time.monotonic()
        self.enumeration.note_matches(rows)
        return rows

    def _push(self, stage: int, rows: PartialMatches) -> None:
        enumeration = self.enumeration
        plan, stages = enumeration.plan, enumeration.stages
        if stages[stage].summing:
            self.frames.append(SummingFrame(plan, stage, stages, rows, self._memory, enumeration.modulus))
            return
        free = self._free[stage]
        output = free.pop() if free else np.empty((stages[stage].stop, enumeration.capacity), np.int32)
        self.frames.append(ListingFrame(plan, stage, stages, rows, self._memory, output))

    def _give(self) -> None:
        for frame in self.frames:
            if frame.rows_left >= 2:
                self.enumeration.share(frame.stage, frame.split())
                return
