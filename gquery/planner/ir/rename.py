"""Expressions about other elements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gquery.planner.ir.expr import Aggregate, Call, Case, Column, Expression


def renamed(expression: Expression, name: Callable[[str], str]) -> Expression:
    """The expression with every element under another name."""
    match expression:
        case Column(variable=variable):
            return replace(expression, variable=name(variable))
        case Call(arguments=arguments) if arguments:
            return replace(expression, arguments=tuple(renamed(each, name) for each in arguments))
        case Case(branches=branches, default=default, subject=subject):
            return replace(
                expression,
                branches=tuple((renamed(when, name), renamed(then, name)) for when, then in branches),
                default=renamed(default, name),
                subject=None if subject is None else renamed(subject, name),
            )
        case Aggregate(argument=Expression() as argument):
            return replace(expression, argument=renamed(argument, name))
        case _:
            return expression


def unnamed(expression: Expression) -> Expression:
    """A predicate on one element without the element's name."""
    return renamed(expression, lambda _: "")
