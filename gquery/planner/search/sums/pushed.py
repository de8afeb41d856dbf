"""Pushed sums: what depends on the root and one more vertex is computed for all of those vertices at once.

Two vertices that are not neighbours have others between them: the far corner of a square, the two tips of a fan. Asking
for the sums of each such pair would be an intersection each, and most pairs have none. Instead everything between them
is matched from the root on, as chains that end at the far vertex, and each end adds to a counter of the vertex that it
leads to; what is not zero in the end are the sums. One row of a product of sparse matrices is computed like that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations

from gquery.lasting.properties import cached_property
from gquery.planner.ir.match_plan import chains_of
from gquery.planner.ir.problem import Problem
from gquery.planner.search.alike.asked import Asked
from gquery.planner.search.cardinality import ENDLESS, PrefixModel
from gquery.planner.search.sums.factorise import Level, Tree
from gquery.planner.search.sums.implied import alike_in
from gquery.planner.search.sums.strategy import MOST_LEVELS, has_pushed_tests, leads


class Pushing:
    """What pushed sums cost for one problem."""

    def __init__(self, problem: Problem, model: PrefixModel, asked: Asked, kept: frozenset[int]) -> None:
        """asked: by filters, of the query's vertices; kept: the vertices that are listed, the ends if they are two."""
        self.problem = problem
        self.kept = kept
        self.model = model
        self.costs = model.costs
        self._plain = has_pushed_tests(problem, kept if len(kept) == 2 else frozenset())
        self._asked = asked

    @cached_property
    def _alike(self) -> tuple[int, ...]:
        """For each vertex the mask of those that have the same candidates, each as often."""
        return alike_in(self.problem.without_choices(), self._asked)

    def orders(self) -> Iterator[tuple[int, ...]]:
        """Orders that begin with a root and a vertex that is not near it, with what holds them together behind, chain
        by chain: leaves come last, since they differ from all others. A tree has no two chains between two vertices,
        so that nothing is to be gained unless both are listed; and of what is listed the root is one."""
        near = self.model.near
        vertices: Iterable[int] = range(len(near)) if self._plain else ()
        if len(self.kept) == 2:
            vertices = self.kept if self._plain else ()
        elif sum(each.bit_count() for each in near) < 2 * len(near):
            return
        for root, far in permutations(vertices, 2):
            if self.kept and root not in self.kept:
                continue
            if near[root] >> far & 1 or not (near[root] & near[far] or len(self.kept) == 2):
                continue
            order, matched = [root, far], 1 << root
            left = sum(1 << vertex for vertex in range(len(near))) & ~(1 << root | 1 << far)
            while left:
                candidates = [vertex for vertex in range(len(near)) if left >> vertex & 1 and near[vertex] & matched]
                chained = [vertex for vertex in candidates if len(order) > 2 and near[vertex] >> order[-1] & 1]
                if not candidates:
                    break
                order.append(min(chained or candidates, key=lambda each: (-(near[each] & left).bit_count(), each)))
                left &= ~(1 << order[-1])
                matched |= 1 << order[-1]
            else:
                yield tuple(order)

    def weighed(self, tree: Tree, above: Mapping[int, tuple[int, ...]]) -> Tree:
        """The tree, with sums to be pushed if that is possible and cheaper."""
        if not self._plain or not self._fits(tree.levels, above):
            return tree
        cost, levels = self._cost(self._with_alike(tree.levels, above), above)
        return Tree(levels, cost, "push") if cost < tree.cost else tree

    def _fits(self, levels: tuple[Level, ...], above: Mapping[int, tuple[int, ...]]) -> bool:
        """Whether chains of neighbours lead from the first level to the second."""
        if (
            not 3 <= len(levels) <= MOST_LEVELS
            or levels[1].folded
            or self.model.near[levels[1].vertex] >> levels[0].vertex & 1
        ):
            return False
        far = levels[1].vertex
        if any(far in smaller for smaller in above.values()):
            return False
        chains = chains_of([(level.parent, level.folded) for level in levels])
        return chains is not None and all(
            (len(chain) == 1 or not levels[chain[-1]].constants)
            and leads(self.problem, levels[0].vertex, [levels[number].vertex for number in chain], far)
            for chain in chains
        )

    def _with_alike(self, levels: tuple[Level, ...], above: Mapping[int, tuple[int, ...]]) -> tuple[Level, ...]:
        """With chains of one vertex that are alike, where several data edges fit their edges: then they come to the
        far vertex as often, which leaves without sums pushed would not tell."""
        if not self.problem.constraints.choices:
            return levels
        new = list(levels)
        alone = [
            chain[0] for chain in chains_of([(each.parent, each.folded) for each in levels]) or () if len(chain) == 1
        ]
        tested = {vertex for pair in self.problem.different for vertex in pair}
        plain = [number for number in alone if levels[number].vertex not in tested]
        for place, number in enumerate(plain):
            vertex = levels[number].vertex
            alike = (
                first
                for first in plain[:place]
                if self._alike[vertex] >> levels[first].vertex & 1 and new[first].like < 0
                if set(above.get(vertex, ())) == set(above.get(levels[first].vertex, ()))
            )
            new[number] = new[number]._replace(like=next(alike, new[number].like))
        return tuple(new)

    def _cost(self, levels: tuple[Level, ...], above: Mapping[int, tuple[int, ...]]) -> tuple[float, tuple[Level, ...]]:
        costs, model = self.costs, self.model
        root, far = levels[0].vertex, levels[1].vertex
        cost, reached = costs.enter * model.sizes[root], 0.0
        new = [level._replace(contexts=0.0) for level in levels]
        for chain in chains_of([(level.parent, level.folded) for level in levels]) or ():
            if levels[chain[-1]].like >= 0:
                continue
            visits, matched, ends = model.sizes[root], 1 << root, 0
            for number in chain:
                vertex = levels[number].vertex
                factor, looks, _ = model.extension(vertex, matched)
                thinned = 1 + len(above.get(vertex, ()))
                cost += visits * (costs.enter + (looks + factor) / thinned)
                visits = min(ENDLESS, visits * factor / thinned)
                new[number] = new[number]._replace(rows=max(1.0, visits))
                matched |= 1 << vertex
                ends |= model.near[far] & 1 << vertex
            factor, looks, rows = model.extension(far, ends)
            thinned = 1 + len(above.get(far, ()))
            pushed = visits * factor / thinned
            cost += visits * (costs.enter + (0.0 if rows == 1 else looks / thinned)) + pushed * costs.push
            reached = max(reached, pushed)
        new[1] = new[1]._replace(rows=max(1.0, min(ENDLESS, reached)))
        return costs.skew * cost, tuple(new)
