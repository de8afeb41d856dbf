"""Conditions on the elements of a path whose length is known, as conditions on each of them.

`all(i IN range(0, size(r) - 2) WHERE r[i].t < r[i + 1].t)` over three relationships is `r1.t < r2.t AND r2.t < r3.t`.
What is asked of elements by their names is asked while matching; what is asked of lists, of whole matches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import add, mul, sub
from typing import Any, cast

from gquery.grammar import ast
from gquery.planner.binding.lengths.names import substituted
from gquery.planner.binding.lengths.written import chained, listed, negated, number
from gquery.planner.binding.mentions import is_random, named, names_in, repeated_in
from gquery.records import replace

_MOST = 256  # items of lists whose conditions are written out, in one condition
_LARGEST = 1 << 31  # numbers that are calculated here

_CALCULATED: Mapping[str, Callable[[int, int], int]] = {"+": add, "-": sub, "*": mul}
_JOINED = {"all": "and", "none": "and", "any": "or"}


def asks_of_lists(clause: ast.Match) -> bool:
    """Whether a condition speaks of a path, or of a list of its elements, or one of these of something else, too."""
    told = set(named(clause.patterns))
    for path in clause.patterns:
        listed = [each for each in path.relationships if each.length is not None]
        own = {*named(listed), *named(repeated_in(path))}
        if any(not own.issuperset(names_in(each)) for each in listed):
            return True
        told |= own
    return clause.where is not None and not told.isdisjoint(names_in(clause.where))


def unrolled(condition: ast.Expression, paths: Mapping[str, ast.PathPattern]) -> ast.Expression:
    """The condition with what `all`, `any` and `none` ask of each item, where their lists are written. paths: those of
    fixed lengths, all of whose elements have names."""
    if is_random(condition):
        return condition
    try:
        return cast(ast.Expression, _Unrolling(paths).of(condition))
    except _TooManyError:
        return condition


class _TooManyError(Exception):
    """A condition becomes so long that it stays as it is."""


class _Unrolling:
    def __init__(self, paths: Mapping[str, ast.PathPattern]) -> None:
        self._paths = paths
        self._items = 0

    def of(self, tree: Any) -> Any:
        """A part of a condition, or a tuple of these."""
        match tree:
            case tuple():
                return tuple([self.of(each) for each in tree])
            case ast.Comprehension(items=items):
                return self._of_each(replace(tree, items=self.of(items)))
            case ast.Reduce(initial=initial, items=items):
                return replace(tree, initial=self.of(initial), items=self.of(items))
            case ast.FunctionCall(name="nodes" | "relationships" | "length", arguments=(ast.Variable(name=name),)):
                return self._of_path(tree, self._paths[name]) if name in self._paths else tree
            case ast.Subquery() | ast.Exists() | ast.PatternPredicate():
                return tree
            case ast.Node():
                return _known(replace(tree, **{name: self.of(getattr(tree, name)) for name in ast.parts_of(tree)}))
        return tree

    def _of_path(self, call: ast.FunctionCall, path: ast.PathPattern) -> ast.Expression:
        if call.name == "length":
            return number(len(path.relationships), call.span)
        names = named(path.nodes if call.name == "nodes" else path.relationships)
        return listed([ast.Variable(name, span=call.span) for name in names], call.span)

    def _of_each(self, tree: ast.Comprehension) -> ast.Expression:
        items = _listed(tree.items)
        if tree.where is None or tree.form not in _JOINED or items is None:
            return tree
        self._items += len(items)
        if self._items > _MOST:
            raise _TooManyError
        if not items:
            return ast.Literal(tree.form != "any", span=tree.span)
        asked = [self.of(substituted(tree.where, {tree.variable.name: each})) for each in items]
        return chained(_JOINED[tree.form], [negated(each) for each in asked] if tree.form == "none" else asked)


def _listed(tree: ast.Expression) -> Sequence[ast.Expression] | None:
    """The items of a list that is written, or of a range between numbers that are."""
    match tree:
        case ast.ListLiteral(items=items):
            return items
        case ast.FunctionCall(name="range", arguments=(begin, end)):
            first, last = _number(begin), _number(end)
            if first is not None and last is not None:
                return [number(each, tree.span) for each in range(first, min(last + 1, first + _MOST + 1))]
    return None


def _known(tree: ast.Node) -> ast.Node:
    """What a part of a condition is whose own parts are known."""
    match tree:
        case ast.FunctionCall(name="size", arguments=(ast.ListLiteral(items=items),)):
            return number(len(items), tree.span)
        case ast.FunctionCall(name="head" | "last", arguments=(ast.ListLiteral(items=items),)) if items:
            return items[-1 if tree.name == "last" else 0]
        case ast.FunctionCall(name="tail", arguments=(ast.ListLiteral(items=items),)):
            return listed(items[1:], tree.span)
        case ast.Index(subject=ast.ListLiteral(items=items), index=index) if (place := _number(index)) is not None:
            return items[place] if -len(items) <= place < len(items) else tree
        case ast.Unary(operator="-", operand=operand) if (value := _number(operand)) is not None:
            return number(-value, tree.span)
        case ast.Binary(operator="+" | "-" | "*", left=left, right=right):
            one, other = _number(left), _number(right)
            if one is not None and other is not None:
                return number(_CALCULATED[tree.operator](one, other), tree.span)
        case ast.Slice(subject=ast.ListLiteral(items=items), start=start, end=end):
            begin, behind = (_number(start or number(0, tree.span)), _number(end or number(len(items), tree.span)))
            if begin is not None and behind is not None and min(begin, behind) >= 0:
                return listed(items[begin:behind], tree.span)
    return tree


def _number(tree: ast.Expression) -> int | None:
    """A small number that is written."""
    if isinstance(tree, ast.Literal) and type(tree.value) is int and abs(tree.value) <= _LARGEST:
        return tree.value
    return None
