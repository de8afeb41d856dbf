"""Tests in terms of other vertices and edges: when vertices of a query graph become one, or go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gquery.planner.ir.problem import Comparison, Constraints

Pair = tuple[int, int]


def renumbered_constraints(
    constraints: Constraints, vertices: Mapping[int, int], edges: Mapping[int, int]
) -> Constraints | None:
    """Old numbers to new ones; several old vertices may become one. None when a test can never be passed then."""

    def pair_of(one: int, other: int) -> Pair:
        return (min(vertices[one], vertices[other]), max(vertices[one], vertices[other]))

    different = {pair_of(*pair) for pair in constraints.different}
    apart = {pair_of(*pair) for pair in constraints.apart}
    quads: list[tuple[int, int, int, int]] = []
    for a, b, c, d in constraints.different_pairs:
        first, second = pair_of(a, b), pair_of(c, d)
        if first[0] == first[1] and second[0] == second[1]:
            return None
        if first[0] == first[1]:
            different.add(second)
        elif second[0] == second[1]:
            different.add(first)
        else:
            quads.append((*first, *second))
    absent = ((vertices[one], vertices[other], direction, types) for one, other, direction, types in constraints.absent)
    if any(low == high for low, high in different | apart):
        return None
    implied = different | apart
    choices = tuple(
        replace(
            choice,
            edge=edges[choice.edge],
            collides=tuple(edges[other] for other in choice.collides),
            vertices=tuple(sorted({vertices[vertex] for vertex in choice.vertices})),
        )
        for choice in constraints.choices
    )
    return Constraints(
        frozenset(different - apart),
        frozenset(apart),
        tuple(dict.fromkeys(quad for quad in quads if not {quad[:2], quad[2:]} & implied)),
        tuple(dict.fromkeys(absent)),
        tuple(sorted({vertices[vertex] for vertex in constraints.loopless})),
        choices,
    )


def renumbered_comparisons(comparisons: tuple[Comparison, ...], vertices: Mapping[int, int]) -> tuple[Comparison, ...]:
    return tuple(replace(each, left=vertices[each.left], right=vertices[each.right]) for each in comparisons)
