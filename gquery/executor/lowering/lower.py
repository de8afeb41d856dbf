"""From a match plan, which speaks of query vertices, to a program, which speaks of levels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gquery.executor.lowering.program import Choice, Compare, Level, Program, Rows
from gquery.planner.ir.match_plan import ExtendStep, MatchPlan
from gquery.planner.ir.problem import EdgeChoice
from gquery.planner.ir.relations import Types
from gquery.stopping import Check
from gquery.storage.schema import Direction


def lower(plan: MatchPlan, check: Check) -> Program:
    """The program of a plan."""
    lowering = _Lowering(plan, check)
    counted = [choice for choice in plan.choices if not (choice.listed or choice.edge in plan.repeated)]
    known_at = {choice.edge: lowering.known_at(choice) for choice in counted}
    summed = sorted(counted, key=lambda each: known_at[each.edge])
    weights: list[list[int]] = [[] for _ in plan.steps]
    for index, choice in enumerate(summed):
        weights[known_at[choice.edge]].append(index)
    return Program(
        plan.space,
        tuple(map(lowering.level, plan.steps, weights)),
        plan.kept,
        plan.strategy,
        lowering.choices(summed),
        lowering.choices([choice for choice in plan.choices if choice.listed]),
        plan.limit,
        plan.cost,
        plan.tried,
    )


class _Lowering:
    def __init__(self, plan: MatchPlan, check: Check) -> None:
        self.plan = plan
        self.check = check
        self.level_of = {step.vertex: level for level, step in enumerate(plan.steps)}

    def level(self, step: ExtendStep, weights: list[int]) -> Level:
        self.check()
        problem, at = self.plan.problem, self._levels
        vertex, edges = problem.graph.vertices[step.vertex], problem.graph.edges
        return Level(
            problem.merged[step.vertex],
            vertex.tables,
            tuple([self._rows(edge, edges[edge].other(step.vertex)) for edge in step.backward]),
            tuple([self._absent(*each) for each in step.absent]),
            at(step.different_from),
            tuple([(a, b, c, d) for a, b, c, d in map(at, step.different_pairs)]),
            at(step.above),
            tuple([self._compare(index) for index in step.comparisons]),
            tuple(weights),
            step.rows,
            step.parent,
            step.cap,
            step.folded,
            at(step.context),
            step.contexts,
            len(step.constants),
            -1 if step.like is None else self.level_of[step.like],
            vertex.described,
        )

    def choices(self, choices: list[EdgeChoice]) -> tuple[Choice, ...]:
        index_of = {choice.edge: index for index, choice in enumerate(choices)}
        around = [frozenset((choice.edge, *choice.collides)) for choice in choices]
        sharing = Counter(around)
        found = []
        for choice, near in zip(choices, around, strict=True):
            self.check()
            edge = self.plan.graph.edges[choice.edge]
            first, last = sorted((edge.source, edge.target), key=self.level_of.__getitem__)
            found.append(
                Choice(
                    choice.edge,
                    self._rows(choice.edge, first),
                    self.level_of[last],
                    tuple(index_of[other] for other in choice.collides),
                    sharing[near] == len(near),
                )
            )
        return tuple(found)

    def known_at(self, choice: EdgeChoice) -> int:
        """The level at which all the edges are matched that the choice may collide with, directly or through others."""
        self.check()
        return max(self.level_of[vertex] for vertex in choice.vertices)

    def _rows(self, index: int, source: int) -> Rows:
        edge, problem = self.plan.graph.edges[index], self.plan.problem
        mask = problem.edges[index] if edge.predicates else None
        tables = problem.graph.vertices[source].tables
        relation = edge.relation
        if index in self.plan.repeated:
            assert isinstance(relation, Types)
            relation = relation._replace(repeats=True)
        return Rows(relation, edge.direction(source), tables, self.level_of[source], mask)

    def _absent(self, other: int, direction: Direction, types: tuple[str, ...]) -> Rows:
        tables = self.plan.problem.graph.vertices[other].tables
        return Rows(Types(types), direction, tables, self.level_of[other])

    def _compare(self, index: int) -> Compare:
        each = self.plan.comparisons[index]
        return Compare(self.level_of[each.left], self.level_of[each.right], each.operator, index)

    def _levels(self, vertices: Sequence[int]) -> tuple[int, ...]:
        return tuple([self.level_of[vertex] for vertex in vertices])
