"""The passes from a bound query to a plan, in order.

Planning has two halves. `plan_query` decides what does not depend on the data: which filters narrow the candidates,
which predicates the enumeration checks, whether counting is enough. The other half (`search/matching.py`) picks order,
tree and space from cardinalities: estimated ones for EXPLAIN, those that the filters left for a run.
"""

from __future__ import annotations

from collections.abc import Mapping

from gquery.planner.ir.expr import Constant, Expression, Parameter, is_aggregated
from gquery.planner.ir.query_plan import QueryPlan
from gquery.planner.ir.segments import BoundQuery, Projection
from gquery.planner.passes.candidates import paying_filters
from gquery.planner.passes.comparisons import split_predicates
from gquery.planner.passes.compose_functional_edges import compose
from gquery.planner.passes.constraints import constrain
from gquery.planner.passes.demand import demand
from gquery.planner.passes.draft import Draft, Pass, problem_of
from gquery.planner.passes.filters import required_filters
from gquery.planner.passes.listing import keep_what_is_listed
from gquery.planner.passes.parts import plain_parts
from gquery.planner.passes.supported import supported
from gquery.planner.search.context import Context

PASSES: tuple[Pass, ...] = (
    plain_parts,  # OPTIONAL MATCH and patterns as conditions: two plain shapes
    supported,
    split_predicates,  # what matching compares, and what is left to the tail
    demand,  # what the answer speaks of
    constrain,  # what the match modes ask for, as tests
    compose,  # several functional edges as one
    keep_what_is_listed,  # the other vertices are summed out
    required_filters,
    paying_filters,
)


def plan_query(bound: BoundQuery, limit: int | None, context: Context) -> QueryPlan:
    """Everything that can be decided before the data is looked at. `limit`: so many matches are enough."""
    draft = Draft(bound, limit, problem_of(bound.query_graph))
    for step in PASSES:
        draft = step(draft, context)
    return QueryPlan(
        draft.bound,
        draft.limit,
        draft.filters,
        draft.problem,
        draft.kept,
        draft.weighted,
        draft.existence,
        draft.residual,
        draft.implied,
        draft.costly,
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
