"""Inclusion and exclusion: a test that would tie far vertices together is left out, and what it would have refused is
counted separately and taken away.

The matches with `a <> b` are all matches less those with `a = b`, which are the matches of a smaller query graph where
a and b are one vertex. Those without an edge are all less those with the edge, and those where two query edges are not
one data edge are all less those where they are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gquery.planner.ir.problem import Absence, Constraints, Pair, Problem
from gquery.planner.ir.query_graph import QueryEdge
from gquery.planner.ir.relations import Types, common
from gquery.planner.search.alike.asked import Asked, asked_of
from gquery.planner.search.sums.equal_edges import choices_of, coincidences
from gquery.planner.search.sums.implied import spoken_of
from gquery.planner.search.sums.merging import groups_of, merge
from gquery.records import replace
from gquery.storage.invariants import Invariants


def told_apart(problem: Problem) -> list[Pair]:
    """Every two vertices that are tested against each other, where these tests can be left out."""
    own = _of_parts(problem)
    absent = {(min(one, other), max(one, other)) for one, other, *_ in problem.constraints.absent}
    return [pair for pair in sorted(absent | problem.different) if not own & set(pair)]


def exclusions(problem: Problem, pairs: Iterable[Pair], invariants: Invariants) -> Iterator[tuple[Problem, ...]]:
    """For each of some pairs that are `told_apart`, and every other test that can be left out: the problem without, and
    those whose matches would have been refused. All tests of two vertices go together: one that stays ties them all the
    same."""
    for pair in pairs:
        yield from _untied(problem, pair, invariants)
    yield from _equal_edges(problem, invariants)


def _equal_edges(problem: Problem, invariants: Invariants) -> Iterator[tuple[Problem, ...]]:
    """The same for each test that two query edges are not one data edge."""
    constraints, own = problem.constraints, _of_parts(problem)
    for quad in constraints.different_pairs:
        groups = groups_of(problem, quad[:2], quad[2:])
        if groups is not None and not own & set(quad):
            others = tuple(other for other in constraints.different_pairs if other != quad)
            left = replace(constraints, different_pairs=others)
            yield _less(replace(problem, constraints=left), [merge(problem, left, groups)])
    for one, other in _collisions(problem):
        yield from _unlike(problem, one, other, invariants)


def told_by_ends(problem: Problem, most: int, invariants: Invariants) -> tuple[Problem, ...]:
    """The problem without all tests at once that two query edges are not one data edge, with at most so many problems;
    nothing where that takes more, or where there are no such tests. Left out one by one, the first of them would gain
    nothing: those that stay tie all vertices of their edges together."""
    pending = [problem]
    found: dict[object, Problem] = {}
    while pending:
        term = pending.pop()
        if way := next(_equal_edges(term, invariants), None):
            pending += reversed(way)  # what is left of the query itself comes first
        else:
            same = found.get(term.key)
            both = term.coefficient + (0 if same is None else same.coefficient)
            found[term.key] = replace(term, coefficient=both)
        if len(pending) + len(found) > most:
            return ()
    return () if problem.key in found else tuple(term for term in found.values() if term.coefficient)


def _of_parts(problem: Problem) -> set[int]:
    """The vertices of parts, whose tests are not linear."""
    return {vertex for part in problem.graph.parts for vertex in part.vertices}


def _collisions(problem: Problem) -> Iterator[Pair]:
    """The query edges that must not be one data edge, where that test may be left out."""
    own = _of_parts(problem)
    of_parts = {edge for part in problem.graph.parts for edge in part.edges}
    in_parts = {choice.vertices for choice in problem.constraints.choices if choice.edge in of_parts}
    for choice in problem.constraints.choices:
        if not (choice.listed or own & set(choice.vertices) or choice.vertices in in_parts):
            yield from ((choice.edge, other) for other in choice.collides if choice.edge < other)


def _unlike(problem: Problem, one: int, other: int, invariants: Invariants) -> Iterator[tuple[Problem, ...]]:
    """The problem without the test that two query edges are not one data edge, less the matches where they are.

    A match with its data edges is refused exactly when both are the same one; then the ends of both are equal in one of
    the ways of `coincidences`. In each they are vertices of a smaller query graph with one edge for the two, whose data
    edges are those that are of both kinds: every match that is refused is one match there, or one in each of two ways
    and in both at once, when the data edge is a self-loop. What may collide with either of the two may collide with
    that edge.
    """
    graph = problem.graph
    first, second = graph.edges[one], graph.edges[other]
    ways = coincidences(first, second)
    relation = common(first.relation, second.relation)
    if relation is None or first.predicates or second.predicates:
        return
    if any(edge.source == edge.target for edge in (first, second)):
        return
    every = [*ways, ways[0] + ways[1]] if len(ways) > 1 else ways
    groups = [groups_of(problem, *way) for way in every]
    if None in groups:
        return
    collisions = {choice.edge: set(choice.collides) for choice in problem.constraints.choices}
    collisions[one].discard(other)
    collisions[other].discard(one)
    left = replace(problem, constraints=told_apart_by(problem, collisions, invariants))
    for edge in collisions.pop(other):
        collisions[edge] = collisions[edge] - {other} | {one}
        collisions[one].add(edge)
    joined = replace(first if first.directed else second, index=one, relation=relation)
    edges = tuple(joined if edge.index == one else edge for edge in graph.edges)
    equal = replace(problem, graph=replace(graph, edges=edges))
    apart = told_apart_by(equal, collisions, invariants)
    refused = [merge(equal, apart, each, other) for each in groups if each is not None]
    if len(refused) > 2 and (both := refused[2]) is not None:  # taken away twice
        refused[2] = replace(both, coefficient=-both.coefficient)
    yield _less(left, refused)


def told_apart_by(problem: Problem, collisions: Mapping[int, set[int]], invariants: Invariants) -> Constraints:
    """The constraints with these collisions. Edges that collide with nothing need not be told apart where there is one
    at most."""
    edges = problem.graph.edges
    left = {
        edge: others
        for edge, others in collisions.items()
        if others or not edges[edge].relation.is_simple(invariants, edges[edge].direction(edges[edge].source))
    }
    return replace(problem.constraints, choices=tuple(choices_of(problem.graph, left)))


def without(problem: Problem, pairs: Sequence[Pair], most: int) -> tuple[Problem, ...]:
    """The problem without several tests that two vertices differ at once, with at most so many problems; nothing where
    that takes more. Every set of the tests gives the matches where its pairs are one vertex each, counted negatively if
    it is odd. Where the others of a set make a pair one already, sets with it and without it cancel each other.
    """
    terms = [less_tests(problem, pairs)]
    for pair in pairs:
        apart = []
        for term in terms:
            one, other = (_place(term, problem.merged[vertex]) for vertex in pair)
            if one == other:
                continue
            apart.append(term)
            groups = groups_of(term, (one, other))
            if groups is None:
                return ()
            equal = merge(term, term.constraints, groups)
            apart += [equal] if equal is not None else []
        terms = apart
        if len(terms) > most:
            return ()
    return tuple(terms)


def less_tests(problem: Problem, pairs: Iterable[Pair]) -> Problem:
    """The problem without the tests that the vertices of these pairs differ."""
    left = problem.constraints.different.difference(pairs)
    return replace(problem, constraints=replace(problem.constraints, different=left))


def _place(problem: Problem, group: tuple[int, ...]) -> int:
    """The vertex that stands for a group of the query's vertices."""
    return next(vertex for vertex, merged in enumerate(problem.merged) if set(group) <= set(merged))


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
        groups = groups_of(problem, pair)
        if groups is None:
            return
        left = replace(problem.constraints, different=problem.constraints.different - {pair})
        refused.append(merge(problem, left, groups))
        problem = replace(problem, constraints=left)
    yield _less(problem, refused)


def _less(problem: Problem, refused: list[Problem | None]) -> tuple[Problem, ...]:
    """The problem and what is taken away from it, as far as that has any matches."""
    return (problem, *(other for other in refused if other is not None))


def twins(problem: Problem, most: int, asked: Asked, listed: frozenset[int]) -> Iterator[tuple[Problem, ...]]:
    """For every three or more vertices that look alike and only must differ from each other: at most so many problems
    without that test, where ever fewer of them are left. The falling factorial n (n - 1) .. (n - k + 1) of the number n
    of their candidates is a polynomial in n, with Stirling numbers of the first kind as coefficients. asked: by filters
    of the query's vertices; those of which not the same was asked have other candidates. listed: vertices of which
    each match is counted by itself.
    """
    if most < 3:
        return
    constraints = problem.constraints
    for alike in _alike(problem, asked, listed):
        if len(alike) > most:
            continue
        among = {pair for pair in constraints.different if set(pair) <= set(alike)}
        left = replace(constraints, different=constraints.different - among)
        numbers = _stirling(len(alike))
        ways = [replace(problem, constraints=left, coefficient=problem.coefficient * numbers[-1])]
        for kept in range(len(alike) - 1, 0, -1):
            groups = groups_of(problem, *((alike[0], other) for other in alike[kept:]))
            merged = merge(problem, left, groups) if groups is not None else None
            if merged is None:
                break
            ways.append(replace(merged, coefficient=problem.coefficient * numbers[kept]))
        else:
            yield tuple(ways)


def _alike(problem: Problem, asked: Asked, listed: frozenset[int]) -> list[tuple[int, ...]]:
    """Sets of at least three vertices with the same candidates, the same edges and the same tests, which must be
    different vertices, and are not listed."""
    graph = problem.graph
    told = spoken_of(problem) | listed
    incident = graph.incident
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
