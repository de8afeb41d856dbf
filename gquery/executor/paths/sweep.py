"""Where paths lead: breadth first from many vertices, one after the other or all at once, without listing any path."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.kernels import reach
from gquery.executor.cpu.machine.slices import run_slices
from gquery.executor.lowering.reading import Reading
from gquery.executor.paths import hops
from gquery.executor.paths.hops import Hops, Numbers, Vertices
from gquery.stopping import stoppable

ROOM = 1 << 20  # vertices that are reached from many sources before they are handed on
TASK = 64  # sources that a thread takes at a time
TASKS = 4  # of them a thread does before what is reached is handed on
SEVERAL = 16  # sources that are worth a second thread


class Reached(NamedTuple):
    """Vertices that are reached from groups of sources, from the group `first` on: those of the i-th end at ends[i]."""

    first: int
    ends: Numbers
    vertices: Vertices

    @property
    def places(self) -> Numbers:
        """The groups of the vertices."""
        groups = np.arange(self.first, self.first + len(self.ends))
        return np.repeat(groups, np.diff(self.ends, prepend=0))


class _Tables(NamedTuple):
    """A thread's: the vertices that are met, a bit for each, and the queue."""

    met: NDArray[np.uint64]
    queue: Vertices


class Sweep:
    """Goes breadth first, most hops far, from many sources on so many threads. own: whether sources count as reached;
    else those do that edges lead to."""

    def __init__(self, along: Hops, most: int | None, own: bool, threads: int, reading: Reading) -> None:
        self._along = along
        self._most = most
        self._own = own
        self._threads = threads
        self._reading = reading
        self._words = (reading.snapshot.vertex_count >> 6) + 1

    def each(self, sources: Vertices) -> Iterator[Reached]:
        """All that is reached from each of the sources."""
        size = max(1, min(TASK, ROOM // (64 * TASKS * self._words)))
        room = size * (64 * self._words + 1)
        threads = self._fitting(8 * self._words + 4 * room * (1 + TASKS))
        if threads == 1 or len(sources) < SEVERAL:
            yield from self._in_turn(sources, np.arange(len(sources) + 1))
            return
        kept = threading.local()
        for begin in range(0, len(sources), TASKS * threads * size):
            here, parts = sources[begin : begin + TASKS * threads * size], dict[int, list[Reached]]()

            def work(low: int, high: int, begin: int = begin, here: Vertices = here, parts: Any = parts) -> None:
                if not hasattr(kept, "tables"):
                    kept.tables = self._tables(room)
                found = self._reached(kept.tables, here[low:high], np.arange(high - low + 1))
                parts[low] = [each._replace(first=begin + low + each.first) for each in found]

            run_slices(len(here), size, threads, self._reading.control.check, work)
            for low in sorted(parts):
                yield from parts[low]

    def together(self, sources: Vertices) -> Iterator[Reached]:
        """All that is reached from any of the sources."""
        return self._in_turn(sources, np.array([0, len(sources)]))

    def _fitting(self, size: int) -> int:
        """On how many threads it runs, each of which takes so many bytes, which are reserved."""
        memory, threads = self._reading.control.memory, self._threads
        if memory.available is not None:
            threads = max(1, min(threads, memory.available // (2 * size)))
        if threads > 1:
            memory.reserve(threads * size, "a sweep's vertices")
        return threads

    def _in_turn(self, sources: Vertices, begins: Numbers) -> Iterator[Reached]:
        """All in the thread that asks. begins: of the groups of sources, and the end of the last."""
        groups, memory = len(begins) - 1, self._reading.control.memory
        if not groups:
            return
        room = 64 * self._words + len(sources) // groups
        if groups > 1:
            room = max(room, min(memory.rows(ROOM), groups * room))
        memory.reserve(8 * self._words + 4 * room + 8 * groups, "a sweep's vertices")
        found = self._reached(self._tables(room), sources, begins)
        while True:
            with stoppable(self._reading.control.check):
                reached = next(found, None)
            if reached is None:
                return
            yield reached

    def _tables(self, room: int) -> _Tables:
        return _Tables(np.zeros(self._words, np.uint64), np.empty(room, np.int32))

    def _reached(self, tables: _Tables, sources: Vertices, begins: Numbers) -> Iterator[Reached]:
        state, ends = np.zeros(reach.STATE_SLOTS, np.int64), np.zeros(len(begins) - 1, np.int64)
        state[reach.HEAD], state[reach.OWN], state[reach.SLICE] = -1, self._own, hops.AT_ONCE
        state[reach.MOST] = -1 if self._most is None else self._most
        first, status = 0, reach.MORE
        while status != reach.DONE:
            self._reading.control.check()
            status = reach.reach(state, self._along.lists, *tables, sources, begins, ends)
            if status != reach.MORE:
                end = int(state[reach.GROUP])
                yield Reached(first, ends[first:end], tables.queue[: state[reach.TAIL]].copy())
                first, state[reach.TAIL] = end, 0
