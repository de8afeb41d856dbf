"""The verifier finds what is wrong with a plan: sound plans are broken in one place each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gquery import PlanError
from gquery.grammar.parser import parse
from gquery.planner.cardinality import estimate
from gquery.planner.physical import EdgeChoice, ExtendStep, LoopFilter, MatchPlan
XX
from gquery.planner.verify import verify
from gquery.session import Prepared
from gquery.settings import Settings
from tests.planner.town import town

QUERY = """
    MATCH INDUCED (a:Person)-[:KNOWS]->(b:Person)-[:KNOWS]->(c:Person) WHERE a.age < c.age
    MATCH (a)-[x:CALLED]->(a), (c)-[y:CALLED]->(b)-[z:CALLED]->(c), (a)-[:KNOWS]->(d)-[:KNOWS]->(e)-[:KNOWS]->()
    RETURN x, y, z"""
"""Every kind of test is in its plan."""


@pytest.fixture(scope="module")
def sound() -> tuple[QueryPlan, MatchPlan]:
    query = Prepared(town().snapshot, parse(QUERY), {}, Settings())
    return query.plan, plan_matching(query.plan, estimate(query.plan.graph, query.statistics), None)


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
        (_at_step(0, "absent", lambda step: ((step.vertex + 1, "out"),)), "absence .* not at their last"),
        (lambda plan: replace(plan, choices=plan.choices[::-1]), "not all chosen before it"),
        (lambda plan: replace(plan, choices=(*plan.choices, EdgeChoice(plan.choices[0].edge, ()))), "chosen twice"),
    ],
)
def test_a_broken_plan_is_named(
    sound: tuple[QueryPlan, MatchPlan], change: Callable[[MatchPlan], MatchPlan], message: str
) -> None:
    plan, matching = sound
    with pytest.raises(PlanError, match=message):
        verify(plan, change(matching))


def test_a_forgotten_self_loop_is_named(sound: tuple[QueryPlan, MatchPlan]) -> None:
    plan, matching = sound
    filters = tuple(each for each in plan.filters if not isinstance(each, LoopFilter))
    with pytest.raises(PlanError, match=r"self-loop .* is checked in no step"):
        verify(replace(plan, filters=filters), matching)
