"""Pairs of vertices that only others join: two ends that are listed, each with the number of ways between them.

Who asks for common neighbours, or for whom friends know, does not ask which neighbours and friends these are. Listed
with them, every way is a partial match of its own, and as many rows have to be found alike afterwards. Pushed from one
end to all others (`pushed.py`) a pair comes once.
"""

from __future__ import annotations

from gquery.planner.ir.problem import Problem, ascending
from gquery.planner.ir.query_graph import QueryEdge, QueryGraph
from gquery.planner.ir.relations import Composed, Types
from gquery.planner.search.sums.equal_edges import coincidences, implies
from gquery.planner.search.sums.inclusion import told_apart_by
from gquery.planner.search.sums.merging import groups_of, merge
from gquery.planner.search.sums.strategy import MOST_LEVELS, has_pushed_tests
from gquery.records import replace
from gquery.storage.invariants import Invariants


def cases_of(problem: Problem, ends: frozenset[int], invariants: Invariants) -> tuple[Problem, ...]:
    """Problems whose matches together are those of a problem of which the two ends are listed: the first can be pushed
    from either end to the other, the second is there where both may be one vertex and query edges may be one data edge
    then. Nothing where there are no such problems."""
    one, other = sorted(ends)
    chains = _chains(problem.graph, one, other)
    if chains is None or not _ties_no_two(problem, chains) or _is_one_way(problem.graph, ends, invariants):
        return ()
    if has_pushed_tests(problem, ends):
        return (problem,)
    constraints, pair = problem.constraints, ascending(one, other)
    collisions = {choice.edge: _collides(problem, choice.edge, choice.collides, one, other)
                  for choice in constraints.choices}  # fmt: skip
    apart = replace(problem, constraints=told_apart_by(problem, collisions, invariants))
    if not has_pushed_tests(apart, ends):
        return ()
    if pair in constraints.different | constraints.apart:
        return (apart,)
    groups = groups_of(problem, pair)
    if groups is None:
        return ()
    different = replace(apart.constraints, different=apart.constraints.different | {pair})
    equal = merge(problem, constraints, groups)
    both = () if equal is None else (replace(equal, coefficient=problem.coefficient),)
    return (replace(apart, constraints=different), *both)


def _chains(graph: QueryGraph, one: int, other: int) -> list[set[int]] | None:
    """The vertices of each way from the one end to the other; None unless the graph is made of such ways alone, none of
    which is a single edge."""
    plain = all(isinstance(edge.relation, Types | Composed) and edge.source != edge.target for edge in graph.edges)
    if graph.parts or not plain or len(graph.vertices) > MOST_LEVELS - len(graph.edges):
        return None
    incident, chains = graph.incident, list[set[int]]()
    for first in incident[one]:
        edge, vertex, chain = first, first.other(one), set[int]()
        while vertex != other:
            if len(incident[vertex]) != 2 or vertex in chain:
                return None
            chain.add(vertex)
            edge = next(each for each in incident[vertex] if each is not edge)
            vertex = edge.other(vertex)
        if not chain:
            return None
        chains.append(chain)
    vertices = {vertex.index for vertex in graph.vertices}
    return chains if vertices == {one, other}.union(*chains) and len(incident[other]) == len(chains) else None


def _is_one_way(graph: QueryGraph, ends: frozenset[int], invariants: Invariants) -> bool:
    """Whether there is at most one way between two data vertices: one of vertices each of which has one row before it
    with at most one neighbour."""
    incident = graph.incident
    for end in ends:
        vertex, edges = end, list(incident[end])
        while len(edges) == 1 and _bound(graph, edges[0], vertex, invariants) == 1:
            vertex = edges[0].other(vertex)
            if vertex in ends:
                return True
            edges = [each for each in incident[vertex] if each is not edges[0]]
    return False


def _bound(graph: QueryGraph, edge: QueryEdge, vertex: int, invariants: Invariants) -> int | None:
    """To how many vertices an edge leads at most from a match of a vertex."""
    return edge.relation.row_bound(invariants, edge.direction(vertex), graph.vertices[vertex].tables)


def _ties_no_two(problem: Problem, chains: list[set[int]]) -> bool:
    """Whether no test speaks of vertices of two chains."""
    return all(sum(not chain.isdisjoint(pair) for chain in chains) < 2 for pair in problem.constraints.different)


def _collides(problem: Problem, edge: int, others: tuple[int, ...], one: int, other: int) -> set[int]:
    """The query edges that an edge may be one data edge with although the two ends are different vertices."""
    edges = problem.graph.edges
    return {
        each
        for each in others
        if not all(implies(way, one, other) for way in coincidences(edges[edge], edges[each]))
    }  # fmt: skip
