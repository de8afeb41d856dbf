"""What a part of the syntax tree speaks of, before anything is bound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gquery.grammar import ast


def names_in(node: ast.Node) -> Iterator[str]:
    """The names of all variables below a node, those that are bound there among them."""
    pending: list[object] = [node]
    while pending:
        found = pending.pop()
        if isinstance(found, ast.Variable):
            yield found.name
        elif isinstance(found, ast.Node):
            pending.extend(getattr(found, name) for name in found.__dataclass_fields__)
        elif isinstance(found, tuple):
            pending.extend(found)


def nodes_of(clause: ast.Match) -> Iterator[str]:
    """The names of nodes in its patterns."""
    return _named(node for path in clause.patterns for node in path.nodes)


def binds(clause: ast.Match) -> Iterator[str]:
    """The names in its patterns."""
    yield from nodes_of(clause)
    for path in clause.patterns:
        yield from _named([path, *path.relationships])


def _named(parts: Iterable[ast.NodePattern | ast.RelationshipPattern | ast.PathPattern]) -> Iterator[str]:
    return (part.variable.name for part in parts if part.variable is not None)
