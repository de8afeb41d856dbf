"""What solving has found out about the problems of one plan."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from gquery.planner.ir.problem import Problem
from gquery.planner.memo.recent import Recent
from gquery.planner.memo.shape import shape_of

Advice = tuple[tuple[int, ...], tuple[int, ...]]
"""A matching order that was the cheapest, and the vertices at which symmetry was broken along it."""

_ORDER, _TEST = 4_000, 200  # bytes, roughly, that remembering an order takes, and for each test of its problem
_GIVEN_UP, _NONE = "given up", ((), ())
_PROBLEMS = 32  # of one query of which something is kept: a plan may stay for long


class PlanMemo:
    """Kept beside a plan, which is nothing but data.

    structures: what is known of its problems whatever their cardinalities are, by key. solutions: of problems for some
    cardinalities. orders: of all queries, by shape.
    """

    def __init__(self, orders: Recent[Advice]) -> None:
        self.orders = orders
        self.structures: Recent[Any] = Recent(_PROBLEMS)
        self.solutions: Recent[Any] = Recent(_PROBLEMS)
        self._shape: Hashable = None

    def advise(self, alike: Hashable, advice: Advice, problem: Problem) -> None:
        """Keeps what was the best order of a problem for others that are like it."""
        self.orders.keep(alike, advice, _ORDER + _TEST * problem.constraints.size)

    def give_up(self, alike: Hashable) -> None:
        """Orders of partial matches took too long: they are not tried again for what is like this."""
        self.orders.keep((alike, _GIVEN_UP), _NONE, _ORDER)

    def has_given_up(self, alike: Hashable) -> bool:
        return self.orders.find((alike, _GIVEN_UP)) is not None

    def shape(self, problem: Problem, kept: frozenset[int]) -> Hashable:
        """What other queries may have in common with the plan's, worked out once."""
        if self._shape is None:
            self._shape = shape_of(problem, kept)
        return self._shape
