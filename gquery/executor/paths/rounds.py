"""Ways round: from a vertex back to itself."""

from __future__ import annotations

import numpy as np

from gquery.executor.lowering.reading import Reading
from gquery.executor.paths.hops import Hops, Led, Vertices
from gquery.storage.sorting import distinct


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
                frontier = distinct(np.concatenate(behind))
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
