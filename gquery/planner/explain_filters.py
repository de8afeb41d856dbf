"""Filters in plans as text."""

from __future__ import annotations

from gquery.planner.ir.expr import Expression
from gquery.planner.ir.filters import (
    BindingFilter,
    EdgePredicateFilter,
    EdgesFilter,
    EndsFilter,
    Filter,
    LabelFilter,
    LookupFilter,
    LoopFilter,
    NeighbourFilter,
    PredicateFilter,
    ReachedFilter,
    SeedFilter,
    ValueFilter,
)
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.query_plan import QueryPlan
from gquery.planner.ir.written import written


def looked_up_lines(plan: QueryPlan) -> list[str]:
    """What a plan that only looks up asks for."""
    name = [vertex.described for vertex in plan.graph.vertices]
    apart = [f"  {name[one]} <> {name[other]}" for one, other in sorted(plan.problem.different)]
    return [*(f"  {filter_text(plan.graph, each)}" for each in plan.filters), *apart]


def filter_text(graph: QueryGraph, filter_: Filter) -> str:
    """What a filter asks for, and of which element."""
    match filter_:
        case LabelFilter(vertex=vertex):
            return f"{graph.vertices[vertex].described}: label"
        case LookupFilter(vertex=vertex, predicate=predicate):
            return f"{graph.vertices[vertex].described}: {written((predicate,))}, looked up"
        case SeedFilter():
            return "seeds: distinct bindings of the clauses before"
        case ValueFilter(vertex=vertex, comparison=compared):
            both = f"{written((compared.left_value,))} and {written((compared.right_value,))}"
            return f"{graph.vertices[vertex].described}: of {both}"
        case EdgesFilter(vertex=vertex, predicates=predicates):
            asked = f": {written(predicates)}" if predicates else ""
            return f"{graph.vertices[vertex].described}: its data edges{asked}"
        case BindingFilter(vertex=vertex, by=None):
            return f"{graph.vertices[vertex].described}: bound by a seed"
        case BindingFilter(vertex=vertex, by=Expression() as condition):
            return f"{graph.vertices[vertex].described}: {written((condition,))}, looked up for each row"
        case ReachedFilter(vertex=vertex, edge=edge, most=most):
            return f"{graph.vertices[vertex].described}: where {graph.edges[edge].described} leads, if {most:,} at most"
        case EndsFilter(vertex=vertex, edge=edge, near=near):
            others = ", ".join(graph.vertices[other].described for other in near)
            least = f", where its ends have {others}" if others else ""
            return f"{graph.vertices[vertex].described}: at one of the few {graph.edges[edge].described}{least}"
        case PredicateFilter(vertex=vertex, predicates=predicates):
            return f"{graph.vertices[vertex].described}: {written(predicates)}"
        case EdgePredicateFilter(edge=edge, predicates=predicates, near=near, most=most):
            near_by = "" if near is None else f", asked at {graph.vertices[near].described}, if {most:,} at most"
            return f"{graph.edges[edge].described}: {written(predicates)}{near_by}"
        case LoopFilter(vertex=vertex, present=present):
            return f"{graph.vertices[vertex].described}: {'has' if present else 'has no'} self-loop"
        case NeighbourFilter(vertex=vertex, edge=edge, required=required):
            return f"{graph.vertices[vertex].described}: at least {required} x {graph.edges[edge].described}"
    raise AssertionError(filter_)
