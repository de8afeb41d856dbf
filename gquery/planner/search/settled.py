"""The second half of a plan that runs again and again: what was planned is taken while sizes are about the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from gquery.planner.ir.match_plan import Cardinalities, Counted, MatchPlan, Space
from gquery.planner.ir.query_plan import QueryPlan
from gquery.planner.ir.walks import Sampler
from gquery.planner.memo.recent import Recent
from gquery.planner.search.alike.orbits import Turn
from gquery.planner.search.second_half import SecondHalf
from gquery.stopping import Check

_KEPT = 16  # of sizes


class Settled:
    """A second half, and what it has settled. turns: each match that is found stands for as many, turned so."""

    def __init__(self, second_half: SecondHalf, turns: Sequence[Turn] = ()) -> None:
        self.planned = second_half
        self._turns = tuple(turns)
        self._sizes: Recent[Cardinalities] = Recent(_KEPT)
        self._spaces: Recent[tuple[Space, str]] = Recent(_KEPT)
        self._matchings: Recent[tuple[MatchPlan, ...]] = Recent(_KEPT)
        self._for_card: Settled | None = None

    @property
    def is_doubted(self) -> bool:
        return self.planned.is_doubted

    def cardinalities(self, counted: Counted | None) -> Cardinalities:
        """What is known of sizes: the first of those that are about the same."""
        if counted is None:
            return self.planned.cardinalities(None)
        return self._sizes.get(_about(counted), lambda: self.planned.cardinalities(counted))

    def space(self, known: Callable[[], Cardinalities], check: Check) -> tuple[Space, str]:
        return self._spaces.get(known(), lambda: self.planned.space(known, check))

    def matchings(
        self, known: Cardinalities, space: Space, reason: str, check: Check, sampler: Sampler | None = None
    ) -> tuple[MatchPlan, ...]:
        def made() -> tuple[MatchPlan, ...]:
            plans = self.planned.matchings(known, space, reason, check, sampler)
            return tuple(turned(each, self._turns) for each in plans) if len(self._turns) > 1 else plans

        return self._matchings.get((known, space), made)

    def on_card(self, matchings: Sequence[MatchPlan], threads: int, missing: int, started: bool) -> tuple[bool, str]:
        return self.planned.on_card(matchings, threads, missing, started)

    def for_card(self) -> Settled:
        """The same for a card, with what that settles."""
        if self._for_card is None:
            self._for_card = Settled(self.planned.for_card(), self._turns)
        return self._for_card


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
