"""Conditions that are no error for any values, as far as the tree tells: they may be asked of what no match has."""

from __future__ import annotations

from gquery.grammar import ast
from gquery.planner.binding.mentions import below

_PLAIN = (ast.Variable, ast.Literal, ast.Parameter, ast.ListLiteral, ast.LabelTest, ast.LabelExpression)
_COMPARING = frozenset({
    "=", "<>", "<", "<=", ">", ">=", "and", "or", "xor", "not", "is null", "is not null",
    "in", "starts with", "ends with", "contains",
})  # fmt: skip
_OF_ELEMENTS = frozenset({"startnode", "endnode", "type", "labels", "id"})


def cannot_fail(condition: ast.Expression) -> bool:
    """Whether it compares properties and values that are given, and calculates nothing."""
    return all(map(_is_safe, below(condition)))


def _is_safe(tree: ast.Node) -> bool:
    match tree:
        case ast.Binary(operator=operator) | ast.Unary(operator=operator):
            return operator in _COMPARING
        case ast.Property(subject=subject):  # what a property has may be no map
            return not isinstance(subject, ast.Property)
        case ast.FunctionCall(name=name):
            return name in _OF_ELEMENTS
    return isinstance(tree, _PLAIN)
