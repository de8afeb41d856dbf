"""Which relationships of a pattern the edges of a change fit, by type and labels."""

from __future__ import annotations

from collections.abc import Iterable

from gquery.planner.ir.query_graph import QueryEdge, QueryGraph
from gquery.storage.parted.snapshot import Kind


class Fitting:
    """For one pattern. There are few kinds of edges, and each is looked at once."""

    def __init__(self, graph: QueryGraph) -> None:
        self._graph = graph
        self._masks: dict[Kind, int] = {}
        self._places: dict[int, tuple[int, ...]] = {0: ()}

    def places(self, kinds: Iterable[Kind]) -> tuple[int, ...]:
        """The places, ascending, of the relationships that an edge of one of the kinds fits."""
        found = 0
        for kind in kinds:
            mask = self._masks.get(kind)
            if mask is None:
                mask = self._masks[kind] = sum(1 << each.index for each in self._graph.edges if self._fits(each, kind))
            found |= mask
        if found not in self._places:
            self._places[found] = tuple(each.index for each in self._graph.edges if found >> each.index & 1)
        return self._places[found]

    def _fits(self, edge: QueryEdge, kind: Kind) -> bool:
        type_, source, target = kind
        sources, targets = (self._graph.vertices[end].tables for end in (edge.source, edge.target))
        ahead = source in sources and target in targets
        return type_ in edge.types and (ahead or (not edge.directed and target in sources and source in targets))
