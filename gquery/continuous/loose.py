"""What has to be there for a row of a query to change by an edge: its patterns, each with all that it hangs on.

A query asks for a pattern first. Other patterns hang on that one, or on each other: those that are optional, must not
be there, or are counted beside a row. With what a pattern hangs on, and without anything that must not be there, it is
*loose*. What a pattern says of a row can be another thing after a change only where the loose pattern is found with an
edge of the change, before it or after it. Of an induced pattern that may be an edge that it does not name, too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import TypeVar

from gquery.planner.ir.expr import Attribute, Column
from gquery.planner.ir.query_graph import QueryEdge, QueryGraph, QueryVertex, Scope
from gquery.planner.ir.relations import Types
from gquery.planner.ir.segments import Apply, Match, Paths, Project, Segment
from gquery.planner.ir.updates import Update
from gquery.records import record

Place = tuple[int, int]
"""Of a vertex: the layer that has it, and its index in that layer's graph."""

Known = Mapping[str, Place]
"""The vertices that rows have, by name."""


class UnboundError(Exception):
    """A pattern does not hang on the one that a query asks for first. Its text says why."""


@record(frozen=True, slots=True)
class Loose:
    """A loose pattern, without predicates of several elements. vertices: where the graph has them; changing: the edges
    which make a difference where they come or go, those of the graph, and others that have the number behind its last.
    """

    graph: QueryGraph
    vertices: Mapping[Place, int]
    changing: tuple[QueryEdge, ...]

    def with_edge(self, edge: QueryEdge) -> QueryGraph:
        """The graph with one of the edges that make a difference."""
        if edge.index < len(self.graph.edges):
            return self.graph
        return replace(self.graph, edges=(*self.graph.edges, edge))

    def distances(self, begin: Sequence[int]) -> Mapping[int, int]:
        """How far the vertices are from the nearest of some; of those that are joined to one."""
        incident, found, pending = self.graph.incident, dict.fromkeys(begin, 0), deque(begin)
        while pending:
            vertex = pending.popleft()
            for other in (edge.other(vertex) for edge in incident[vertex]):
                if other not in found:
                    found[other] = found[vertex] + 1
                    pending.append(other)
        return found


def loosened(segments: Sequence[Segment], types: tuple[str, ...]) -> list[Loose]:
    """The loose patterns of a query that begins with a pattern, that one first. types: all that edges have. Raises
    UnboundError."""
    layers = _Layers()
    layers.add(segments, {})
    return [layers.loose(number, types) for number in range(len(layers.found))]


@record(frozen=True, slots=True)
class _Layer:
    """A pattern, as a part of a graph. own: its vertices there; places: where all are that it speaks of; edges, scopes:
    its own; needs: the layers that it hangs on, and itself, ascending."""

    graph: QueryGraph
    own: tuple[int, ...]
    places: Mapping[int, Place]
    edges: tuple[QueryEdge, ...]
    scopes: tuple[Scope, ...]
    needs: tuple[int, ...]


class _Layers:
    """The patterns of a query, each behind those that it hangs on."""

    def __init__(self) -> None:
        self.found: list[_Layer] = []

    def add(self, segments: Sequence[Segment], known: Known) -> None:
        """Those of a chain. known: of the rows before it."""
        for segment in segments:
            if isinstance(segment, Paths | Update):
                raise UnboundError("a relationship is none of the graph's edges")
            if isinstance(segment, Match):
                known = self._add_match(segment, known)
            elif isinstance(segment, Project):
                known = _projected(segment, known)
            else:
                self._add_subquery(segment, known)

    def _add_subquery(self, apply: Apply, known: Known) -> None:
        if apply.row is None:
            raise UnboundError("a subquery asks nothing of the rows before it")
        for branch in apply.branches:
            self.add(branch, known)

    def _add_match(self, match: Match, known: Known) -> Known:
        """The required pattern and its parts. Returns what the rows behind it have."""
        graph = match.graph
        if self.found and not (match.bound and known.keys() >= set(match.bound)):
            raise UnboundError("a pattern has no node of one before it")
        if not all(isinstance(edge.relation, Types) for edge in graph.edges):
            raise UnboundError("a relationship is none of the graph's edges")
        places = {vertex.index: known[vertex.variable] for vertex in graph.vertices if vertex.variable in match.bound}
        first = len(self.found)
        for part in (None, *range(len(graph.parts))):
            self._add_part(graph, part, places, first)
        return {**known, **{vertex.variable: places[vertex.index] for vertex in graph.vertices}}

    def _add_part(self, graph: QueryGraph, part: int | None, places: dict[int, Place], first: int) -> None:
        """places: where vertices are; those of the part are added."""
        number = len(self.found)
        vertices, edges = _elements(graph, part)
        own = tuple(vertex for vertex in vertices if vertex not in places)
        places.update((vertex, (number, vertex)) for vertex in own)
        scopes = tuple(scope for scope in graph.scopes if scope.part == part)
        spoken_of = {end for edge in edges for end in (edge.source, edge.target)}.union(
            vertices, *(scope.vertices for scope in scopes)
        )
        under = {first, *(places[vertex][0] for vertex in spoken_of)} - {number}
        if part is not None and (within := graph.parts[part].within) is not None:
            under.add(first + 1 + within)
        needs = {number}.union(*(self.found[layer].needs for layer in under))
        there = {vertex: places[vertex] for vertex in sorted(spoken_of)}
        self.found.append(_Layer(graph, own, there, edges, scopes, tuple(sorted(needs))))

    def loose(self, number: int, types: tuple[str, ...]) -> Loose:
        """The pattern of a layer with all that it hangs on."""
        vertices: list[QueryVertex] = []
        edges: list[QueryEdge] = []
        scopes: list[Scope] = []
        at: dict[Place, int] = {}
        for needed in self.found[number].needs:
            layer = self.found[needed]
            for index in layer.own:
                at[needed, index] = len(vertices)
                vertices.append(_named_alone(layer.graph.vertices[index], len(vertices), (*vertices, *edges)))
            where = {index: at[place] for index, place in layer.places.items()}
            for index, place in where.items():
                tables = set(vertices[place].tables).intersection(layer.graph.vertices[index].tables)
                vertices[place] = replace(vertices[place], tables=tuple(sorted(tables)))
            begin = len(edges)
            for edge in layer.edges:
                named = _named_alone(edge, len(edges), (*vertices, *edges))
                edges.append(replace(named, source=where[edge.source], target=where[edge.target]))
            numbers = {edge.index: begin + place for place, edge in enumerate(layer.edges)}
            own = [
                replace(
                    scope,
                    vertices=tuple(where[vertex] for vertex in scope.vertices),
                    edges=tuple(numbers[edge] for edge in scope.edges),
                    part=None,
                )
                for scope in layer.scopes
            ]
            scopes += own
        graph = QueryGraph(tuple(vertices), tuple(edges), tuple(map(_without_absence, scopes)), (), ())
        unnamed = (pair for scope in own for pair in _unnamed(scope, edges)) if types else ()
        more = tuple(QueryEdge(len(edges), " any", *pair, Types(types), False, (), "()--()") for pair in unnamed)
        return Loose(graph, at, (*edges[begin:], *more))


def _elements(graph: QueryGraph, part: int | None) -> tuple[tuple[int, ...], tuple[QueryEdge, ...]]:
    """The vertices and edges of a part, or those that are required."""
    if part is not None:
        own = graph.parts[part]
        return own.vertices, tuple(graph.edges[edge] for edge in own.edges)
    vertices = {vertex for each in graph.parts for vertex in each.vertices}
    edges = {edge for each in graph.parts for edge in each.edges}
    return (
        tuple(vertex.index for vertex in graph.vertices if vertex.index not in vertices),
        tuple(edge for edge in graph.edges if edge.index not in edges),
    )


Element = TypeVar("Element", QueryVertex, QueryEdge)


def _named_alone(element: Element, index: int, others: Sequence[QueryVertex | QueryEdge]) -> Element:
    """The element at another index, under a name that no other has; then its predicates speak of nothing."""
    if all(other.variable != element.variable for other in others):
        return replace(element, index=index)
    return replace(element, index=index, variable=f" {len(others)} {element.variable}", predicates=())


def _without_absence(scope: Scope) -> Scope:
    return replace(scope, mode="different nodes") if scope.mode == "induced" else scope


def _unnamed(scope: Scope, edges: Sequence[QueryEdge]) -> Iterator[tuple[int, int]]:
    """The pairs of vertices between which an induced pattern has no edges but those that are there in both
    directions."""
    if scope.mode != "induced":
        return
    named = {(edge.source, edge.target) for edge in (edges[index] for index in scope.edges)}
    named |= {(edge.target, edge.source) for edge in (edges[index] for index in scope.edges) if not edge.directed}
    for pair in combinations_with_replacement(sorted(set(scope.vertices)), 2):
        if not named >= {pair, pair[::-1]}:
            yield pair


def _projected(project: Project, known: Known) -> Known:
    """What rows have behind a projection."""
    found: dict[str, Place] = {}
    for item in project.projection.items:
        shown = item.expression
        if isinstance(shown, Column) and shown.attribute is Attribute.ELEMENT and shown.variable in known:
            found[item.name] = known[shown.variable]
    return found
