"""Picks the filters that narrow the candidate sets, cheapest first."""

from __future__ import annotations

from collections import Counter

from gquery.planner.physical import (
    Constraints,
    EdgePredicateFilter,
    Filter,
    LabelFilter,
    LoopFilter,
    NeighbourFilter,
    PredicateFilter,
)
from gquery.planner.query_graph import QueryEdge, QueryGraph, Scope


def pick_filters(graph: QueryGraph, constraints: Constraints, all_types: tuple[str, ...]) -> tuple[Filter, ...]:
    """Labels, predicates of edges and vertices, self-loops, then neighbour-label counts."""
    filters: list[Filter] = [LabelFilter(vertex.index, vertex.tables) for vertex in graph.vertices]
    filters += [EdgePredicateFilter(edge.index, edge.predicates) for edge in graph.edges if edge.predicates]
    filters += [PredicateFilter(vertex.index, vertex.predicates) for vertex in graph.vertices if vertex.predicates]
    filters += [
        LoopFilter(edge.source, edge.types, True, edge.index) for edge in graph.edges if edge.source == edge.target
    ]
    filters += [LoopFilter(vertex, all_types, False, None) for vertex in constraints.loopless]
    filters += _neighbour_counts(graph)
    return tuple(filters)


def _neighbour_counts(graph: QueryGraph) -> list[NeighbourFilter]:
    """For each vertex and each class of alike query edges at it: how many of them there must be room for."""
    found: dict[tuple[int, object], tuple[int, int]] = {}
    for scope in graph.scopes:
        for vertex in scope.vertices:
            at_vertex = [
                graph.edges[e] for e in scope.edges if vertex in (graph.edges[e].source, graph.edges[e].target)
            ]
            links = [edge for edge in at_vertex if edge.source != edge.target and graph.binds(edge.index, vertex)]
            for alike, edge, required in _classes(graph, scope, vertex, links):
                key = (vertex, alike)
                if key not in found or found[key][1] < required:
                    found[key] = (edge, required)
    return [NeighbourFilter(vertex, edge, required) for (vertex, _), (edge, required) in found.items()]


def _classes(graph: QueryGraph, scope: Scope, vertex: int, edges: list[QueryEdge]) -> list[tuple[object, int, int]]:
    """(class, an edge of it, number of data edges that the class needs at the vertex)."""
    counts: Counter[object] = Counter()
    example: dict[object, int] = {}
    seen: set[tuple[object, int]] = set()
    for edge in edges:
        other = graph.vertices[edge.other(vertex)]
        outgoing = edge.directed and edge.source == vertex
        alike = (edge.types, outgoing, edge.directed, edge.predicates, other.tables, other.predicates)
        distinct = edge.index if scope.mode == "different edges" else other.index
        example.setdefault(alike, edge.index)
        if (alike, distinct) not in seen:
            seen.add((alike, distinct))
            counts[alike] += 1
    if scope.mode == "repeatable elements":
        return [(alike, example[alike], 1) for alike in counts]
    return [(alike, example[alike], count) for alike, count in counts.items()]
