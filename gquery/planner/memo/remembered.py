"""What planning has found out about queries of one graph and keeps for the next.

A text that is asked again, with other values for its parameters say, is neither bound nor planned anew. A query of a
known *shape*, whatever its constants are, takes the matching orders that were found for that shape when its candidate
sets were about as large. Only orders are handed on, as advice: tests, symmetry and estimates are each query's own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Protocol, TypeVar

from gquery.errors import BindError, Span, UnsupportedError
from gquery.grammar.ast import Query
from gquery.planner.ir.query_plan import ChainPlan
from gquery.planner.ir.segments import BoundQuery
from gquery.planner.ir.types.temporal import readings
from gquery.planner.ir.types.value_types import type_of_value
from gquery.planner.memo.plan_memo import Advice, PlanMemo
from gquery.planner.memo.recent import Recent
from gquery.stopping import Check

Asked = tuple[str, Hashable, Hashable, Hashable]
Memos = tuple[PlanMemo, ...]


class HasPlan(Protocol):
    @property
    def plan(self) -> ChainPlan: ...


Made = TypeVar("Made", bound=HasPlan)

# Bytes, roughly, of all that is kept of texts, and of orders.
_TEXTS, _ORDERS = 1 << 26, 1 << 25
_EACH, _CHARACTER, _TEST = 20_000, 150, 300  # of a text, for each of its characters, for each test of its pattern
_NOWHERE = Span(0, 0)
_TAIL = 20_000  # of what a segment's projection takes to run


class Remembered:
    """Trees, bound queries and plans by text, matching orders by shape. What is kept is bounded by its size: a text of
    a hundred thousand words takes megabytes, and so does the plan of a pattern of two hundred vertices."""

    def __init__(self) -> None:
        self.orders: Recent[Advice] = Recent(_ORDERS)
        self._trees: Recent[Query] = Recent(_TEXTS // 4)
        self._texts: Recent[Any] = Recent(_TEXTS)

    def renewed(self) -> Remembered:
        """What holds of the next version of the graph too: trees, and orders, which are advice."""
        new = Remembered()
        new.orders, new._trees = self.orders, self._trees
        return new

    def tree(self, text: str, make: Callable[[], Query]) -> Query:
        """The syntax tree of a text. What is no text is `make`'s to refuse."""
        if not isinstance(text, str):
            return make()
        tree: Query = self._trees.get(text, make, lambda _: _size(text))
        return tree

    def bound(self, asked: Asked, make: Callable[[], BoundQuery]) -> BoundQuery:
        """The bound query of a text with a mode, strict or not, and types of parameters."""
        bound: BoundQuery = self._texts.get(asked, make, lambda _: _size(asked[0]))
        return bound

    def plan(self, asked: tuple[Hashable, ...], bound: BoundQuery, make: Callable[[Memos], Made]) -> Made:
        """The plan of a bound query with its limits, and what whoever runs it keeps beside it; made with what is known
        of the problems of each segment."""

        def made() -> Made:
            return make(tuple(PlanMemo(self.orders) for _ in bound.all_segments))

        found: Made = self._texts.get(
            asked,
            made,
            lambda new: _size(str(asked[0])) + _TEST * _tests(new.plan) + _TAIL * len(bound.all_segments),
        )
        return found


def _tests(plan: ChainPlan) -> int:
    return sum(match.problem.constraints.size for match in plan.matches)


def _size(text: str) -> int:
    return _EACH + _CHARACTER * len(text)


def types_of(parameters: Mapping[str, object], check: Check) -> Hashable:
    """What binding asks of the parameters: types, and which texts can be read as dates and times. Something of its own
    when one of them has no type."""
    try:
        return frozenset(
            (name, type_of_value(value, _NOWHERE, check=check), readings(value, check))
            for name, value in parameters.items()
        )
    except (BindError, UnsupportedError):
        return object()
