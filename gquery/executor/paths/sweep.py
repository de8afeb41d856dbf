"""Where paths lead, and how far: breadth first from many vertices at once, without listing any path.

Vertices are told apart by the place of their source among those of a block: number = place * vertex_count + vertex.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gquery.executor.lowering.reading import Reading
from gquery.executor.paths.hops import Hops, Led, Numbers, Vertices
from gquery.records import record

BLOCK = 1 << 25  # vertices that are told apart at once


@record(frozen=True, slots=True)
class Level:
    """What is as far away as nothing before: `places` of the sources, and vertices."""

    distance: int
    places: Numbers
    vertices: Vertices


class Sweep:
    """Goes breadth first, most hops far. It can be used again and again."""

    def __init__(self, hops: Hops, most: int | None, reading: Reading) -> None:
        self.hops = hops
        self.most = most
        self.reading = reading
        self.count = reading.snapshot.vertex_count
        self.width = max(1, min(BLOCK, reading.control.memory.rows(BLOCK)) // max(1, self.count))
        reading.control.memory.reserve(self.width * self.count, "a sweep's vertices")
        self._met = np.zeros(self.width * self.count, np.bool_)

    def each(self, sources: Vertices) -> Iterator[Level]:
        """All that is reached from each of the sources, at most `width`, each with itself first. A source is not
        reached anew by a way round: `Rounds` tells that."""
        return self._levels(np.arange(len(sources)), sources, True)

    def together(self, sources: Vertices, own: bool) -> Iterator[Level]:
        """All that is reached from any of the sources, with these first. own: whether they count as reached; else those
        are met again that edges lead to."""
        return self._levels(np.zeros(len(sources), np.int64), sources, own)

    def _levels(self, places: Numbers, vertices: Vertices, own: bool) -> Iterator[Level]:
        touched, distance = [], 0
        try:
            while len(vertices):
                numbers = places * self.count + vertices
                self._met[numbers] = own or distance > 0
                touched.append(numbers)
                yield Level(distance, places, vertices)
                if distance == self.most:
                    return
                distance += 1
                numbers = self._next(places, vertices)
                places, vertices = numbers // self.count, (numbers % self.count).astype(np.int32)
        finally:
            for numbers in touched:
                self._met[numbers] = False

    def _next(self, places: Numbers, vertices: Vertices) -> Numbers:
        """The numbers of what is reached next, ascending."""
        found = [np.zeros(0, np.int64)]
        for part in self.hops.pieces(vertices):
            self.reading.control.check()
            led = self.hops.led(vertices[part])
            numbers = places[part][led.origin] * self.count + led.vertices
            found.append(np.unique(numbers[~self._met[numbers]]))
        return found[1] if len(found) == 2 else np.unique(np.concatenate(found))


class Rounds:
    """The length of the shortest way round: from a vertex back to itself, over one edge at least.

    `differs`: the edges of a way have to differ. Along directed edges they do so in a shortest way. Without directions
    the edge of the first step must not be the last one, too: vertices are told apart by it, and two that were reached
    by different first edges and have an edge between them close a way (the shortest cycle through a root).
    """

    def __init__(self, hops: Hops, differs: bool, most: int | None, reading: Reading) -> None:
        self._hops = hops
        self._differs = differs
        self._most = most
        self._reading = reading
        count = reading.snapshot.vertex_count
        reading.control.memory.reserve(12 * count, "a search for ways round")
        self._distance = np.full(count, -1, np.int32)
        self._first = np.zeros(count, np.int64)

    def length(self, source: int) -> int | None:
        """None where there is no way, or none so short."""
        distance = self._distance
        frontier = np.array([source], np.int32)
        distance[source] = 0
        touched, length = [frontier], 0
        try:
            while len(frontier) and length != self._most:
                closed: list[int] = []
                behind = [np.zeros(0, np.int32)]
                for part in self._hops.pieces(frontier):
                    self._reading.control.check()
                    led = self._hops.led(frontier[part])
                    touched.append(led.vertices)
                    behind.append(led.vertices[distance[led.vertices] < 0])
                    closed += self._closed(source, frontier[part], led, length)
                if closed:
                    return min(closed) if self._most is None or min(closed) <= self._most else None
                length += 1
                frontier = np.unique(np.concatenate(behind))
            return None
        finally:
            for vertices in touched:
                distance[vertices] = -1

    def _closed(self, source: int, frontier: Vertices, led: Led, length: int) -> list[int]:
        """Meets what lies behind the frontier, and says how long the shortest way is that closes there, if any does."""
        distance, first = self._distance, self._first
        own = led.edges if length == 0 else first[frontier][led.origin]
        new = np.flatnonzero(distance[led.vertices] < 0)
        distance[led.vertices[new]] = length + 1
        first[led.vertices[new]] = own[new]
        back = led.vertices == source
        if not self._differs:
            return [length + 1] if back.any() else []
        if length == 0:
            closing = back | (first[led.vertices] != led.edges)
            lengths = np.where(back, 1, 2)
        else:
            closing = np.where(back, own != led.edges, own != first[led.vertices])
            lengths = np.where(back, length + 1, length + 1 + distance[led.vertices])
        return [int(lengths[closing].min())] if closing.any() else []
