"""What planning has beside the query."""

from __future__ import annotations

import math

from gquery.planner.ir.walks import Sampler
from gquery.planner.memo.plan_memo import PlanMemo
from gquery.planner.search.costs import CostModel
from gquery.records import record, replace
from gquery.stopping import Check, unchecked
from gquery.storage.invariants import Invariants
from gquery.storage.statistics import Statistics


@record(frozen=True, slots=True)
class Context:
    """invariants, statistics: what is certain of the graph, and what is about so. costs: of the backend that is planned
    for. memo: what is known of the plan's problems. check: called while anything is gone through that a user gave.
    sampler: tells how many partial matches there are, once there are candidates."""

    invariants: Invariants
    statistics: Statistics
    costs: CostModel
    memo: PlanMemo
    check: Check = unchecked
    sampler: Sampler | None = None

    def under(self, check: Check, sampler: Sampler | None = None) -> Context:
        """The same under another check, and with what candidates can tell."""
        return replace(self, check=check, sampler=sampler)

    def sharing(self, problems: int) -> Context:
        """The same for each of so many problems that are made of one: together they are weighed as far as one is."""
        return replace(self, costs=replace(self.costs, effort=self.costs.effort.shared(max(1, problems))))

    @property
    def tries(self) -> bool:
        """Whether orders of partial matches may be tried."""
        return self.costs.tried > 0 and (self.sampler is not None or math.isinf(self.costs.tried))

    def adaptive(self) -> Context:
        """The same where an order for each partial match is tried wherever there may be one."""
        return replace(self, costs=replace(self.costs, tried=math.inf))

    def steady(self) -> Context:
        """The same where orders of partial matches are not tried."""
        return replace(self, costs=replace(self.costs, tried=0.0))
