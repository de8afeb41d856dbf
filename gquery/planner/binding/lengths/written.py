"""Parts of queries that nobody has written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gquery.errors import Span
from gquery.grammar import ast


def call(function: str, *arguments: ast.Expression) -> ast.FunctionCall:
    span = arguments[0].span
    return ast.FunctionCall(function, arguments, False, False, Span(span.start, span.end), span=span)


def binary(operator: str, left: ast.Expression, right: ast.Expression) -> ast.Binary:
    return ast.Binary(operator, left, right, span=right.span)


def negated(condition: ast.Expression) -> ast.Unary:
    return ast.Unary("not", condition, span=condition.span)


def listed(items: Iterable[ast.Expression], span: Span) -> ast.ListLiteral:
    return ast.ListLiteral(tuple(items), span=span)


def number(value: int, span: Span) -> ast.Literal:
    return ast.Literal(value, span=span)


def variable(name: str, span: Span) -> ast.Variable:
    return ast.Variable(name, span=span)


def chained(operator: str, parts: Sequence[ast.Expression]) -> ast.Expression:
    """The parts with the operator between them, from left to right."""
    whole, *rest = parts
    for part in rest:
        whole = ast.Binary(operator, whole, part, span=part.span)
    return whole


def aliased(items: Iterable[tuple[str, ast.Expression]]) -> tuple[ast.ProjectionItem, ...]:
    return tuple(ast.ProjectionItem(expression, name, name, span=expression.span) for name, expression in items)


def with_items(items: tuple[ast.ProjectionItem, ...], span: Span, where: ast.Expression | None = None) -> ast.With:
    return ast.With(items, False, False, (), None, None, where, span=span)
