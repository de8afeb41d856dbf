"""What the candidates and comparisons of a plan depend on besides the graph."""

from __future__ import annotations

from collections.abc import Iterator

from gquery.planner.ir.expr import Call, Expression, Parameter, walk
from gquery.planner.ir.filters import (
    BindingFilter,
    EdgePredicateFilter,
    EdgesFilter,
    LookupFilter,
    PredicateFilter,
    SeedFilter,
    ValueFilter,
)
from gquery.planner.ir.query_plan import QueryPlan


def parameters_of(plan: QueryPlan) -> tuple[str, ...] | None:
    """The parameters whose values they depend on. None where they may be others in each run: they begin with rows, or
    ask a function of nothing, such as rand() or timestamp()."""
    if any(isinstance(each, SeedFilter | BindingFilter) for each in plan.filters):
        return None
    parts = [part for expression in _expressions(plan) for part in walk(expression)]
    if any(isinstance(part, Call) and not part.arguments for part in parts):
        return None
    return tuple(sorted({part.name for part in parts if isinstance(part, Parameter)}))


def _expressions(plan: QueryPlan) -> Iterator[Expression]:
    for each in plan.filters:
        if isinstance(each, LookupFilter):
            yield each.predicate
        elif isinstance(each, PredicateFilter | EdgePredicateFilter | EdgesFilter):
            yield from each.predicates
        elif isinstance(each, ValueFilter):
            yield from (each.comparison.left_value, each.comparison.right_value)
    for vertex in plan.graph.vertices:
        yield from vertex.predicates
    for edge in plan.graph.edges:
        yield from edge.predicates
    for comparison in plan.problem.comparisons:
        yield from (comparison.left_value, comparison.right_value)
