"""So many shortest paths between two vertices that are known, by their deviations (J. Y. Yen, Management Science 17,
1971, and E. L. Lawler's partition, 18, 1972).

All paths of a class begin alike, and go on with none of some edges. The shortest of the best class is the next path;
what is left of its class falls into classes that leave it at one vertex each. So every search finds a path or ends its
class, and nothing is listed but what is asked for: neither all paths of a length, nor those that never arrive.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.paths.begun import Begun
from gquery.executor.paths.hops import Led, Numbers, Vertices
from gquery.executor.paths.listing import Found, Listing

_FAR = np.iinfo(np.int32).max
_BYTES = 24  # of a vertex that a search may come to


_Path = tuple[list[int], list[int]]
"""Its vertices, and its edges."""


class _Class(NamedTuple):
    """The shortest path of a class, all of which begin with its first `kept` edges and go on with none that are
    `barred`. number: tells classes apart whose paths are as long."""

    length: int
    number: int
    path: _Path
    kept: int
    barred: list[int]


def deviations(begun: Begun, seeds: Numbers, target: int, least: int) -> Iterator[Found]:
    """The paths of some seeds, all of which end at one vertex: so many of each as are asked for, the shortest first,
    less those of fewer edges than `least`."""
    segment, asked = begun.segment, begun.segment.shortest
    assert isinstance(asked, int)
    listing = begun.listing(0, segment.most, np.array([target]))
    memory, size = begun.reading.control.memory, _BYTES * begun.reading.snapshot.vertex_count
    memory.reserve(size, "the deviations from shortest paths")
    try:
        search = _Search(listing, target, begun.reading.snapshot.vertex_count)
        for seed in seeds[begun.ends.fit(seeds, np.full(len(seeds), target, np.int32))].tolist():
            for vertices, edges in islice(_shortest(search, int(begun.sources[seed]), segment.least), asked):
                if len(edges) >= least:
                    yield Found(np.array([seed]), np.array([vertices], np.int32), np.array([edges], np.int64))
    finally:
        memory.release(size)


def _shortest(search: _Search, source: int, least: int) -> Iterator[_Path]:
    """The paths from a vertex, the shortest first; least: 0 or 1 edges."""
    none_yet: _Path = ([source], [])
    first = none_yet if source == search.target and least == 0 else search.nearest(none_yet, [])
    pending = [] if first is None else [_Class(len(first[1]), 0, first, 0, [])]
    number = 0
    while pending:
        length, _, (vertices, edges), begun, barred = heappop(pending)
        yield vertices, edges
        for kept in range(begun, length + 1):
            left_out = [*(barred if kept == begun else []), *edges[kept : kept + 1]]
            found = search.nearest((vertices[: kept + 1], edges[:kept]), left_out)
            if found is not None:
                number += 1
                heappush(pending, _Class(len(found[1]), number, found, kept, left_out))


class _Search:
    """Looks for the shortest ways on to one vertex."""

    def __init__(self, listing: Listing, target: int, vertices: int) -> None:
        assert listing.remaining is not None
        self.target = target
        self._listing = listing
        self._remaining: NDArray[np.int32] = listing.remaining
        self._most = _FAR if listing.most is None else listing.most
        self._distance = np.full(vertices, _FAR, np.int32)
        self._before = np.zeros(vertices, np.int32)
        self._by = np.zeros(vertices, np.int64)

    def nearest(self, begun: _Path, barred: list[int]) -> _Path | None:
        """The shortest path that begins with another, and goes on with an edge that is not barred; None where there is
        none. Every such edge is tried that may lead to a shorter one: behind it nothing is barred any more."""
        (vertices, edges), most = begun, self._most
        if self._listing.mode == "simple" and edges and vertices[-1] == vertices[0]:
            return None
        led, remaining = self._led(begun, vertices[-1], most - len(edges) - 1)
        best = None
        for place in np.argsort(remaining, kind="stable").tolist():
            if len(edges) + 1 + remaining[place] > most:
                break
            edge, behind = int(led.edges[place]), int(led.vertices[place])
            found = None if edge in barred else self._way(([*vertices, behind], [*edges, edge]), most)
            if found is not None:
                best, most = found, len(found[1]) - 1
        return best

    def _led(self, begun: _Path, vertex: int, most: int) -> tuple[Led, Vertices]:
        """Where edges lead that a path may take after others, and how many at least come then, `most` at most."""
        vertices, edges = begun
        led = self._listing.hops.led(np.array([vertex], np.int32))
        remaining = self._remaining[led.vertices]
        fit = (remaining >= 0) & (remaining <= most)
        if self._listing.differ:
            fit &= ~np.isin(led.edges, edges)
        if self._listing.mode != "any":
            open_ = self._listing.mode == "simple" and vertices[0] == self.target
            fit &= ~np.isin(led.vertices, vertices[1:] if open_ else vertices)
        return Led(led.origin[fit], led.vertices[fit], led.edges[fit]), remaining[fit]

    def _way(self, begun: _Path, most: int) -> _Path | None:
        """The path made longer, up to the target, by as few edges as can be, to `most` at most (A*, along the distances
        to the target)."""
        vertices, edges = begun
        pending, touched = [(0, 0, vertices[-1])], [np.array(vertices[-1:], np.int32)]
        self._distance[touched[0]] = 0
        try:
            while pending:
                self._listing.reading.control.check()
                _, gone, vertex = heappop(pending)
                if vertex == self.target:
                    return self._traced(begun, -gone)
                if self._distance[vertex] == -gone:
                    touched.append(self._go_on(begun, vertex, 1 - gone, most - len(edges) - 1 + gone))
                    for behind in touched[-1].tolist():
                        heappush(pending, (1 - gone + int(self._remaining[behind]), gone - 1, behind))
        finally:
            self._distance[np.concatenate(touched)] = _FAR
        return None

    def _go_on(self, begun: _Path, vertex: int, length: int, most: int) -> Vertices:
        """The vertices that edges lead to, and that are nearer than they were known to be."""
        led, _ = self._led(begun, vertex, most)
        nearer = self._distance[led.vertices] > length
        behind = led.vertices[nearer]
        self._distance[behind], self._before[behind], self._by[behind] = length, vertex, led.edges[nearer]
        return behind

    def _traced(self, begun: _Path, length: int) -> _Path:
        """The path that was found, so many edges longer than what it begins with."""
        behind, by, vertex = [], [], self.target
        for _ in range(length):
            behind.append(vertex)
            by.append(int(self._by[vertex]))
            vertex = int(self._before[vertex])
        return [*begun[0], *behind[::-1]], [*begun[1], *by[::-1]]
