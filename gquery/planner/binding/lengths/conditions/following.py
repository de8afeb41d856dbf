"""Conditions on the relationships of a path that follow each other, such as
`all(i IN range(0, size(r) - 2) WHERE r[i].t < r[i + 1].t)`, as ones on two relationships."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gquery.grammar import ast
from gquery.planner.binding.lengths.written import call, negated
from gquery.planner.binding.mentions import names_in
from gquery.records import replace

IsList = Callable[[ast.Expression], bool]


def following(
    condition: ast.Comprehension, is_list: IsList, before: ast.Variable, one: ast.Variable
) -> ast.Expression | None:
    """What is asked of each relationship but the first, `one`, and the one `before` it; None where something else is.
    is_list: whether something is the list of them."""
    first = _from_first_to_last(condition.items, is_list)
    if first is None:
        return None
    places = {-first: before, 1 - first: one}
    asked = _at_places(condition.where, is_list, condition.variable.name, places)
    if set(names_in(asked)) != {before.name, one.name}:
        return None
    return negated(asked) if condition.form == "none" else asked


def _from_first_to_last(items: ast.Expression, is_list: IsList) -> int | None:
    """Where a range begins that has a number for each two that follow each other, which goes up to the number of
    relationships less 2, or less 1 where it begins with 1."""
    match items:
        case ast.FunctionCall(
            name="range",
            arguments=(
                ast.Literal(value=int(first)),
                ast.Binary(
                    operator="-",
                    left=ast.FunctionCall(name="size" | "length" as counted, arguments=(all_,)),
                    right=ast.Literal(value=int(less)),
                ),
            ),
        ) if (
            first in (0, 1)
            and first + less == 2
            and is_list(all_ if counted == "size" else call("relationships", all_))
        ):
            return first
    return None


def _at_places(tree: Any, is_list: IsList, number: str, places: dict[int, ast.Variable]) -> Any:
    """The tree, or tuple of trees, with variables for the items of the list so far from a number."""
    match tree:
        case tuple():
            return tuple([_at_places(each, is_list, number, places) for each in tree])
        case ast.Index(subject=subject, index=index) if is_list(subject):
            offset = _offset(index, number)
            return tree if offset is None else places.get(offset, tree)
        case ast.Comprehension() | ast.Reduce():  # whose items may have the same names
            return tree
        case ast.Node():
            parts = {name: getattr(tree, name) for name in ast.parts_of(tree)}
            return replace(tree, **{name: _at_places(each, is_list, number, places) for name, each in parts.items()})
    return tree


def _offset(index: ast.Expression, number: str) -> int | None:
    match index:
        case ast.Variable(name=name) if name == number:
            return 0
        case ast.Binary(operator="+" | "-" as sign, left=ast.Variable(name=name), right=ast.Literal(value=int(by))):
            return (by if sign == "+" else -by) if name == number else None
    return None
