"""What filters ask of the candidates of a vertex that not every match of a problem made from the query has.

A filter counts neighbours, as many as the query's own matches must have. A problem without one of the query's tests, or
with two of its vertices made one, has matches with fewer, which are left out of every such problem alike. There two
vertices look alike only if the same was asked of both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from gquery.planner.ir.expr import Expression
from gquery.planner.ir.filters import BindingFilter, EndsFilter, Filter, NeighbourFilter, ReachedFilter
from gquery.planner.ir.query_graph import QueryEdge, QueryGraph
from gquery.planner.ir.relations import Relation, Types
from gquery.records import record
from gquery.storage.schema import Direction


@record(frozen=True, slots=True)
class Demand:
    """So many neighbours along edges of one kind, of `tables` and with predicates. other: the query vertex that they
    are candidates of, where that is not told by these."""

    relation: Relation
    direction: Direction
    edge_predicates: tuple[Expression, ...]
    tables: tuple[int, ...]
    predicates: tuple[Expression, ...]
    other: int | None
    required: int

    def counts(self, edge: QueryEdge, vertex: int) -> bool:
        """Whether what an edge of the vertex leads to is one of them."""
        if (self.direction, self.edge_predicates) != (edge.direction(vertex), edge.predicates):
            return False
        if isinstance(self.relation, Types) and isinstance(edge.relation, Types):
            return edge.relation.types == self.relation.types and edge.relation.lies_in(self.relation)
        return edge.relation == self.relation


Asked = tuple[frozenset[Demand], ...]


def asked_by(filters: Sequence[Filter], graph: QueryGraph, vain: Collection[tuple[int, int]]) -> Asked:
    """For every query vertex what the filters ask for that is more than one neighbour: equal where it is the same.
    vain: vertices and edges of those filters that every candidate passed; they might as well not have asked."""
    asked: list[set[Demand]] = [set() for _ in graph.vertices]
    apart = {each.vertex for each in filters if isinstance(each, BindingFilter | EndsFilter | ReachedFilter)}
    for each in filters:
        if isinstance(each, NeighbourFilter) and each.required > 1 and (each.vertex, each.edge) not in vain:
            edge = graph.edges[each.edge]
            other = graph.vertices[edge.other(each.vertex)]
            kind = (edge.relation, edge.direction(each.vertex), edge.predicates)
            ends = (other.tables, other.predicates, other.index if other.index in apart else None)
            asked[each.vertex].add(Demand(*kind, *ends, each.required))
    return tuple(map(frozenset, asked))


def asked_of(group: Iterable[int], asked: Asked) -> frozenset[Demand]:
    """What is asked of query vertices that were made one."""
    return frozenset().union(*(asked[vertex] for vertex in group)) if asked else frozenset()
