"""Shortest paths: breadth first from both ends where both are known, then back along the distances.

Between two vertices every walk of the smallest length is a path of any mode. From a vertex back to itself, beyond the
shortest lengths, and from two hops on, paths are listed length by length.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gquery.executor.lowering.reading import Reading
from gquery.executor.paths.ends import Ends
from gquery.executor.paths.hops import Hops, Numbers, Vertices
from gquery.executor.paths.listing import Found
from gquery.records import record

PIECE = 1 << 15  # paths that are made longer at once


class Side:
    """Breadth first from one vertex. It can be begun again."""

    def __init__(self, hops: Hops, back: Hops, reading: Reading) -> None:
        self.hops = hops
        self._back = back
        self._reading = reading
        count = reading.snapshot.vertex_count
        reading.control.memory.reserve(4 * count, "the distances of shortest paths")
        self.distance = np.full(count, -1, np.int32)
        self._touched: list[Vertices] = []
        self.frontier = np.zeros(0, np.int32)
        self.length = 0

    def begin(self, vertex: int) -> None:
        for vertices in self._touched:
            self.distance[vertices] = -1
        self.frontier = np.array([vertex], np.int32)
        self.distance[vertex] = 0
        self._touched, self.length = [self.frontier], 0

    def advance(self) -> None:
        """One hop more."""
        self.length += 1
        found = [np.zeros(0, np.int32)]
        for part in self.hops.pieces(self.frontier):
            self._reading.control.check()
            led = self.hops.led(self.frontier[part]).vertices
            found.append(np.unique(led[self.distance[led] < 0]))
            self.distance[found[-1]] = self.length
        self.frontier = np.concatenate(found)
        self._touched.append(self.frontier)

    def ways(self, paths: Found, every: bool) -> Iterator[Found]:
        """The paths made longer towards the vertex that this side began at, as short as can be: all, or one of each."""
        pending = [paths]
        while pending:
            self._reading.control.check()
            paths = pending.pop()
            distance = self.distance[paths.last]
            if not distance.any():
                yield paths
                continue
            if len(paths.seeds) > PIECE:
                half = len(paths.seeds) // 2
                pending += [paths.chosen(np.arange(half, len(paths.seeds))), paths.chosen(np.arange(half))]
                continue
            led = self._back.led(paths.last)
            nearer = self.distance[led.vertices] == distance[led.origin] - 1
            chosen = np.flatnonzero(nearer)
            if not every:
                chosen = chosen[np.unique(led.origin[chosen], return_index=True)[1]]
            pending.append(paths.longer(led.origin[chosen], led.vertices[chosen], led.edges[chosen]))


@record(frozen=True, slots=True)
class Shortest:
    """every: all paths of the smallest length, else one."""

    forward: Side
    backward: Side
    every: bool
    most: int | None

    def between(self, seed: int, source: int, target: int) -> Iterator[Found]:
        """The shortest paths from one vertex to another, over one edge at least."""
        sides = (self.forward, self.backward)
        for side, begin in zip(sides, (source, target), strict=True):
            side.begin(begin)
        meeting = np.zeros(0, np.int32)
        while not len(meeting):
            if self.forward.length + self.backward.length == self.most:
                return
            side, other = sorted(sides, key=lambda each: len(each.frontier))
            side.advance()
            if not len(side.frontier):
                return
            meeting = side.frontier[other.distance[side.frontier] >= 0]
        if not self.every:
            meeting = meeting[:1]
        begun = Found.none_yet(np.full(len(meeting), seed), meeting)
        for paths in self.forward.ways(begun, self.every):
            yield from self.backward.ways(paths.turned(), self.every)

    def to_several(self, seeds: Numbers, source: int, targets: Vertices) -> Iterator[Found]:
        """The shortest paths from a vertex to one target for each seed, other than it: breadth first once for all."""
        self.forward.begin(source)
        left = np.flatnonzero(targets != source)
        while len(left) and len(self.forward.frontier) and self.forward.length != self.most:
            self.forward.advance()
            reached = self.forward.distance[targets[left]] >= 0
            here, left = left[reached], left[~reached]
            for paths in self.forward.ways(Found.none_yet(seeds[here], targets[here]), self.every):
                yield paths.turned()

    def from_one(self, seed: int, source: int, ends: Ends) -> Iterator[Found]:
        """The shortest paths from a vertex to all others where they may end."""
        self.forward.begin(source)
        seeds = np.array([seed])
        while len(self.forward.frontier):
            fitting = self.forward.frontier[ends.fit(np.full(len(self.forward.frontier), seed), self.forward.frontier)]
            if self.forward.length > 0 and len(fitting):
                begun = Found.none_yet(np.repeat(seeds, len(fitting)), fitting)
                for paths in self.forward.ways(begun, self.every):
                    yield paths.turned()
            if self.forward.length == self.most:
                return
            self.forward.advance()
