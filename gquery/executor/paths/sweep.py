"""Where paths lead: breadth first from many vertices, one after the other or all at once, without listing any path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gquery.executor.cpu.kernels import reach
from gquery.executor.cpu.machine.compile import stoppable
from gquery.executor.lowering.reading import Reading
from gquery.executor.paths import hops
from gquery.executor.paths.hops import Hops, Numbers, Vertices

ROOM = 1 << 20  # vertices that are reached from many sources before they are handed on


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


class Sweep:
    """Goes breadth first, most hops far. own: whether sources count as reached; else those do that edges lead to."""

    def __init__(self, along: Hops, most: int | None, own: bool, reading: Reading) -> None:
        self._along = along
        self._most = most
        self._own = own
        self._reading = reading

    def each(self, sources: Vertices) -> Iterator[Reached]:
        """All that is reached from each of the sources."""
        return self._reached(sources, np.arange(len(sources) + 1))

    def together(self, sources: Vertices) -> Iterator[Reached]:
        """All that is reached from any of the sources."""
        return self._reached(sources, np.array([0, len(sources)]))

    def _reached(self, sources: Vertices, begins: Numbers) -> Iterator[Reached]:
        """begins: of the groups of sources, and the end of the last."""
        groups, memory = len(begins) - 1, self._reading.control.memory
        if not groups:
            return
        words = (self._reading.snapshot.vertex_count >> 6) + 1
        room = 64 * words + len(sources) // groups
        if groups > 1:
            room = max(room, min(memory.rows(ROOM), groups * room))
        memory.reserve(8 * words + 4 * room + 8 * groups, "a sweep's vertices")
        met, queue, ends = np.zeros(words, np.uint64), np.empty(room, np.int32), np.zeros(groups, np.int64)
        state = np.zeros(reach.STATE_SLOTS, np.int64)
        state[reach.HEAD], state[reach.OWN], state[reach.SLICE] = -1, self._own, hops.AT_ONCE
        state[reach.MOST] = -1 if self._most is None else self._most
        first, status = 0, reach.MORE
        while status != reach.DONE:
            self._reading.control.check()
            with stoppable(self._reading.control.check):
                status = reach.reach(state, self._along.lists, met, queue, sources, begins, ends)
            if status != reach.MORE:
                end = int(state[reach.GROUP])
                yield Reached(first, ends[first:end], queue[: state[reach.TAIL]].copy())
                first, state[reach.TAIL] = end, 0
