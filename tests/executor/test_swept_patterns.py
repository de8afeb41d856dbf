"""A relationship of few lengths beside others: where only what is there counts, nobody lists the paths."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

import gquery
from gquery import Graph, session
from gquery.executor.lowering import masks
from gquery.planner.search.costs import CPU

SEED = 515
PEOPLE, PLACES, KNOWS, VISITED = 30, 8, 70, 60


@pytest.fixture(scope="module")
def graph() -> Graph:
    chance = random.Random(SEED)
    people = pa.table({"id": range(PEOPLE), "age": [chance.randrange(5) for _ in range(PEOPLE)]})
    places = pa.table({"id": range(PLACES), "name": [f"place {number % 5}" for number in range(PLACES)]})

    def edges(count: int, targets: int) -> pa.Table:
        return pa.table({
            "source": [chance.randrange(PEOPLE) for _ in range(count)],
            "target": [chance.randrange(targets) for _ in range(count)],
            "since": [chance.choice([None, *range(6)]) for _ in range(count)],
        })  # fmt: skip

    return gquery.from_arrow(
        vertices={"Person": people, "Place": places},
        edges={
            ("Person", "KNOWS", "Person"): edges(KNOWS, PEOPLE),
            ("Person", "VISITED", "Place"): edges(VISITED, PLACES),
        },
    )


PATTERNS = [
    "(a:Person {id: $id})-[:KNOWS*1..2]-(b)-[v:VISITED]->(c:Place {name: 'place 1'})",
    "(a:Person {id: $id})-[:KNOWS*0..2]->(b:Person {age: 2})-[v:VISITED]->(c)",
    "(c:Place {name: 'place 0'})<-[v:VISITED]-(b)<-[:KNOWS*1..3]-(a {id: $id})",
    "(a:Person)-[:KNOWS*1..2]->(b)-[v:VISITED]->(c), (a)-[w:VISITED]->(c)",
    "(b)-[v:VISITED]->(c), (a {age: 1})-[:KNOWS*1..2]-(b)",
]
CONDITIONS = ["true", "a <> b", "v.since > 2", "a.age < b.age", "NOT (a)-[:VISITED]->(c)", "b.age + a.age = v.since"]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("where", CONDITIONS)
def test_what_is_there_is_what_any_path_leads_to(graph: Graph, pattern: str, where: str) -> None:
    query = f"MATCH {pattern} WHERE {where} RETURN "
    for id_ in (0, 7, 19):
        listed = graph.query(query + "a.id, b.id, c.id", {"id": id_}).rows()
        assert sorted(graph.query(query + "DISTINCT a.id, b.id, c.id", {"id": id_}).rows()) == sorted(set(listed))
        counted = graph.query(query + "a.id, count(DISTINCT b) AS n", {"id": id_}).rows()
        assert dict(counted) == {each[0]: len({b for a, b, _ in listed if a == each[0]}) for each in listed}


def test_paths_are_swept_where_the_others_are_of_other_types(graph: Graph) -> None:
    swept = "MATCH (a {id: 1})-[:KNOWS*1..2]-(b)-[:VISITED]->(c) RETURN "
    assert "Sweep from (a)" in graph.explain(swept + "DISTINCT c.name")
    assert "Sweep" not in graph.explain(swept + "c.name")
    other = "MATCH (a {id: 1})-[:KNOWS*1..2]-(b)-[:KNOWS]->(c) RETURN DISTINCT c.age"
    assert "Sweep" not in graph.explain(other)


def test_what_is_named_behind_a_short_search_is_matched_after_it(graph: Graph) -> None:
    plan = graph.explain(
        "MATCH (a:Person {id: 1})-[:KNOWS*1..2]-(b)-[:VISITED]->(c:Place {name: 'x'}) RETURN DISTINCT b.id"
    )
    assert plan.index("Sweep from (a)") < plan.index("(c:Place): c.name = 'x'")


def test_predicates_of_edges_are_asked_near_few_vertices(graph: Graph) -> None:
    plan = graph.profile("MATCH (a:Person {id: 3})-[k:KNOWS]-(b) WHERE k.since > 1 RETURN b.id, k.since")
    assert "k.since > 1, asked at (a:Person)" in plan
    everywhere = graph.profile("MATCH (a:Person)-[k:KNOWS]-(b) WHERE k.since > 1 RETURN a.id, b.id, k.since")
    assert "k.since > 1  [" in everywhere

    def left(text: str) -> int:
        (line,) = (line for line in text.splitlines() if "k.since > 1" in line)
        return int(line.rpartition("-> ")[2].rstrip("]"))

    assert left(plan) < left(everywhere)
    rows = graph.query("MATCH (a:Person)-[k:KNOWS]-(b) WHERE k.since > 1 RETURN a.id, b.id, k.since").rows()
    for id_ in range(PEOPLE):
        found = graph.query("MATCH (a {id: $i})-[k:KNOWS]-(b) WHERE k.since > 1 RETURN a.id, b.id, k.since", {"i": id_})
        assert sorted(found.rows()) == sorted(row for row in rows if row[0] == id_)


def test_edges_are_all_asked_where_too_many_vertices_are_left(graph: Graph) -> None:
    """One end is reached from few vertices, or would be if the edges that lead there were fewer."""
    query = "MATCH (a)-[:KNOWS]->(b)-[k:KNOWS]->(c) WHERE a.id IN $ids AND k.since > 1 RETURN a.id, c.id, k.since"
    expected = graph.query("MATCH (a)-[:KNOWS]->(b)-[k:KNOWS]->(c) RETURN a.id, c.id, k.since").rows()
    for most in (0, 1, 5, 1_000):
        for ids in ([1], [4, 7, 9], list(range(PEOPLE))):
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(session, "CPU", replace(CPU, filters_weighed=-1.0, filter_reached=1e-3))
                patched.setattr(masks, "_reached", _reaching(most))
                found = Graph(graph.snapshot).query(query, {"ids": ids}).rows()
            assert sorted(found) == sorted(row for row in expected if row[0] in ids and (row[2] or 0) > 1)


def _reaching(most: int) -> Any:
    """`_reached` for so many entries."""
    reached = masks._reached
    return lambda graph, step, known, reading: reached(graph, replace(step, most=most), known, reading)
