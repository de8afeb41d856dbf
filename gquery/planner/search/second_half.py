"""The second half of planning, as the executor asks for it while a query runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gquery.planner.ir.match_plan import Cardinalities, Counted, MatchPlan, Space
from gquery.planner.ir.query_plan import QueryPlan
from gquery.planner.ir.walks import Sampler
from gquery.planner.memo.depends import parameters_of
from gquery.planner.search.cardinality import estimate
from gquery.planner.search.context import Context
from gquery.planner.search.costs import for_card, on_card
from gquery.planner.search.matching import is_doubted, pick_space, plan_matching
from gquery.planner.search.solving import given_up
from gquery.records import record, replace
from gquery.stopping import Check


@record(frozen=True, slots=True)
class SecondHalf:
    """Order, tree and space of one plan, from what the filters have counted; from estimates where nothing has run."""

    plan: QueryPlan
    context: Context

    @property
    def identity(self) -> object:
        return self

    @property
    def parameters(self) -> tuple[str, ...] | None:
        """Those that candidates and comparisons depend on; None where these may be others in each run."""
        return parameters_of(self.plan)

    @property
    def is_doubted(self) -> bool:
        """Whether a candidate graph is built whatever is known of sizes, for walks that look for a better order."""
        return self.plan.limit is None and is_doubted(self.plan.problem, self.context.costs)

    def cardinalities(self, counted: Counted | None) -> Cardinalities:
        """What is known of sizes."""
        return estimate(self.plan.graph, self.context.statistics, counted)

    def space(self, known: Callable[[], Cardinalities], check: Check) -> tuple[Space, str]:
        """Where matching looks for neighbours, and why; some patterns tell without what is known of sizes."""
        return pick_space(self.plan, known, self.context.under(check))

    def matchings(
        self, known: Cardinalities, space: Space, reason: str, check: Check, sampler: Sampler | None = None
    ) -> tuple[MatchPlan, ...]:
        """The plans whose matches, added and subtracted, are those of the segment. sampler: tells how many partial
        matches there are."""
        return plan_matching(self.plan, known, space, reason, self.context.under(check, sampler))

    @property
    def is_little(self) -> bool:
        """Not known: nothing is remembered."""
        return False

    def counted(self, matchings: Sequence[MatchPlan], seconds: float | None) -> None: ...

    def on_card(self, matchings: Sequence[MatchPlan], threads: int, missing: int, started: bool) -> tuple[bool, str]:
        """Whether counting goes to a card, and why: see `costs.on_card`."""
        if any(each.strategy == "adaptive" for each in matchings):
            return False, "each partial match has an order of its own"
        return on_card(sum(each.cost for each in matchings), threads, missing, started)

    def for_card(self) -> SecondHalf:
        """The same for counts on a card, which need no plan as good."""
        return replace(self, context=replace(self.context, costs=for_card(self.context.costs)))

    def adaptive(self) -> SecondHalf:
        """The same with an order for each partial match, wherever there may be one."""
        return replace(self, context=self.context.adaptive())

    def steady(self) -> SecondHalf:
        """The same where all partial matches have one order."""
        return replace(self, context=self.context.steady())

    def give_up(self, known: Cardinalities) -> None:
        """Orders of partial matches took too long: they are not tried again for what is like this."""
        self.context.memo.give_up(given_up(self.context, self.plan.problem, self.plan.kept, known))

    def estimated(self, check: Check) -> tuple[MatchPlan, ...]:
        """The plans as they look before anything ran."""
        known = self.cardinalities(None)
        return self.matchings(known, *self.space(lambda: known, check), check)
