"""The filters that a query asks for: labels, what seeds bind, predicates of one element, self-loops that are there or
are not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gquery.planner.ir.filters import (
    BindingFilter,
    EdgePredicateFilter,
    Filter,
    LabelFilter,
    LoopFilter,
    PredicateFilter,
    ReachedFilter,
    SeedFilter,
)
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.passes.draft import Draft
from gquery.planner.search.cardinality import estimate
from gquery.planner.search.context import Context


def required_filters(draft: Draft, context: Context) -> Draft:
    """Those of every vertex and edge; where the candidates of each vertex start comes first."""
    graph, all_types = draft.graph, tuple(sorted(context.invariants.types))
    bindings = graph.bindings()
    seeds = {edge.source for edge in bindings}
    filters: list[Filter] = [
        SeedFilter(vertex.index) if vertex.index in seeds else LabelFilter(vertex.index, vertex.tables)
        for vertex in graph.vertices
    ]
    filters += [BindingFilter(edge.target, edge.index) for edge in bindings]
    filters += [EdgePredicateFilter(edge.index, edge.predicates) for edge in graph.edges if edge.predicates]
    filters += _predicates(graph, context)
    filters += [
        LoopFilter(edge.source, edge.types, True, edge.index) for edge in graph.edges if edge.source == edge.target
    ]
    filters += [LoopFilter(vertex, all_types, False, None) for vertex in draft.problem.constraints.loopless]
    return replace(draft, filters=tuple(filters))


def _predicates(graph: QueryGraph, context: Context) -> Iterator[ReachedFilter | PredicateFilter]:
    """The predicates of the vertices, those that keep least first: of a large table the others need only be asked of
    what these lead to."""
    statistics, costs = context.statistics, context.costs
    sizes = estimate(graph, statistics).vertices
    incident = graph.incident()
    bound = known = {edge.target for edge in graph.bindings()}
    for vertex in sorted((each for each in graph.vertices if each.predicates), key=lambda each: sizes[each.index]):
        scanned = costs.filter_scan * statistics.vertex_count(vertex.tables)
        ways = (edge for edge in incident[vertex.index] if edge.other(vertex.index) in known)
        way = next((edge for edge in ways if graph.binds(edge.index, vertex.index)), None)
        if way is not None and vertex.index not in bound and scanned > costs.filters_weighed:
            yield ReachedFilter(vertex.index, way.index, int(scanned / costs.filter_reached))
        yield PredicateFilter(vertex.index, vertex.predicates)
        known = known | {vertex.index}
