"""The second half of planning, as the executor asks for it while a query runs."""

from __future__ import annotations

from dataclasses import dataclass

from gquery.planner.ir.match_plan import Counted, MatchPlan, Space
from gquery.planner.ir.query_plan import QueryPlan
from gquery.planner.search.cardinality import estimate
from gquery.planner.search.context import Context
from gquery.planner.search.matching import pick_space, plan_matching
from gquery.stopping import Check


@dataclass(frozen=True, slots=True)
class SecondHalf:
    """Order, tree and space of one plan, from what the filters have counted; from estimates where nothing has run."""

    plan: QueryPlan
    context: Context

    def space(self, counted: Counted | None, check: Check) -> tuple[Space, str]:
        """Where matching looks for neighbours, and why."""
        cardinalities = estimate(self.plan.graph, self.context.statistics, counted)
        return pick_space(self.plan, cardinalities, self.context.under(check))

    def matchings(self, counted: Counted | None, space: Space, reason: str, check: Check) -> tuple[MatchPlan, ...]:
        """The plans whose matches, added and subtracted, are those of the segment."""
        cardinalities = estimate(self.plan.graph, self.context.statistics, counted)
        return plan_matching(self.plan, cardinalities, space, reason, self.context.under(check))

    def estimated(self, check: Check) -> tuple[MatchPlan, ...]:
        """The plans as they look before anything ran."""
        return self.matchings(None, *self.space(None, check), check)
