"""Which relationships of patterns the edges of a change fit, by type and labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gquery.planner.ir.query_graph import QueryEdge, QueryGraph
from gquery.records import record
from gquery.storage.parted.snapshot import Kind


@record(frozen=True, slots=True)
class _Asked:
    """A relationship. sources, targets: the tables of its ends."""

    edge: QueryEdge
    sources: tuple[int, ...]
    targets: tuple[int, ...]

    def fits(self, kind: Kind) -> bool:
        if kind.type not in self.edge.types or (self.edge.source == self.edge.target and not kind.loops):
            return False
        ahead = kind.source in self.sources and kind.target in self.targets
        return ahead or (not self.edge.directed and kind.target in self.sources and kind.source in self.targets)


class Fitting:
    """For some relationships, each of a graph. There are few kinds of edges, and each is looked at once."""

    def __init__(self, asked: Iterable[tuple[QueryGraph, QueryEdge]]) -> None:
        self._asked: Sequence[_Asked] = [
            _Asked(edge, graph.vertices[edge.source].tables, graph.vertices[edge.target].tables)
            for graph, edge in asked
        ]
        self._masks: dict[Kind, int] = {}
        self._places: dict[int, tuple[int, ...]] = {0: ()}

    def places(self, kinds: Iterable[Kind]) -> tuple[int, ...]:
        """The places, ascending, of the relationships that an edge of one of the kinds fits."""
        found = 0
        for kind in kinds:
            mask = self._masks.get(kind)
            if mask is None:
                mask = self._masks[kind] = sum(1 << place for place, each in enumerate(self._asked) if each.fits(kind))
            found |= mask
        if found not in self._places:
            self._places[found] = tuple(place for place in range(len(self._asked)) if found >> place & 1)
        return self._places[found]
