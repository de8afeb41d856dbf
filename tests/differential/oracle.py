"""The oracle: a plain backtracking enumeration of all matches. Its slowness is its virtue: it can be read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from tests.differential.forms import (
    Clause,
    DataGraph,
    Edge,
    Match,
    Query,
    QueryEdge,
    QueryVertex,
    Vertex,
    evaluate,
    has_labels,
    variables,
)

Binding = dict[str, Vertex | Edge]


class Oracle:
    """Every match of `query` in `graph`; over parallel edges one match for each choice of edges."""

    def __init__(self, graph: DataGraph, query: Query) -> None:
        self.graph = graph
        self.query = query
        self.vertices = {vertex.id: vertex for vertex in graph.vertices}
        self.joined = {(edge.source, edge.target) for edge in graph.edges}
        self.labels = {vertex.name: vertex.labels for vertex in query.vertices}
        conditions = [condition for clause in query.clauses for condition in clause.conditions]
        self.reads = {condition: set(variables(condition)) for condition in conditions}

    def matches(self) -> Iterator[Match]:
        return self._extend({}, (*self.query.edges, *self.query.vertices))

    def _extend(self, match: Binding, rest: tuple[QueryEdge | QueryVertex, ...]) -> Iterator[Match]:
        if not rest:
            yield match
            return
        for choice in self._choices(rest[0]):
            if all(match.get(name, element) is element for name, element in choice.items()):
                longer = match | choice
                if all(self._allows(clause, longer, choice.keys() - match.keys()) for clause in self.query.clauses):
                    yield from self._extend(longer, rest[1:])

    def _choices(self, element: QueryEdge | QueryVertex) -> Iterator[Binding]:
        if isinstance(element, QueryVertex):
            for vertex in self.graph.vertices:
                if has_labels(element.labels, vertex.labels):
                    yield {element.name: vertex}
            return
        for edge in self.graph.edges:
            there = (self.vertices[edge.source], self.vertices[edge.target])
            back = there[::-1]
            for source, target in [there] if element.directed or edge.source == edge.target else [there, back]:
                if (
                    has_labels(element.types, edge.labels)
                    and has_labels(self.labels[element.source], source.labels)
                    and has_labels(self.labels[element.target], target.labels)
                    and (element.source != element.target or source is target)
                ):
                    yield {element.name: edge, element.source: source, element.target: target}

    def _allows(self, clause: Clause, match: Binding, new: set[str]) -> bool:
        """Whether the clause's mode and conditions hold, as far as the match goes; `new` was bound last."""
        edges = [match[edge.name] for edge in clause.edges if edge.name in match]
        if clause.mode == "different edges" and any(r is s for r, s in combinations(edges, 2)):
            return False
        bound = [(name, vertex) for name in clause.vertices if isinstance(vertex := match.get(name), Vertex)]
        if clause.mode in ("different nodes", "induced") and any(v is w for (_, v), (_, w) in combinations(bound, 2)):
            return False
        if clause.mode == "induced":
            free = [(v, w) for (a, v), (b, w) in product(bound, bound) if (a, b) not in covered(clause)]
            if any((v.id, w.id) in self.joined for v, w in free):
                return False
        ready = [c for c in clause.conditions if self.reads[c] <= match.keys() and self.reads[c] & new]
        return all(evaluate(condition, match) is True for condition in ready)


def covered(clause: Clause) -> set[tuple[str, str]]:
    """The ordered pairs of query vertices that an edge of the clause covers; an undirected one covers both ways."""
    there = {(edge.source, edge.target) for edge in clause.edges}
    return there | {(edge.target, edge.source) for edge in clause.edges if not edge.directed}
