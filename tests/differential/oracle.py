"""The oracle: a plain backtracking enumeration of all matches. Its slowness is its virtue: it can be read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from tests.differential.forms import (
    Clause,
    DataGraph,
    Edge,
    Match,
    Part,
    Query,
    QueryEdge,
    QueryVertex,
    Vertex,
    evaluate,
    has_labels,
    variables,
)

Binding = dict[str, Vertex | Edge | None]


class Oracle:
    """Every match of `query` in `graph`; over parallel edges one match for each choice of edges.

    The required clauses are matched first. Then each part is matched from what is bound already: an optional one goes
    on with every match that it has, or with nulls; a condition keeps what is there or drops it.
    """

    def __init__(self, graph: DataGraph, query: Query) -> None:
        self.graph = graph
        self.query = query
        self.vertices = {vertex.id: vertex for vertex in graph.vertices}
        self.joined = {(edge.source, edge.target) for edge in graph.edges}
        self.labels = {vertex.name: vertex.labels for vertex in query.all_vertices}
        conditions = [condition for clause in query.all_clauses for condition in clause.conditions]
        self.reads = {condition: set(variables(condition)) for condition in conditions}

    def matches(self) -> Iterator[Match]:
        query = self.query
        for match in self._extend({}, (*query.edges, *query.vertices), query.clauses):
            yield from self._with_parts(match, query.parts)

    def _with_parts(self, match: Binding, parts: tuple[Part, ...]) -> Iterator[Binding]:
        if not parts:
            yield match
            return
        part, *rest = parts
        found = self._matches_of(part, match)
        if part.kind == "optional":
            for longer in list(found) or [match | dict.fromkeys(part.names)]:
                yield from self._with_parts(longer, tuple(rest))
        elif any(True for _ in found) is (part.kind == "exists"):
            yield from self._with_parts(match, tuple(rest))

    def _matches_of(self, part: Part, match: Binding) -> Iterator[Binding]:
        if all(match[name] for name in part.earlier) and self._allows(part.clause, match, set(match)):
            for longer in self._extend(match, (*part.clause.edges, *part.vertices), (part.clause,)):
                yield from self._with_parts(longer, part.conditions)

    def _extend(
        self, match: Binding, rest: tuple[QueryEdge | QueryVertex, ...], clauses: tuple[Clause, ...]
    ) -> Iterator[Binding]:
        if not rest:
            yield match
            return
        for choice in self._choices(rest[0]):
            if all(match.get(name, element) is element for name, element in choice.items()):
                longer = match | choice
                if all(self._allows(clause, longer, choice.keys() - match.keys()) for clause in clauses):
                    yield from self._extend(longer, rest[1:], clauses)

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
