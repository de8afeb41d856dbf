"""What filters ask of the candidates of a vertex that not every match of a problem made from the query has.

A filter counts neighbours, as many as the query's own matches must have. A problem without one of the query's tests, or
with two of its vertices made one, has matches with fewer, which are left out of every such problem alike. There two
vertices look alike only if the same was asked of both.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from gquery.planner.ir.filters import BindingFilter, Filter, NeighbourFilter, ReachedFilter
from gquery.planner.ir.query_graph import QueryGraph

Asked = tuple[frozenset[Hashable], ...]


def asked_by(filters: Sequence[Filter], graph: QueryGraph) -> Asked:
    """For every query vertex what the filters ask for that is more than one neighbour: equal where it is the same."""
    asked: list[set[Hashable]] = [set() for _ in graph.vertices]
    apart = {each.vertex for each in filters if isinstance(each, BindingFilter | ReachedFilter)}
    for each in filters:
        if isinstance(each, NeighbourFilter) and each.required > 1:
            edge = graph.edges[each.edge]
            other = graph.vertices[edge.other(each.vertex)]
            ends = (other.tables, other.predicates, other.index if other.index in apart else None)
            kind = (edge.relation, edge.direction(each.vertex), edge.predicates)
            asked[each.vertex].add((kind, ends, each.required))
    return tuple(map(frozenset, asked))


def asked_of(group: Iterable[int], asked: Asked) -> frozenset[Hashable]:
    """What is asked of query vertices that were made one."""
    return frozenset().union(*(asked[vertex] for vertex in group))
