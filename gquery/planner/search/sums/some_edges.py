"""Problems whose edges are some of the data edges alone.

Where the ends of an edge must be different vertices, it need not be among self-loops, and nobody has to test that they
differ.

The data edges between two vertices can be numbered. Every match has one number for each of its edges, so the matches
with the numbers of each combination are all matches together. In each of these problems an edge leads to a vertex once
at most, and edges with different numbers are never one data edge; those with one number are where their ends are the
same. So a problem over several edges between two vertices becomes some over one, which can be counted in better ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from gquery.planner.ir.problem import Constraints, Pair, Problem, ascending
from gquery.planner.ir.query_graph import QueryEdge
from gquery.planner.ir.relations import Types
from gquery.planner.search.alike.orbits import Turn
from gquery.planner.search.sums.equal_edges import coincidences
from gquery.records import replace
from gquery.storage.invariants import Invariants

_MOST_COMBINATIONS = 4096  # of numbers, that are gone through to find out which are alike
_ORDINALS = {1: "first", 2: "second", 3: "third"}

Numbers = tuple[int, ...]


def loop_free(problem: Problem) -> Problem:
    """The same problem, with no self-loops along edges between vertices that must be different; itself where there are
    no such edges."""
    constraints = problem.constraints
    of_parts = {edge for part in problem.graph.parts for edge in part.edges}
    listed = {choice.edge for choice in constraints.choices if choice.listed}
    free: dict[int, QueryEdge] = {}
    for edge in problem.graph.edges:
        needed = edge.predicates or edge.index in of_parts or edge.index in listed
        if _ends(edge) in constraints.different and isinstance(edge.relation, Types) and not needed:
            relation, described = edge.relation._replace(loops=False), f"{edge.described} but self-loops"
            free[edge.index] = replace(edge, relation=relation, described=described)
    if not free:
        return problem
    apart = frozenset(map(_ends, free.values()))
    edges = tuple(free.get(edge.index, edge) for edge in problem.graph.edges)
    left = replace(constraints, different=constraints.different - apart, apart=constraints.apart | apart)
    return replace(problem, graph=replace(problem.graph, edges=edges), constraints=left)


def numbered(
    problem: Problem, turns: Callable[[], Sequence[Turn]], most: int, invariants: Invariants
) -> Iterator[Problem]:
    """The problem as one for every combination of numbers of its edges, at most so many; nothing where that takes
    more, or where it cannot be told how many data edges there may be. turns: gives automorphisms of the problem that
    make all others: of combinations that these make of each other one is given for all."""
    ranges = _ranges(problem, invariants)
    if not ranges or prod(ranges.values()) > _MOST_COMBINATIONS:
        return
    alike = _orbits([range(1, last + 1) for last in ranges.values()], _moves(problem, list(ranges), turns()))
    if len(alike) > most:
        return
    for numbers, times in alike.items():
        chosen = dict(zip(ranges, numbers, strict=True))
        if (made := _with_numbers(problem, chosen, invariants)) is not None:
            yield replace(made, coefficient=problem.coefficient * times)


def _ranges(problem: Problem, invariants: Invariants) -> dict[int, int]:
    """For every edge whose data edges are told apart how many there are between two vertices at most. Nothing where
    that is not known, is one for all, or where numbers would not tell which edges may be one data edge."""
    edges, ranges = problem.graph.edges, dict[int, int]()
    for choice in problem.constraints.choices:
        edge = edges[choice.edge]
        kind = edge.relation, edge.directed
        told = choice.listed or edge.predicates or edge.source == edge.target or problem.graph.parts
        if told or not isinstance(edge.relation, Types) or not edge.relation.is_whole:
            return {}
        if any((edges[other].relation, edges[other].directed) != kind for other in choice.collides):
            return {}
        between = invariants.most_between(edge.types, edge.direction(edge.source))
        if between is None:
            return {}
        ranges[choice.edge] = between
    return ranges if max(ranges.values(), default=1) > 1 else {}


def _moves(problem: Problem, numbered_edges: list[int], turns: Sequence[Turn]) -> list[Numbers]:
    """What automorphisms do to combinations: for each of the numbered edges the place of that which it takes its number
    from. None where several edges are between the same vertices."""
    edges = [problem.graph.edges[edge] for edge in numbered_edges]
    places = {frozenset((edge.source, edge.target)): place for place, edge in enumerate(edges)}
    if len(places) < len(edges):
        return []
    images = ([places.get(frozenset((turn[edge.source], turn[edge.target]))) for edge in edges] for turn in turns)
    return [tuple(place for place in each if place is not None) for each in images if None not in each]


def _orbits(ranges: Sequence[range], moves: Sequence[Numbers]) -> dict[Numbers, int]:
    """One for all combinations that moves make of each other, with how many they are."""
    found: dict[Numbers, int] = {}
    seen: set[Numbers] = set()
    for numbers in product(*ranges):
        if numbers in seen:
            continue
        orbit = {numbers}
        pending = [numbers]
        for here in pending:  # which grows meanwhile
            for move in moves:
                image = tuple(here[place] for place in move)
                if image not in orbit:
                    orbit.add(image)
                    pending.append(image)
        seen |= orbit
        found[numbers] = len(orbit)
    return found


def _with_numbers(problem: Problem, numbers: Mapping[int, int], invariants: Invariants) -> Problem | None:
    """The matches that have these numbers; None when there cannot be any."""
    edges = list(problem.graph.edges)
    for index, number in numbers.items():
        edge = edges[index]
        described = f"the {_ORDINALS.get(number, f'{number}th')} of {edge.described}"
        edges[index] = replace(edge, relation=Types(edge.types, number), described=described)
    constraints = problem.constraints
    apart = set(constraints.apart)
    for index in numbers:
        edge = edges[index]
        shared = set(problem.graph.vertices[edge.source].tables) & set(problem.graph.vertices[edge.target].tables)
        if not edge.relation.may_loop(invariants, shared):
            apart.add(_ends(edge))
    same = [
        (edges[choice.edge], edges[other])
        for choice in constraints.choices
        for other in choice.collides
        if choice.edge < other and numbers[choice.edge] == numbers[other]
    ]
    tests = _told_apart(problem, same, apart)
    if tests is None:
        return None
    different, pairs = tests
    left = replace(
        constraints,
        different=(constraints.different | different) - apart,
        apart=frozenset(apart),
        different_pairs=tuple(dict.fromkeys((*constraints.different_pairs, *pairs))),
        choices=(),
    )
    return replace(problem, graph=replace(problem.graph, edges=tuple(edges)), constraints=_without_implied(left))


def _told_apart(
    problem: Problem, same: Iterable[tuple[QueryEdge, QueryEdge]], apart: set[Pair]
) -> tuple[set[Pair], list[tuple[int, int, int, int]]] | None:
    """The tests that tell edges apart of which no two lead from one vertex to another: their ends must not be the same.
    None when they always are."""
    different: set[Pair] = set()
    pairs: list[tuple[int, int, int, int]] = []
    tables = [set(vertex.tables) for vertex in problem.graph.vertices]
    for one, other in same:
        for way in coincidences(one, other):
            if not way:
                return None
            if any(equal in apart or tables[equal[0]].isdisjoint(tables[equal[1]]) for equal in way):
                continue
            if len(way) == 1:
                different.add(way[0])
            else:
                first, second = sorted(way)
                pairs.append((*first, *second))
    return different, pairs


def _without_implied(constraints: Constraints) -> Constraints:
    """Without tests of pairs of which one differs anyway."""
    known = constraints.different | constraints.apart
    left = tuple(quad for quad in constraints.different_pairs if not {quad[:2], quad[2:]} & known)
    return replace(constraints, different_pairs=left)


def _ends(edge: QueryEdge) -> Pair:
    return ascending(edge.source, edge.target)
