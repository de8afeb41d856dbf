"""Estimates: sizes of candidate sets and relations before anything ran, and of partial matches along an order."""

from __future__ import annotations

import math

from gquery.planner.expr import Attribute, Call, Column, Expression
from gquery.planner.physical import Cardinalities
from gquery.planner.query_graph import QueryEdge, QueryGraph
from gquery.storage.statistics import Statistics

# Shares of the elements that a predicate is thought to keep, when nothing is known but its operator.
_EQUALITY, _RANGE, _OTHER = 0.1, 0.3, 0.5


def estimate(graph: QueryGraph, statistics: Statistics) -> Cardinalities:
    """Cardinalities from the graph's statistics alone: what EXPLAIN shows."""
    sizes = [
        max(
            1.0,
            statistics.vertex_count(vertex.tables) * _kept(vertex.predicates, statistics.vertex_count(vertex.tables)),
        )
        for vertex in graph.vertices
    ]
    edges, degrees = [], []
    for edge in graph.edges:
        source, target = graph.vertices[edge.source], graph.vertices[edge.target]
        total = _edges_between(edge, source.tables, target.tables, statistics)
        shares = [sizes[vertex.index] / max(1, statistics.vertex_count(vertex.tables)) for vertex in (source, target)]
        kept = _kept(edge.predicates, total)
        edges.append(total * kept * shares[0] * shares[1])
        degrees.append(tuple(total * kept / max(1, statistics.vertex_count(v.tables)) for v in (source, target)))
    return Cardinalities(tuple(sizes), tuple(edges), tuple((out, back) for out, back in degrees))


def _edges_between(
    edge: QueryEdge, sources: tuple[int, ...], targets: tuple[int, ...], statistics: Statistics
) -> float:
    total = statistics.edges_between(edge.types, sources, targets)
    return float(total if edge.directed else total + statistics.edges_between(edge.types, targets, sources))


def _kept(predicates: tuple[Expression, ...], count: float) -> float:
    return math.prod(_selectivity(predicate, count) for predicate in predicates)


def _selectivity(predicate: Expression, count: float) -> float:
    if not isinstance(predicate, Call):
        return _OTHER
    if predicate.function == "=":
        by_id = any(isinstance(side, Column) and side.attribute is Attribute.ID for side in predicate.arguments)
        by_id = by_id or any(isinstance(side, Column) and side.key == "id" for side in predicate.arguments)
        return 1 / max(1.0, count) if by_id else _EQUALITY
    return _RANGE if predicate.function in ("<", "<=", ">", ">=", "starts with", "in") else _OTHER


class PrefixModel:
    """Estimated partial matches and work along a matching order, all edges taken as independent.

    rows(S) = product of |C(u)| over S times product of |R(u,w)| / (|C(u)| |C(w)|) over the query edges inside S,
    so it depends on the set S only, which is what makes dynamic programming over orders exact for this model.
    """

    def __init__(self, graph: QueryGraph, cardinalities: Cardinalities, raw: bool) -> None:
        """`raw`: lists are those of the raw adjacency, longer than the candidate edges."""
        self.sizes = [max(size, 1e-9) for size in cardinalities.vertices]
        self.links: list[list[tuple[int, float, float]]] = [[] for _ in graph.vertices]
        for edge in graph.edges:
            if edge.source == edge.target:
                continue
            count = max(cardinalities.edges[edge.index], 1e-9)
            selectivity = count / (self.sizes[edge.source] * self.sizes[edge.target])
            for vertex, other, side in ((edge.source, edge.target, 1), (edge.target, edge.source, 0)):
                row = cardinalities.degrees[edge.index][side] if raw else count / self.sizes[other]
                self.links[vertex].append((other, selectivity, row))

    def extension(self, vertex: int, matched: int) -> tuple[float, float, int]:
        """Extending a match of the set `matched` (a bit mask) by `vertex`: (factor of rows, neighbours looked at,
        backward edges)."""
        factor = self.sizes[vertex]
        shortest = math.inf
        backward = 0
        for other, selectivity, row in self.links[vertex]:
            if matched >> other & 1:
                factor *= selectivity
                shortest = min(shortest, row)
                backward += 1
        return factor, (self.sizes[vertex] if backward == 0 else shortest), backward

    def walk(self, order: tuple[int, ...]) -> tuple[list[float], float]:
        """(rows after each step, total work) of an order."""
        rows, matched, work, steps = 1.0, 0, 0.0, []
        for vertex in order:
            factor, looks, _ = self.extension(vertex, matched)
            work += rows * looks
            rows *= factor
            matched |= 1 << vertex
            steps.append(rows)
        return steps, work
