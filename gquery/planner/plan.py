"""The passes from a bound query to a plan, in order.

Planning has two halves. `plan_query` decides what does not depend on the data: which filters narrow the candidates,
which predicates the enumeration checks, whether counting is enough. The other half (`matching.py`) picks order, tree
and space from cardinalities: estimated ones for EXPLAIN, those that the filters left for a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gquery.errors import UnsupportedError
from gquery.planner.ir.expr import Constant, Expression, Parameter, columns, is_aggregated
from gquery.planner.ir.problem import Problem
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.query_plan import Advice, QueryPlan
from gquery.planner.ir.segments import BoundQuery, Projection
from gquery.planner.memo.recent import Recent
from gquery.planner.memo.shape import shape_of
from gquery.planner.passes.candidates import paying_filters, required_filters
from gquery.planner.passes.comparisons import split_predicates
from gquery.planner.passes.compose_functional_edges import compose
from gquery.planner.passes.constraints import constraints_of
from gquery.planner.passes.demand import ignores_repeats, is_counted, kept_vertices, variables_of, weighs_repeats
from gquery.planner.passes.parts import rewrite
from gquery.stopping import Check, unchecked
from gquery.storage.statistics import Statistics


def plan_query(
    bound: BoundQuery,
    statistics: Statistics,
    all_types: tuple[str, ...],
    limit: int | None,
    orders: Recent[Advice],
    check: Check = unchecked,
) -> QueryPlan:
    """Everything that can be decided before the data is looked at. `limit`: so many matches are enough. `orders`: what
    is known of queries of the same shape. `check` is called while the pattern is gone through."""
    graph, absent = rewrite(bound.query_graph, check)
    if graph.parts and all(graph.part_of(vertex.index) is not None for vertex in graph.vertices):
        raise UnsupportedError(f"gquery needs a MATCH before {graph.parts[0].described}")
    comparisons, different, residual = split_predicates(graph)
    counting = not residual and is_counted(bound.projection)
    spoken_of = frozenset() if counting else variables_of(bound, residual)
    _expect_known(graph, bound.projection)
    needed = frozenset(edge.index for edge in graph.edges if edge.variable in spoken_of)
    constraints = constraints_of(graph, statistics, needed, different, absent, check)
    if limit is None:  # else a few matches are found before the edges would be composed
        graph, constraints, comparisons = compose(graph, constraints, comparisons, spoken_of, statistics, check)
    problem = Problem(
        graph,
        constraints,
        comparisons,
        tuple((vertex.index,) for vertex in graph.vertices),
        tuple(edge.index for edge in graph.edges),
    )
    kept = frozenset() if counting else kept_vertices(problem, spoken_of, limit)
    listed = len(kept) == len(graph.vertices) and all(choice.listed for choice in constraints.choices)
    existence = not counting and ignores_repeats(bound.projection)
    plan = QueryPlan(
        bound,
        required_filters(graph, constraints, all_types),
        problem,
        kept,
        not counting and not listed and weighs_repeats(bound.projection),
        existence,
        residual,
        statistics,
        shape_of(problem, kept),
        orders,
    )
    paying, implied, costly = paying_filters(plan, limit, check)
    return replace(plan, filters=(*plan.filters, *paying), implied=implied, costly=costly)


def _expect_known(graph: QueryGraph, projection: Projection) -> None:
    """Raises when the answer speaks of what an OPTIONAL MATCH binds."""
    expressions = [item.expression for item in projection.items] + [item.expression for item in projection.order_by]
    optional = {graph.vertices[vertex].variable for part in graph.parts for vertex in part.vertices}
    optional |= {graph.edges[edge].variable for part in graph.parts for edge in part.edges}
    optional |= {path.name for path in graph.paths if optional.intersection((*path.vertices, *path.edges))}
    for expression in expressions:
        for column in columns(expression):
            if column.variable in optional:
                raise UnsupportedError(
                    f"gquery cannot return `{column.variable}`, which an OPTIONAL MATCH binds",
                    span=column.span,
                    hint="count(*) and whatever the clauses before it bind can be returned",
                )


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
