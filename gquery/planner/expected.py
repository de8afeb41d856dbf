"""About how many rows a query answers with, for who joins them: told before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gquery.planner.ir.expr import Constant, is_aggregated
from gquery.planner.ir.match_plan import ExtendStep, MatchPlan
from gquery.planner.ir.query_plan import ChainPlan, QueryPlan
from gquery.planner.ir.segments import Project

_MOST = 2.0**62

Estimated = Callable[[int], Sequence[MatchPlan]]
"""The plans of a match, by its number, as they look before anything runs."""


def expected_rows(plan: ChainPlan, estimated: Estimated, elements: int) -> int:
    """One at least. elements: of the graph, which is as good a guess as any where rows are those of several clauses, or
    of paths. Groups are taken to be as many as the rows that they are made of."""
    *before, last = plan.steps
    if not isinstance(last, Project):
        return elements
    limit = last.projection.limit
    most = limit.value if isinstance(limit, Constant) and isinstance(limit.value, int) else _MOST
    if all(is_aggregated(item.expression) for item in last.projection.items):
        return 1
    rows = float(elements)
    if not before:
        rows = 1.0
    elif len(before) == 1 and isinstance(before[0], QueryPlan):
        rows = _matched(before[0], estimated(before[0].number)[0])
    return int(max(1.0, min(rows, most, _MOST)))


def _matched(segment: QueryPlan, plan: MatchPlan) -> float:
    """The rows of a match that begins a query: each that is listed as often as it weighs."""
    rows = plan.steps[plan.kept - 1].rows if plan.kept else 1.0
    for step in plan.steps[plan.kept :]:
        rows *= _choices(plan, step)
    rows *= max(1, len(plan.permutations))
    return rows if segment.limit is None else min(rows, segment.limit)


def _choices(plan: MatchPlan, step: ExtendStep) -> float:
    """How many vertices there are for a step on the mean: as many as the shortest row that leads there is long."""
    edges, known = (plan.graph.edges[each] for each in step.backward), plan.cardinalities
    rows = (known.degrees[each.index][each.source == step.vertex] for each in edges)
    return min(rows, default=known.vertices[step.vertex])
