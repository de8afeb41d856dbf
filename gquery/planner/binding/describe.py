"""Patterns in words: as a user would write them, without property maps and WHERE."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gquery.grammar import ast
from gquery.planner.binding.labels import text_of
from gquery.planner.binding.scope import EdgeDraft, VertexDraft
from gquery.planner.ir.query_graph import QueryVertex


def described_vertex(vertex: VertexDraft) -> str:
    """The vertex with all its labels, such as `(a:Person)`."""
    labels = "".join(f":{text_of(expression)}" for expression in dict.fromkeys(vertex.labels))
    return f"({vertex.variable.strip() if vertex.named else ''}{labels})"


def described_edge(edge: EdgeDraft, vertices: Sequence[QueryVertex], all_types: tuple[str, ...]) -> str:
    """The edge between its ends' names, such as `(a)-[:KNOWS]->(b)`."""
    ends = [vertices[index].variable.strip() for index in (edge.source, edge.target)]
    types = "" if edge.types == all_types and len(all_types) > 1 else ":" + "|".join(edge.types)
    inside = (edge.variable.strip() if edge.named else "") + types
    return f"({ends[0]})-[{inside}]-{'>' if edge.directed else ''}({ends[1]})"


def described_patterns(patterns: Iterable[ast.PathPattern]) -> str:
    """Paths as they stand in a clause, such as `(a)-[:KNOWS]->(b:Person), (b)-[]-()`."""
    return ", ".join(map(_path, patterns))


def _path(path: ast.PathPattern) -> str:
    text = _node(path.nodes[0])
    for relationship, node in zip(path.relationships, path.nodes[1:], strict=True):
        if relationship.inside is not None:
            text += f"({_path(relationship.inside)}){_node(node)}"
            continue
        left, right = {"out": ("-", "->"), "in": ("<-", "-"), "both": ("-", "-")}[relationship.direction]
        text += f"{left}[{_inside(relationship.variable, relationship.types)}]{right}{_node(node)}"
    return text


def _node(node: ast.NodePattern) -> str:
    return f"({_inside(node.variable, node.labels)})"


def _inside(variable: ast.Variable | None, labels: ast.LabelExpression | None) -> str:
    return (variable.name if variable else "") + (f":{text_of(labels)}" if labels else "")
