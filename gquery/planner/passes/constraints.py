"""What a match mode demands of the elements of a clause, reduced to tests that matching can make.

Two query edges of one clause in `different edges` mode collide when one data edge could serve both. Where every vertex
pair has at most one fitting data edge, a collision is an equality of end vertices, tested while vertices are matched.
Where parallel edges exist, the data edges themselves are told apart at the end (`EdgeChoice`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

from gquery.planner.ir.problem import Absence, Constraints, Problem, ascending
from gquery.planner.ir.query_graph import QueryEdge, Scope
from gquery.planner.passes.draft import Draft
from gquery.planner.passes.named_values import compared_apart, differing
from gquery.planner.search.context import Context
from gquery.planner.search.sums.equal_edges import Equality, choices_of, coincidences, implies
from gquery.records import record
from gquery.stopping import Check
from gquery.storage.invariants import Invariants

Kind = tuple[tuple[str, ...], bool]  # types of a query edge, and whether it is directed


def constrain(draft: Draft, context: Context) -> Draft:
    """Constraints of every clause, besides those of WHERE: pairs of vertices that are different, or not neighbours."""
    graph, asked = draft.graph, draft.problem.constraints
    needed_edges = frozenset(edge.index for edge in graph.edges if edge.variable in draft.spoken_of)
    finder = _Finder(draft.problem, context.invariants, context.check)
    for scope in graph.scopes:
        finder.add(scope)
    told_apart = needed_edges | set(finder.collisions)
    told_apart |= {edge.index for edge in graph.edges if not finder.is_simple(edge) and not graph.is_existence(edge)}
    different = asked.different | finder.different
    constraints = Constraints(
        different,
        frozenset(finder.apart),
        tuple(q for q in finder.different_pairs if (q[0], q[1]) not in different and (q[2], q[3]) not in different),
        (*finder.absent, *asked.absent),
        tuple(finder.loopless),
        tuple(choices_of(graph, {edge: finder.collisions.get(edge, ()) for edge in told_apart}, needed_edges)),
    )
    return draft.with_problem(graph, constraints, draft.problem.comparisons)


@record(frozen=True, slots=True)
class _Rule:
    """When edges of two kinds may be one data edge. directed: both are. unique: no two data edges of either kind share
    their ends, so that equal ends mean the same data edge. loops: some data edge of both kinds is a self-loop."""

    directed: bool
    unique: bool
    loops: bool


class _Finder:
    """`may_equal[u][w]`: whether two query vertices can be one data vertex, as far as labels, edges, constants tell."""

    def __init__(self, problem: Problem, invariants: Invariants, check: Check) -> None:
        self.graph = problem.graph
        self.comparisons = problem.comparisons
        self.invariants = invariants
        self.check = check
        self.apart = set(self._apart())
        self.may_equal = self._equalities()
        self.different: set[Equality] = set()
        self.different_pairs: list[tuple[int, int, int, int]] = []
        self.absent: list[Absence] = []
        self.loopless: list[int] = []
        self.collisions: defaultdict[int, set[int]] = defaultdict(set)  # edge -> the edges that it may collide with

    def add(self, scope: Scope) -> None:
        if scope.mode in ("different nodes", "induced"):
            for one, others in _later(sorted(set(scope.vertices))):
                self.check()
                may_equal = self.may_equal[one]
                self.different.update((one, other) for other in others if may_equal[other])
        if scope.mode == "induced":
            self._forbid_other_edges(scope)
        if scope.mode == "different edges" and len(scope.edges) > 1:
            self._keep_edges_apart(scope)

    def is_simple(self, edge: QueryEdge) -> bool:
        """Whether no two data edges fit the query edge between the same vertices."""
        return edge.relation.is_simple(self.invariants, edge.direction(edge.source))

    def _equalities(self) -> list[bytearray]:
        tables = [vertex.tables for vertex in self.graph.vertices]
        distinct = {own: set(own) for own in tables}
        rows = {own: bytes([not each.isdisjoint(other) for other in tables]) for own, each in distinct.items()}
        found = [bytearray(rows[own]) for own in tables]
        for one, other in (*self.apart, *differing(self.graph.vertices), *self._compared_apart()):
            found[one][other] = found[other][one] = False
        return found

    def _compared_apart(self) -> Iterator[Equality]:
        """Pairs that are in every match, and have other values."""
        parted = {vertex for part in self.graph.parts for vertex in part.vertices}
        yield from (pair for pair in compared_apart(self.comparisons) if parted.isdisjoint(pair))

    def _apart(self) -> Iterator[Equality]:
        """Pairs of vertices with a query edge between them, whose data edges are never self-loops."""
        for edge in self.graph.edges:
            if edge.source != edge.target:
                source, target = self.graph.vertices[edge.source], self.graph.vertices[edge.target]
                if not edge.relation.may_loop(self.invariants, set(source.tables) & set(target.tables)):
                    yield ascending(edge.source, edge.target)

    def _keep_edges_apart(self, scope: Scope) -> None:
        edges = [self.graph.edges[index] for index in sorted(set(scope.edges))]
        kinds = [(edge.types, edge.directed) for edge in edges]
        rules = {(one, other): self._rule(one, other) for one in set(kinds) for other in set(kinds)}
        for place, one in enumerate(edges):
            self.check()
            ends = {one.source, one.target}
            for other, kind in zip(edges[place + 1 :], kinds[place + 1 :], strict=True):
                rule = rules[kinds[place], kind]
                if rule is None:
                    continue
                if len(ends) == 2 and other.source != other.target and ends.isdisjoint((other.source, other.target)):
                    self._keep_far_apart(one, other, rule)
                else:
                    self._keep_apart(one, other, rule)

    def _rule(self, one: Kind, other: Kind) -> _Rule | None:
        """None when no data edge is of both kinds."""
        common = set(one[0]) & set(other[0])
        if not common:
            return None
        directed = one[1] and other[1]
        unique = self.invariants.simple((*one[0], *other[0]), "out" if directed else "both")
        return _Rule(directed, unique, self.invariants.has_loop(common))

    def _keep_far_apart(self, one: QueryEdge, other: QueryEdge, rule: _Rule) -> None:
        """For edges without a common end: most pairs in a large pattern are such."""
        (source, target), (far_source, far_target) = (one.source, one.target), (other.source, other.target)
        to_source, to_target = self.may_equal[source], self.may_equal[target]
        along = to_source[far_source] and to_target[far_target]
        against = not rule.directed and to_source[far_target] and to_target[far_source]
        if not rule.unique:
            if along or against:
                self._collide(one, other)
            return
        if along:
            self.different_pairs.append((*ascending(source, far_source), *ascending(target, far_target)))
        if against:
            self.different_pairs.append((*ascending(source, far_target), *ascending(target, far_source)))

    def _collide(self, one: QueryEdge, other: QueryEdge) -> None:
        self.collisions[other.index].add(one.index)
        self.collisions[one.index].add(other.index)

    def _keep_apart(self, one: QueryEdge, other: QueryEdge, rule: _Rule) -> None:
        ways = [way for way in coincidences(one, other) if self._is_possible(way, one, other, rule.loops)]
        if not ways:
            return
        if not rule.unique or any(len(way) == 0 for way in ways):
            self._collide(one, other)
            return
        for way in ways:
            if len(way) == 1:
                self.different.add(way[0])
            else:
                self.different_pairs.append((*way[0], *way[1]))

    def _is_possible(self, way: tuple[Equality, ...], one: QueryEdge, other: QueryEdge, loops: bool) -> bool:
        equal = sorted({vertex for pair in way for vertex in pair})
        if any(not self.may_equal[low][high] and implies(way, low, high) for low, high in combinations(equal, 2)):
            return False
        return loops or not any(
            edge.source != edge.target and implies(way, edge.source, edge.target) for edge in (one, other)
        )

    def _forbid_other_edges(self, scope: Scope) -> None:
        covered: set[tuple[int, int]] = set()
        for index in scope.edges:
            edge = self.graph.edges[index]
            covered.add((edge.source, edge.target))
            if not edge.directed:
                covered.add((edge.target, edge.source))
        vertices = sorted(set(scope.vertices))
        types = tuple(sorted(self.invariants.types))
        self.loopless.extend(vertex for vertex in vertices if (vertex, vertex) not in covered)
        for one, others in _later(vertices):
            self.check()
            for other in others:
                out, back = (one, other) not in covered, (other, one) not in covered
                if out or back:
                    self.absent.append((one, other, "both" if out and back else "out" if out else "in", types))


def _later(vertices: list[int]) -> Iterator[tuple[int, list[int]]]:
    """Each with those behind it."""
    return ((vertex, vertices[place + 1 :]) for place, vertex in enumerate(vertices))
