"""When two query edges are one data edge: which vertices are equal then, and which edges have to be told apart."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from gquery.planner.ir.problem import EdgeChoice
from gquery.planner.ir.query_graph import QueryEdge, QueryGraph

Equality = tuple[int, int]
Way = tuple[Equality, ...]


def coincidences(one: QueryEdge, other: QueryEdge) -> list[Way]:
    """The ways in which both query edges can be one data edge, each as the equalities of vertices that it takes; none
    that is only a case of another."""
    ways = [_equalities((one.source, other.source), (one.target, other.target))]
    if not (one.directed and other.directed):
        ways.append(_equalities((one.source, other.target), (one.target, other.source)))
    if len(ways) > 1:
        first, second = ways
        if all(implies(first, *equality) for equality in second):
            return [second]
        if all(implies(second, *equality) for equality in first):
            return [first]
    return ways


def implies(way: Way, one: int, other: int) -> bool:
    """Whether the equalities make two query vertices the same data vertex."""
    reached = {one}
    for _ in way:
        reached |= {b for a, b in way if a in reached} | {a for a, b in way if b in reached}
    return other in reached


def _equalities(*pairs: Equality) -> Way:
    return tuple(dict.fromkeys((min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]))


def choices_of(
    graph: QueryGraph, collisions: Mapping[int, Collection[int]], needed: Collection[int] = ()
) -> Iterator[EdgeChoice]:
    """The choices of the edges that are told apart. collisions: for each of them those that it may collide with;
    needed: the edges that are part of the answer."""
    known: dict[int, tuple[tuple[int, ...], bool]] = {}  # what edges have in common that may collide through others
    for edge, others in sorted(collisions.items()):
        if edge not in known:
            tied, pending = {edge}, [edge]
            while pending:
                found = set(collisions[pending.pop()]) - tied
                tied |= found
                pending.extend(found)
            ends = {end for member in tied for end in (graph.edges[member].source, graph.edges[member].target)}
            known.update(dict.fromkeys(tied, (tuple(sorted(ends)), bool(tied & set(needed)))))
        yield EdgeChoice(edge, tuple(sorted(others)), *known[edge])
