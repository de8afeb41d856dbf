"""Relations: what a query edge stands for, as the planner sees it, the binding of seeds among them."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cache

import pytest

import gquery
from gquery.planner.ir.filters import BindingFilter
from gquery.planner.ir.match_plan import Counted
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.query_plan import QueryPlan
from gquery.planner.ir.relations import Binding, Composed, Identity, Loops, Relation, Types
from gquery.planner.memo.plan_memo import PlanMemo
from gquery.planner.memo.recent import Recent
from gquery.planner.passes.draft import Wanted
from gquery.planner.passes.rewriting.seeds import with_seeds
from gquery.planner.plan import plan_match
from gquery.planner.search.cardinality import estimate
from gquery.planner.search.context import Context
from gquery.planner.search.costs import CPU
from gquery.planner.search.matching import plan_matching
from gquery.planner.verify import verify
from gquery.session import Prepared
from gquery.settings import Settings
from tests.planner.town import CITIES, PEOPLE, town

PERSON, CITY, COMPANY = (0,), (1,), (2,)
LIVES_IN, KNOWS = Types(("LIVES_IN",)), Types(("KNOWS",))
HOME = Composed(PERSON, ((("WORKS_AT",), "out", COMPANY), (("BASED_IN",), "out", CITY)), 200.0)


@cache
def graph() -> gquery.Graph:
    return town()


def context() -> Context:
    snapshot = graph().snapshot
    return Context(snapshot.invariants, snapshot.statistics, CPU, PlanMemo(Recent(0)))


@pytest.mark.parametrize(
    ("relation", "out", "back"),
    [(LIVES_IN, 1, PEOPLE // CITIES), (KNOWS, 3, 3), (Identity(), 1, 1), (HOME, 1, None), (Binding("a"), 1, None)],
)
def test_to_how_many_a_relation_leads(relation: Relation, out: int, back: int | None) -> None:
    invariants = graph().snapshot.invariants
    assert relation.row_bound(invariants, "out", PERSON) == out
    assert relation.row_bound(invariants, "in", PERSON if relation == KNOWS else CITY) == back


def test_where_relations_lead() -> None:
    invariants = graph().snapshot.invariants
    assert LIVES_IN.reached(invariants, "out", PERSON) == HOME.reached(invariants, "out", PERSON) == frozenset(CITY)
    assert Identity().reached(invariants, "out", COMPANY) == frozenset(COMPANY)
    assert Binding("a").reached(invariants, "out", ()) is None
    assert [relation.of_data_edges for relation in (KNOWS, Identity(), HOME, Binding("a"))] == [
        True,
        False,
        False,
        False,
    ]
    assert Identity().entries(graph().snapshot.statistics, "out", PERSON, (*PERSON, *CITY)) == PEOPLE


EVERY = (KNOWS, Identity(), Loops(("KNOWS",)), HOME, Binding("a"))


@pytest.mark.parametrize("relation", EVERY)
def test_relations_are_keys(relation: Relation) -> None:
    again = pickle.loads(pickle.dumps(relation))
    assert again == relation
    assert hash(again) == hash(relation)
    assert [other for other in EVERY if other == again] == [relation]


SEEDED = "MATCH (a:Person)-[:CALLED]->(b:Person)-[:CALLED]->(c:Person), (b)-[:LIVES_IN]->(x:City) RETURN count(*)"


def seeded(query: QueryGraph, *bound: int) -> QueryGraph:
    """The query graph with seeds that bind some of its vertices."""
    return with_seeds(query, [query.vertices[each].variable for each in bound])


def plan_of(text: str, *bound: int) -> QueryPlan:
    """The plan of a count."""
    segment = Prepared(graph().snapshot, text, {}, Settings()).plan.matches[0].segment
    segment = replace(segment, graph=seeded(segment.graph, *bound))
    return plan_match(segment, Wanted(frozenset(), True, False, False, None), context())


def test_seeds_collide_with_nothing() -> None:
    """Parallel calls are told apart, which the binding of a seed takes no part in; it narrows what it binds."""
    plan = plan_of(SEEDED, 0, 2)
    bindings = {edge.index for edge in plan.graph.edges if isinstance(edge.relation, Binding)}
    assert len(bindings) == 2
    assert plan.problem.constraints.choices
    assert bindings.isdisjoint(
        edge for each in plan.problem.constraints.choices for edge in (each.edge, *each.collides)
    )
    narrowed = [each for each in plan.filters if getattr(each, "edge", None) in bindings]
    assert narrowed == [BindingFilter(edge.target, edge.index) for edge in plan.graph.bindings()]


@pytest.mark.parametrize("seeds", [1, 10, PEOPLE])
def test_few_seeds_are_where_matching_starts(seeds: int) -> None:
    """From a seed to the vertex that it binds, whose row has one entry."""
    plan = plan_of(SEEDED, 0)
    seed = len(plan.graph.vertices) - 1
    sizes = Counted((PEOPLE, PEOPLE, PEOPLE, CITIES, seeds), {}, {})
    cardinalities = estimate(plan.graph, graph().snapshot.statistics, sizes)
    assert cardinalities.degrees[-1] == (1.0, seeds / PEOPLE)
    assert cardinalities.edges[-1] == seeds
    (matching,) = plan_matching(plan, cardinalities, "vertices", "", context())
    verify(plan, matching)
    if seeds <= 10:
        assert matching.order[:2] == (seed, 0)
        assert matching.steps[1].rows == pytest.approx(seeds)


def test_a_binding_is_not_composed() -> None:
    """A vertex between a binding and a functional edge stays, although both lead to one vertex."""
    text = "MATCH (a:Person)-[:LIVES_IN]->(x:City), (b:Person)-[:LIVES_IN]->(x) RETURN count(*)"
    plan = plan_of(text, 0, 2)
    assert not any(isinstance(edge.relation, Composed) for edge in plan.graph.edges)
