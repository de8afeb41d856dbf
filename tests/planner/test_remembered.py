"""What planning keeps for the next query of the same text or shape, and that it changes no answer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import gquery
from gquery.planner.ir.match_plan import Counted
from gquery.planner.memo.recent import Recent
from gquery.planner.memo.remembered import Remembered
from gquery.planner.search import orders, second_half
from gquery.planner.search.settled import Settled
from gquery.session import Prepared
from gquery.settings import Settings
from gquery.stopping import unchecked
from tests.planner.town import town

TRIANGLE = "MATCH (a:Person)-[:KNOWS]-(b:Person)-[:KNOWS]-(c:Person)-[:KNOWS]-(a) WHERE {} RETURN count(*)"
EVERYBODY = "MATCH (a:Person)-[:KNOWS]->(b) RETURN a.id, b.id, a.age ORDER BY a.id, b.id"


def prepared(remembered: Remembered, text: str, **parameters: Any) -> Prepared:
    return Prepared(town().snapshot, text, parameters, Settings(), remembered)


def test_a_text_keeps_its_plan_whatever_the_values() -> None:
    remembered, text = Remembered(), "MATCH (a:Person) WHERE a.age > $least RETURN a.name"
    first = prepared(remembered, text, least=3)
    assert prepared(remembered, text, least=99).plan is first.plan
    assert prepared(remembered, text, least=99).chain.engine.parameters == {"least": 99}
    assert prepared(remembered, text, least=3.5).plan is not first.plan


def test_a_limit_is_part_of_the_plan() -> None:
    remembered, text = Remembered(), "MATCH (a:Person)-[:KNOWS]->(b) RETURN a.name LIMIT $most"
    assert prepared(remembered, text, most=1).plan.matches[0].limit == 1
    assert prepared(remembered, text, most=2).plan.matches[0].limit == 2
    assert prepared(remembered, text, most=2).plan is not prepared(remembered, text, most=1).plan


def test_errors_come_again() -> None:
    graph = town()
    for _ in range(2):
        with pytest.raises(gquery.BindError, match="parameter `\\$least` has no value"):
            graph.query("MATCH (a:Person) WHERE a.age > $least RETURN a")
        with pytest.raises(gquery.BindError, match="which is no Cypher value"):
            graph.query("MATCH (a:Person) WHERE a.age > $least RETURN a", {"least": object()})
    assert graph.query("MATCH (a:Person) RETURN count(*)", {"unused": object()}).scalar() > 0


def test_settings_share_what_is_known() -> None:
    graph = town()
    assert graph.with_settings(timeout=5)._remembered is graph._remembered


def test_a_shape_keeps_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, fresh = town(), town()
    texts = [TRIANGLE.format(f"a.age <> {age}") for age in (1, 2, 3)]
    expected = [fresh.query(text).scalar() for text in texts]
    asked = []
    best = orders.Orders.best
    monkeypatch.setattr(orders.Orders, "best", lambda own: asked.append(1) or best(own))
    assert [graph.query(text).scalar() for text in texts] == expected
    assert len(asked) == 1


def test_symmetry_is_each_querys_own() -> None:
    """The three look alike to the shape when their predicates are the same, and only then."""
    graph = town()
    alike = "a.age > {0} AND b.age > {0} AND c.age > {0}"
    for condition in (alike.format(20), alike.format(25), "a.age > 20 AND b.age > 25 AND c.age > 20", alike.format(1)):
        text = TRIANGLE.format(condition)
        assert graph.query(text).scalar() == town().query(text).scalar()


def test_threads_share_plans() -> None:
    graph = town()
    texts = [TRIANGLE.format(f"a.age <> {age}").replace("count(*)", "a.id, b.id, c.id") for age in range(18, 22)] * 8
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: sorted(graph.query(text).rows()), texts))
    assert found == [sorted(town().query(text).rows()) for text in texts]


def test_what_was_not_asked_for_is_forgotten() -> None:
    recent: Recent[str] = Recent(2)
    for key in (1, 2, 1, 3):
        recent.get(key, lambda key=key: f"value {key}")
    assert [recent.find(key) for key in (1, 2, 3)] == ["value 1", None, "value 3"]
    assert len(recent) == 2


def test_what_is_kept_is_bounded_by_its_size() -> None:
    recent: Recent[str] = Recent(100)
    for number in range(50):
        recent.keep(number, "value", weight=30)
        assert recent.weight <= 100
    assert len(recent) == 3
    recent.keep("all", "value", weight=100)
    assert len(recent) == 1
    recent.keep("too much", "value", weight=101)
    assert recent.find("too much") is None
    recent.keep("all", "other", weight=10)
    assert (recent.find("all"), recent.weight) == ("other", 10)


def test_many_texts_from_many_threads_stay_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = town()
    monkeypatch.setattr(graph._remembered._texts, "_most", 1_000_000)
    monkeypatch.setattr(graph._remembered.orders, "_most", 100_000)

    def ask(worker: int) -> None:
        for number in range(40):
            graph.query(f"MATCH (a:Person)-[:KNOWS]->(b) WHERE a.age = {worker * 1000 + number} RETURN a.name")

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(ask, range(16)))
    kept = graph._remembered._texts
    assert 0 < kept.weight <= 1_000_000
    assert kept.weight == sum(weight for _, weight in kept._values.values())
    assert len(kept) < 60


def test_a_large_pattern_weighs_what_it_holds() -> None:
    remembered = Remembered()
    path = "-[:KNOWS]-".join(["()"] * 100)
    prepared(remembered, f"MATCH DIFFERENT NODES {path} RETURN count(*)")
    assert 1_000_000 < remembered._texts.weight < 10_000_000


def test_sizes_that_are_about_the_same_take_one_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the filters leave is planned for once for each number of bits, and no row depends on that."""
    graph, made = town(), []
    plan_matching = second_half.plan_matching

    def counting(*arguments: Any) -> Any:
        made.append(arguments[1])
        return plan_matching(*arguments)

    monkeypatch.setattr(second_half, "plan_matching", counting)
    text = "MATCH (a:Person)-[:KNOWS]->(b) WHERE a.age > $least RETURN a.id, b.id ORDER BY a.id, b.id"
    calls = []
    for least in (0, 1, 2, 1000, 1001, 0):
        expected = [(one, other) for one, other, age in graph.query(EVERYBODY).rows() if age > least]
        before = len(made)
        assert graph.query(text, {"least": least}).rows() == expected
        calls.append(len(made) - before)
    assert calls[:3] == [1, 0, 0]
    assert calls[3:] == [1, 0, 0]


def test_a_dear_plan_is_made_for_the_sizes_that_it_runs_with() -> None:
    query = prepared(Remembered(), TRIANGLE.format("a.age <> 1"))
    (half,) = query.matchings.values()
    for most, same in ((0.0, False), (1e100, True)):
        settled = Settled(half.planned, most=most)
        known = [settled.cardinalities(Counted((size, 200, 300), {}, {})) for size in (100, 101)]
        if not same:
            assert known[0] != known[1]
        plans = [settled.matchings(each, "vertices", "", unchecked) for each in known]
        again = settled.cardinalities(Counted((102, 200, 300), {}, {}))
        assert (again in known) == same
        assert (settled.matchings(again, "vertices", "", unchecked) in plans) == same
