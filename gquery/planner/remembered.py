"""What planning has found out about queries of one graph and keeps for the next.

A text that is asked again, with other values for its parameters say, is neither bound nor planned anew. A query of a
known *shape*, whatever its constants are, takes the matching orders that were found for that shape when its candidate
sets were about as large. Only orders are handed on, as advice: tests, symmetry and estimates are each query's own.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from gquery.errors import BindError, Span
from gquery.planner.logical import BoundQuery
from gquery.planner.query_plan import Advice, QueryPlan
from gquery.planner.recent import Recent
from gquery.planner.temporal import readings
from gquery.planner.types import type_of_value

_TEXTS, _ORDERS = 64, 4096  # kept at most; the plan of a large pattern takes a megabyte


class Remembered:
    """Bound queries and plans by text, matching orders by shape."""

    def __init__(self) -> None:
        self.bound: Recent[BoundQuery] = Recent(_TEXTS)
        self.plans: Recent[QueryPlan] = Recent(_TEXTS)
        self.orders: Recent[Advice] = Recent(_ORDERS)


def types_of(parameters: Mapping[str, object]) -> Hashable:
    """What binding asks of the parameters: types, and which texts can be read as dates and times. Something of its own
    when one of them has no type."""
    try:
        return frozenset(
            (name, type_of_value(value, Span(0, 0)), readings(value)) for name, value in parameters.items()
        )
    except BindError:
        return object()
