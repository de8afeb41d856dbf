"""Counts a query's matches, or those of each match of one vertex, as a sum of problems, if that is cheaper than the
query itself.

Some of the problems are negative (inclusion and exclusion); which ways there are to make them, `sums/` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gquery.planner.ir.match_plan import Cardinalities, Space
from gquery.planner.ir.problem import Problem, ascending
from gquery.planner.ir.query_plan import QueryPlan
from gquery.planner.search.alike.asked import asked_by
from gquery.planner.search.alike.isomorphic import combined
from gquery.planner.search.cardinality import derived
from gquery.planner.search.context import Context
from gquery.planner.search.orders import Solution
from gquery.planner.search.solving import Solver
from gquery.planner.search.sums.compared import compared
from gquery.planner.search.sums.inclusion import exclusions, less_tests, told_apart, told_by_ends, twins, without
from gquery.planner.search.sums.some_edges import loop_free, numbered
from gquery.planner.search.sums.strategy import repeats_all
from gquery.records import replace


def cheapest_sum(
    plan: QueryPlan, cardinalities: Cardinalities, space: Space, lead: tuple[int, ...], context: Context
) -> tuple[Solution, ...]:
    """Solutions of problems whose matches, each times its coefficient, are those of the query: of one problem unless
    its matches are only counted. lead: the vertices that every order is told to begin with."""
    return _Sums(plan, cardinalities, space, lead, context).cheapest()


class _Sums:
    """The sums that a query may be counted as: of the query as it is, or of what its edges can be."""

    def __init__(
        self, plan: QueryPlan, cardinalities: Cardinalities, space: Space, lead: tuple[int, ...], context: Context
    ) -> None:
        self.plan = plan
        self.cardinalities = cardinalities
        self.space = space
        self.lead = lead
        self.context = context
        self.asked = asked_by(plan.filters, plan.graph, cardinalities.vain)
        self.is_sum = plan.counting or (plan.is_sum and plan.holds)
        self.free = self.is_sum and not lead

    def cheapest(self) -> tuple[Solution, ...]:
        problem, context = self.plan.problem, self.context
        if self.plan.cases:
            solver = self._solver(problem, self.cardinalities, context)
            return tuple(solver.best(case) for case in self.plan.cases)
        found = self._solved(problem, self.cardinalities, context)
        cost = sum(map(self._cost, found))
        if (other := compared(self.plan)) is not None:
            known = derived(other, self.plan.graph, self.cardinalities, context.statistics)
            instead = self._solved(other, known, context)
            if sum(map(self._cost, instead)) < cost:
                return instead
        if self.free and cost >= context.costs.worth_improving:
            found = self._by_number(problem, cost * context.costs.effort.gain) or found
        by_key = {solution.problem.key: solution for solution in found}
        problems = combined([solution.problem for solution in found], self.asked, self.plan.kept, context.check)
        return tuple(replace(by_key[each.key], problem=each) for each in problems)

    def _by_number(self, problem: Problem, most: float) -> tuple[Solution, ...]:
        """Solutions of the problems with numbered edges; nothing where they cost more than `most`."""
        context, effort, size = self.context, self.context.costs.effort, len(problem.graph.vertices)
        affordable = most * effort.numbered / context.costs.weighing(size)
        solver = self._solver(problem, self.cardinalities, context)
        most_problems = int(min(affordable, effort.most_problems))
        problems = list(numbered(problem, lambda: solver.turns(problem), most_problems, context.invariants))
        shared = context.steady().sharing(len(problems))
        found: list[Solution] = []
        for other in problems:
            known = derived(other, self.plan.graph, self.cardinalities, context.statistics)
            found += self._solved(other, known, shared)
            if sum(map(self._cost, found)) >= most:
                return ()
        return tuple(found)

    def _solved(self, problem: Problem, cardinalities: Cardinalities, context: Context) -> tuple[Solution, ...]:
        """The cheapest solutions of a problem whose matches are all matches of the query."""
        solver = self._solver(problem, cardinalities, context)
        if self.free and (free := loop_free(problem)) is not problem:
            new = {edge.relation: edge for edge in free.graph.edges if edge is not problem.graph.edges[edge.index]}
            built = sum(cardinalities.edges[edge.index] for edge in new.values())
            if self._cost(solver.best(problem)) > context.costs.select * built:
                solver = self._solver(free, cardinalities, solver.context)
        return _CountPlanner(self.is_sum, solver, context).cheapest(solver.query)

    def _cost(self, solution: Solution) -> float:
        """What a solution costs, with finding out how many data edges each of its matches has."""
        tree = solution.tree
        known = tree.is_folded or tree.strategy == "push" or repeats_all(solution.problem, tree.order)
        return tree.cost * (1.0 if known else self.context.costs.multiplied)

    def _solver(self, problem: Problem, cardinalities: Cardinalities, context: Context) -> Solver:
        return Solver(problem, self.plan.kept, cardinalities, self.space, context, self.asked, self.lead)


class _CountPlanner:
    """Counts a query's matches as a sum of problems, if that is cheaper than the query itself."""

    def __init__(self, counting: bool, solver: Solver, context: Context) -> None:
        self.counting = counting
        self.solver = solver
        self.costs = context.costs
        self.invariants = context.invariants
        self.walking = context.sampler is not None  # costs are true ones
        self._left = -1  # problems that may still be weighed, once the first is
        self._untied_problems = 0  # that leave out far tests together

    def cheapest(self, problem: Problem) -> tuple[Solution, ...]:
        """The problem itself, or a cheaper sum of others."""
        solution, effort = self.solver.best(problem), self.costs.effort
        if solution.tried:
            return (solution,)
        cheap = solution.tree.cost < self._worth_excluding(problem)
        if self.solver.lead or not self.counting or cheap or solution.tree.is_folded:
            return (self.solver.improved(problem),)
        least = solution.tree.cost * effort.gain
        chosen: Sequence[Problem] = ()
        for parts in self._ways(problem, self._kept_back(solution)):
            way = combined(parts, self.solver.asked, self.solver.kept, self.solver.context.check)
            cost = self._cost(way, solution, least)
            if cost < least:
                least, chosen = cost, way
            if cost < solution.tree.cost * effort.plenty:
                break
        found = tuple(found for other in chosen for found in self._closer(other, solution))
        if found and sum(each.tree.cost for each in found) < solution.tree.cost * effort.gain:
            return found
        return (self.solver.improved(problem),)

    def _worth_excluding(self, problem: Problem) -> float:
        """The cost from which on other problems are looked for. Estimates for many vertices are often far too low."""
        if self.walking:
            return self.costs.dear
        few = len(problem.graph.vertices) <= self.costs.effort.trusted
        return self.costs.worth_improving * (self.costs.worth_excluding if few else 1.0)

    def _closer(self, problem: Problem, solution: Solution) -> tuple[Solution, ...]:
        """A problem that was made from a solved one, looked at more closely if it is dear."""
        glanced = self.solver.glanced(problem, solution)
        if self.walking and glanced.tree.cost < self.costs.dear:
            return (self.solver.confirmed(problem, glanced),)
        return self.cheapest(problem)

    def _kept_back(self, solution: Solution) -> int:
        """How many of the problems that may still be weighed are not for this solution, which would not be worth that.
        The first one says how many there are."""
        effort, size = self.costs.effort, len(solution.problem.graph.vertices)
        worth = solution.tree.cost / self.costs.weighing(size)
        if self._left < 0:
            affordable = effort.weighed * worth if self.walking else max(worth, effort.least_problems)
            self._left = int(min(affordable, effort.most_problems, effort.problem_steps / size**3))
        return max(0, int(self._left - effort.weighed * worth)) if self.walking else 0

    def _cost(self, way: Sequence[Problem], solution: Solution, most: float) -> float:
        """What the problems of a way to solve another cost together; where it is more than `most`, maybe only part of
        it."""
        cost = 0.0
        for other in way:
            cost += self._glanced(other, solution).tree.cost
            if cost >= most:
                break
        return cost

    def _ways(self, problem: Problem, kept_back: int) -> Iterator[tuple[Problem, ...]]:
        """Every way to count the problem without the tests among vertices that look alike, without all at once that tie
        far vertices together, without all that tell data edges apart, and without one test; until only so many problems
        are left to be weighed."""
        yield from twins(problem, self._left - kept_back, self.solver.asked, problem.of(self.solver.kept))
        yield from self._untied(problem)
        if apart := told_by_ends(problem, self._left - kept_back, self.invariants):
            yield apart
        ways = exclusions(problem, self.solver.unlike(told_apart(problem), problem), self.invariants)
        while self._left > kept_back and (way := next(ways, None)) is not None:
            yield way

    def _untied(self, problem: Problem) -> Iterator[tuple[Problem, ...]]:
        """The problem without all tests at once that would make sums depend on far vertices: left out one by one, the
        first of them would often gain nothing. Those that stay speak of vertices that depend on each other anyway."""
        tree = self.solver.best(problem).tree
        of_parts = {vertex for part in problem.graph.parts for vertex in part.vertices}
        tests = {pair for pair in problem.different if not of_parts.intersection(pair)}
        tests -= {ascending(level.vertex, other) for level in tree.levels for other in level.constants}
        if len(tests) < 2:
            return
        free = self._glanced(less_tests(problem, tests), self.solver.best(problem)).tree
        effort, size = self.costs.effort, len(problem.graph.vertices)
        contexts = {level.vertex: level.context for level in free.levels}
        far = [pair for pair in sorted(tests) if pair[0] not in contexts[pair[1]] and pair[1] not in contexts[pair[0]]]
        worth = effort.gain * tree.cost / (free.cost + self.costs.weighing(size))
        most = int(min(worth, effort.most_problems, effort.untied_steps / size**3)) - self._untied_problems
        if len(far) > 1 and (way := without(problem, far, most)):
            self._untied_problems += len(way)
            self._left += len(way)  # these are weighed besides
            yield way

    def _glanced(self, problem: Problem, solution: Solution) -> Solution:
        """A solution of a problem that was made from another, to tell whether it is worth a closer look."""
        if self._left > 0 and not self.solver.knows(problem):
            self._left -= 1
        return self.solver.glanced(problem, solution)
