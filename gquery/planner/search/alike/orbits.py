"""Which edges and pairs of vertices of a query graph are alike: an automorphism takes one to the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gquery.planner.ir.problem import Pair, Problem
from gquery.planner.search.alike.symmetry import Symmetry
from gquery.stopping import Check

Turn = tuple[int, ...]
"""By vertex: another match has there what one has at the vertex that stands here."""


def edge_orbits(problem: Problem, check: Check) -> list[dict[int, Turn]]:
    """The edges in groups of those that are alike, and for each what makes of a match another one, which has at this
    edge what the match has at the first of its group. Each edge is a group of its own where several are between the
    same vertices, and where automorphisms are too hard to find."""
    graph = problem.graph
    places = {frozenset((edge.source, edge.target)): edge.index for edge in graph.edges}
    alone = tuple(range(len(graph.vertices)))
    symmetry = Symmetry(problem, check)
    if len(places) < len(graph.edges) or symmetry.is_trivial:
        return [{edge.index: alone} for edge in graph.edges]
    generators = turns(symmetry, check)
    found: list[dict[int, Turn]] = []
    for edge in graph.edges:
        if not any(edge.index in orbit for orbit in found):
            ends = frozenset((edge.source, edge.target))
            images = _images(ends, alone, generators)
            found.append({places[image]: _inverse(turn) for image, turn in images.items()})
    return found


def unlike(pairs: Iterable[Pair], symmetry: Symmetry, check: Check) -> Iterator[Pair]:
    """Of pairs that are alike the first."""
    generators = turns(symmetry, check)
    seen: set[frozenset[int]] = set()
    for pair in pairs:
        if frozenset(pair) in seen:
            continue
        yield pair
        if generators:
            seen.update(_images(frozenset(pair), tuple(range(symmetry.size)), generators))


def turns(symmetry: Symmetry, check: Check) -> list[Turn]:
    """Automorphisms that make all others."""
    if symmetry.is_trivial:
        return []
    return [tuple(each.get(vertex, vertex) for vertex in range(symmetry.size)) for each in symmetry.generators(check)]


def _images(ends: frozenset[int], alone: Turn, generators: Sequence[Turn]) -> dict[frozenset[int], Turn]:
    """Where automorphisms take the ends of an edge, each with one that does."""
    found = {ends: alone}
    pending = [ends]
    for here in pending:  # which grows meanwhile
        for generator in generators:
            image = frozenset(generator[vertex] for vertex in here)
            if image not in found:
                found[image] = tuple(generator[vertex] for vertex in found[here])
                pending.append(image)
    return found


def _inverse(turn: Turn) -> Turn:
    return tuple(sorted(range(len(turn)), key=turn.__getitem__))
