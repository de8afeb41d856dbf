"""What a part of the syntax tree speaks of, before anything is bound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gquery.grammar import ast


def below(node: ast.Node) -> list[ast.Node]:
    """A node and all below it."""
    found: list[ast.Node] = []
    pending: list[object] = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, ast.Node):
            found.append(each)
            pending += [part for part in ast.parts_in(each) if part]  # most are None or empty
        elif isinstance(each, tuple):
            pending += each
    return found


def names_in(node: ast.Node) -> list[str]:
    """The names of all variables below a node, those that are bound there among them, but for items of lists."""
    found: list[str] = []
    _gather([node], frozenset(), found)
    return found


def _gather(pending: list[object], items: frozenset[str], found: list[str]) -> None:
    while pending:
        each = pending.pop()
        if isinstance(each, ast.Variable):
            if each.name not in items:
                found.append(each.name)
        elif isinstance(each, tuple):
            pending += each
        elif isinstance(each, ast.Comprehension):
            pending.append(each.items)
            _gather([each.where, each.result], items | {each.variable.name}, found)
        elif isinstance(each, ast.Reduce):
            pending += [each.initial, each.items]
            _gather([each.step], items | {each.accumulator.name, each.variable.name}, found)
        elif isinstance(each, ast.Node):
            pending += [part for part in ast.parts_in(each) if part]  # most are None or empty


def is_random(node: ast.Node) -> bool:
    """Whether it has another value each time."""
    return any(isinstance(each, ast.FunctionCall) and each.name == "rand" for each in below(node))


def nodes_of(clause: ast.Match) -> Iterator[str]:
    """The names of nodes in its patterns."""
    return named(node for path in clause.patterns for node in path.nodes)


def names_after(query: ast.Query) -> Iterator[str]:
    """The names of what a query gives."""
    *_, last = query.clauses
    if isinstance(last, ast.Union):
        yield from names_after(last.branches[0])
    elif isinstance(last, ast.Return):
        yield from (item.alias or item.text for item in last.items)


def name_of(item: ast.ProjectionItem) -> str | None:
    """What a WITH calls it; None where it has to be told."""
    return item.alias or (item.expression.name if isinstance(item.expression, ast.Variable) else None)


def binds(clause: ast.Match) -> Iterator[str]:
    """The names in its patterns."""
    yield from nodes_of(clause)
    for path in clause.patterns:
        yield from named([path, *path.relationships])
        yield from named(repeated_in(path))


def links_of(clause: ast.Match) -> set[str]:
    """The names of relationships in its patterns."""
    return {name for path in clause.patterns for name in named(path.relationships)}


def names_bare_path(clause: ast.Match) -> bool:
    """Whether it names a path that is a node alone, which may be known before."""
    return any(path.variable is not None and not path.relationships for path in clause.patterns)


def repeated_in(path: ast.PathPattern) -> Iterator[ast.NodePattern | ast.RelationshipPattern]:
    """The parts of what is repeated in it: their names stand for lists."""
    for inside in (each.inside for each in path.relationships if each.inside is not None):
        yield from inside.nodes
        yield from inside.relationships


def named(parts: Iterable[ast.NodePattern | ast.RelationshipPattern | ast.PathPattern]) -> Iterator[str]:
    """The names of those that have one."""
    return (part.variable.name for part in parts if part.variable is not None)
