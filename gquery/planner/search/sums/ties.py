"""What ties the vertices of a problem together: edges and tests, as masks of vertices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

import numpy as np

from gquery.planner.ir.problem import Problem
from gquery.planner.search.alike.asked import Asked
from gquery.planner.search.sums.implied import alike_in, certainly_apart, implied_in
from gquery.records import record, replace

_ALL = ~0


@record(frozen=True, slots=True)
class Ties:
    """For each vertex the mask of the others that something speaks of together with it. near: an edge or a test;
    tested: more than an edge whose data edges all count; checked: a test that each candidate is looked at for. The last
    two are the mask of everything where such a test speaks of the vertex alone. implied: those that it must differ from
    and that are among its candidates anyway; alike: those that have the same candidates; different: all that it must
    differ from; apart: all that it does differ from. above: those that must be smaller, and all below them."""

    near: tuple[int, ...]
    tested: tuple[int, ...]
    checked: tuple[int, ...]
    implied: tuple[int, ...]
    alike: tuple[int, ...]
    different: tuple[int, ...]
    apart: tuple[int, ...]
    above: tuple[int, ...]

    def broken(self, above: Mapping[int, tuple[int, ...]]) -> Ties:
        """With vertices that must be smaller than others."""
        near, tested = list(self.near), list(self.tested)
        for masks in (near, tested):
            _add(masks, ((low, high) for high, lows in above.items() for low in lows))
        return replace(self, near=tuple(near), tested=tuple(tested), above=_closed(above, len(near)))

    def all_tested(self) -> Ties:
        """With no test that is passed over since its outcome is known."""
        nothing = (0,) * len(self.near)
        return replace(self, implied=nothing, alike=nothing)

    def constants(self, leaf: int, earlier: int) -> int:
        """Of the vertices matched before a leaf those that take exactly one of its candidates away each, whichever they
        are. They must be larger than all that the leaf has to be larger than, and differ from all others that it must
        differ from: else one candidate would be taken away twice."""
        found, others = self.implied[leaf] & earlier, self.different[leaf] & earlier
        left = found
        while left:
            vertex = left.bit_length() - 1
            left ^= 1 << vertex
            if others & ~(self.apart[vertex] | 1 << vertex) or self.above[leaf] & ~self.above[vertex]:
                found ^= 1 << vertex
        return found


def ties_of(problem: Problem, asked: Asked) -> Ties:
    """The ties of a problem; what filters ask of the query's vertices."""
    alone: set[int] = set()
    masks = _of_quads(problem.constraints.different_pairs, len(problem.graph.vertices))
    alone |= _add(masks, dict.fromkeys(problem.checks()))
    checked = _marked(masks, alone)
    alone |= _add(masks, problem.plain_tests())
    tested = _marked(masks, alone)
    _add(masks, ((edge.source, edge.target) for edge in problem.graph.edges))
    different = [0] * len(masks)
    _add(different, problem.different)
    nothing = (0,) * len(masks)
    implied = implied_in(problem, asked)
    apart = tuple(certainly_apart(problem)) if any(implied) else nothing
    return Ties(tuple(masks), tested, checked, implied, alike_in(problem, asked), tuple(different), apart, nothing)


def _closed(above: Mapping[int, tuple[int, ...]], size: int) -> tuple[int, ...]:
    """For each vertex the mask of all that are smaller, also by way of others."""
    masks = [0] * size
    pending = list(above)
    while pending:
        high = pending.pop()
        smaller = masks[high]
        for low in above[high]:
            smaller |= masks[low] | 1 << low
        if smaller != masks[high]:
            masks[high] = smaller
            pending += [other for other, lows in above.items() if high in lows]
    return tuple(masks)


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
