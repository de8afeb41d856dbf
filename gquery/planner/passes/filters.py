"""The filters that a query asks for: labels, what seeds bind, predicates of one element, self-loops that are there or
are not."""

from __future__ import annotations

from dataclasses import replace

from gquery.planner.ir.filters import (
    BindingFilter,
    EdgePredicateFilter,
    Filter,
    LabelFilter,
    LoopFilter,
    PredicateFilter,
    SeedFilter,
)
from gquery.planner.passes.draft import Draft
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
    filters += [PredicateFilter(vertex.index, vertex.predicates) for vertex in graph.vertices if vertex.predicates]
    filters += [
        LoopFilter(edge.source, edge.types, True, edge.index) for edge in graph.edges if edge.source == edge.target
    ]
    filters += [LoopFilter(vertex, all_types, False, None) for vertex in draft.problem.constraints.loopless]
    return replace(draft, filters=tuple(filters))
