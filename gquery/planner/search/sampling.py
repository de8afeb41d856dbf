"""What walks through the candidate graph say of a problem's trees, in place of estimates.

Estimates multiply means, and where degrees are skewed or neighbours of neighbours are neighbours they are wrong by
factors of a thousand, all of them in the same direction for no two orders alike. A walk along the order with a sample
of some dozens of partial matches at each level is within a factor of two or three.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from gquery.planner.ir.problem import Problem
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.walks import Sampler, Walked, WalkLevel
from gquery.planner.search.cardinality import ENDLESS
from gquery.planner.search.costs import CostModel

Plain = Sequence[tuple[int, int]]
"""Levels as vertices of a problem, each with the level above."""


class Sampling:
    """Walks for one problem. What was seen of a set of vertices is remembered."""

    def __init__(self, problem: Problem, query: QueryGraph, sampler: Sampler, costs: CostModel) -> None:
        self.problem = problem
        self.sampler = sampler
        self.costs = costs
        self._joined = _partners(query, ((edge.source, edge.target) for edge in query.edges))
        self._near = _partners(problem.graph, ((edge.source, edge.target) for edge in problem.graph.edges))
        self._different = _partners(problem.graph, problem.different)
        self._numbers: dict[frozenset[int], float] = {}

    def seen(self, levels: Plain, above: Mapping[int, tuple[int, ...]], width: int) -> Seen:
        """What a walk down these levels sees."""
        return Seen(self, levels, self._walked(levels, above, width))

    def number(self, context: Collection[int]) -> float:
        """About how many different assignments the vertices of a context take: their matches without the others."""
        key = frozenset(context)
        if key not in self._numbers:
            self._numbers[key] = self._matches(key)
        return self._numbers[key]

    def _matches(self, vertices: frozenset[int]) -> float:
        left, found = set(vertices), 1.0
        while left:  # piece by piece
            order = [min(left)]
            left.remove(order[0])
            while near := [vertex for vertex in left if not self._near[vertex].isdisjoint(order)]:
                order.append(max(near, key=lambda vertex: (len(self._near[vertex].intersection(order)), -vertex)))
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
        return Walked([walked.rows[end] for end in ends], [walked.looks[end] for end in ends])


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

    def extension(self, level: int) -> tuple[float, float] | None:
        """The mean number of extensions to a level and of neighbours looked at for them; None where no walk came."""
        rows, parent = self.walked.rows, self.levels[level][1]
        if parent < 0 or rows[parent] <= 0:
            return None
        return rows[level] / rows[parent], self.walked.looks[level] / rows[parent]

    def sums(self, parent: int, context: Collection[int], visits: float) -> tuple[float, float]:
        """Of the sums of so many visits under a level: how many different ones there are, and how many are worked out
        while only so many can be remembered. They need to be remembered as long as the vertices stay that the context
        begins with."""
        path: list[int] = []
        while parent >= 0:
            path.append(parent)
            parent = self.levels[parent][1]
        if len(context) >= len(path):
            return visits, visits
        different = self.sampling.number(context)
        if different >= visits:
            return different, visits
        staying = 1.0
        for level in reversed(path):
            if self.levels[level][0] not in context:
                break
            staying = max(1.0, min(self.walked.rows[level], different))
        kept = min(1.0, self.sampling.costs.remembered * staying / different)
        return different, different + (visits - different) * (1 - kept)
