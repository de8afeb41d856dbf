"""The matching orders of one problem that are worth weighing, each with the tree of what is summed out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from random import Random

from gquery.lasting.properties import cached_property
from gquery.planner.ir.match_plan import Cardinalities
from gquery.planner.ir.problem import Problem
from gquery.planner.search.alike.asked import Asked, asked_of
from gquery.planner.search.alike.symmetry import Breaking, Symmetry
from gquery.planner.search.cardinality import PrefixModel
from gquery.planner.search.context import Context
from gquery.planner.search.grouping import Region, regions_of
from gquery.planner.search.ordering import led_order, moved, pick_order, rooted_orders
from gquery.planner.search.sampling import Sampling
from gquery.planner.search.sums.factorise import EMPTY, Factoriser, Tree, folds_whole
from gquery.planner.search.sums.inside import Neighbourhoods
from gquery.planner.search.sums.pushed import Pushing
from gquery.planner.search.sums.strategy import adapts
from gquery.planner.search.sums.ties import ties_of
from gquery.records import record, replace
from gquery.stopping import Check

Above = Mapping[int, tuple[int, ...]]  # vertices that must be smaller


@record(frozen=True, slots=True)
class Solution:
    """A problem with its tree. `above`, `factor`: how its symmetry is broken, at the vertices `broken`; `permutations`:
    and how to get all back of what is listed, each as often as the factor says beyond that. tried: looks at neighbours
    after which another solution is looked for, 0 for never."""

    problem: Problem
    cardinalities: Cardinalities
    tree: Tree
    factor: int
    above: Mapping[int, tuple[int, ...]]
    permutations: tuple[tuple[int, ...], ...] = ()
    broken: tuple[int, ...] = ()
    tried: float = 0.0


class Structure:
    """What does not depend on cardinalities, each worked out when it is first asked for. kept: the vertices that are
    listed; required: those outside of all parts."""

    def __init__(self, problem: Problem, is_query: bool, kept: frozenset[int], asked: Asked, check: Check) -> None:
        self._problem = problem
        self._kept = kept
        self._symmetry: Symmetry | None = None
        self.asked = asked
        self._told_apart = None if is_query else [asked_of(group, asked) for group in problem.merged]
        check()
        self.ties = ties_of(problem, asked)
        check()
        graph = problem.graph
        self.required = tuple(vertex.index for vertex in graph.vertices if graph.part_of(vertex.index) is None)

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        return regions_of(self._problem.graph)

    def symmetry(self, check: Check) -> Symmetry:
        """check: of who asks; what is worked out for one query may stay for others."""
        if self._symmetry is None:
            self._symmetry = Symmetry(self._problem, check, self._told_apart, self._kept)
        return self._symmetry


class Orders:
    """The matching orders of one problem that are worth weighing, with their trees."""

    def __init__(
        self,
        problem: Problem,
        query: Problem,
        kept: frozenset[int],
        structure: Structure,
        cardinalities: Cardinalities,
        raw: bool,
        context: Context,
    ) -> None:
        """query: whose vertices walks know; kept: those that are listed; raw: whether neighbours are looked for in the
        raw adjacency."""
        self.problem = problem
        self.structure = structure
        self.cardinalities = cardinalities
        self.kept = kept
        self.folds_whole = folds_whole(problem, kept)
        self.costs = context.costs
        self.model = PrefixModel(problem.graph, cardinalities, context.statistics if raw else None, self.costs)
        self.factoriser = Factoriser(self.model, structure.ties, self.kept, problem.graph.parts, context.check)
        self.neighbourhoods = Neighbourhoods(problem, self.model, context.statistics) if raw else None
        self.pushing = Pushing(problem, self.model, structure.asked, kept) if raw and len(kept) < 3 else None
        self.check = context.check
        self.sampling = None
        if context.sampler is not None and not problem.graph.parts:
            self.sampling = Sampling(problem, query.graph, self.model.sizes, context.sampler, self.costs)

    @cached_property
    def _eliminated(self) -> tuple[int, ...]:
        return self.factoriser.eliminated()

    @cached_property
    def _symmetry(self) -> Symmetry:
        return self.structure.symmetry(self.check)

    @cached_property
    def _listed(self) -> tuple[int, ...]:
        """A good order of what is listed, or of all that is required."""
        vertices = sorted(self.kept) if self.kept else self.structure.required
        return pick_order(self.model, lambda: self.structure.regions, vertices, not self.kept, self.check)

    def easy(self) -> Solution | None:
        """The first order at hand, if what it takes is nothing beside looking for a better one: of many vertices with
        few candidates."""
        size = len(self.problem.graph.vertices)
        if size <= self.costs.effort.ordered or sum(self.model.sizes) > self.costs.worth_walking:
            return None
        tree = self._tree(self.factoriser, self.factoriser.extended(self._listed))
        return self._plain(tree) if tree.cost < self.costs.worth_walking else None

    def best(self) -> Solution:
        """The cheapest, with and without breaking symmetry: by estimates, and where those say that there is work to do,
        by walks."""
        trees = self.few()
        if math.isinf(self.costs.tried) and not self.kept and adapts(self.problem):
            return self._adaptive(self._plain(trees[0][0]))
        if self.sampling is not None and trees[0][0].cost >= self.costs.worth_walking:
            first = self.walked(self._plain(trees[0][0]))
            if self.costs.worth_improving < first.tree.cost < self.costs.dear:  # what is rare and heavy may be missed
                first = self.walked(first, 2 * self.costs.effort.walked)
            built = self.costs.build * sum(self.cardinalities.edges)  # other orders need other rows
            tries = self.costs.tried and not self.kept and adapts(self.problem)
            if tries and first.tree.cost >= max(built, self.costs.worth_trying):
                return self._adaptive(first)
            if first.tree.cost < max(built, self.costs.dear):
                return first
            return self._confirmed(self.walked(each) for each in self._weighed(trees))
        return min(self._weighed(trees), key=_dearness)

    def _adaptive(self, dear: Solution) -> Solution:
        """An order for each partial match, which begins like that of eliminating vertices. It is tried for a share of
        what a dear solution costs: mostly it takes far less, which nobody can tell before."""
        factoriser = self.factoriser.tied(self.structure.ties.all_tested())
        tree = factoriser.tree(factoriser.eliminated(), 0)._replace(cost=dear.tree.cost, strategy="adaptive")
        return replace(self._plain(tree), tried=self.costs.trial(dear.tree.cost))

    def led(self, lead: tuple[int, ...]) -> Solution:
        """The cheapest with an order that begins with some vertices: those that are listed, or required, of them."""
        vertices = sorted(self.kept) if self.kept else self.structure.required
        first = [vertex for vertex in lead if vertex in vertices]
        order = led_order(self.model, first, vertices, self.check) if first else self._listed
        order = (*order, *(vertex for vertex in self._eliminated if vertex not in order))
        plain = self._tree(self.factoriser, order)
        breakable = self._breakable and not plain.is_folded and not self._symmetry.is_trivial
        broken = self._broken([(plain, order)]) if breakable else ()
        return self.walked(min((self._plain(plain), *broken), key=_dearness))

    def like(self, solution: Solution) -> Solution:
        """The cheapest of few orders: of those at hand, and that of a problem that this was made from."""
        place = {
            member: place
            for place, vertex in enumerate(solution.tree.order)
            for member in solution.problem.merged[vertex]
        }
        merged = self.problem.merged
        order = tuple(sorted(range(len(merged)), key=lambda vertex: min(place[member] for member in merged[vertex])))
        trees = self.few()
        if trees[0][0].cost < self.costs.worth_walking:
            return self._plain(trees[0][0])
        first = self.walked(self._plain(trees[0][0]))
        if first.tree.cost < self.costs.dear:
            return first
        others = (tree for tree, _ in (*trees[1:], (self._tree(self.factoriser, order), order)))
        return min((first, *(self.walked(self._plain(tree)) for tree in others)), key=_dearness)

    def _confirmed(self, solutions: Iterable[Solution]) -> Solution:
        """The cheapest in a large sample. Of many small samples the cheapest is more likely to be lucky than good."""
        best: Solution | None = None
        for solution in sorted(solutions, key=_dearness):
            if best is not None and best.tree.cost <= solution.tree.cost:
                break
            sure = self.walked(solution, self.costs.effort.confirmed)
            best = sure if best is None else min(best, sure, key=_dearness)
        assert best is not None
        return best

    def walked(self, solution: Solution, width: int = 0) -> Solution:
        """The same solution, with what a walk sees; walks know nothing of sums that do not go one by one."""
        if self.sampling is None or solution.tree.strategy is not None:
            return solution
        order, above = solution.tree.order, solution.above
        levels = [(level.vertex, level.parent) for level in solution.tree.levels]
        seen = self.sampling.seen(levels, above, width or self.costs.effort.walked)
        factoriser = self.factoriser.tied(self.structure.ties.broken(above)) if above else self.factoriser
        return replace(solution, tree=factoriser.tree(order, len(self.kept), above, seen))

    def improved(self, solution: Solution) -> Solution:
        """The solution after changes of its order that walks approve of: as many are tried as its cost is worth. What
        looks better in a small sample has to in a larger one. Parts, which nobody walks through, stay behind what they
        hang on."""
        if self.sampling is None or solution.tree.strategy is not None:
            return solution
        effort, random = self.costs.effort, Random(0)
        rough, best = solution, self.walked(solution, effort.confirmed)
        worth = effort.invested * best.tree.cost / (self.costs.change * len(solution.tree.order))
        for _ in range(int(min(worth, effort.changes))):
            self.check()
            order = moved(best.tree.order, len(self.kept), self.model.near, random)
            changed = None
            if order is not None and solution.factor > 1:
                changed = self._with(order, self._breaking(order))
            elif order is not None:
                changed = self._plain(self.factoriser.tree(order, len(self.kept)))
            if changed is None or (changed := self.walked(changed)).tree.cost >= rough.tree.cost:
                continue
            confirmed = self.walked(changed, effort.confirmed)
            if confirmed.tree.cost < best.tree.cost:
                rough, best = changed, confirmed
        return best

    def _weighed(self, trees: list[tuple[Tree, tuple[int, ...]]]) -> Iterator[Solution]:
        """Solutions by estimates: the cheapest without breaking symmetry, all of them if walks are to tell, and those
        with symmetry broken."""
        worth = trees[0][0].cost > self.costs.worth_improving and not self.folds_whole
        trusted = self.sampling is not None or len(self.problem.graph.vertices) <= self.costs.effort.trusted
        if worth and trusted:
            orders = set(() if self.kept else (*self._rooted(), *self._alike_last()))
            if self.pushing and len(self.problem.graph.vertices) <= self.costs.effort.trusted:
                orders |= set(self.pushing.orders())
            known = {order for _, order in trees}
            trees += [(self._tree(self.factoriser, order), order) for order in sorted(orders - known)]
            trees.sort(key=_cost)
        yield from (self._plain(tree) for tree, _ in (trees if self.sampling else trees[:1]))
        if not self._breakable or trees[0][0].is_folded or self._symmetry.is_trivial:
            return
        least = trees[0][0].cost * self._symmetry.at_most
        yield from self._broken(each for each in trees if each[0].cost < least)

    @property
    def _breakable(self) -> bool:
        """Whether all matches of a class can be had from one: all but those whose edges are listed."""
        return not self.kept or not any(choice.listed for choice in self.problem.constraints.choices)

    def along(self, order: tuple[int, ...], vertices: tuple[int, ...]) -> Solution:
        """The solution of one order, with symmetry broken at the vertices where it can be."""
        found = self._with(order, self._breaking(order).at(vertices)) if vertices else None
        found = found or self._plain(self._tree(self.factoriser, order))
        return self.walked(found) if found.tree.cost >= self.costs.worth_walking else found

    def _plain(self, tree: Tree) -> Solution:
        return Solution(self.problem, self.cardinalities, tree, 1, EMPTY)

    def few(self) -> list[tuple[Tree, tuple[int, ...]]]:
        """The cheapest order by dynamic programming, and the one by eliminating vertices; the cheaper first. Where all
        can be folded, the order for that alone."""
        if self.folds_whole:
            order = self.factoriser.folded()
            return [(self.factoriser.tree(order, 0), order)]
        eliminated, listed = self._eliminated, self._listed
        first = set(listed)
        orders = {(*listed, *(vertex for vertex in eliminated if vertex not in first))}
        if not self.kept:
            orders.add(eliminated)
        if self.problem.graph.parts:
            orders.add(self.factoriser.extended(listed))
        if self.pushing and len(self.kept) == 2:
            orders |= set(self.pushing.orders())
        return sorted(((self._tree(self.factoriser, order), order) for order in sorted(orders)), key=_cost)

    def _tree(self, factoriser: Factoriser, order: tuple[int, ...], above: Above = EMPTY) -> Tree:
        """The tree of an order, by the cheapest strategy."""
        tree = factoriser.tree(order, len(self.kept), above)
        if self.neighbourhoods:
            tree = self.neighbourhoods.weighed(tree, len(self.kept), above)
        return self.pushing.weighed(tree, above) if self.pushing else tree

    def _rooted(self) -> Iterator[tuple[int, ...]]:
        """Orders from other first vertices."""
        required = self.structure.required
        last = tuple(vertex for vertex in self._eliminated if vertex not in required)
        roots = rooted_orders(self.model, required, self._symmetry.colours, self.check)
        yield from ((*order, *last) for order in roots)

    def _alike_last(self) -> Iterator[tuple[int, ...]]:
        """Orders that end with leaves of which one is looked at for all."""
        required, alike = self.structure.required, self.structure.ties.alike
        for leaves in sorted({mask | 1 << vertex for vertex, mask in enumerate(alike) if mask}):
            others = [vertex for vertex in required if not leaves >> vertex & 1]
            first = pick_order(self.model, lambda: self.structure.regions, others, False, self.check)
            done = set(first)
            yield (*first, *(vertex for vertex in self._eliminated if vertex not in done))

    def _broken(self, trees: Iterable[tuple[Tree, tuple[int, ...]]]) -> Iterator[Solution]:
        """Those of the orders along which it is enough to look for one of all symmetric matches, or of some of them: a
        candidate that must be larger than another is no longer certain to be one."""
        for tree, order in trees:
            breaking = self._breaking(order)
            sparing = breaking.sparing({each.vertex: each.constants for each in tree.levels})
            ways = [breaking] if len(sparing.orbits) == len(breaking.orbits) else [breaking, sparing]
            yield from (found for way in ways if (found := self._with(order, way)) is not None)

    def _breaking(self, order: tuple[int, ...]) -> Breaking:
        return self._symmetry.break_along(order, self.check)

    def _with(self, order: tuple[int, ...], breaking: Breaking) -> Solution | None:
        """The solution of one order with symmetry broken; None when there is none, or too much for a list."""
        factor, above = breaking.factor, breaking.above
        listed = breaking.at(self.kept)
        if factor == 1 or listed.factor > self.costs.effort.permutations:
            return None
        tree = self._tree(self.factoriser.tied(self.structure.ties.broken(above)), order, above)
        permutations = listed.permutations() if self.kept else ()
        return Solution(self.problem, self.cardinalities, tree, factor, above, permutations, breaking.vertices)


def _cost(weighed: tuple[Tree, tuple[int, ...]]) -> float:
    return weighed[0].cost


def _dearness(solution: Solution) -> float:
    return solution.tree.cost
