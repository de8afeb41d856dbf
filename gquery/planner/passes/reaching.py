"""Predicates, and what edges lead to from where few vertices are left.

A vertex whose id or property is named, or that is bound, leaves few. What edges lead to from there is followed, as long
as it costs less than a scan: what has a predicate is asked only that, and matching has no more to look through. Through
vertices of small tables it leads on to those of large ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gquery.lasting.properties import cached_property
from gquery.planner.ir.expr import Attribute, Call, Column, Constant, Expression, Parameter
from gquery.planner.ir.filters import EdgePredicateFilter, EndsFilter, PredicateFilter, ReachedFilter, around
from gquery.planner.ir.match_plan import Cardinalities
from gquery.planner.ir.query_graph import QueryEdge, QueryVertex
from gquery.planner.ir.relations import End, Valued
from gquery.planner.passes.draft import Draft
from gquery.planner.search.cardinality import edges_between, estimate, kept_share
from gquery.planner.search.context import Context
from gquery.storage.statistics import Statistics

Narrowing = EndsFilter | ReachedFilter | PredicateFilter | EdgePredicateFilter

_EVERY = 2**62  # entries: more than any adjacency has


class Reaching:
    """The filters of one query graph. looked_up: the predicates by which candidates of a vertex were found."""

    def __init__(self, draft: Draft, looked_up: Mapping[int, Expression], context: Context) -> None:
        self._graph = draft.graph
        # What is listed after these filters have run cannot be followed.
        later = {edge.index for edge in draft.graph.edges if isinstance(edge.relation, End | Valued)}
        self._incident = [[edge for edge in own if edge.index not in later] for own in draft.graph.incident]
        self._listing = bool(draft.kept)  # a sum begins where it is looked up, and goes no further than that leads
        self._looked_up = looked_up
        self._context = context

    @cached_property
    def _known(self) -> Cardinalities:
        """Asked for where there are predicates or bindings alone."""
        return estimate(self._graph, self._context.statistics)

    def filters(self) -> Iterator[Narrowing]:
        """In the order in which they run: from the few on, then the predicates of all that is left, then of edges."""
        bindings = self._graph.bindings()
        bound = {edge.target for edge in bindings}
        named = {each.index for each in self._graph.vertices if any(map(names_values, each.predicates))}
        rare = self._few
        starts = sorted(bound | named | rare.keys(), key=self._size)
        ways = self._ways(starts, {edge.source for edge in bindings})
        for vertex in starts:
            if vertex in rare:
                yield rare[vertex]
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
        rows = {vertex: self._size(vertex) for vertex in done} | {way.vertex: way.rows for way in ways}
        for each in self._graph.edges:
            if each.predicates:
                near = min(rows.keys() & {each.source, each.target}, key=rows.__getitem__, default=None)
                most = 0 if near is None else self._most_edges(each)
                yield EdgePredicateFilter(each.index, each.predicates, near, most)

    @cached_property
    def _few(self) -> dict[int, EndsFilter]:
        """For vertices at edges that are known to be few the fewest of these, if there are many more vertices."""
        found: dict[int, EndsFilter] = {}
        for edge in self._graph.edges:
            if not self._context.statistics.few(edge.types):
                continue
            rows = self._entries(edge)
            for vertex in dict.fromkeys((edge.source, edge.target)):
                least = found[vertex].rows if vertex in found else self._elements(vertex) / 2
                if rows < least and self._graph.binds(edge.index, vertex):
                    found[vertex] = EndsFilter(vertex, edge.index, rows, around(self._graph, edge))
        return found

    def _size(self, vertex: int) -> float:
        size = self._known.vertices[vertex]
        return min(size, self._few[vertex].rows) if vertex in self._few else size

    def _predicates(self, vertex: int) -> Iterator[PredicateFilter]:
        """Those of a vertex that it was not looked up by."""
        by = self._looked_up.get(vertex)
        left = tuple(each for each in self._graph.vertices[vertex].predicates if each is not by)
        if left:
            yield PredicateFilter(vertex, left)

    def _ways(self, starts: list[int], seeds: set[int]) -> list[ReachedFilter]:
        """Where edges lead from the starts, to large tables and what is on the way there."""
        rows = {vertex: self._size(vertex) for vertex in starts}
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
            if vertex in found and (vertex in needed or self._is_wanted(vertex, found[vertex][1].edge)):
                needed |= {vertex, found[vertex][0]}
        return [found[vertex][1] for vertex in reached if vertex in found and vertex in needed]

    def _is_wanted(self, vertex: int, led_by: int) -> bool:
        """Whether it pays to follow an edge to a vertex for its own sake, or for that of the other edges at it."""
        others = (edge for edge in self._incident[vertex] if edge.predicates and edge.index != led_by)
        if any(self._pays(self._edges_of(edge)) for edge in others):
            return True
        return self._is_large(vertex) and (self._listing or bool(self._graph.vertices[vertex].predicates))

    def _most_edges(self, edge: QueryEdge) -> int:
        """How many data edges are asked for themselves in the time in which all are."""
        return int(self._edges_of(edge) * self._context.costs.filter_edge / self._context.costs.filter_reached)

    def _edges_of(self, edge: QueryEdge) -> int:
        """How many data edges the predicates of a query edge are asked of, where all are."""
        source, target = (self._graph.vertices[end].tables for end in (edge.source, edge.target))
        return self._context.statistics.edges_between(edge.types, source, target)

    def _entries(self, edge: QueryEdge) -> float:
        """How many data edges fit a query edge, those twice that fit both ways."""
        source, target = (self._graph.vertices[end].tables for end in (edge.source, edge.target))
        return edges_between(edge, source, target, self._context.statistics)

    def _is_large(self, vertex: int) -> bool:
        return self._pays(self._elements(vertex))

    def _most(self, vertex: int) -> int:
        """How many entries are followed to a vertex in the time in which its tables, or not quite small ones, are
        scanned."""
        costs = self._context.costs
        scanned = costs.filter_scan * self._elements(vertex)
        return int(min(max(scanned, costs.filters_weighed) / costs.filter_reached, _EVERY))

    def _elements(self, vertex: int) -> int:
        return self._context.statistics.vertex_count(self._graph.vertices[vertex].tables)

    def _pays(self, elements: int) -> bool:
        """Whether scanning so many elements takes long enough to look for a way around it."""
        return self._context.costs.filter_scan * elements > self._context.costs.filters_weighed


def names_values(predicate: Expression) -> bool:
    """Whether a predicate is `property = value` or `property IN values`."""
    match predicate:
        case Call(function="=" | "in", arguments=(Column(attribute=Attribute.PROPERTY | Attribute.ID), other)):
            return _is_known(other)
    return False


def named_by_value(predicate: Expression) -> Column | None:
    """The property that a predicate compares with one value, if it is `property = value`."""
    if names_values(predicate) and isinstance(predicate, Call) and predicate.function == "=":
        column = predicate.arguments[0]
        return column if isinstance(column, Column) else None
    return None


def is_named(vertex: QueryVertex, statistics: Statistics) -> bool:
    """Whether a predicate names a value that one vertex of each table has, as far as is known."""
    columns = filter(None, map(named_by_value, vertex.predicates))
    keys = [None if column.attribute is Attribute.ID else column.key for column in columns]
    return any(all(statistics.unique(table, key) for table in vertex.tables) for key in keys)


def _is_known(expression: Expression) -> bool:
    """Whether the value is told before anything is read."""
    match expression:
        case Constant() | Parameter():
            return True
        case Call(function="list" | "read" | "moment", arguments=arguments):
            return all(map(_is_known, arguments))
    return False
