"""Solves one problem: of several matching orders, each with the tree of what is summed out, the cheapest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from gquery.planner.cardinality import PrefixModel, derived
from gquery.planner.factorise import EMPTY, Factoriser, Tree
from gquery.planner.grouping import Region, regions_of
from gquery.planner.ordering import pick_order, rooted_orders
from gquery.planner.physical import Cardinalities, Problem, Space
from gquery.planner.query_plan import QueryPlan
from gquery.planner.symmetry import Symmetry

TRUSTED = 7  # query vertices up to which estimates without a candidate graph are believed
WORTH = 50_000.0  # neighbours looked at, below which a plan is not worth improving


@dataclass(frozen=True, slots=True)
class Solution:
    """A problem with its tree. `above`, `factor`: how its symmetry is broken."""

    problem: Problem
    cardinalities: Cardinalities
    tree: Tree
    factor: int
    above: Mapping[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class _Shape:
    """What does not depend on cardinalities. required: the vertices outside of all parts."""

    ties: tuple[tuple[int, ...], ...]
    tests: tuple[tuple[int, ...], ...]
    checks: tuple[tuple[int, ...], ...]
    regions: tuple[Region, ...]
    symmetry: Symmetry
    required: tuple[int, ...]


def problem_key(problem: Problem) -> object:
    """What tells the problems of one query apart, but for their coefficients."""
    edges = tuple((edge.source, edge.target, edge.types, edge.directed) for edge in problem.graph.edges)
    return problem.merged, problem.edges, edges, problem.constraints


class Solver:
    """Solves problems of one query in one space; solutions are remembered with the plan."""

    def __init__(self, plan: QueryPlan, cardinalities: Cardinalities, space: Space) -> None:
        self.plan = plan
        self.cardinalities = cardinalities
        self.raw = space == "vertices"
        self._known: dict[object, Solution] = plan.solved.setdefault((space, cardinalities), {})

    def knows(self, problem: Problem) -> bool:
        return problem_key(problem) in self._known

    def best(self, problem: Problem) -> Solution:
        """The cheapest of several matching orders, with and without breaking symmetry."""
        key = problem_key(problem)
        if key not in self._known:
            self._known[key] = self._orders(problem).best()
        return replace(self._known[key], problem=problem)

    def rough(self, problem: Problem) -> Tree:
        """The tree of a good matching order, found in a fraction of the time."""
        return self._orders(problem).few()[0][0]

    def _orders(self, problem: Problem) -> _Orders:
        cardinalities = self.cardinalities
        if problem is not self.plan.problem:
            cardinalities = derived(problem, self.plan.graph, cardinalities, self.plan.statistics)
        return _Orders(problem, self._shape(problem), cardinalities, self.raw, self.plan.kept)

    def _shape(self, problem: Problem) -> _Shape:
        key = ("shape", problem_key(problem))
        if key not in self.plan.solved:
            graph = problem.graph
            self.plan.solved[key] = _Shape(
                tuple(problem.ties()),
                tuple(problem.tests()),
                tuple(problem.checks()),
                regions_of(graph),
                Symmetry(problem),
                tuple(vertex.index for vertex in graph.vertices if graph.part_of(vertex.index) is None),
            )
        shape: _Shape = self.plan.solved[key]
        return shape


class _Orders:
    """The matching orders of one problem that are worth weighing, with their trees."""

    def __init__(
        self, problem: Problem, shape: _Shape, cardinalities: Cardinalities, raw: bool, kept: frozenset[int]
    ) -> None:
        self.problem = problem
        self.shape = shape
        self.cardinalities = cardinalities
        self.kept = kept
        self.model = PrefixModel(problem.graph, cardinalities, raw)
        self.factoriser = Factoriser(self.model, shape.ties, shape.tests, shape.checks, kept, problem.graph.parts)

    @cached_property
    def _eliminated(self) -> tuple[int, ...]:
        return self.factoriser.eliminated()

    def best(self) -> Solution:
        """The cheapest, with and without breaking symmetry."""
        trees = self.few()
        if not self.kept and trees[0][0].cost > WORTH and len(self.problem.graph.vertices) <= TRUSTED:
            trees += self._rooted({order for _, order in trees})
            trees.sort(key=_cost)
        plain = Solution(self.problem, self.cardinalities, trees[0][0], 1, EMPTY)
        if self.kept or self.shape.symmetry.is_trivial:
            return plain
        promising = (order for tree, order in trees if tree.cost < plain.tree.cost * self.shape.symmetry.at_most)
        return min((plain, *self._broken(promising)), key=lambda solution: solution.tree.cost)

    def few(self) -> list[tuple[Tree, tuple[int, ...]]]:
        """The cheapest order by dynamic programming, and the one by eliminating vertices; the cheaper first."""
        eliminated = self._eliminated
        vertices = sorted(self.kept) if self.kept else self.shape.required
        listed = pick_order(self.model, self.shape.regions, vertices, counting=not self.kept)
        orders = {(*listed, *(vertex for vertex in eliminated if vertex not in listed))}
        if not self.kept:
            orders.add(eliminated)
        if self.problem.graph.parts:
            orders.add(self.factoriser.extended(listed))
        return sorted(((self.factoriser.tree(order, len(self.kept)), order) for order in sorted(orders)), key=_cost)

    def _rooted(self, known: set[tuple[int, ...]]) -> list[tuple[Tree, tuple[int, ...]]]:
        """Orders from other first vertices."""
        required = self.shape.required
        last = tuple(vertex for vertex in self._eliminated if vertex not in required)
        roots = rooted_orders(self.model, required, self.shape.symmetry.colours)
        rooted = {(*order, *last) for order in roots} - known
        return [(self.factoriser.tree(order, 0), order) for order in sorted(rooted)]

    def _broken(self, orders: Iterable[tuple[int, ...]]) -> Iterator[Solution]:
        """Those of the orders along which it is enough to look for one of all symmetric matches."""
        shape = self.shape
        for order in orders:
            factor, above = shape.symmetry.break_along(order)
            if factor > 1:
                smaller = [(low, high) for high, lows in above.items() for low in lows]
                tied, tested = (*shape.ties, *smaller), (*shape.tests, *smaller)
                parts = self.problem.graph.parts
                factoriser = Factoriser(self.model, tied, tested, shape.checks, frozenset(), parts)
                yield Solution(self.problem, self.cardinalities, factoriser.tree(order, 0, above), factor, above)


def _cost(weighed: tuple[Tree, tuple[int, ...]]) -> float:
    return weighed[0].cost
