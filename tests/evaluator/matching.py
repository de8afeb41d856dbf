"""The matches of MATCH clauses: all assignments of elements to the names of a pattern that the mode allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.evaluator import expressions
from tests.evaluator.tree import Clause, Entries, Labels, Node, Step, Walk
from tests.evaluator.values import Edge, Graph, Path, Value, Vertex, equal

Binding = Mapping[str, Value]


def matches(graph: Graph, clauses: tuple[Clause, ...], binding: Binding) -> Iterator[Binding]:
    """Those of the first clause, each followed by those of the rest. An optional clause without one goes on with
    nulls."""
    if not clauses:
        yield binding
        return
    clause, *rest = clauses
    found = list(clause_matches(graph, clause, binding))
    if clause.optional and not found:
        names = [name for walk in clause.walks for name in _names(walk)]
        found = [dict.fromkeys(names) | dict(binding)]
    for longer in found:
        yield from matches(graph, tuple(rest), longer)


def clause_matches(graph: Graph, clause: Clause, binding: Binding) -> Iterator[Binding]:
    for longer in _walks(graph, clause.walks, binding):
        if (
            _mode_allows(graph, clause, longer)
            and all(_fits(graph, walk, longer) for walk in clause.walks)
            and (clause.where is None or expressions.evaluate(clause.where, longer, graph) is True)
        ):
            yield longer


def has_labels(labels: Labels | None, found: frozenset[str]) -> bool:
    match labels:
        case None:
            return True
        case Labels("!", (part,)):
            return not has_labels(part, found)
        case Labels("&", parts):
            return all(has_labels(part, found) for part in parts)
        case Labels("|", parts):
            return any(has_labels(part, found) for part in parts)
        case Labels("%"):
            return bool(found)
    return labels.operator in found


def _walks(graph: Graph, walks: tuple[Walk, ...], binding: Binding) -> Iterator[Binding]:
    if not walks:
        yield binding
        return
    walk, *rest = walks
    for vertex in graph.vertices:
        if (started := _bound(binding, walk.start, vertex)) is not None:
            for longer, elements in _steps(graph, walk.steps, vertex, started, (vertex,)):
                named = longer if walk.name is None else {**longer, walk.name: Path(elements)}
                yield from _walks(graph, tuple(rest), named)


def _steps(
    graph: Graph, steps: tuple[Step, ...], here: Vertex, binding: Binding, elements: tuple[Vertex | Edge, ...]
) -> Iterator[tuple[Binding, tuple[Vertex | Edge, ...]]]:
    if not steps:
        yield binding, elements
        return
    step, *rest = steps
    for edge in graph.edges:
        for there in _other_ends(edge, here, step.direction):
            if not has_labels(step.types, edge.labels):
                continue
            if (longer := _bound({**binding, step.name: edge}, step.target, there)) is not None:
                yield from _steps(graph, tuple(rest), there, longer, (*elements, edge, there))


def _other_ends(edge: Edge, here: Vertex, direction: str) -> list[Vertex]:
    """Where the edge leads from `here`. A loop leads to its own vertex, once also without a direction."""
    forward = [edge.target] if edge.source is here and direction in ("out", "both") else []
    backward = [edge.source] if edge.target is here and direction in ("in", "both") else []
    return forward[:1] if edge.source is edge.target and forward else forward + backward


def _bound(binding: Binding, node: Node, vertex: Vertex) -> Binding | None:
    """The binding with the node, or None where it cannot be that vertex."""
    if not has_labels(node.labels, vertex.labels) or binding.get(node.name, vertex) is not vertex:
        return None
    return {**binding, node.name: vertex}


def _mode_allows(graph: Graph, clause: Clause, binding: Binding) -> bool:
    edges = [binding[step.name] for walk in clause.walks for step in walk.steps]
    if clause.mode == "different edges":
        return len(set(edges)) == len(edges)
    names = {node.name for walk in clause.walks for node in walk.nodes}
    different = len({binding[name] for name in names}) == len(names)
    if clause.mode == "induced":
        free = {(one, two) for one in names for two in names} - _covered(clause)
        return different and not any((binding[one], binding[two]) in graph.joined for one, two in free)
    return different or clause.mode == "repeatable elements"


def _covered(clause: Clause) -> set[tuple[str, str]]:
    """The ordered pairs of names between which the clause has an edge; one without direction covers both."""
    pairs = set()
    for walk in clause.walks:
        for node, step in zip(walk.nodes, walk.steps, strict=False):
            pairs |= {(node.name, step.target.name)} if step.direction != "in" else set()
            pairs |= {(step.target.name, node.name)} if step.direction != "out" else set()
    return pairs


def _fits(graph: Graph, walk: Walk, binding: Binding) -> bool:
    """Property maps and conditions inside the brackets."""
    maps = [(each.name, each.properties) for each in (*walk.nodes, *walk.steps)]
    return all(_has(graph, binding, name, entries) for name, entries in maps) and all(
        node.where is None or expressions.evaluate(node.where, binding, graph) is True for node in walk.nodes
    )


def _has(graph: Graph, binding: Binding, name: str, entries: Entries) -> bool:
    properties = binding[name].properties
    return all(
        equal(properties.get(key), expressions.written(tree, expressions.evaluate(tree, binding, graph))) is True
        for key, tree in entries
    )


def _names(walk: Walk) -> list[str]:
    named = [each.name for each in (*walk.nodes, *walk.steps)]
    return named if walk.name is None else [*named, walk.name]
