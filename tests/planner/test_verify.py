"""The verifier finds what is wrong with a plan: sound plans are broken in one place each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gquery import PlanError
from gquery.planner.ir.filters import LoopFilter
from gquery.planner.ir.match_plan import ExtendStep, MatchPlan
from gquery.planner.ir.problem import EdgeChoice
from gquery.planner.ir.query_plan import QueryPlan
from gquery.planner.verify import verify
from gquery.session import Prepared
from gquery.settings import Settings
from gquery.stopping import unchecked
from tests.planner.town import town

QUERY = """
    MATCH INDUCED (a:Person)-[:KNOWS]->(b:Person)-[:KNOWS]->(c:Person) WHERE a.age < c.age
    MATCH (a)-[x:CALLED]->(a), (c)-[y:CALLED]->(b)-[z:CALLED]->(c), (a)-[:KNOWS]->(d)-[:KNOWS]->(e)-[:KNOWS]->(),
    (d)-[v:CALLED]->(e)<-[w:CALLED]-(d) WHERE b <> e RETURN x, y, z, v, w"""
"""Every kind of test is in its plan."""


@pytest.fixture(scope="module")
def sound() -> tuple[QueryPlan, MatchPlan]:
    query = Prepared(town().snapshot, QUERY, {}, Settings())
    half = query.matchings[0]
    (matching,) = half.matchings(half.cardinalities(None), "vertices", "", unchecked)
    return query.plan.matches[0], matching


def test_a_sound_plan_passes(sound: tuple[QueryPlan, MatchPlan]) -> None:
    verify(*sound)


def _each_step(**changes: Any) -> Callable[[MatchPlan], MatchPlan]:
    return lambda plan: replace(plan, steps=tuple(replace(step, **changes) for step in plan.steps))


def _at_step(level: int, field: str, change: Callable[[ExtendStep], Any]) -> Callable[[MatchPlan], MatchPlan]:
    def broken(plan: MatchPlan) -> MatchPlan:
        steps = list(plan.steps)
        steps[level] = replace(steps[level], **{field: change(steps[level])})
        return replace(plan, steps=tuple(steps))

    return broken


def _choices(change: Callable[[tuple[EdgeChoice, ...]], tuple[EdgeChoice, ...]]) -> Callable[[MatchPlan], MatchPlan]:
    def broken(plan: MatchPlan) -> MatchPlan:
        constraints = replace(plan.problem.constraints, choices=change(plan.problem.constraints.choices))
        return replace(plan, problem=replace(plan.problem, constraints=constraints))

    return broken


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda plan: replace(plan, steps=plan.steps[:-1]), "not a permutation"),
        (lambda plan: replace(plan, groups=(*plan.groups, 1)), "do not add up"),
        (lambda plan: replace(plan, steps=plan.steps[::-1]), "does not lead from"),
        (_each_step(backward=()), r"query edge \d is checked in no step"),
        (_at_step(-1, "backward", lambda step: step.backward * 2), r"query edge \d is checked twice"),
        (_each_step(comparisons=()), "comparison 0 is checked in no step"),
        (_at_step(0, "comparisons", lambda step: (0,)), "comparison .* not at their last"),
        (_each_step(different_from=()), r"difference \(\d, \d\) is checked in no step"),
        (_at_step(0, "different_from", lambda step: (step.vertex + 1,)), "difference .* not at their last"),
        (_each_step(different_pairs=()), "difference of pairs .* is checked in no step"),
        (_each_step(absent=()), "absence .* is checked in no step"),
        (_at_step(0, "absent", lambda step: ((step.vertex + 1, "out", ("KNOWS",)),)), "absence .* not at their last"),
        (_at_step(2, "parent", lambda step: 0), "is searched under level 0"),
        (_choices(lambda choices: choices[:-1]), "which is not told apart from it"),
        (_choices(lambda choices: (*choices, choices[0])), "chosen twice"),
        (_choices(lambda choices: (*choices[:-1], replace(choices[-1], listed=False))), "chosen in different places"),
    ],
)
def test_a_broken_plan_is_named(
    sound: tuple[QueryPlan, MatchPlan], change: Callable[[MatchPlan], MatchPlan], message: str
) -> None:
    plan, matching = sound
    with pytest.raises(PlanError, match=message):
        verify(plan, change(matching))


def test_other_vertices_than_those_that_are_asked_for_are_named(sound: tuple[QueryPlan, MatchPlan]) -> None:
    plan, matching = sound
    fewer = replace(plan, kept=frozenset(list(plan.kept)[1:]))
    with pytest.raises(PlanError, match="other vertices are listed"):
        verify(fewer, matching)


def test_a_forgotten_self_loop_is_named(sound: tuple[QueryPlan, MatchPlan]) -> None:
    plan, matching = sound
    filters = tuple(each for each in plan.filters if not isinstance(each, LoopFilter))
    with pytest.raises(PlanError, match=r"self-loop .* is checked in no step"):
        verify(replace(plan, filters=filters), matching)


COUNT = """
    MATCH (a:Person)-[:KNOWS]-(b:Person)-[:KNOWS]-(c:Person)-[:LIVES_IN]->(x:City)<-[:LIVES_IN]-(a),
    (b)-[:WORKS_AT]->(y:Company)-[:BASED_IN]->(z:City) RETURN count(*)"""


@pytest.mark.parametrize(
    ("field", "change", "message"),
    [
        ("context", lambda step: (), "depends on vertices"),
        ("parent", lambda step: 0, "are tied, but are summed out apart|depends on vertices"),
    ],
)
def test_a_broken_tree_is_named(field: str, change: Callable[[ExtendStep], Any], message: str) -> None:
    query = Prepared(town().snapshot, COUNT, {}, Settings())
    half = query.matchings[0]
    (matching, *_) = half.matchings(half.cardinalities(None), "vertices", "", unchecked)
    verify(query.plan.matches[0], matching)
    broken = [_at_step(level, field, change)(matching) for level in range(2, len(matching.steps))]
    with pytest.raises(PlanError, match=message):
        _verify_all(query.plan.matches[0], broken)


def _verify_all(plan: QueryPlan, matchings: list[MatchPlan]) -> None:
    for matching in matchings:
        verify(plan, matching)


STAR = """
    MATCH DIFFERENT NODES (a:Person)-[:KNOWS]->(b:Person), (a)-[:KNOWS]->(c:Person), (a)-[:KNOWS]->(d:Person)
    RETURN a, count(*)"""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda step, other: (), "checked in no step"),
        (lambda step, other: (step.vertex,), "checked twice|checked in no step|need not be among"),
        (lambda step, other: (*step.constants, other), "checked twice|need not be among|constants for each other"),
    ],
)
def test_a_wrong_constant_is_named(change: Callable[[ExtendStep, int], Any], message: str) -> None:
    query = Prepared(town().snapshot, STAR, {}, Settings())
    half = query.matchings[0]
    (matching,) = half.matchings(half.cardinalities(None), "vertices", "", unchecked)
    plan = query.plan.matches[0]
    verify(plan, matching)
    constant = [level for level, step in enumerate(matching.steps) if step.constants]
    assert constant
    for level in constant:
        other = next(vertex for vertex in matching.order if vertex not in matching.steps[level].constants)
        with pytest.raises(PlanError, match=message):
            verify(plan, _at_step(level, "constants", lambda step, o=other: change(step, o))(matching))
