"""The matches of a MATCH: all assignments of elements to the names of its patterns that the mode allows."""

from collections.abc import Iterator, Set

from tests.evaluator import expressions
from tests.evaluator.values import Binding, Graph, Path, Vertex
from tests.soak.tree import Labels, Match, Node, Step, Walk


def matches(graph: Graph, clause: Match, binding: Binding) -> Iterator[Binding]:
    """All that make the binding longer; with nulls where an optional clause has none."""
    found = required(graph, clause, binding)
    yield from (list(found) or [dict.fromkeys(clause.names()) | dict(binding)]) if clause.optional else found


def required(graph: Graph, clause: Match, binding: Binding) -> Iterator[Binding]:
    for found in _walked(graph, clause.walks, binding):
        conditions = (expressions.evaluate(condition, found, graph) for condition in clause.conditions())
        if _mode_allows(graph, clause, found) and all(truth is True for truth in conditions):
            yield found


def has_labels(labels: Labels | None, found: Set[str]) -> bool:
    match labels:
        case None:
            return True
        case Labels("!", (part,)):
            return not has_labels(part, found)
        case Labels("&" | "|" as operator, parts):
            return (all if operator == "&" else any)(has_labels(part, found) for part in parts)
    return bool(found) if labels.operator == "%" else labels.operator in found


def _walked(graph: Graph, walks: tuple[Walk, ...], binding: Binding) -> Iterator[Binding]:
    """The walks through the graph one after the other, each wherever it leads."""
    if not walks:
        yield binding
        return
    for vertex in graph.vertices:
        if _can_be(binding, walks[0].start, vertex):
            begun = {**binding, walks[0].start.name: vertex}
            for found, way in _stepped(graph, walks[0].steps, begun, Path((vertex,))):
                yield from _walked(graph, walks[1:], {**found, walks[0].name: way} if walks[0].name else found)


def _stepped(graph: Graph, steps: tuple[Step, ...], binding: Binding, way: Path) -> Iterator[tuple[Binding, Path]]:
    if not steps:
        yield binding, way
        return
    step = steps[0]
    for edge in graph.edges:
        ends = (("in", edge.target, edge.source), ("out", edge.source, edge.target))
        # A loop leads to its own vertex, once also without a direction.
        for there in {end for to, begin, end in ends if begin is way[-1] and step.direction in (to, "both")}:
            known = has_labels(step.types, {edge.type}) and binding.get(step.name, edge) is edge
            if known and _can_be(binding, step.target, there):
                longer = {**binding, step.name: edge, step.target.name: there}
                yield from _stepped(graph, steps[1:], longer, Path((*way, edge, there)))


def _can_be(binding: Binding, node: Node, vertex: Vertex) -> bool:
    return has_labels(node.labels, vertex.labels) and binding.get(node.name, vertex) is vertex


def _mode_allows(graph: Graph, clause: Match, binding: Binding) -> bool:
    steps = [pair for walk in clause.walks for pair in zip(walk.nodes, walk.steps, strict=False)]
    names = {node.name for walk in clause.walks for node in walk.nodes}
    different = len({binding[name] for name in names}) == len(names)
    match clause.mode:
        case "different edges":
            return len({binding[step.name] for _, step in steps}) == len(steps)
        case "induced":  # all edges between the vertices are in the pattern; one without a direction is both
            pairs = {(node.name, step.target.name) for node, step in steps if step.direction != "in"}
            pairs |= {(step.target.name, node.name) for node, step in steps if step.direction != "out"}
            free = {(binding[one], binding[two]) for one in names for two in names if (one, two) not in pairs}
            return different and not any((edge.source, edge.target) in free for edge in graph.edges)
    return different or clause.mode != "different nodes"
