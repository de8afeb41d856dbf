"""Solves one problem: of several matching orders, each with the tree of what is summed out, the cheapest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gquery.lasting.properties import cached_property
from gquery.planner.ir.hashed import Hashed
from gquery.planner.ir.match_plan import Cardinalities, Space
from gquery.planner.ir.problem import Pair, Problem
from gquery.planner.memo.shape import about
from gquery.planner.search.alike.asked import Asked
from gquery.planner.search.alike.orbits import Turn, turns, unlike
from gquery.planner.search.cardinality import derived
from gquery.planner.search.context import Context
from gquery.planner.search.orders import Orders, Solution, Structure
from gquery.planner.search.sums.factorise import Tree
from gquery.records import replace


def likeness(context: Context, query: Problem, kept: frozenset[int], known: Cardinalities) -> Hashed:
    """What a query has in common with others that differ in constants only."""
    return Hashed((context.memo.shape(query, kept), about(known)))


def given_up(context: Context, query: Problem, kept: frozenset[int], known: Cardinalities) -> Hashed:
    """What queries have in common for whose partial matches no orders are tried once one of them has taken too long."""
    return Hashed((likeness(context, query, kept, known), context.costs.tried))


class Solver:
    """Solves problems of one query in one space: the query's own and those that are made from it. kept: what the query
    lists. asked: by the filters, of its vertices; nothing for who solves the query alone. lead: the vertices that its
    order is told to begin with; then no other is looked for. Solutions are remembered with the plan."""

    def __init__(
        self,
        query: Problem,
        kept: frozenset[int],
        cardinalities: Cardinalities,
        space: Space,
        context: Context,
        asked: Asked = (),
        lead: tuple[int, ...] = (),
    ) -> None:
        self.query = query
        self.lead = lead
        self.kept = kept
        self.asked = asked
        self.memo = context.memo
        self.cardinalities = cardinalities
        self.raw = space == "vertices"
        tries = context.tries and len(self.memo.orders)
        if tries and self.memo.has_given_up(given_up(context, query, kept, cardinalities)):
            context = context.steady()
        self.context = context
        self._where = Hashed((space, cardinalities, context.sampler is None, context.costs.tried))

    @cached_property
    def _alike(self) -> Hashed:
        """What this has in common with queries whose orders are likely to be as good here."""
        like = likeness(self.context, self.query, self.kept, self.cardinalities)
        return Hashed((like, self.raw, self.context.sampler is not None, self.context.costs.tried))

    def knows(self, problem: Problem) -> bool:
        """Whether it is solved, or has been glanced at."""
        known = ((problem.key, self._where), (problem.key, self._where, "glanced"))
        return any(self.memo.solutions.find(key) is not None for key in known)

    def best(self, problem: Problem) -> Solution:
        """The cheapest of several matching orders, with and without breaking symmetry."""
        key = problem.key
        solution: Solution = self.memo.solutions.get((key, self._where), lambda: self._solved(problem, key))
        return solution if solution.problem is problem else replace(solution, problem=problem)

    def _solved(self, problem: Problem, key: object) -> Solution:
        orders = self._orders(problem)
        if self.lead:
            return orders.led(self.lead)
        if len(self.memo.orders) and (advice := self.memo.orders.find((self._alike, key))) is not None:
            return orders.along(*advice)  # no order at hand was good enough before
        if (easy := orders.easy()) is not None:
            return easy
        solution = orders.best()
        if not solution.tried:  # else the order is the first at hand
            self.memo.advise((self._alike, key), (solution.tree.order, solution.broken), problem)
        return solution

    def glanced(self, problem: Problem, solution: Solution) -> Solution:
        """A solution like that of another problem, if walks would have to tell of many orders which is better, or if
        finding the best one would take as long as the other problem's search."""
        key = problem.key
        much = self.context.sampler is None and solution.tree.cost >= self.context.costs.dear
        if much or self.memo.solutions.find((key, self._where)) is not None:
            return self.best(problem)
        known = (key, self._where, "glanced")
        found: Solution = self.memo.solutions.get(known, lambda: self._orders(problem).like(solution))
        return found if found.problem is problem else replace(found, problem=problem)

    def confirmed(self, problem: Problem, solution: Solution) -> Solution:
        """The solution with what a large sample says of it: of many small ones the cheapest is likely to be lucky."""
        if solution.tree.cost < self.context.costs.worth_confirming:
            return solution
        return self._orders(problem).walked(solution, self.context.costs.effort.confirmed)

    def improved(self, problem: Problem) -> Solution:
        """A solution that took some of the time to find that it takes to run: the best one, with its order changed
        here and there as long as that pays."""
        key = problem.key
        known = (key, self._where, "improved")
        solution: Solution = self.memo.solutions.get(known, lambda: self._changed(problem, key))
        return solution if solution.problem is problem else replace(solution, problem=problem)

    def _changed(self, problem: Problem, key: object) -> Solution:
        solution = self.best(problem)
        if self.lead or self.context.sampler is None or solution.tree.cost < self.context.costs.dear:
            return solution
        solution = self._orders(problem).improved(solution)
        self.memo.advise((self._alike, key), (solution.tree.order, solution.broken), problem)
        return solution

    def rough(self, problem: Problem) -> Tree:
        """The tree of a good matching order, found in a fraction of the time."""
        orders = self._orders(problem)
        return orders.led(self.lead).tree if self.lead else orders.few()[0][0]

    def unlike(self, pairs: Iterable[Pair], problem: Problem) -> Iterator[Pair]:
        """Of pairs of a problem's vertices one for all that are alike: what is made without their tests is, too."""
        yield from unlike(pairs, self._structure(problem).symmetry(self.context.check), self.context.check)

    def turns(self, problem: Problem) -> list[Turn]:
        """Automorphisms of a problem that make all others."""
        return turns(self._structure(problem).symmetry(self.context.check), self.context.check)

    def _orders(self, problem: Problem) -> Orders:
        cardinalities = self.cardinalities
        if problem is not self.query:
            cardinalities = derived(problem, self.query.graph, cardinalities, self.context.statistics)
        kept = problem.of(self.kept)
        return Orders(problem, self.query, kept, self._structure(problem), cardinalities, self.raw, self.context)

    def _structure(self, problem: Problem) -> Structure:
        own = problem is self.query
        structure: Structure = self.memo.structures.get(
            problem.key if own else (problem.key, self.cardinalities.vain),
            lambda: Structure(problem, own, problem.of(self.kept), self.asked, self.context.check),
        )
        return structure
