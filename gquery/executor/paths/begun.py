"""What every search begins with: where its paths begin and may end, and the edges that fit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gquery.executor.lowering.masks import masks_of
from gquery.executor.lowering.reading import Reading
from gquery.executor.lowering.seeds import Seeds
from gquery.executor.paths.conditions import Conditions
from gquery.executor.paths.ends import Ends, distances
from gquery.executor.paths.hops import Hops, Numbers, Vertices
from gquery.executor.paths.listing import Found, Listing
from gquery.executor.paths.pairs import Pairs
from gquery.executor.paths.rounds import Rounds
from gquery.lasting.properties import cached_property
from gquery.planner.ir.filters import EdgePredicateFilter
from gquery.planner.ir.query_plan import PathsPlan
from gquery.planner.ir.segments import Paths
from gquery.records import record
from gquery.storage.schema import TURNED


@record(frozen=True)
class Begun:
    """A search over the edges that fit. sources: by seed; mask: of all edges, where not all of their types do.
    measured: of each path only the length is asked."""

    segment: Paths
    sources: Vertices
    ends: Ends
    mask: NDArray[np.bool_] | None
    measured: bool
    threads: int
    reading: Reading

    @classmethod
    def of(cls, plan: PathsPlan, seeds: Seeds, threads: int, reading: Reading) -> Begun:
        segment = plan.segment
        edge, vertices = segment.edge, segment.graph.vertices
        wanted, sources = (seeds.columns.get(vertices[end].variable) for end in (segment.target, segment.source))
        assert sources is not None
        ends = Ends.of(segment, sources, wanted, reading)
        mask = None
        if edge.predicates:
            mask = masks_of(segment.graph, (EdgePredicateFilter(0, edge.predicates),), reading).edges[0].mask
        return cls(segment, sources, ends, mask, plan.measured, threads, reading)

    @cached_property
    def along(self) -> Hops:
        return Hops.of(self.segment.edge, self.segment.direction, self.mask, self.reading)

    @cached_property
    def against(self) -> Hops:
        """The same edges, seen from their other end."""
        return Hops.of(self.segment.edge, TURNED[self.segment.direction], self.mask, self.reading)

    @cached_property
    def seeds(self) -> Numbers:
        """The numbers of all seeds."""
        return np.arange(len(self.sources))

    def rounds(self) -> Rounds:
        return Rounds(self.along, self.segment.returns_another_way, self.segment.most, self.reading)

    def pairs(self) -> Pairs:
        return Pairs(self.along, self.against, self.segment.most, self.threads, self.reading)

    def beginnings(self, seeds: Numbers) -> Found:
        return Found.none_yet(seeds, self.sources[seeds])

    def listing(self, least: int, most: int | None, towards: Vertices | None = None) -> Listing:
        """towards: the vertices at which the paths end of those seeds that it is for; None: of all."""
        ends = self.ends.all if towards is None else towards
        remaining = None
        if ends is not None:
            count = self.reading.snapshot.vertex_count
            remaining = distances(self.against, ends, None if most is None else most - 1, count, self.reading)
        segment = self.segment
        asked = Conditions(segment, self.sources, self.reading) if segment.following or segment.of_source else None
        return Listing(self.along, self.ends, least, most, segment.mode, segment.differ, remaining, asked, self.reading)
