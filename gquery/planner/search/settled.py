"""The second half of a plan that runs again and again: what was planned is taken while sizes are about the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence

from gquery.lasting.properties import cached_property
from gquery.planner.ir.match_plan import Cardinalities, Counted, MatchPlan, Space
from gquery.planner.ir.query_plan import QueryPlan
from gquery.planner.ir.walks import Sampler
from gquery.planner.memo.recent import Recent
from gquery.planner.search.alike.orbits import Turn
from gquery.planner.search.costs import CARD
from gquery.planner.search.second_half import SecondHalf
from gquery.records import replace
from gquery.stopping import Check

_KEPT = 16  # of sizes


class Settled:
    """A second half, and what it has settled. turns: each match that is found stands for as many, turned so. most:
    plans that cost more are made each time, for the sizes that they are run with. Safe from several threads."""

    def __init__(self, second_half: SecondHalf, turns: Sequence[Turn] = (), most: float = math.inf) -> None:
        self.planned = second_half
        self.identity = object()
        self._turns = tuple(turns)
        self._most = most
        self._sizes: Recent[Cardinalities] = Recent(_KEPT)
        self._asked: Recent[Hashable] = Recent(_KEPT)  # what sizes were asked for that are not settled yet
        self._spaces: Recent[tuple[Space, str]] = Recent(_KEPT)
        self._matchings: Recent[tuple[MatchPlan, ...]] = Recent(_KEPT)
        self._for_card: Settled | None = None
        self._adaptive: Settled | None = None
        self._steady: Settled | None = None
        self._looks_little = self._took_long = False

    @cached_property
    def parameters(self) -> tuple[str, ...] | None:
        """Those that candidates and comparisons depend on; None where these may be others in each run."""
        return self.planned.parameters

    @property
    def is_doubted(self) -> bool:
        return self.planned.is_doubted

    def cardinalities(self, counted: Counted | None) -> Cardinalities:
        """What is known of sizes: the first of those that are about the same."""
        if counted is None:
            return self.planned.cardinalities(None)
        about = _about(counted)
        known = self._sizes.find(about)
        if known is None:
            known = self.planned.cardinalities(counted)
            self._asked.keep(known, about)
        return known

    def space(self, known: Callable[[], Cardinalities], check: Check) -> tuple[Space, str]:
        if self.is_doubted:  # told without sizes, which take longer to estimate
            return self.planned.space(known, check)
        return self._spaces.get(known(), lambda: self.planned.space(known, check))

    def matchings(
        self, known: Cardinalities, space: Space, reason: str, check: Check, sampler: Sampler | None = None
    ) -> tuple[MatchPlan, ...]:
        plans = self._matchings.find((known, space))
        if plans is None:
            plans = self.planned.matchings(known, space, reason, check, sampler)
            if len(self._turns) > 1:
                plans = tuple(turned(each, self._turns) for each in plans)
            if sum(each.cost for each in plans) <= self._most:
                self._matchings.keep((known, space), plans)
                self._settle(known)
        return plans

    def _settle(self, known: Cardinalities) -> None:
        """From now on these stand for all sizes that are about the same."""
        about = self._asked.find(known)
        if about is not None:
            self._sizes.keep(about, known)

    def estimated(self, check: Check) -> tuple[MatchPlan, ...]:
        """The plans as they look before anything ran."""
        return self.planned.estimated(check)

    def on_card(self, matchings: Sequence[MatchPlan], threads: int, missing: int, started: bool) -> tuple[bool, str]:
        return self.planned.on_card(matchings, threads, missing, started)

    @property
    def is_little(self) -> bool:
        """By what it was planned to take on a card, until it has taken the CPU longer."""
        return self._looks_little and not self._took_long

    def counted(self, matchings: Sequence[MatchPlan], seconds: float | None) -> None:
        if seconds is None:
            self._looks_little = sum(each.cost for each in matchings) < CARD.little
        elif seconds > CARD.begins:
            self._took_long = True

    def for_card(self) -> Settled:
        """The same for a card, with what that settles."""
        if self._for_card is None:
            self._for_card = Settled(self.planned.for_card(), self._turns)
        return self._for_card

    def give_up(self, known: Cardinalities) -> None:
        self.planned.give_up(known)
        self._matchings = Recent(_KEPT)  # by which they would be tried again

    def adaptive(self) -> Settled:
        """The same with an order for each partial match, with what that settles."""
        if self._adaptive is None:
            self._adaptive = Settled(self.planned.adaptive(), self._turns, self._most)
        return self._adaptive

    def steady(self) -> Settled:
        """The same with one order for all partial matches, with what that settles."""
        if self._steady is None:
            self._steady = Settled(self.planned.steady(), self._turns, self._most)
        return self._steady


def can_be_turned(plan: QueryPlan) -> bool:
    """Whether the matches of a plan can be turned: they are counted, or all vertices are listed, and no edges."""
    listed = any(choice.listed for choice in plan.problem.constraints.choices)
    return plan.counting or (len(plan.kept) == len(plan.graph.vertices) and not listed)


def turned(plan: MatchPlan, turns: Sequence[Turn]) -> MatchPlan:
    """The plan, each match of which stands for one more for each turn but the first, which changes nothing."""
    factor = plan.factor * len(turns)
    if plan.counting:
        return replace(plan, factor=factor)
    own = plan.permutations or (tuple(range(len(plan.graph.vertices))),)
    ways = tuple(tuple(permutation[vertex] for vertex in turn) for turn in turns for permutation in own)
    return replace(plan, factor=factor, permutations=ways)


def _about(counted: Counted) -> Hashable:
    """Sizes by their number of bits; what was asked in vain as it is, since plans rely on it."""
    sizes = (int(size).bit_length() for size in (*counted.vertices, *counted.edges.values()))
    return (*sizes, tuple(counted.edges), counted.vain)
