"""Collisions that the pattern implies.

A vertex that is summed out as a leaf must often differ from others that have all of its neighbours too: the other
leaves of a star, the opposite corner of a square. Such a vertex is certainly among the leaf's candidates once it is
matched, so that it takes away exactly one of them, whichever vertex it is: the sum over the leaf does not depend on it.
That is only said where it is certain, of candidate sets and filters too: no other test may speak of the leaf, and
filters may ask for no more neighbours than its edges lead to. In a problem made from the query two of these may have
become one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain, permutations

from gquery.planner.ir.problem import Problem
from gquery.planner.ir.query_graph import QueryEdge
from gquery.planner.ir.relations import Types
from gquery.planner.search.alike.asked import Asked, Demand, asked_of

Links = Mapping[int, QueryEdge]  # by neighbour

_MOST = 64  # query vertices: in larger patterns every pair of them would be looked at


def implied_in(problem: Problem, asked: Asked) -> tuple[int, ...]:
    """For each vertex the mask of those that it must differ from and that are among its candidates in every match.
    asked: by filters, of the query's vertices."""
    implied = [0] * len(problem.graph.vertices)
    if not problem.different or len(implied) > _MOST:
        return tuple(implied)
    links = _links(problem)
    both_ways = chain.from_iterable(((one, other), (other, one)) for one, other in problem.different)
    pairs = [(leaf, vertex) for leaf, vertex in both_ways if links[leaf].keys() <= links[vertex].keys()]
    plain = _plain(problem, links, certainly_apart(problem), asked) if pairs else ()
    for leaf, vertex in pairs:
        if plain[leaf] and _covers(problem, links, vertex, leaf):
            implied[leaf] |= 1 << vertex
    return tuple(implied)


def alike_in(problem: Problem, asked: Asked) -> tuple[int, ...]:
    """For each vertex the mask of those that have the same candidates, whatever their neighbours are matched to. asked:
    by filters, of the query's vertices."""
    graph = problem.graph
    alike = [0] * len(graph.vertices)
    together: dict[frozenset[int], list[int]] = {}
    for vertex, edges in enumerate(graph.incident if len(alike) <= _MOST else ()):
        together.setdefault(frozenset([edge.other(vertex) for edge in edges]), []).append(vertex)
    groups = [members for neighbours, members in together.items() if neighbours and len(members) > 1]
    if not groups:
        return tuple(alike)
    links = _links(problem)
    plain = _plain(problem, links, certainly_apart(problem), asked)
    for members in groups:
        for one, other in permutations([vertex for vertex in members if plain[vertex]], 2):
            if _covers(problem, links, one, other) and _covers(problem, links, other, one):
                alike[one] |= 1 << other
    return tuple(alike)


def certainly_apart(problem: Problem) -> list[int]:
    """For each vertex the mask of those that are other data vertices in every match."""
    masks = [0] * len(problem.graph.vertices)
    for one, other in problem.constraints.different | problem.constraints.apart:
        masks[one] |= 1 << other
        masks[other] |= 1 << one
    return masks


def _links(problem: Problem) -> list[Links]:
    """The edges of every vertex by neighbour; those with something else to them are left out, `_plain` looks at all."""
    of_parts = {edge for part in problem.graph.parts for edge in part.edges}
    found: list[dict[int, QueryEdge]] = [{} for _ in problem.graph.vertices]
    for edge in problem.graph.edges:
        if edge.relation.of_data_edges and edge.index not in of_parts and edge.source != edge.target:
            found[edge.source].setdefault(edge.target, edge)
            found[edge.target].setdefault(edge.source, edge)
    return list(found)


def _plain(problem: Problem, links: Sequence[Links], apart: Sequence[int], asked: Asked) -> list[bool]:
    """Of each vertex whether whatever has edges to the matches of its neighbours is a candidate. The neighbours must be
    different vertices: a filter may ask for as many."""
    told, graph = spoken_of(problem), problem.graph
    plain = []
    for vertex, edges in zip(graph.vertices, graph.incident, strict=True):
        own = links[vertex.index]
        together = sum(1 << neighbour for neighbour in own)
        plain.append(
            vertex.index not in told
            and not vertex.predicates
            and 0 < len(own) == len(edges)
            and not any(edge.predicates for edge in edges)
            and all(together & ~(1 << neighbour) & ~apart[neighbour] == 0 for neighbour in own)
            and _is_met(asked_of(problem.merged[vertex.index], asked), vertex.index, edges)
        )
    return plain


def _is_met(demands: Collection[Demand], vertex: int, edges: Sequence[QueryEdge]) -> bool:
    """Whether edges to different vertices are all that filters ask of a vertex."""
    return all(sum(demand.counts(edge, vertex) for edge in edges) >= demand.required for demand in demands)


def spoken_of(problem: Problem) -> set[int]:
    """The vertices that something speaks of besides edges, labels, predicates and that two of them differ."""
    told = {vertex for test in problem.checks() for vertex in test} | set(problem.constraints.loopless)
    told |= {vertex for quad in problem.constraints.different_pairs for vertex in quad}
    told |= {end for choice in problem.constraints.choices for end in choice.vertices}
    told |= {vertex for part in problem.graph.parts for vertex in part.vertices}
    return told


def _covers(problem: Problem, links: Sequence[Links], vertex: int, leaf: int) -> bool:
    """Whether a vertex has all edges of a leaf, and its labels."""
    vertices, own = problem.graph.vertices, links[vertex]
    if not set(vertices[vertex].tables) <= set(vertices[leaf].tables):
        return False
    if problem.graph.part_of(vertex) is not None:
        return False
    return all(near in own and _implies(own[near], edge, near) for near, edge in links[leaf].items())


def _implies(edge: QueryEdge, asked: QueryEdge, end: int) -> bool:
    """Whether the neighbours of `end` along an edge are among those along the other that is asked for."""
    if not (isinstance(edge.relation, Types) and isinstance(asked.relation, Types)):
        return False
    if not edge.relation.lies_in(asked.relation):
        return False
    return asked.direction(end) in ("both", edge.direction(end))
