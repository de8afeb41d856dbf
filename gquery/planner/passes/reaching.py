"""Predicates, and what edges lead to from where few vertices are left.

A vertex whose id or property is named, or that is bound, leaves few. What edges lead to from there is followed, as long
as it costs less than a scan: what has a predicate is asked only that, and matching has no more to look through. Through
vertices of small tables it leads on to those of large ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from gquery.planner.ir.expr import Attribute, Call, Column, Constant, Expression, Parameter
from gquery.planner.ir.filters import PredicateFilter, ReachedFilter
from gquery.planner.ir.match_plan import Cardinalities
from gquery.planner.passes.draft import Draft
from gquery.planner.search.cardinality import estimate, kept_share
from gquery.planner.search.context import Context

Narrowing = ReachedFilter | PredicateFilter

_EVERY = 2**62  # entries: more than any adjacency has


class Reaching:
    """The filters of one query graph. looked_up: the predicates by which candidates of a vertex were found."""

    def __init__(self, draft: Draft, looked_up: Mapping[int, Expression], context: Context) -> None:
        self._graph = draft.graph
        self._incident = draft.graph.incident()
        self._listing = bool(draft.kept)  # a sum begins where it is looked up, and goes no further than that leads
        self._looked_up = looked_up
        self._context = context

    @cached_property
    def _known(self) -> Cardinalities:
        """Asked for where there are predicates or bindings alone."""
        return estimate(self._graph, self._context.statistics)

    def filters(self) -> Iterator[Narrowing]:
        """In the order in which they run: from the few on, then the predicates of all that is left."""
        bindings = self._graph.bindings()
        bound = {edge.target for edge in bindings}
        named = {each.index for each in self._graph.vertices if any(map(names_values, each.predicates))}
        starts = sorted(bound | named, key=self._size)
        ways = self._ways(starts, {edge.source for edge in bindings})
        for vertex in starts:
            yield from self._predicates(vertex)
        for way in ways:
            yield way
            yield from self._predicates(way.vertex)
        done = {*starts, *(way.vertex for way in ways)}
        rest = (each.index for each in self._graph.vertices if each.predicates and each.index not in done)
        for vertex in sorted(rest, key=self._size):
            edges = (edge for edge in self._incident[vertex] if edge.other(vertex) in done)
            edge = next((edge for edge in edges if self._graph.binds(edge.index, vertex)), None)
            if edge is not None and self._is_large(vertex):
                yield ReachedFilter(vertex, edge.index, self._most(vertex))
            yield from self._predicates(vertex)
            done.add(vertex)

    def _size(self, vertex: int) -> float:
        return self._known.vertices[vertex]

    def _predicates(self, vertex: int) -> Iterator[PredicateFilter]:
        """Those of a vertex that it was not looked up by."""
        by = self._looked_up.get(vertex)
        left = tuple(each for each in self._graph.vertices[vertex].predicates if each is not by)
        if left:
            yield PredicateFilter(vertex, left)

    def _ways(self, starts: list[int], seeds: set[int]) -> list[ReachedFilter]:
        """Where edges lead from the starts, to large tables and what is on the way there."""
        rows = {vertex: self._known.vertices[vertex] for vertex in starts}
        found: dict[int, tuple[int, ReachedFilter]] = {}
        reached = list(starts)
        for vertex in reached:  # which grows meanwhile
            for edge in self._incident[vertex]:
                other = edge.other(vertex)
                led = rows[vertex] * self._known.degrees[edge.index][edge.target == vertex]
                if other in rows or other in seeds or led > self._most(other):
                    continue
                if self._graph.binds(edge.index, other):
                    rows[other] = led * kept_share(self._graph.vertices[other].predicates, max(1.0, led))
                    reached.append(other)
                    found[other] = vertex, ReachedFilter(other, edge.index, self._most(other), rows[other])
        needed: set[int] = set()
        for vertex in reversed(reached):
            if vertex in found and (vertex in needed or self._is_wanted(vertex)):
                needed |= {vertex, found[vertex][0]}
        return [found[vertex][1] for vertex in reached if vertex in found and vertex in needed]

    def _is_wanted(self, vertex: int) -> bool:
        """Whether it pays to follow edges to a vertex for its own sake."""
        return self._is_large(vertex) and (self._listing or bool(self._graph.vertices[vertex].predicates))

    def _is_large(self, vertex: int) -> bool:
        return self._scanned(vertex) > self._context.costs.filters_weighed

    def _most(self, vertex: int) -> int:
        """How many entries are followed to a vertex in the time in which its tables, or not quite small ones, are
        scanned."""
        costs = self._context.costs
        return int(min(max(self._scanned(vertex), costs.filters_weighed) / costs.filter_reached, _EVERY))

    def _scanned(self, vertex: int) -> float:
        tables = self._graph.vertices[vertex].tables
        return self._context.costs.filter_scan * self._context.statistics.vertex_count(tables)


def names_values(predicate: Expression) -> bool:
    """Whether a predicate is `property = value` or `property IN values`."""
    match predicate:
        case Call(function="=" | "in", arguments=(Column(attribute=Attribute.PROPERTY | Attribute.ID), other)):
            return _is_known(other)
    return False


def _is_known(expression: Expression) -> bool:
    """Whether the value is told before anything is read."""
    match expression:
        case Constant() | Parameter():
            return True
        case Call(function="list" | "read" | "moment", arguments=arguments):
            return all(map(_is_known, arguments))
    return False
