"""Where paths may end."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gquery.executor.lowering.masks import masks_of
from gquery.executor.lowering.reading import Reading
from gquery.executor.paths.hops import Hops, Numbers, Vertices
from gquery.planner.ir.filters import PredicateFilter
from gquery.planner.ir.segments import Paths
from gquery.records import record
from gquery.storage.sorting import distinct


@record(frozen=True, slots=True)
class Ends:
    """wanted: the vertex that the paths of each seed end at, where they are bound. allowed: by vertex, whether one may
    end there; None: at any. but: the vertex that the paths of each seed do not end at, where there is one."""

    wanted: Vertices | None
    allowed: NDArray[np.bool_] | None
    but: Vertices | None = None

    @classmethod
    def of(cls, segment: Paths, sources: Vertices, wanted: Vertices | None, reading: Reading) -> Ends:
        vertex = segment.graph.vertices[segment.target]
        count = reading.snapshot.vertex_count
        but = sources if segment.apart else None
        if wanted is not None or (not vertex.predicates and _all_fit(segment, reading)):
            return cls(wanted, None, but)
        reading.control.memory.reserve(count, "the vertices at which paths may end")
        allowed = np.zeros(count, np.bool_)
        if vertex.predicates:
            masks = masks_of(segment.graph, (PredicateFilter(vertex.index, vertex.predicates),), reading)
            allowed[masks.vertices[0].vertices] = True
        else:
            for begin, end, *_ in reading.snapshot.vertex_numbers.of(vertex.tables):
                allowed[begin:end] = True
        return cls(None, allowed, but)

    def fit(self, seeds: Numbers, vertices: Vertices) -> NDArray[np.bool_]:
        """Which paths, of some seeds, may end at these vertices."""
        fitting = np.ones(len(seeds), np.bool_) if self.wanted is None else self.wanted[seeds] == vertices
        if self.allowed is not None:
            fitting &= self.allowed[vertices]
        if self.but is not None:
            fitting &= self.but[seeds] != vertices
        return fitting

    @property
    def all(self) -> Vertices | None:
        """The vertices at which any path may end; None: all."""
        if self.wanted is not None:
            return distinct(self.wanted)
        return None if self.allowed is None else np.flatnonzero(self.allowed).astype(np.int32)


def _all_fit(segment: Paths, reading: Reading) -> bool:
    """Whether the edges lead to vertices of the labels of ends alone."""
    source, target = (segment.graph.vertices[end] for end in (segment.source, segment.target))
    everything = tuple(range(len(reading.snapshot.vertex_tables)))
    led = segment.edge.relation.reached(reading.snapshot.invariants, segment.direction, everything)
    fitting = set(target.tables)
    return led is not None and fitting.issuperset(led) and (segment.least > 0 or fitting.issuperset(source.tables))


def distances(back: Hops, ends: Vertices, most: int | None, count: int, reading: Reading) -> NDArray[np.int32]:
    """By vertex, of `count`, how many hops lead from it to the nearest of some ends; -1 where more than `most` do."""
    reading.control.memory.reserve(4 * count, "the distances to the ends of paths")
    found = np.full(count, -1, np.int32)
    found[ends] = 0
    frontier, length = ends, 0
    while len(frontier) and length != most:
        length += 1
        behind = [np.zeros(0, np.int32)]
        for part in back.pieces(frontier):
            reading.control.check()
            led = back.led(frontier[part]).vertices
            behind.append(distinct(led[found[led] < 0]))
            found[behind[-1]] = length
        frontier = np.concatenate(behind)
    return found
