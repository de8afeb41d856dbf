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
            pending += [getattr(found, name) for name in ast.parts_of(found)]
        elif isinstance(found, tuple):
            pending.extend(found)


def names_in(node: ast.Node) -> Iterator[str]:
    """The names of all variables below a node, those that are bound there among them."""
    return (each.name for each in below(node) if isinstance(each, ast.Variable))


def is_random(node: ast.Node) -> bool:
    """Whether it has another value each time."""
    return any(isinstance(each, ast.FunctionCall) and each.name == "rand" for each in below(node))


def nodes_of(clause: ast.Match) -> Iterator[str]:
    """The names of nodes in its patterns."""
    return named(node for path in clause.patterns for node in path.nodes)


def binds(clause: ast.Match) -> Iterator[str]:
    """The names in its patterns."""
    yield from nodes_of(clause)
    for path in clause.patterns:
        yield from named([path, *path.relationships])


def named(parts: Iterable[ast.NodePattern | ast.RelationshipPattern | ast.PathPattern]) -> Iterator[str]:
    """The names of those that have one."""
    return (part.variable.name for part in parts if part.variable is not None)
