"""The second half of a plan that runs again and again: what was planned is taken while sizes are about the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from gquery.planner.ir.match_plan import Cardinalities, Counted, MatchPlan, Space
from gquery.planner.ir.walks import Sampler
from gquery.planner.memo.recent import Recent
from gquery.planner.search.second_half import SecondHalf
from gquery.stopping import Check

_KEPT = 16  # of sizes


class Settled:
    """A second half, and what it has settled."""

    def __init__(self, second_half: SecondHalf) -> None:
        self._second_half = second_half
        self._sizes: Recent[Cardinalities] = Recent(_KEPT)
        self._spaces: Recent[tuple[Space, str]] = Recent(_KEPT)
        self._matchings: Recent[tuple[MatchPlan, ...]] = Recent(_KEPT)

    @property
    def is_doubted(self) -> bool:
        return self._second_half.is_doubted

    def cardinalities(self, counted: Counted | None) -> Cardinalities:
        """What is known of sizes: the first of those that are about the same."""
        if counted is None:
            return self._second_half.cardinalities(None)
        return self._sizes.get(_about(counted), lambda: self._second_half.cardinalities(counted))

    def space(self, known: Callable[[], Cardinalities], check: Check) -> tuple[Space, str]:
        return self._spaces.get(known(), lambda: self._second_half.space(known, check))

    def matchings(
        self, known: Cardinalities, space: Space, reason: str, check: Check, sampler: Sampler | None = None
    ) -> tuple[MatchPlan, ...]:
        return self._matchings.get(
            (known, space),
            lambda: self._second_half.matchings(known, space, reason, check, sampler),
        )

    def on_card(self, matchings: Sequence[MatchPlan], threads: int, missing: int, started: bool) -> tuple[bool, str]:
        return self._second_half.on_card(matchings, threads, missing, started)


def _about(counted: Counted) -> Hashable:
    """Sizes by their number of bits; what was asked in vain as it is, since plans rely on it."""
    sizes = (int(size).bit_length() for size in (*counted.vertices, *counted.edges.values()))
    return (*sizes, tuple(counted.edges), counted.vain)
