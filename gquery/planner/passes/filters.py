"""The filters that a query asks for: labels, what seeds bind, predicates of one element, self-loops that are there or
are not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from gquery.planner.ir.expr import Attribute, Call, Column, Constant, Expression, Parameter, columns
from gquery.planner.ir.filters import (
    BindingFilter,
    EdgePredicateFilter,
    Filter,
    LabelFilter,
    LookupFilter,
    LoopFilter,
    PredicateFilter,
    ReachedFilter,
    SeedFilter,
)
from gquery.planner.ir.query_graph import QueryGraph, QueryVertex
from gquery.planner.passes.draft import Draft
from gquery.planner.search.cardinality import estimate, estimated_sizes
from gquery.planner.search.context import Context


def required_filters(draft: Draft, context: Context) -> Draft:
    """Those of every vertex and edge; where the candidates of each vertex start comes first."""
    graph, all_types = draft.graph, tuple(sorted(context.invariants.types))
    bindings = graph.bindings()
    seeds = {edge.source for edge in bindings}
    filters: list[Filter] = [
        SeedFilter(vertex.index) if vertex.index in seeds else _start(vertex, graph, context)
        for vertex in graph.vertices
    ]
    looked_up = {each.vertex: each.predicate for each in filters if isinstance(each, LookupFilter)}
    by = {lookup.vertex: lookup.condition for lookup in draft.segment.lookups}
    filters += [
        BindingFilter(edge.target, edge.index, by.get(graph.vertices[edge.target].variable)) for edge in bindings
    ]
    filters += [EdgePredicateFilter(edge.index, edge.predicates) for edge in graph.edges if edge.predicates]
    filters += _predicates(graph, looked_up, context)
    if draft.kept:  # a sum begins where it is looked up, and goes no further than that leads
        filters += _led_to(graph, looked_up.keys(), filters, context)
    filters += [
        LoopFilter(edge.source, edge.types, True, edge.index) for edge in graph.edges if edge.source == edge.target
    ]
    filters += [LoopFilter(vertex, all_types, False, None) for vertex in draft.problem.constraints.loopless]
    return replace(draft, filters=tuple(filters))


def _start(vertex: QueryVertex, graph: QueryGraph, context: Context) -> LookupFilter | LabelFilter:
    """The vertices of the labels, or of a large table those that a predicate names one by one."""
    scanned = context.costs.filter_scan * context.statistics.vertex_count(vertex.tables)
    if scanned > context.costs.filters_weighed and all(edge.target != vertex.index for edge in graph.bindings()):
        named = sorted(filter(_names_values, vertex.predicates), key=_names_ids, reverse=True)
        if named:
            return LookupFilter(vertex.index, vertex.tables, named[0])
    return LabelFilter(vertex.index, vertex.tables)


def _names_values(predicate: Expression) -> bool:
    """Whether a predicate is `property = value` or `property IN values`."""
    match predicate:
        case Call(function="=" | "in", arguments=(Column(attribute=Attribute.PROPERTY | Attribute.ID), other)):
            return _is_known(other)
    return False


def _is_known(expression: Expression) -> bool:
    """Whether the value is told before anything is read."""
    match expression:
        case Constant() | Parameter():
            return True
        case Call(function="list" | "read" | "moment", arguments=arguments):
            return all(map(_is_known, arguments))
    return False


def _names_ids(predicate: Expression) -> bool:
    return any(column.attribute is Attribute.ID for column in columns(predicate))


def _predicates(
    graph: QueryGraph, looked_up: Mapping[int, Expression], context: Context
) -> Iterator[ReachedFilter | PredicateFilter]:
    """The predicates of the vertices, those that keep least first: of a large table the others need only be asked of
    what these lead to. What was looked up is asked for the rest."""
    statistics, costs = context.statistics, context.costs
    incident = graph.incident()
    bound = {edge.target for edge in graph.bindings()}
    known = bound | looked_up.keys()
    for number, predicate in looked_up.items():
        rest = tuple(each for each in graph.vertices[number].predicates if each is not predicate)
        if rest:
            yield PredicateFilter(number, rest)
    asked = [each for each in graph.vertices if each.predicates and each.index not in looked_up]
    sizes = estimated_sizes(graph, statistics) if asked else []
    for vertex in sorted(asked, key=lambda each: sizes[each.index]):
        scanned = costs.filter_scan * statistics.vertex_count(vertex.tables)
        ways = (edge for edge in incident[vertex.index] if edge.other(vertex.index) in known)
        way = next((edge for edge in ways if graph.binds(edge.index, vertex.index)), None)
        if way is not None and vertex.index not in bound and scanned > costs.filters_weighed:
            yield ReachedFilter(vertex.index, way.index, int(scanned / costs.filter_reached))
        yield PredicateFilter(vertex.index, vertex.predicates)
        known = known | {vertex.index}


def _led_to(
    graph: QueryGraph, looked_up: Iterable[int], before: Sequence[Filter], context: Context
) -> Iterator[ReachedFilter]:
    """The other vertices of large tables that what is looked up leads to, as long as these are few: all that counts
    neighbours of them afterwards has so many to count."""
    costs, incident = context.costs, graph.incident()
    known = estimate(graph, context.statistics)
    rows = {vertex: known.vertices[vertex] for vertex in looked_up}
    narrowed = {each.vertex for each in before if not isinstance(each, LabelFilter | EdgePredicateFilter)}
    reached = list(rows)
    for vertex in reached:  # which grows meanwhile
        for edge in incident[vertex]:
            other = edge.other(vertex)
            scanned = costs.filter_scan * context.statistics.vertex_count(graph.vertices[other].tables)
            most = int(scanned / costs.filter_reached)
            led = rows[vertex] * known.degrees[edge.index][edge.target == vertex]
            if other in rows or other in narrowed or led > most or scanned <= costs.filters_weighed:
                continue
            if graph.binds(edge.index, other):
                rows[other] = led
                reached.append(other)
                yield ReachedFilter(other, edge.index, most, led)
