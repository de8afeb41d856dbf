"""Sums inside the neighbourhood of each root: where all that is matched below it are its neighbours.

The edges among the neighbours of one vertex are written as bitsets once, and every level below is an AND of a few
words. That takes a look at all that the neighbours have as neighbours, and pays where levels are intersections many
times over: cliques, wheels, and what is close to them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from gquery.planner.ir.problem import Problem
from gquery.planner.ir.relations import Types
from gquery.planner.search.cardinality import ENDLESS, PrefixModel
from gquery.planner.search.sums.factorise import Level, Tree
from gquery.storage.statistics import Statistics

_WORD = 64  # bits
_SKEWED = 1 / 3  # exponents: what is between even and skewed degrees, within 0.8 to 3 times on nine graphs
_HELD = 4  # vertices of which caches hold a number each, for one of which they hold a row


class Neighbourhoods:
    """What sums inside neighbourhoods cost for one problem."""

    def __init__(self, problem: Problem, model: PrefixModel, statistics: Statistics) -> None:
        self.problem = problem
        self.model = model
        self.statistics = statistics
        self.costs = model.costs
        self._plain = has_plain_tests(problem)
        self._free = has_free_order(problem)

    def weighed(self, tree: Tree, kept: int, above: Mapping[int, tuple[int, ...]]) -> Tree:
        """The tree, to be summed inside of neighbourhoods if that is cheaper."""
        root = tree.levels[0].vertex
        below = [level for level in tree.levels[1:] if not level.folded]
        near = self.model.near[root]
        if not self._plain or kept > 1 or len(below) < 2 or any(not near >> each.vertex & 1 for each in below):
            return tree
        cost = self._cost(tree, root, above)
        if not cost < tree.cost:
            return tree
        return Tree(tuple(level._replace(contexts=0.0) for level in tree.levels), cost, "inside")

    def _cost(self, tree: Tree, root: int, above: Mapping[int, tuple[int, ...]]) -> float:
        costs, model = self.costs, self.model
        upwards = all_larger(tree, above)
        row, wide = 0.0, self._wide(root, upwards and self._free)
        below = members = read = 0.0
        accepted = [model.sizes[root]]
        tallied = self._tallied(tree, above)
        for level in tree.levels[1:]:
            smaller = above.get(level.vertex, ())
            context = sum(1 << other for other in level.context)
            factor = 1.0 if level.folded else model.extension(level.vertex, context)[0] / (1 + len(smaller))
            visits = accepted[level.parent]
            accepted.append(min(ENDLESS, visits * factor))
            if not level.folded:
                near, looks, _ = model.extension(level.vertex, 1 << root)
                members, row = max(members, near), max(row, looks)
                rows = (model.near[level.vertex] & context).bit_count()
                read += 0.0 if level.like >= 0 else visits * (rows - 1)
                words = 1 + wide / _WORD
                if level.parent not in tallied:
                    below += visits * (costs.test if level.like >= 0 else costs.inside(rows, words))
                elif level.like < 0:
                    far = tree.levels[level.parent]
                    added = model.extension(level.vertex, context & ~(1 << far.vertex))[0] / (1 + len(smaller))
                    below += accepted[far.parent] * added * costs.inside(1, words)
                    below += min(visits, accepted[-1]) * costs.test
        if read <= model.sizes[root] * members:  # each row is read once: it need not be written before
            return math.inf
        searched = sum(not level.folded for level in tree.levels)
        share = 0.5 if upwards else 1.0
        numbering = costs.inside_enter + costs.inside_number * row * searched
        return model.sizes[root] * (numbering + share * self._look() * row * wide) + below

    def _tallied(self, tree: Tree, above: Mapping[int, tuple[int, ...]]) -> set[int]:
        """The levels whose leaf is counted for all candidates at once: `lowering/sums/tallied.py` says which."""
        below: dict[int, list[int]] = {}
        for number, level in enumerate(tree.levels[1:], 1):
            below.setdefault(level.parent, []).append(number)
        return {
            far
            for far, (first, *others) in below.items()
            if far and first not in below and all(tree.levels[other].like == first for other in others)
            if self._leads_through(tree.levels[first], tree.levels[far].vertex, tree.levels[0].vertex, above)
        }

    def _leads_through(self, leaf: Level, far: int, root: int, above: Mapping[int, tuple[int, ...]]) -> bool:
        """Whether a leaf leads from other neighbours of the root to the vertex above it, which has no other tie."""
        near, context = self.model.near, sum(1 << other for other in leaf.context)
        edges = [edge for edge in self.problem.graph.incident[far] if edge.other(far) == leaf.vertex]
        tied = near[leaf.vertex] & context & ~(1 << root | 1 << far)
        if not tied or near[far] & context & ~(1 << root) or leaf.folded or far in above.get(leaf.vertex, ()):
            return False
        return len(edges) == 1 and edges[0].direction(far) == "both" and isinstance(edges[0].relation, Types)

    def _look(self) -> float:
        """Finding out whether a vertex is among the neighbours: that stands in an array of all vertices."""
        tables = {table for vertex in self.problem.graph.vertices for table in vertex.tables}
        held = self.statistics.vertex_count(tables) <= _HELD * self.costs.cached
        return self.costs.inside_look if held else self.costs.inside_miss

    def _wide(self, root: int, ordered: bool) -> float:
        """The neighbours of a vertex that an edge leads to, on the mean, among those that are like the root. ordered:
        only those that have more neighbours than it."""
        tables = self.problem.graph.vertices[root].tables
        degrees = [
            self.statistics.degree(edge.types, edge.direction(root), tables)
            for edge in self.problem.graph.incident[root]
            if edge.relation.of_data_edges
        ]
        wide = (each.biased**_SKEWED * each.mean ** (1 - _SKEWED) if ordered else each.biased for each in degrees)
        return max(wide, default=0.0)


def all_larger(tree: Tree, above: Mapping[int, tuple[int, ...]]) -> bool:
    """Whether all that is searched below the root is matched to what is larger, be it by way of others."""
    larger = {tree.levels[0].vertex}
    for level in tree.levels[1:]:
        if not larger.isdisjoint(above.get(level.vertex, ())):
            larger.add(level.vertex)
        elif not level.folded:
            return False
    return True


def has_free_order(problem: Problem) -> bool:
    """Whether it does not matter for a count in which order vertices are: `executor/lowering/orders.py` says when a
    program is like this."""
    edges = problem.graph.edges
    told = any(edge.directed or edge.predicates or edge.relation != edges[0].relation for edge in edges)
    return bool(edges) and isinstance(edges[0].relation, Types) and not told


def has_plain_tests(problem: Problem) -> bool:
    """Whether nothing is asked of several vertices but edges that exist, and that two of them differ."""
    constraints, graph = problem.constraints, problem.graph
    told = constraints.absent or constraints.different_pairs or constraints.choices or problem.comparisons
    return not told and not graph.parts and all(edge.source != edge.target for edge in graph.edges)
