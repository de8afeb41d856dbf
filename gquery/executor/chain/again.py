"""Matchings that begin with few edges and run on one snapshot after the other: all but these edges is made ready once.

What narrows such a matching is told by the edges that it begins with, or by the vertices. So the same program starts
from the ends of other edges, as long as the vertices are the same. Filters that ask for neighbours are left out: they
only save work, and where few partial matches are there is little to save.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from gquery.executor.backend import Backend, Candidates, Masks, Movable
from gquery.executor.engine import Engine, SecondHalf
from gquery.executor.lowering.masks import at_ends
from gquery.executor.lowering.reading import Reading
from gquery.executor.matcher import Beginning, Matcher
from gquery.executor.progress import Control
from gquery.planner.ir.filters import (
    EndsFilter,
    LabelFilter,
    LookupFilter,
    NeighbourFilter,
    PredicateFilter,
    ReachedFilter,
)
from gquery.planner.ir.match_plan import MatchPlan
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.query_plan import QueryPlan
from gquery.records import record
from gquery.storage.graph import Snapshot
from gquery.storage.tables import VertexTable

_OF_VERTICES = LabelFilter | LookupFilter | PredicateFilter
_SAVING = EndsFilter | NeighbourFilter | ReachedFilter
_NOTHING = Masks({}, {})


class Again:
    """What the matchings of one plan have made ready, by their number."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[VertexTable, ...]] = {}
        self._ready: dict[int, Ready | None] = {}

    def ready(self, plan: QueryPlan, second_half: SecondHalf, engine: Engine, reading: Reading) -> Ready | None:
        """None where a matching begins anew: it has to, or it has not run before on these vertices."""
        number, vertices = plan.number, reading.snapshot.vertex_tables
        if self._seen.get(number) is not vertices:
            self._seen[number] = vertices
            self._ready.pop(number, None)
            return None
        if number not in self._ready:
            self._ready[number] = _made(plan, second_half, engine.backend(reading.control.check), reading)
        return self._ready[number]


@record(frozen=True, slots=True)
class Ready:
    """A matching that is ready for snapshots with the same vertices. begins: by what is known of each of its plans, the
    end of which query edge its order begins with."""

    matchings: tuple[MatchPlan, ...]
    begun: Mapping[int, Beginning]
    ends: Mapping[int, int]
    move: Callable[[Snapshot, Control], Candidates]

    def matcher(self, backend: Backend, graph: QueryGraph, reading: Reading) -> Matcher:
        return _ReadyMatcher(self, backend, graph, reading)


class _ReadyMatcher(Matcher):
    """Begins each plan at the ends of the edges that are few."""

    def __init__(self, ready: Ready, backend: Backend, graph: QueryGraph, reading: Reading) -> None:
        super().__init__(backend, _NOTHING, ready.move(reading.snapshot, reading.control), reading)
        self._ready = ready
        self._graph = graph

    def _begin(self, plan: MatchPlan) -> Beginning:
        first = plan.order[0]
        pool = at_ends(self._graph, first, self._ready.ends[first], self.reading)
        return self._ready.begun[id(plan)]._replace(pool=pool.reshape(1, -1))


def _made(plan: QueryPlan, second_half: SecondHalf, backend: Backend, reading: Reading) -> Ready | None:
    graph, check = plan.graph, reading.control.check
    ends = _few_edges(graph, reading.snapshot)
    if not ends or not all(isinstance(each, _OF_VERTICES | _SAVING) for each in plan.filters):
        return None
    lasting = tuple(each for each in plan.filters if isinstance(each, _OF_VERTICES))
    matcher = Matcher.filtering(backend, graph, lasting, reading)
    if not isinstance(matcher.candidates, Movable):
        return None
    sizes = list(matcher.candidates.sizes)
    for vertex, edge in ends.items():
        sizes[vertex] = min(sizes[vertex], len(at_ends(graph, vertex, edge, reading)))
    known = second_half.cardinalities(replace(matcher.counted, vertices=tuple(sizes)))
    space, reason = second_half.space(lambda: known, check)
    if space != "vertices":
        return None
    matchings = second_half.matchings(known, space, reason, check)
    if any(each.order[0] not in ends or _stands_for_others(each, each.order[0]) for each in matchings):
        return None
    begun = {id(each): matcher._begin(each) for each in matchings}
    return Ready(matchings, begun, ends, matcher.candidates.mover())


def _stands_for_others(plan: MatchPlan, vertex: int) -> bool:
    """Whether a vertex of a plan's problem is another than the query's of that number, or several."""
    return plan.problem.merged[vertex] != (vertex,)


def _few_edges(graph: QueryGraph, snapshot: Snapshot) -> dict[int, int]:
    """For the ends of query edges of which there are few data edges one of these."""
    few = [edge for edge in graph.edges if edge.types and snapshot.few_edges(edge.types) is not None]
    return {end: edge.index for edge in few for end in (edge.source, edge.target)}
