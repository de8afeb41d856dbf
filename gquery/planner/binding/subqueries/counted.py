"""An OPTIONAL MATCH of which only the number of matches is asked is a COUNT for each row: none is listed."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

from gquery.grammar import ast
from gquery.planner.binding.lengths.alternatives import has_lengths
from gquery.planner.binding.mentions import below, binds, is_random, names_in
from gquery.planner.binding.subqueries.in_expressions import holds_subquery
from gquery.planner.ir.functions.calls import is_aggregate
from gquery.records import replace

_UNREPEATED = ("min", "max")  # aggregates that a row which comes more than once does not change


def counting_each(clause: ast.Clause, after: ast.Clause | None, known: AbstractSet[str]) -> ast.Projecting | None:
    """The projection after an OPTIONAL MATCH, where that can be left out: `count(b)` of what it binds is `sum(COUNT {
    ... })` then. None where more is asked of the matches. known: the names before."""
    if not isinstance(clause, ast.Match) or not isinstance(after, ast.Projecting) or not known:
        return None
    if not clause.optional or clause.hints or has_lengths(clause) or any(path.shortest for path in clause.patterns):
        return None
    new = set(binds(clause)) - known
    if after.star or sum(name in new for name in names_in(after)) != 1 or holds_subquery(after) or is_random(clause):
        return None
    counts, others = list[ast.FunctionCall](), list[ast.FunctionCall]()
    for each in below(after):
        if isinstance(each, ast.FunctionCall) and is_aggregate(each.name):
            (counts if _counts(each, new) else others).append(each)
    if len(counts) != 1 or not all(each.distinct or each.name in _UNREPEATED for each in others):
        return None
    query = ast.Query((replace(clause, optional=False),), None, span=clause.span)
    summed = replace(counts[0], name="sum", arguments=(ast.Subquery("count", query, span=clause.span),))
    found: ast.Projecting = _with(after, counts[0], summed)
    return found


def _counts(call: ast.FunctionCall, names: AbstractSet[str]) -> bool:
    """Whether it is the number of rows that have something under one of these names."""
    if call.name != "count" or call.distinct or call.star or len(call.arguments) != 1:
        return False
    (argument,) = call.arguments
    return isinstance(argument, ast.Variable) and argument.name in names


def _with(node: Any, old: ast.Node, new: ast.Node) -> Any:
    """A part of the tree with another in one place."""
    if node is old:
        return new
    if isinstance(node, tuple):
        return tuple(_with(each, old, new) for each in node)
    if not isinstance(node, ast.Node) or not any(each is old for each in below(node)):
        return node
    return replace(node, **{name: _with(getattr(node, name), old, new) for name in ast.parts_of(node)})
