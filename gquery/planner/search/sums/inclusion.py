"""Inclusion and exclusion: a test that would tie far vertices together is left out, and what it would have refused is
counted separately and taken away.

The matches with `a <> b` are all matches less those with `a = b`, which are the matches of a smaller query graph where
a and b are one vertex. Those without an edge are all less those with the edge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gquery.planner.ir.problem import Absence, Constraints, Pair, Problem
from gquery.planner.ir.query_graph import QueryEdge, QueryGraph, QueryVertex
from gquery.planner.ir.relations import Types
from gquery.planner.search.alike.asked import Asked, asked_of
from gquery.planner.search.sums.implied import spoken_of
from gquery.storage.invariants import Invariants


def exclusions(problem: Problem, invariants: Invariants) -> Iterator[tuple[Problem, ...]]:
    """For every two vertices whose tests can be left out, and every other such test: the problem without, and those
    whose matches would have been refused. All tests of two vertices go together: one that stays ties them all the
    same."""
    constraints = problem.constraints
    own = {vertex for part in problem.graph.parts for vertex in part.vertices}  # their tests are not linear
    absent = {(min(one, other), max(one, other)) for one, other, *_ in constraints.absent}
    for pair in sorted(absent | problem.different):
        if not own & set(pair):
            yield from _untied(problem, pair, invariants)
    for quad in constraints.different_pairs:
        groups = _groups(problem, quad[:2], quad[2:])
        if groups is not None and not own & set(quad):
            pairs = tuple(other for other in constraints.different_pairs if other != quad)
            left = replace(constraints, different_pairs=pairs)
            yield _less(replace(problem, constraints=left), [_merged(problem, left, groups)])


def _untied(problem: Problem, pair: Pair, invariants: Invariants) -> Iterator[tuple[Problem, ...]]:
    """The problem without any test between two vertices. First the absent edges: while there is one, the two cannot be
    merged."""
    different = pair in problem.different
    refused: list[Problem | None] = []
    for absence in problem.constraints.absent:
        if set(absence[:2]) == set(pair):
            absent = tuple(other for other in problem.constraints.absent if other != absence)
            left = replace(problem.constraints, absent=absent)
            refused.append(_joined(problem, left, absence, invariants))
            problem = replace(problem, constraints=left)
    if different:
        groups = _groups(problem, pair)
        if groups is None:
            return
        left = replace(problem.constraints, different=problem.constraints.different - {pair})
        refused.append(_merged(problem, left, groups))
        problem = replace(problem, constraints=left)
    yield _less(problem, refused)


def _less(problem: Problem, refused: list[Problem | None]) -> tuple[Problem, ...]:
    """The problem and what is taken away from it, as far as that has any matches."""
    return (problem, *(other for other in refused if other is not None))


def twins(problem: Problem, most: int, asked: Asked) -> Iterator[tuple[Problem, ...]]:
    """For every three or more vertices that look alike and only must differ from each other: at most so many problems
    without that test, where ever fewer of them are left. The falling factorial n (n - 1) .. (n - k + 1) of the number n
    of their candidates is a polynomial in n, with Stirling numbers of the first kind as coefficients. asked: by filters
    of the query's vertices; those of which not the same was asked have other candidates.
    """
    if most < 3:
        return
    constraints = problem.constraints
    for alike in _alike(problem, asked):
        if len(alike) > most:
            continue
        among = {pair for pair in constraints.different if set(pair) <= set(alike)}
        left = replace(constraints, different=constraints.different - among)
        numbers = _stirling(len(alike))
        ways = [replace(problem, constraints=left, coefficient=problem.coefficient * numbers[-1])]
        for kept in range(len(alike) - 1, 0, -1):
            groups = _groups(problem, *((alike[0], other) for other in alike[kept:]))
            merged = _merged(problem, left, groups) if groups is not None else None
            if merged is None:
                break
            ways.append(replace(merged, coefficient=problem.coefficient * numbers[kept]))
        else:
            yield tuple(ways)


def _alike(problem: Problem, asked: Asked) -> list[tuple[int, ...]]:
    """Sets of at least three vertices with the same candidates, the same edges and the same tests, which must be
    different vertices."""
    graph = problem.graph
    told = spoken_of(problem)
    incident = graph.incident()
    classes: dict[object, list[int]] = {}
    for vertex in graph.vertices:
        edges = incident[vertex.index]
        if vertex.index in told or vertex.predicates or any(edge.predicates for edge in edges):
            continue
        links = frozenset(
            (edge.other(vertex.index), edge.relation, edge.directed and edge.source == vertex.index, edge.directed)
            for edge in edges
        )
        kind = (vertex.tables, links, asked_of(problem.merged[vertex.index], asked))
        classes.setdefault(kind, []).append(vertex.index)
    found = [members for members in classes.values() if len(members) > 2]
    partners: list[set[int]] = [{vertex.index} for vertex in graph.vertices]
    for one, other in problem.different if found else ():
        partners[one].add(other)
        partners[other].add(one)
    different = (tuple(v for v in members if partners[v] == partners[members[0]]) for members in found)
    return [members for members in different if len(members) > 2]


def _stirling(size: int) -> list[int]:
    """Signed Stirling numbers of the first kind: the coefficients of x (x - 1) .. (x - size + 1), lowest first."""
    coefficients = [1]
    for root in range(size):
        shifted, scaled = [0, *coefficients], [-root * number for number in coefficients] + [0]
        coefficients = [high + low for high, low in zip(shifted, scaled, strict=True)]
    return coefficients


def _groups(problem: Problem, *pairs: Pair) -> tuple[tuple[int, ...], ...] | None:
    """The vertices when those of each pair become one, as groups. None when an edge, the absence of one or a comparison
    would be left within a group: it would speak of self-loops, or of one vertex."""
    leader = list(range(len(problem.graph.vertices)))
    for one, other in pairs:
        low, high = sorted((leader[one], leader[other]))
        leader = [low if vertex == high else vertex for vertex in leader]
    links = [(edge.source, edge.target) for edge in problem.graph.edges]
    links += [(one, other) for one, other, *_ in problem.constraints.absent]
    links += [(comparison.left, comparison.right) for comparison in problem.comparisons]
    if any(one != other and leader[one] == leader[other] for one, other in links):
        return None
    members: dict[int, list[int]] = {}
    for vertex, first in enumerate(leader):
        members.setdefault(first, []).append(vertex)
    return tuple(tuple(members[first]) for first in sorted(members))


def _merged(problem: Problem, constraints: Constraints, groups: tuple[tuple[int, ...], ...]) -> Problem | None:
    """The problem with the vertices of each group made one; None when that contradicts another test."""
    graph = problem.graph
    renumbered = {vertex: index for index, group in enumerate(groups) for vertex in group}
    vertices = tuple(_one_vertex(graph, index, group) for index, group in enumerate(groups))
    chosen = {choice.edge for choice in constraints.choices}
    edges: list[QueryEdge] = []
    origins: list[int | None] = []
    moved: dict[int, int] = {}
    part_of = {edge: number for number, part in enumerate(graph.parts) for edge in part.edges}
    home: list[int | None] = []  # the part of each edge
    for edge in graph.edges:
        ends = (renumbered[edge.source], renumbered[edge.target])
        turned = replace(edge, index=len(edges), source=ends[0], target=ends[1])
        alike = (other for other in edges if home[other.index] == part_of.get(edge.index))
        if edge.index not in chosen and any(_same_edge(turned, other) for other in alike):
            continue
        home.append(part_of.get(edge.index))
        moved[edge.index] = turned.index
        edges.append(turned)
        origins.append(problem.edges[edge.index])
    tests = constraints.renumbered(renumbered, moved)
    if tests is None:
        return None
    parts = tuple(
        replace(
            part,
            vertices=tuple(renumbered[vertex] for vertex in part.vertices),
            edges=tuple(moved[edge] for edge in part.edges if edge in moved),
        )
        for part in graph.parts
    )
    return Problem(
        replace(graph, vertices=vertices, edges=tuple(edges), parts=parts),
        tests,
        tuple(comparison.renumbered(renumbered) for comparison in problem.comparisons),
        tuple(tuple(sorted(origin for vertex in group for origin in problem.merged[vertex])) for group in groups),
        tuple(origins),
        -problem.coefficient,
    )


def _one_vertex(graph: QueryGraph, index: int, group: tuple[int, ...]) -> QueryVertex:
    first = graph.vertices[group[0]]
    if len(group) == 1:
        return replace(first, index=index)
    tables = set(first.tables).intersection(*(graph.vertices[vertex].tables for vertex in group))
    predicates = tuple(predicate for vertex in group for predicate in graph.vertices[vertex].predicates)
    described = " = ".join(graph.vertices[vertex].described for vertex in group)
    return QueryVertex(index, first.variable, tuple(sorted(tables)), predicates, described)


def _same_edge(one: QueryEdge, other: QueryEdge) -> bool:
    """Whether two edges without predicates of their own ask for the same data edges."""
    if (one.relation, one.directed, one.predicates, other.predicates) != (other.relation, other.directed, (), ()):
        return False
    ends, other_ends = (one.source, one.target), (other.source, other.target)
    return ends == other_ends or (not one.directed and ends == other_ends[::-1])


def _joined(problem: Problem, constraints: Constraints, absence: Absence, invariants: Invariants) -> Problem:
    """The problem with an edge where there must be none. Its ends are different vertices anyway if there are no
    self-loops."""
    graph = problem.graph
    one, other, direction, types = absence
    if not invariants.has_loop(types, set(graph.vertices[one].tables) & set(graph.vertices[other].tables)):
        pair = frozenset({(min(one, other), max(one, other))})
        constraints = replace(constraints, different=constraints.different - pair, apart=constraints.apart | pair)
    source, target = (other, one) if direction == "in" else (one, other)
    names = [graph.vertices[vertex].variable.strip() for vertex in (source, target)]
    described = f"({names[0]})-[:{'|'.join(types)}]-{'' if direction == 'both' else '>'}({names[1]})"
    variable = f" e{len(graph.edges)}"
    edge = QueryEdge(len(graph.edges), variable, source, target, Types(types), direction != "both", (), described)
    return replace(
        problem,
        graph=replace(graph, edges=(*graph.edges, edge)),
        constraints=constraints,
        edges=(*problem.edges, None),
        coefficient=-problem.coefficient,
    )
