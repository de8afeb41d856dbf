"""What a part of the syntax tree speaks of, before anything is bound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gquery.grammar import ast


def below(node: ast.Node) -> Iterator[ast.Node]:
    """A node and all below it."""
    pending: list[object] = [node]
    while pending:
        found = pending.pop()
        if isinstance(found, ast.Node):
            yield found
            pending += ast.parts_in(found)
        elif isinstance(found, tuple):
            pending.extend(found)


def names_in(node: ast.Node) -> Iterator[str]:
    """The names of all variables below a node, those that are bound there among them, but for items of lists."""
    return _names_in([node], frozenset())


def _names_in(pending: list[object], items: frozenset[str]) -> Iterator[str]:
    while pending:
        found = pending.pop()
        if found is None:
            continue
        if isinstance(found, ast.Variable):
            if found.name not in items:
                yield found.name
        elif isinstance(found, tuple):
            pending.extend(found)
        elif isinstance(found, ast.Comprehension):
            pending.append(found.items)
            yield from _names_in([found.where, found.result], items | {found.variable.name})
        elif isinstance(found, ast.Reduce):
            pending += [found.initial, found.items]
            yield from _names_in([found.step], items | {found.accumulator.name, found.variable.name})
        elif isinstance(found, ast.Node):
            pending += ast.parts_in(found)


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
