"""The filters that a query asks for: labels, what seeds bind, predicates of one element, self-loops that are there or
are not."""

from __future__ import annotations

from gquery.planner.ir.expr import Attribute, Expression, columns
from gquery.planner.ir.filters import (
    BindingFilter,
    Filter,
    LabelFilter,
    LookupFilter,
    LoopFilter,
    SeedFilter,
    ValueFilter,
)
from gquery.planner.ir.query_graph import QueryGraph, QueryVertex
from gquery.planner.passes.draft import Draft
from gquery.planner.passes.reaching import Reaching, names_values
from gquery.planner.search.context import Context
from gquery.records import replace


def required_filters(draft: Draft, context: Context) -> Draft:
    """Those of every vertex and edge; where the candidates of each vertex start comes first."""
    graph, all_types = draft.graph, tuple(sorted(context.invariants.types))
    bindings = graph.bindings()
    seeds = {edge.source for edge in bindings}
    joined = {end for edge in graph.edges for end in (edge.source, edge.target)}
    told: dict[int, Filter] = {vertex: ValueFilter(vertex, comparison) for vertex, comparison in draft.values}
    told |= {each.vertex: each for each in draft.edges}
    filters: list[Filter] = [
        told.get(vertex.index)
        or (
            SeedFilter(vertex.index)
            if vertex.index in seeds
            else _start(vertex, graph, vertex.index not in joined, context)
        )
        for vertex in graph.vertices
    ]
    looked_up = {each.vertex: each.predicate for each in filters if isinstance(each, LookupFilter)}
    by = {lookup.vertex: lookup.condition for lookup in draft.segment.lookups}
    filters += [
        BindingFilter(edge.target, edge.index, by.get(graph.vertices[edge.target].variable)) for edge in bindings
    ]
    filters += Reaching(draft, looked_up, context).filters()
    filters += [
        LoopFilter(edge.source, edge.types, True, edge.index) for edge in graph.edges if edge.source == edge.target
    ]
    filters += [LoopFilter(vertex, all_types, False, None) for vertex in draft.problem.constraints.loopless]
    return replace(draft, filters=tuple(filters))


def _start(vertex: QueryVertex, graph: QueryGraph, alone: bool, context: Context) -> LookupFilter | LabelFilter:
    """The vertices of the labels, or of a large table those that a predicate names one by one; of any, where there is
    nothing else to do for a vertex, which is alone."""
    scanned = context.costs.filter_scan * context.statistics.vertex_count(vertex.tables)
    large = scanned > context.costs.filters_weighed
    if alone or (large and all(edge.target != vertex.index for edge in graph.bindings())):
        named = sorted(filter(names_values, vertex.predicates), key=_names_ids, reverse=True)
        if named:
            return LookupFilter(vertex.index, vertex.tables, named[0])
    return LabelFilter(vertex.index, vertex.tables)


def _names_ids(predicate: Expression) -> bool:
    return any(column.attribute is Attribute.ID for column in columns(predicate))
