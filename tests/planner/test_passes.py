"""Planning as passes: what each leaves behind is looked at, plans are data, costs are handed in."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from inspect import unwrap

import pyarrow as pa
import pytest

import gquery
from gquery import PlanError
from gquery.planner.ir.filters import NeighbourFilter
from gquery.planner.ir.match_plan import MatchPlan
from gquery.planner.memo.plan_memo import PlanMemo
from gquery.planner.memo.recent import Recent
from gquery.planner.passes.draft import Draft, Wanted, problem_of
from gquery.planner.plan import PASSES
from gquery.planner.search.context import Context
from gquery.planner.search.costs import CPU, CostModel
from gquery.planner.search.second_half import SecondHalf
from gquery.planner.verify import verify_draft
from gquery.session import Prepared
from gquery.settings import Settings
from gquery.stopping import unchecked
from tests.planner.town import town

QUERY = """
    MATCH (a:Person)-[k:KNOWS]->(b:Person)-[:CALLED]->(c:Person), (a)-[:LIVES_IN]->(x:City)<-[:LIVES_IN]-(c)
    WHERE a.age < b.age AND a <> c AND x.name = $city AND NOT (c)-[:KNOWS]->(a)
    OPTIONAL MATCH (b)-[:WORKS_AT]->()-[:BASED_IN]->(x)
    RETURN a.name, count(*)"""


@cache
def graph() -> gquery.Graph:
    return town()


def prepared(text: str = QUERY) -> Prepared:
    return Prepared(graph().snapshot, text, {"city": "city 3"}, Settings())


def context(costs: CostModel = CPU) -> Context:
    snapshot = graph().snapshot
    return Context(snapshot.invariants, snapshot.statistics, costs, PlanMemo(Recent(1)))


def drafts() -> list[Draft]:
    """After each pass."""
    segment = prepared().plan.matches[0].segment
    wanted = Wanted(frozenset({"a"}), False, True, False, None)
    found = [Draft(segment, wanted, problem_of(segment.graph))]
    for step in PASSES:
        found.append(unwrap(step)(found[-1], context()))
    return found


def test_every_draft_is_sound_and_data() -> None:
    for draft in drafts():
        verify_draft(draft)
        assert pickle.loads(pickle.dumps(draft)) == draft


def test_plans_are_data() -> None:
    """No lock and no cache in them; what is remembered stands beside."""
    query = prepared()
    half = query.matchings[0]
    plans = (query.plan, *half.matchings(half.cardinalities(None), "vertices", "", unchecked))
    assert pickle.loads(pickle.dumps(plans)) == plans
    assert len(query.matchings[0].planned.context.memo.solutions) > 0


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda d: replace(d, kept=frozenset({99})), "the answer speaks of vertex 99"),
        (lambda d: replace(d, filters=(NeighbourFilter(0, -1, 1),)), "a filter speaks of edge -1"),
        (lambda d: _with_edges(d, lambda edge: replace(edge, index=edge.index + 1)), "the indices of edge after edge"),
        (lambda d: _with_edges(d, lambda edge: replace(edge, target=50)), "an edge speaks of vertex 50"),
        (lambda d: _with_tests(d, different=frozenset({(1, 0)})), "vertices 1 and 0 are not ascending"),
        (lambda d: _with_tests(d, loopless=(7, 77)), "a test speaks of vertex 7, "),
    ],
)
def test_what_a_pass_breaks_is_named(broken: Callable[[Draft], Draft], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        verify_draft(broken(drafts()[-1]))


def _with_edges(draft: Draft, change: Callable[..., object]) -> Draft:
    edges = tuple(map(change, draft.graph.edges))
    return replace(draft, problem=replace(draft.problem, graph=replace(draft.graph, edges=edges)))


def _with_tests(draft: Draft, **tests: object) -> Draft:
    constraints = replace(draft.problem.constraints, **tests)  # type: ignore[arg-type]
    return replace(draft, problem=replace(draft.problem, constraints=constraints))


def test_costs_are_handed_in() -> None:
    """Where folding is dear nothing is folded; where sums are dear to remember none is."""

    def planned(costs: CostModel) -> MatchPlan:
        query = prepared(
            "MATCH REPEATABLE ELEMENTS (a:Person)-[:KNOWS]->(b)-[:KNOWS]->(c)-[:KNOWS]->(d) RETURN count(*)"
        )
        half = SecondHalf(query.plan.matches[0], context(costs))
        return half.matchings(half.cardinalities(None), "vertices", "", unchecked)[0]

    assert any(step.folded for step in planned(CPU).steps)
    dear = planned(replace(CPU, folds=-1.0))
    assert not any(step.folded for step in dear.steps)
    forgetful = planned(replace(CPU, folds=-1.0, reuse=1e9))
    assert not any(step.contexts for step in forgetful.steps)
    assert planned(CPU) == planned(CPU)


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("MATCH (a:Person)-[:KNOWS]->(b:Person) WHERE a.id = 7 RETURN b.name", {"a", "b"}),
        ("MATCH (a:Person)-[:KNOWS]->(b:Person) WHERE id(a) = $one RETURN b.name", {"a", "b"}),
        ("MATCH (a:Person)-[:KNOWS]->(b:Person) WHERE a.id IN [7, 8] RETURN b.name", {"b"}),
        ("MATCH (a:Person)-[:KNOWS]->(b:Person) WHERE a.age = 7 RETURN b.name", {"b"}),
        ("MATCH (a:Person)-[:KNOWS]->()-[:KNOWS]->(b:Person) WHERE a.id = 7 RETURN b.name", {"b"}),
    ],
)
def test_who_is_named_is_listed_beside_its_neighbours(text: str, listed: set[str]) -> None:
    """One vertex makes no more rows, and whoever begins there looks at its neighbours alone."""
    (plan,) = Prepared(graph().snapshot, text, {"one": 7}, Settings()).plan.matches
    assert {plan.graph.vertices[vertex].variable for vertex in plan.kept} == listed


def test_a_list_names_nobody() -> None:
    """Whether lists differ is not asked of a column of these."""
    people = pa.table({"id": [1, 2], "o": pa.array([[1.0], [2.0]])})
    some = gquery.from_arrow({"Person": people}, {("Person", "KNOWS", "Person"): pa.table({"s": [1], "t": [2]})})
    assert some.query("MATCH (a {o: [1.0]})-->(b) RETURN b.id").rows() == [(2,)]
