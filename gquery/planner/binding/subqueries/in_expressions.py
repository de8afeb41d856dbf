"""Subqueries in expressions: what is asked of them is computed by a segment before, and read there as a variable.

The conditions that `pattern_condition` knows are no such subqueries: these are matched together with the patterns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import count
from typing import Any

from gquery.errors import BindError, Span, UnsupportedError
from gquery.grammar import ast
from gquery.planner.binding.lengths.alternatives import has_lengths
from gquery.planner.binding.mentions import (
    below,
    binds,
    links_of,
    name_of,
    names_bare_path,
    names_in,
    nodes_of,
    repeated_in,
)
from gquery.planner.binding.scope import NOTHING
from gquery.planner.binding.subqueries.pattern_condition import (
    is_checked_while_matching,
    joined_by_and,
    pattern_test,
    undefined,
)
from gquery.planner.ir.functions.calls import is_aggregate
from gquery.records import replace
from gquery.settings import MatchMode

Asked = ast.Subquery | ast.Exists | ast.PatternPredicate
_ASKED = (ast.Subquery, ast.Exists, ast.PatternPredicate)  # which is told faster


def holds_subquery(node: ast.Node) -> bool:
    return any(isinstance(each, _ASKED) for each in below(node))


def is_apart(condition: ast.Expression) -> bool:
    """Whether a condition, one that AND joins with others, has a subquery that is no pattern test, or is a test of
    paths of variable length, one of whose conditions has a subquery, or one that may bind nothing of its own."""
    test = pattern_test(condition)
    if test is None:
        return holds_subquery(condition)
    if has_lengths(test.match) or names_bare_path(test.match):
        return True
    if test.new_names == "own" and _names_nodes_alone(test.match):
        return True
    return any(isinstance(each, Asked) for each in below(test.match))


def _names_nodes_alone(clause: ast.Match) -> bool:
    """Whether it has no relationships, and names for all of its nodes."""
    return not any(path.relationships for path in clause.patterns) and all(
        node.variable is not None for path in clause.patterns for node in path.nodes
    )


def beside(clause: ast.Match) -> ast.Match:
    """The clause, with those conditions in its brackets that hold patterns first in its WHERE."""
    moved: list[ast.Expression] = []
    paths = tuple(path if path.shortest else _without_patterns(path, moved) for path in clause.patterns)
    if not moved:
        return clause
    return replace(clause, patterns=paths, where=_together([*moved, *([] if clause.where is None else [clause.where])]))


def _without_patterns(path: ast.PathPattern, moved: list[ast.Expression]) -> ast.PathPattern:
    def asks(part: ast.NodePattern | ast.RelationshipPattern) -> bool:
        return part.where is not None and not (isinstance(part, ast.RelationshipPattern) and part.length is not None)

    def plain(part: ast.NodePattern | ast.RelationshipPattern) -> Any:
        if part.where is None or not asks(part):
            return part
        conditions = list(joined_by_and(part.where))
        moved.extend(filter(holds_subquery, conditions))
        return replace(part, where=_together(each for each in conditions if not holds_subquery(each)))

    if not any(map(asks, path.nodes)) and not any(map(asks, path.relationships)):
        return path
    return replace(path, nodes=tuple(map(plain, path.nodes)), relationships=tuple(map(plain, path.relationships)))


def parted(
    clause: ast.Match | ast.With, incoming: AbstractSet[str], names: AbstractSet[str], all_tests: bool
) -> tuple[ast.Expression | None, ast.Expression | None]:
    """The conditions that are asked with a clause, and those that need subqueries first. incoming: the names before the
    clauses that it may be matched with; names: all before it. all_tests: pattern tests, too, need subqueries."""
    if clause.where is None:
        return None, None
    conditions = list(joined_by_and(clause.where))
    apart = [
        is_apart(each) or (all_tests and pattern_test(each) is not None) or _is_no_part(each, clause, incoming, names)
        for each in conditions
    ]
    with_it = _together(each for each, later in zip(conditions, apart, strict=True) if not later)
    return with_it, _together(each for each, later in zip(conditions, apart, strict=True) if later)


def _is_no_part(
    condition: ast.Expression, clause: ast.Match | ast.With, incoming: AbstractSet[str], names: AbstractSet[str]
) -> bool:
    """Whether it is a pattern test that cannot be asked while a clause is matched: of a relationship that is known, or
    in an OPTIONAL MATCH of what this does not speak of."""
    test = pattern_test(condition)
    if not isinstance(clause, ast.Match) or test is None:
        return False
    if not links_of(test.match).isdisjoint({*names, *binds(clause)}):
        return True
    if not clause.optional:
        return False
    foreign = incoming & set(names_in(test.match)) - set(binds(clause))
    return bool(foreign) or not is_checked_while_matching(test.match, {*nodes_of(clause), *nodes_of(test.match)})


def filtering(where: ast.Expression) -> ast.With:
    """`WITH * WHERE where`."""
    return ast.With(
        items=(), star=True, distinct=False, order_by=(), skip=None, limit=None, where=where, span=where.span
    )


def filters_only(clause: ast.Clause) -> bool:
    """Whether the clause is `WITH * WHERE ...`."""
    if not isinstance(clause, ast.With) or not clause.star or clause.items or clause.distinct or clause.order_by:
        return False
    return clause.skip is None and clause.limit is None


def in_sight(clause: ast.With, names: AbstractSet[str]) -> tuple[ast.With, ...]:
    """The clause, with what its subqueries still see of the rows before it, and behind it what drops that. names: all
    before it. One that makes one row of several leaves nothing else to be seen."""
    if clause.where is None or clause.star or clause.distinct or any(map(aggregates, clause.items)):
        return (clause,)
    asked = [each for each in below(clause.where) if isinstance(each, _ASKED) or _asks_for_items(each)]
    given = [name for item in clause.items if (name := name_of(item)) is not None]
    dropped = names & {name for each in asked for name in names_in(each)} - set(given)
    if not dropped:
        return (clause,)
    kept = replace(clause, items=(*clause.items, *carrying(sorted(dropped), clause.span)))
    items = clause.items if given == [NOTHING] else tuple(carrying(given, clause.span))
    return (kept, replace(filtering(clause.where), items=items, star=False, where=None))


def _asks_for_items(node: ast.Node) -> bool:
    """Whether a subquery is asked for each item of a list, which is part of one then."""
    return isinstance(node, ast.Comprehension) and holds_subquery(node)


def aggregates(node: ast.Node) -> bool:
    """Whether it makes one value of several rows."""
    return next(own_aggregates(node), None) is not None


def own_aggregates(node: ast.Node) -> Iterator[ast.FunctionCall]:
    """The aggregates in it, but for those of its subqueries: these are of the subqueries' rows."""
    pending: list[object] = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, ast.FunctionCall) and is_aggregate(each.name):
            yield each
        if isinstance(each, tuple):
            pending += each
        elif isinstance(each, ast.Node) and not isinstance(each, _ASKED):
            pending += ast.parts_in(each)


def carrying(names: Iterable[str], span: Span) -> Iterator[ast.ProjectionItem]:
    return (ast.ProjectionItem(ast.Variable(name, span=span), None, name, span=span) for name in names)


def taken_out(clause: ast.Clause, numbers: count[int]) -> tuple[Any, dict[str, Asked]]:
    """The clause with a hidden variable for each subquery, and what these stand for; pattern tests of WHERE stay."""
    found: dict[str, Asked] = {}
    if not holds_subquery(clause):
        return clause, found
    _expect_conditions(clause)
    take = partial(_replaced, found=found, numbers=numbers)
    if isinstance(clause, ast.With) and clause.where is not None:
        where = _together(take(each) if is_apart(each) else each for each in joined_by_and(clause.where))
        return replace(take(replace(clause, where=None)), where=where), found
    return take(clause), found


def as_subquery(asked: Asked) -> ast.Subquery:
    """Whether a pattern has a match, as a subquery."""
    match asked:
        case ast.Exists(match=clause):
            return ast.Subquery("exists", ast.Query((clause,), None, span=asked.span), span=asked.span)
        case ast.PatternPredicate(pattern=pattern):
            clause = ast.Match((pattern,), None, None, False, span=asked.span)
            return ast.Subquery("exists", ast.Query((clause,), None, span=asked.span), span=asked.span)
    return asked


def expect_known(node: ast.Node, names: AbstractSet[str]) -> None:
    """Raises where a pattern that is a condition has a name that is not known; items of lists have theirs."""
    if isinstance(node, ast.PatternPredicate):
        elements = (
            *(each.variable for each in node.pattern.nodes),
            *(each.variable for each in node.pattern.relationships),
            *(each.variable for each in repeated_in(node.pattern)),
        )
        for variable in elements:
            if variable is not None and variable.name not in names:
                raise undefined(variable, names)
    elif isinstance(node, ast.Unary | ast.Binary):
        for name in ast.parts_of(node):
            if isinstance(part := getattr(node, name), ast.Node):
                expect_known(part, names)


def _replaced(node: Any, found: dict[str, Asked], numbers: count[int]) -> Any:
    if isinstance(node, Asked):
        name = f" subquery {next(numbers)}"
        found[name] = node
        return ast.Variable(name, span=node.span)
    if isinstance(node, tuple):
        return tuple(_replaced(each, found, numbers) for each in node)
    if not isinstance(node, ast.Node) or not holds_subquery(node):
        return node
    match node:
        case ast.Comprehension(items=items) if not holds_subquery(items) or holds_subquery(replace(node, items=_NONE)):
            return _replaced(_of_rows(node), found, numbers)
        case ast.Reduce(step=step) if holds_subquery(step):
            raise UnsupportedError("gquery has no subqueries in the steps of reduce()", span=step.span)
    return replace(node, **{name: _replaced(getattr(node, name), found, numbers) for name in ast.parts_of(node)})


_NONE = ast.Literal(None, span=Span(0, 0))


def _of_rows(tree: ast.Comprehension) -> ast.Expression:
    """A comprehension that asks a subquery for each item, as a subquery that has a row for each item."""
    span, variable = tree.span, tree.variable
    if tree.form != "list":
        truths = ast.Comprehension("list", variable, tree.items, None, in_mode(tree.where, None), span=span)
        return ast.Comprehension(tree.form, variable, _of_rows(truths), variable, None, span=span)
    clauses: list[ast.Clause] = [ast.Unwind(tree.items, variable, span=span)]
    clauses += [] if tree.where is None else [filtering(tree.where)]
    item = ast.ProjectionItem(tree.result or variable, " item", "", span=span)
    clauses.append(ast.Return((item,), False, False, (), None, None, span=span))
    rows = ast.Subquery("collect", ast.Query(tuple(clauses), None, span=span), span=span)
    unknown = ast.CaseBranch(ast.Unary("is null", tree.items, span=span), ast.Literal(None, span=span), span=span)
    return ast.Case(None, (unknown,), rows, span=span)


def in_mode(node: Any, mode: MatchMode | None) -> Any:
    """What a MATCH asks of other patterns is asked in its mode, where it names none of its own. The conditions of
    those patterns follow when their own MATCH is bound."""
    match node:
        case ast.PatternPredicate(pattern=pattern):
            return ast.Exists(ast.Match((pattern,), None, mode, False, span=node.span), span=node.span)
        case ast.Match():
            return replace(node, mode=node.mode or mode)
    if isinstance(node, tuple):
        return tuple(in_mode(each, mode) for each in node)
    if not isinstance(node, ast.Node) or not any(isinstance(each, _MATCHED) for each in below(node)):
        return node
    return replace(node, **{name: in_mode(getattr(node, name), mode) for name in ast.parts_of(node)})


_MATCHED = ast.Match | ast.PatternPredicate


def _expect_conditions(clause: ast.Clause) -> None:
    """Raises for a pattern that stands where a value is asked for: openCypher has none there."""
    pending: list[object] = list(clause.items) if isinstance(clause, ast.Projecting) else []
    while pending:
        node = pending.pop()
        if isinstance(node, ast.PatternPredicate):
            raise BindError(
                "a pattern is a condition, it has no value",
                span=node.span,
                hint="write EXISTS { ... }, COUNT { ... } for how many, or [pattern | value] for a list",
            )
        if isinstance(node, tuple):
            pending.extend(node)
        elif isinstance(node, ast.Node) and not isinstance(node, _ASKING):
            pending += ast.parts_in(node)


_ASKING = ast.Subquery | ast.Exists | ast.Comprehension | ast.Case


def _together(conditions: Iterable[ast.Expression]) -> ast.Expression | None:
    found: ast.Expression | None = None
    for each in conditions:
        found = each if found is None else ast.Binary("and", found, each, span=found.span.to(each.span))
    return found
