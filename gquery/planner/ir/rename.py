"""Expressions about other elements."""

from __future__ import annotations

from collections.abc import Callable

from gquery.planner.ir.expr import Column, Expression, with_children
from gquery.records import replace


def renamed(expression: Expression, name: Callable[[str], str]) -> Expression:
    """The expression with every element under another name."""
    if isinstance(expression, Column):
        return replace(expression, variable=name(expression.variable))
    return with_children(expression, lambda part: renamed(part, name))


def copied(name: str, number: int) -> str:
    """The name of a vertex's copy in a part of a query graph, by the number of this."""
    return f" {number} {name}"


def unnamed(expression: Expression) -> Expression:
    """A predicate on one element without the element's name."""
    return renamed(expression, lambda _: "")
