"""The passes from a bound query to a plan, in order.

Planning has two halves. `plan_query` decides what does not depend on the data: which filters narrow the candidates,
which predicates the enumeration checks, whether counting is enough. The other half (`matching.py`) picks order, tree
and space from cardinalities: estimated ones for EXPLAIN, those that the filters left for a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gquery.planner.candidates import pick_filters
from gquery.planner.comparisons import split_predicates
from gquery.planner.constraints import constraints_of
from gquery.planner.expr import (
    Aggregate,
    Attribute,
    Column,
    Constant,
    Expression,
    Parameter,
    children,
    columns,
    is_aggregated,
)
from gquery.planner.logical import BoundQuery, Projection
from gquery.planner.physical import Filter, Problem
from gquery.planner.query_graph import QueryGraph
from gquery.storage.statistics import Statistics


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """The first half. `residual`: predicates that the relational tail checks. `counting`: the projection needs no row,
    only the number of matches."""

    bound: BoundQuery
    filters: tuple[Filter, ...]
    problem: Problem
    residual: tuple[Expression, ...]
    counting: bool
    statistics: Statistics

    @property
    def graph(self) -> QueryGraph:
        return self.problem.graph


def plan_query(bound: BoundQuery, statistics: Statistics, all_types: tuple[str, ...]) -> QueryPlan:
    """Everything that can be decided before the data is looked at."""
    graph = bound.query_graph
    comparisons, different, residual = split_predicates(graph)
    counting = not residual and is_counted(bound.projection)
    needed = frozenset() if counting else _needed_edges(bound, residual)
    constraints = constraints_of(graph, statistics, needed, different)
    problem = Problem(
        graph,
        constraints,
        comparisons,
        tuple((vertex.index,) for vertex in graph.vertices),
        tuple(edge.index for edge in graph.edges),
    )
    filters = pick_filters(graph, constraints, all_types)
    return QueryPlan(bound, filters, problem, residual, counting, statistics)


def pushed_limit(projection: Projection, parameters: Mapping[str, object]) -> int | None:
    """How many matches are enough for the answer, when SKIP and LIMIT stand alone and are plain numbers."""
    aggregated = any(is_aggregated(item.expression) for item in projection.items)
    if projection.limit is None or projection.distinct or projection.order_by or aggregated:
        return None
    bounds = [_number(bound, parameters) for bound in (projection.skip, projection.limit) if bound is not None]
    return None if None in bounds else sum(bound for bound in bounds if bound is not None)


def _number(expression: Expression, parameters: Mapping[str, object]) -> int | None:
    value = expression.value if isinstance(expression, Constant) else None
    if isinstance(expression, Parameter):
        value = parameters.get(expression.name)  # type: ignore[assignment]
    return value if isinstance(value, int) and value >= 0 else None


def is_counted(projection: Projection) -> bool:
    """Whether every item is made of `count(*)` or of counts of elements, which are never null, and of constants."""
    plain = not projection.distinct and not projection.order_by and projection.skip is None and projection.limit is None
    counts = any(is_aggregated(item.expression) for item in projection.items)
    return plain and counts and all(_is_count(item.expression) for item in projection.items)


def _is_count(expression: Expression) -> bool:
    if isinstance(expression, Aggregate):
        argument = expression.argument
        never_null = isinstance(argument, Column) and argument.attribute is Attribute.ELEMENT
        return expression.function == "count" and not expression.distinct and (argument is None or never_null)
    return not isinstance(expression, Column) and all(_is_count(child) for child in children(expression))


def _needed_edges(bound: BoundQuery, residual: tuple[Expression, ...]) -> frozenset[int]:
    """Query edges whose data edges the answer or a residual predicate speaks of, directly or through a path."""
    projection = bound.projection
    expressions = [item.expression for item in projection.items] + [item.expression for item in projection.order_by]
    spoken_of = {column.variable for expression in (*expressions, *residual) for column in columns(expression)}
    for path in bound.query_graph.paths:
        if path.name in spoken_of:
            spoken_of.update(path.edges)
    return frozenset(edge.index for edge in bound.query_graph.edges if edge.variable in spoken_of)
