"""Conditions that ask for patterns: `(a)-[:KNOWS]->(b)`, `EXISTS { ... }`, and NOT before either."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Literal

from gquery.errors import BindError, Span, did_you_mean
from gquery.grammar import ast
from gquery.planner.binding.describe import described_patterns
from gquery.planner.binding.mentions import binds, names_in
from gquery.planner.binding.scope import NewNames
from gquery.records import record


@record(frozen=True, slots=True)
class PatternTest:
    """Whether `match` has a match or, when `absent`, has none."""

    kind: Literal["exists", "absent"]
    match: ast.Match
    new_names: NewNames
    span: Span
    described: str


def joined_by_and(condition: ast.Expression) -> Iterator[ast.Expression]:
    """The conditions that AND joins, which must all be true."""
    if isinstance(condition, ast.Binary) and condition.operator == "and":
        yield from joined_by_and(condition.left)
        yield from joined_by_and(condition.right)
    else:
        yield condition


def all_of(conditions: list[ast.Expression]) -> ast.Expression | None:
    """Conditions joined by AND; None without any."""
    found: ast.Expression | None = None
    for each in conditions:
        found = each if found is None else ast.Binary("and", found, each, span=found.span.to(each.span))
    return found


def pattern_test(condition: ast.Expression) -> PatternTest | None:
    """The condition as a pattern test; None when it is an ordinary expression."""
    asked, absent = condition, False
    while isinstance(asked, ast.Unary) and asked.operator == "not":
        asked, absent = asked.operand, not absent
    match asked:
        case ast.PatternPredicate(pattern=pattern):
            clause = ast.Match(patterns=(pattern,), where=None, mode=None, optional=False, span=pattern.span)
            return _test(absent, clause, "none", condition.span, described_patterns([pattern]))
        case ast.Exists(match=clause):
            described = f"EXISTS {{ {described_patterns(clause.patterns)} }}"
            return _test(absent, clause, "own", condition.span, described)
    return None


def _test(absent: bool, clause: ast.Match, new_names: NewNames, span: Span, described: str) -> PatternTest:
    if absent:
        return PatternTest("absent", clause, new_names, span, f"NOT {described}")
    return PatternTest("exists", clause, new_names, span, described)


def conditions_of(clause: ast.Match) -> Iterator[ast.Expression]:
    """The conjuncts of a clause: of the WHEREs inside its patterns, then of its own."""
    for pattern in clause.patterns:
        elements: list[ast.NodePattern | ast.RelationshipPattern] = [*pattern.nodes, *pattern.relationships]
        for element in elements:
            if element.where is not None:
                yield from joined_by_and(element.where)
    if clause.where is not None:
        yield from joined_by_and(clause.where)


def plain_conditions(conditions: Iterable[ast.Expression]) -> Iterator[ast.Expression]:
    """Those that are no pattern tests."""
    return (each for each in conditions if pattern_test(each) is None)


def pattern_tests(where: ast.Expression | None) -> list[PatternTest]:
    """The pattern tests among the conditions that AND joins."""
    return [] if where is None else [test for each in joined_by_and(where) if (test := pattern_test(each)) is not None]


def undefined(name: ast.Variable, known: Iterable[str]) -> BindError:
    """The error for a name in a pattern that is a condition, which cannot define it."""
    return BindError(
        f"variable `{name.name}` is not defined, and a pattern used as a condition cannot define it",
        span=name.span,
        hint=did_you_mean(name.name, known) or "leave the name out, or write EXISTS { ... }",
    )


_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">="})


def is_checked_while_matching(clause: ast.Match, nodes: AbstractSet[str]) -> bool:
    """Whether its conditions, as far as the tree tells, speak of one element each or compare two nodes. `nodes`: the
    names of nodes; its relationships are its own."""
    known = {*nodes, *binds(clause)}
    for condition in plain_conditions(conditions_of(clause)):
        names = set(names_in(condition))
        if len(names) == 1 and names <= known:
            continue
        if not isinstance(condition, ast.Binary) or condition.operator not in _COMPARISONS:
            return False
        sides = [set(names_in(side)) for side in (condition.left, condition.right)]
        if any(len(side) != 1 or not side <= nodes for side in sides):
            return False
    return True
