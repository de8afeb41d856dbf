"""What walks through the candidate graph say of a problem's trees, in place of estimates.

Estimates multiply means, and where degrees are skewed or neighbours of neighbours are neighbours they are wrong by
factors of a thousand, all of them in the same direction for no two orders alike. A walk along the order with a sample
of some dozens of partial matches at each level is within a factor of two or three.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from gquery.lasting.properties import cached_property
from gquery.planner.ir.problem import Problem
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.walks import Sampler, Walked, WalkLevel
from gquery.planner.search.cardinality import ENDLESS
from gquery.planner.search.costs import CostModel

_FEW = 10  # visits for each assignment that are enough, however many there are

Plain = Sequence[tuple[int, int]]
"""Levels as vertices of a problem, each with the level above."""


class Sampling:
    """Walks for one problem. What was seen of a set of vertices is remembered."""

    def __init__(
        self, problem: Problem, query: QueryGraph, sizes: Sequence[float], sampler: Sampler, costs: CostModel
    ) -> None:
        """sizes: of the candidate sets of the problem's vertices."""
        self.problem = problem
        self.sizes = sizes
        self.sampler = sampler
        self.costs = costs
        self._query = query
        self._numbers: dict[frozenset[int], float] = {}

    @cached_property
    def _joined(self) -> list[set[int]]:
        return _partners(self._query, ((edge.source, edge.target) for edge in self._query.edges))

    @cached_property
    def _near(self) -> list[set[int]]:
        return _partners(self.problem.graph, ((edge.source, edge.target) for edge in self.problem.graph.edges))

    @cached_property
    def _different(self) -> list[set[int]]:
        return _partners(self.problem.graph, self.problem.different)

    def seen(self, levels: Plain, above: Mapping[int, tuple[int, ...]], width: int) -> Seen:
        """What a walk down these levels sees."""
        return Seen(self, levels, self._walked(levels, above, width))

    def number(self, context: Sequence[int], visits: float) -> float:
        """About how many different assignments the vertices of a context take, which come in so many visits: their
        matches without the others, or more where that is few enough. They are walked as they come where they can be,
        since that is what candidate edges are built for."""
        most = math.prod(self.sizes[vertex] for vertex in context)
        if most * _FEW < visits:
            return most
        key = frozenset(context)
        if key not in self._numbers:
            self._numbers[key] = self._matches(list(context))
        return self._numbers[key]

    def _matches(self, left: list[int]) -> float:
        found = 1.0
        while left:  # piece by piece
            order = [left.pop(0)]
            while near := [vertex for vertex in left if not self._near[vertex].isdisjoint(order)]:
                order.append(max(near, key=lambda vertex: len(self._near[vertex].intersection(order))))
                left.remove(order[-1])
            levels = [(vertex, level - 1) for level, vertex in enumerate(order)]
            found = min(ENDLESS, found * max(1.0, self._walked(levels, {}, self.costs.effort.walked).rows[-1]))
        return found

    def _walked(self, levels: Plain, above: Mapping[int, tuple[int, ...]], width: int) -> Walked:
        """A walk of the problem's vertices, each of them as often as vertices of the query are one there."""
        walk: list[WalkLevel] = []
        ends: list[int] = []  # by level of the problem the last of its own
        paths: list[dict[int, int]] = []  # by level of the problem, the levels of the vertices on the way there
        for vertex, parent in levels:
            path = paths[parent] if parent >= 0 else {}
            different = tuple(path[other] for other in self._different[vertex] if other in path)
            smaller = tuple(path[other] for other in above.get(vertex, ()) if other in path)
            first = len(walk)
            up = ends[parent] if parent >= 0 else -1
            members = self.problem.merged[vertex]
            if (again := self._again(vertex, path)) is not None:
                walk.append(WalkLevel(walk[again].vertex, up, again, (), ()))
                ends.append(first)
                paths.append({**path, vertex: first})
                continue
            if len(members) > 1:  # the one that is found by most rows comes first
                matched = {member for other in path for member in self.problem.merged[other]}
                members = tuple(sorted(members, key=lambda each: -len(self._joined[each] & matched)))
            for member in members:
                if len(walk) == first:
                    walk.append(WalkLevel(member, up, -1, different, smaller))
                else:
                    walk.append(WalkLevel(member, len(walk) - 1, first, (), ()))
            ends.append(len(walk) - 1)
            paths.append({**path, vertex: first})
        walked = self.sampler.walk(walk, width)
        # Beyond all floats no row has a mean number of extensions.
        rows, looks = ([min(each[end], ENDLESS) for end in ends] for each in (walked.rows, walked.looks))
        return Walked(rows, looks)

    def _again(self, vertex: int, path: Mapping[int, int]) -> int | None:
        """The level of what a vertex stands for once more, as the end of a self-loop (`sums/merging.py`): that is
        looked for where its beginning is matched, which may stand for more by now. None for other vertices. path: by
        vertex on the way its level."""
        merged = self.problem.merged
        own = set(merged[vertex])
        return next((path[other] for other in path if own.issubset(merged[other])), None) if len(own) > 1 else None


def _partners(graph: QueryGraph, pairs: Iterable[tuple[int, int]]) -> list[set[int]]:
    partners: list[set[int]] = [set() for _ in graph.vertices]
    for one, other in pairs:
        partners[one].add(other)
        partners[other].add(one)
    return partners


class Seen:
    """What one walk has seen of the levels of a tree."""

    def __init__(self, sampling: Sampling, levels: Plain, walked: Walked) -> None:
        self.sampling = sampling
        self.levels = levels
        self.walked = walked
        self._below = [looks + rows for looks, rows in zip(walked.looks, walked.rows, strict=True)]
        for level in range(len(levels) - 1, 0, -1):
            if levels[level][1] >= 0:
                self._below[levels[level][1]] += self._below[level]

    def extension(self, level: int) -> tuple[float, float] | None:
        """The mean number of extensions to a level and of neighbours looked at for them; None where no walk came."""
        rows, parent = self.walked.rows, self.levels[level][1]
        if parent < 0 or rows[parent] <= 0:
            return None
        return rows[level] / rows[parent], self.walked.looks[level] / rows[parent]

    def sums(self, level: int, context: Collection[int], visits: float) -> tuple[float, float]:
        """Of the sums of so many visits at a level: how many different ones there are, and how many are worked out
        while only so many can be remembered. They need to be remembered as long as the vertices stay that the context
        begins with. Where all of them together take less than finding out would, they are taken to be different."""
        if self._below[level] < self.sampling.costs.walk:
            return visits, visits
        path: list[int] = []
        parent = self.levels[level][1]
        while parent >= 0:
            path.append(parent)
            parent = self.levels[parent][1]
        if len(context) >= len(path):
            return visits, visits
        down = [self.levels[above][0] for above in reversed(path)]
        different = self.sampling.number([vertex for vertex in down if vertex in context], visits)
        if different >= visits:
            return different, visits
        staying = 1.0
        for above, vertex in zip(reversed(path), down, strict=True):
            if vertex not in context:
                break
            staying = max(1.0, min(self.walked.rows[above], different))
        kept = min(1.0, self.sampling.costs.remembered * staying / different)
        return different, different + (visits - different) * (1 - kept)
