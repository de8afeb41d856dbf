"""What a match mode demands of the elements of a clause, reduced to tests that matching can make.

Two query edges of one clause in `different edges` mode collide when one data edge could serve both. Where every vertex
pair has at most one fitting data edge, a collision is an equality of end vertices, tested while vertices are matched.
Where parallel edges exist, the data edges themselves are told apart at the end (`EdgeChoice`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from gquery.planner.physical import Absence, Constraints, EdgeChoice
from gquery.planner.query_graph import IDENTITY, QueryEdge, QueryGraph, Scope
from gquery.storage.schema import Direction
from gquery.storage.statistics import Statistics

Equality = tuple[int, int]


def constraints_of(
    graph: QueryGraph,
    statistics: Statistics,
    needed_edges: frozenset[int],
    different: frozenset[tuple[int, int]],
    absent: tuple[Absence, ...],
) -> Constraints:
    """Constraints of every clause. `needed_edges`: edges whose data edges the answer asks for. `different`, `absent`:
    pairs of vertices that WHERE says are different, or not neighbours."""
    finder = _Finder(graph, statistics)
    for scope in graph.scopes:
        finder.add(scope)
    told_apart = needed_edges | set(finder.collisions) | {e for pair in finder.collisions.values() for e in pair}
    told_apart |= {edge.index for edge in graph.edges if not finder.is_simple(edge) and not graph.is_existence(edge)}
    different |= finder.different
    quads = (quad for quad in finder.different_pairs if not {_ascending(*quad[:2]), _ascending(*quad[2:])} & different)
    return Constraints(
        different,
        frozenset(finder.apart()),
        tuple(quads),
        (*finder.absent, *absent),
        tuple(finder.loopless),
        tuple(_choice(graph, edge, finder.collisions, needed_edges) for edge in sorted(told_apart)),
    )


def _choice(
    graph: QueryGraph, edge: int, collisions: Mapping[int, set[int]], needed_edges: frozenset[int]
) -> EdgeChoice:
    tied = {edge}
    while grown := {other for member in tied for other in collisions.get(member, ())} - tied:
        tied |= grown
    ends = {end for member in tied for end in (graph.edges[member].source, graph.edges[member].target)}
    return EdgeChoice(edge, tuple(sorted(collisions.get(edge, ()))), tuple(sorted(ends)), bool(tied & needed_edges))


def _ascending(one: int, other: int) -> Equality:
    return (min(one, other), max(one, other))


class _Finder:
    def __init__(self, graph: QueryGraph, statistics: Statistics) -> None:
        self.graph = graph
        self.statistics = statistics
        self.different: set[tuple[int, int]] = set()
        self.different_pairs: list[tuple[int, int, int, int]] = []
        self.absent: list[Absence] = []
        self.loopless: list[int] = []
        self.collisions: dict[int, set[int]] = {}  # edge -> the edges that it may collide with

    def add(self, scope: Scope) -> None:
        if scope.mode in ("different nodes", "induced"):
            for one, other in combinations(sorted(set(scope.vertices)), 2):
                if self._may_equal(one, other):
                    self.different.add((one, other))
        if scope.mode == "induced":
            self._forbid_other_edges(scope)
        if scope.mode == "different edges":
            for one, other in combinations(sorted(set(scope.edges)), 2):
                self._keep_apart(self.graph.edges[one], self.graph.edges[other])

    def is_simple(self, edge: QueryEdge) -> bool:
        """Whether no two data edges fit the query edge between the same vertices."""
        return self.statistics.simple(edge.types, "out" if edge.directed else "both")

    def _may_equal(self, one: int, other: int) -> bool:
        tables = self.graph.vertices[other].tables
        return any(table in tables for table in self.graph.vertices[one].tables) and not self._is_apart(one, other)

    def apart(self) -> Iterator[Equality]:
        """Pairs of vertices with a query edge between them, whose data edges are never self-loops."""
        pairs = {_ascending(edge.source, edge.target) for edge in self.graph.edges if edge.source != edge.target}
        return (pair for pair in pairs if self._is_apart(*pair))

    def _is_apart(self, one: int, other: int) -> bool:
        tables = set(self.graph.vertices[one].tables) & set(self.graph.vertices[other].tables)
        return any(
            {edge.source, edge.target} == {one, other} and not self.statistics.loops(edge.types, tables)
            for edge in self.graph.edges
            if edge.types != IDENTITY
        )

    def _keep_apart(self, one: QueryEdge, other: QueryEdge) -> None:
        common = set(one.types) & set(other.types)
        if not common:
            return
        ways = [way for way in _coincidences(one, other) if self._is_possible(way, one, other, common)]
        if not ways:
            return
        # Only when no two data edges of either kind share their ends do equal ends mean the same data edge.
        direction: Direction = "out" if one.directed and other.directed else "both"
        unique = self.statistics.simple((*one.types, *other.types), direction)
        if not unique or any(len(way) == 0 for way in ways):
            self.collisions.setdefault(other.index, set()).add(one.index)
            self.collisions.setdefault(one.index, set()).add(other.index)
            return
        for way in ways:
            if len(way) == 1:
                self.different.add(way[0])
            else:
                self.different_pairs.append((*way[0], *way[1]))

    def _is_possible(self, way: tuple[Equality, ...], one: QueryEdge, other: QueryEdge, common: Iterable[str]) -> bool:
        if not all(self._may_equal(*equality) for equality in way):
            return False
        needs_loop = any(_implies(way, edge.source, edge.target) for edge in (one, other))
        return not needs_loop or self.statistics.loops(tuple(common)) > 0

    def _forbid_other_edges(self, scope: Scope) -> None:
        covered: set[tuple[int, int]] = set()
        for index in scope.edges:
            edge = self.graph.edges[index]
            covered.add((edge.source, edge.target))
            if not edge.directed:
                covered.add((edge.target, edge.source))
        vertices = sorted(set(scope.vertices))
        self.loopless.extend(vertex for vertex in vertices if (vertex, vertex) not in covered)
        for one, other in combinations(vertices, 2):
            out, back = (one, other) not in covered, (other, one) not in covered
            if out or back:
                direction: Direction = "both" if out and back else "out" if out else "in"
                self.absent.append((one, other, direction, tuple(sorted(self.statistics.types))))


def _coincidences(one: QueryEdge, other: QueryEdge) -> Iterator[tuple[Equality, ...]]:
    """The ways in which both query edges can be one data edge, each as the equalities of vertices that it takes."""
    yield _equalities((one.source, other.source), (one.target, other.target))
    if not (one.directed and other.directed):
        yield _equalities((one.source, other.target), (one.target, other.source))


def _equalities(*pairs: Equality) -> tuple[Equality, ...]:
    return tuple(dict.fromkeys((min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]))


def _implies(way: tuple[Equality, ...], one: int, other: int) -> bool:
    """Whether the equalities make two different query vertices the same data vertex."""
    if one == other:
        return False
    reached = {one}
    for _ in way:
        reached |= {b for a, b in way if a in reached} | {a for a, b in way if b in reached}
    return other in reached
