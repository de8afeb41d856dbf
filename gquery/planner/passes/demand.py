"""What the answer asks of the matches: which variables it speaks of, and whether it minds how often a row comes."""

from __future__ import annotations

from dataclasses import replace

from gquery.planner.ir.expr import (
    Aggregate,
    Attribute,
    Column,
    Expression,
    children,
    columns,
    is_aggregated,
    is_volatile,
    walk,
)
from gquery.planner.ir.segments import BoundQuery, Projection
from gquery.planner.passes.draft import Draft
from gquery.planner.search.context import Context

_WEIGHED = ("count", "sum", "avg")  # aggregates that can be computed from distinct rows with their numbers
_UNREPEATED = ("min", "max")  # aggregates that a repeated row does not change


def demand(draft: Draft, context: Context) -> Draft:
    """What the answer asks for: how many matches there are, or which, with what of them."""
    projection = draft.bound.projection
    counting = not draft.residual and _is_counted(projection)
    return replace(
        draft,
        counting=counting,
        spoken_of=frozenset() if counting else _variables_of(draft.bound, draft.residual),
        weighted=not counting and _weighs_repeats(projection),
        existence=not counting and _ignores_repeats(projection),
    )


def _is_counted(projection: Projection) -> bool:
    """Whether every item is made of `count(*)` or of counts of elements, which are never null, and of constants."""
    plain = not projection.distinct and not projection.order_by and projection.skip is None and projection.limit is None
    counts = any(is_aggregated(item.expression) for item in projection.items)
    return plain and counts and all(_is_count(item.expression) for item in projection.items)


def _is_count(expression: Expression) -> bool:
    if isinstance(expression, Aggregate):
        argument = expression.argument
        never_null = isinstance(argument, Column) and argument.attribute is Attribute.ELEMENT
        return expression.function == "count" and not expression.distinct and (argument is None or never_null)
    if isinstance(expression, Column) or is_volatile(expression):
        return False
    return all(_is_count(child) for child in children(expression))


def _weighs_repeats(projection: Projection) -> bool:
    """Whether the answer is grouped, and can be computed from rows that come once with the number of times."""
    return _is_grouped(projection) and all(
        aggregate.distinct or aggregate.function in (*_WEIGHED, *_UNREPEATED) for aggregate in _aggregates(projection)
    )


def _ignores_repeats(projection: Projection) -> bool:
    """Whether the answer is the same however often a row comes."""
    return _is_grouped(projection) and all(
        aggregate.distinct or aggregate.function in _UNREPEATED for aggregate in _aggregates(projection)
    )


def _is_grouped(projection: Projection) -> bool:
    return projection.distinct or any(is_aggregated(item.expression) for item in projection.items)


def _aggregates(projection: Projection) -> list[Aggregate]:
    return [node for expression in _expressions(projection) for node in walk(expression) if isinstance(node, Aggregate)]


def _expressions(projection: Projection) -> list[Expression]:
    return [*(item.expression for item in projection.items), *(item.expression for item in projection.order_by)]


def _variables_of(bound: BoundQuery, residual: tuple[Expression, ...]) -> frozenset[str]:
    """The elements that the answer or a residual predicate speaks of, directly or through a path."""
    expressions = (*_expressions(bound.projection), *residual)
    spoken_of = {column.variable for expression in expressions for column in columns(expression)}
    for path in bound.query_graph.paths:
        if path.name in spoken_of:
            spoken_of.update((*path.vertices, *path.edges))
    return frozenset(spoken_of)
