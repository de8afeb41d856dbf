"""What ties the vertices of a problem together: edges and tests, as masks of vertices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np

from gquery.planner.ir.problem import Problem

_ALL = ~0


@dataclass(frozen=True, slots=True)
class Ties:
    """For each vertex the mask of the others that something speaks of together with it. near: an edge or a test;
    tested: more than an edge whose data edges all count; checked: a test that each candidate is looked at for. The last
    two are the mask of everything where such a test speaks of the vertex alone."""

    near: tuple[int, ...]
    tested: tuple[int, ...]
    checked: tuple[int, ...]

    def with_pairs(self, pairs: Iterable[tuple[int, int]]) -> Ties:
        """With more tests of two vertices."""
        near, tested = list(self.near), list(self.tested)
        for masks in (near, tested):
            _add(masks, pairs)
        return Ties(tuple(near), tuple(tested), self.checked)


def ties_of(problem: Problem) -> Ties:
    """The ties of a problem."""
    alone: set[int] = set()
    masks = _of_quads(problem.constraints.different_pairs, len(problem.graph.vertices))
    alone |= _add(masks, dict.fromkeys(problem.checks()))
    checked = _marked(masks, alone)
    alone |= _add(masks, problem.plain_tests())
    tested = _marked(masks, alone)
    _add(masks, ((edge.source, edge.target) for edge in problem.graph.edges))
    return Ties(tuple(masks), tested, checked)


def _marked(masks: list[int], alone: set[int]) -> tuple[int, ...]:
    return tuple(_ALL if vertex in alone else mask for vertex, mask in enumerate(masks))


def _add(masks: list[int], sets: Iterable[tuple[int, ...]]) -> set[int]:
    """Adds the partners in each set; returns those that are in a set alone."""
    alone = set()
    for members in sets:
        if len(members) == 2 and members[0] != members[1]:
            one, other = members
            masks[one] |= 1 << other
            masks[other] |= 1 << one
            continue
        together = 0
        for vertex in members:
            together |= 1 << vertex
        for vertex in members:
            others = together & ~(1 << vertex)
            masks[vertex] |= others
            if not others:
                alone.add(vertex)
    return alone


def _of_quads(quads: tuple[tuple[int, int, int, int], ...], size: int) -> list[int]:
    """Those that fours of vertices tie together: of large patterns there are tens of thousands."""
    if not quads:
        return [0] * size
    columns = np.fromiter(chain.from_iterable(quads), np.int32, 4 * len(quads)).reshape(-1, 4).T
    together = np.zeros((size, size), np.bool_)
    for one in range(4):
        for other in range(4):
            together[columns[one], columns[other]] = True
    np.fill_diagonal(together, False)
    rows = np.packbits(together, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in rows]
