"""The bound query: a chain of query graphs and projections. Written by `bind`, read by the passes and by the tail."""

from __future__ import annotations

from dataclasses import dataclass

from gquery.errors import Notice
from gquery.planner.ir.expr import Expression
from gquery.planner.ir.query_graph import QueryGraph


@dataclass(frozen=True, slots=True)
class ProjectionItem:
    """One column of the answer."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class SortItem:
    """Speaks of the graph's elements: an alias of RETURN was replaced by its expression, so it may equal an item's."""

    expression: Expression
    descending: bool


@dataclass(frozen=True, slots=True)
class Projection:
    """RETURN: items, then DISTINCT, ORDER BY, SKIP and LIMIT.

    Items without an aggregate are the grouping keys as soon as one item has an aggregate (implicit grouping).
    `skip` and `limit` are constant expressions over parameters, or None.
    """

    items: tuple[ProjectionItem, ...]
    distinct: bool
    order_by: tuple[SortItem, ...]
    skip: Expression | None
    limit: Expression | None


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """`query_graph` is matched, then `projection` shapes the answer. `notices`: what the user is warned of."""

    query_graph: QueryGraph
    projection: Projection
    notices: tuple[Notice, ...] = ()
