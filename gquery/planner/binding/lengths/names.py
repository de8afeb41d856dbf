"""Names that nobody has written, and names replaced by what they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from operator import is_not
from typing import Any, Literal

from gquery.errors import BindError, Span
from gquery.grammar import ast
from gquery.planner.binding.mentions import repeated_in
from gquery.planner.binding.scope import is_hidden
from gquery.planner.ir.expr import Kind
from gquery.planner.ir.segments import Variable
from gquery.records import replace


class Unused:
    """Gives variables whose names are not taken."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def named(self, base: str, span: Span) -> ast.Variable:
        """`base` and a number."""
        name = next(name for number in count(1) if (name := f"{base} {number}") not in self._taken)
        self._taken.add(name)
        return ast.Variable(name, span=span)


def expect_names(clause: ast.Match, rows: Iterable[Variable]) -> None:
    """Raises where a name stands for two things in a clause with relationships of variable length, which are lists, or
    for something else than in the rows before."""
    parts = [(part.variable, what) for part, what in _parts(clause) if part.variable is not None]
    kinds: dict[str, _What] = {}
    times: dict[str, int] = {}
    for variable, what in parts:
        times[variable.name] = times.get(variable.name, 0) + 1
        if is_hidden(variable.name):
            raise BindError("a variable cannot begin with a blank", span=variable.span)
        if kinds.setdefault(variable.name, what) != what:
            told = f"`{variable.name}` is a {kinds[variable.name]} already, it cannot be a {what} too"
            raise BindError(told, span=variable.span)
    known = {variable.name: variable.type for variable in rows}
    for variable, what in parts:
        name = variable.name
        if what == "path" and (times[name] > 1 or name in known):
            raise BindError(f"path `{name}` is defined twice", span=variable.span)
        if what == "list of nodes" and name in known:
            told = f"`{name}` is of type {known[name]} already, it cannot be a {what} too"
            raise BindError(told, span=variable.span)
        if what not in ("node", "list of nodes") and times[name] > 1:
            hint = "give the second one a name of its own"
            raise BindError(f"relationship `{name}` stands twice in one MATCH", span=variable.span, hint=hint)
        if what == "list of relationships" and name in known and known[name].kind not in (Kind.LIST, Kind.NULL):
            told = f"`{name}` is of type {known[name]} already, it cannot be a {what} too"
            raise BindError(told, span=variable.span)


_What = Literal["path", "node", "relationship", "list of relationships", "list of nodes"]
_Part = ast.PathPattern | ast.NodePattern | ast.RelationshipPattern


def _parts(clause: ast.Match) -> Iterator[tuple[_Part, _What]]:
    for path in clause.patterns:
        yield path, "path"
        for node in path.nodes:
            yield node, "node"
        for relationship in path.relationships:
            yield relationship, "relationship" if relationship.length is None else "list of relationships"
        for part in repeated_in(path):
            yield part, "list of nodes" if isinstance(part, ast.NodePattern) else "list of relationships"


def substituted(node: Any, known: Mapping[str, ast.Expression]) -> Any:
    """The node, or tuple of nodes, with expressions in place of some names; items of lists hide them. Where a pattern
    binds such a name, the expression is a name too."""
    if not known:
        return node
    if isinstance(node, tuple):
        others = tuple([substituted(each, known) for each in node])
        return others if any(map(is_not, others, node)) else node
    match node:
        case ast.Variable(name=name):
            return replace(known[name], span=node.span) if name in known else node
        case ast.Comprehension(variable=item):
            inner = _without(known, item)
            where, result = substituted(node.where, inner), substituted(node.result, inner)
            return replace(node, items=substituted(node.items, known), where=where, result=result)
        case ast.Reduce(accumulator=accumulator, variable=item):
            initial, items = substituted(node.initial, known), substituted(node.items, known)
            return replace(
                node, initial=initial, items=items, step=substituted(node.step, _without(known, accumulator, item))
            )
        case ast.Node():
            parts = {name: getattr(node, name) for name in ast.parts_of(node)}
            changed = {
                name: new
                for name, part in parts.items()
                if part is not None and (new := substituted(part, known)) is not part
            }
            return replace(node, **changed) if changed else node
    return node


def _without(known: Mapping[str, ast.Expression], *hidden: ast.Variable) -> dict[str, ast.Expression]:
    names = {each.name for each in hidden}
    return {name: expression for name, expression in known.items() if name not in names}
