"""Edges that lead to one vertex at most are composed where they close a cycle: the answers stay the same."""

from __future__ import annotations

from collections import Counter
from inspect import unwrap
from random import Random
from typing import Any

import pytest

import gquery
from gquery.planner import plan
from gquery.planner.passes.rewriting.compose_functional_edges import compose

PEOPLE, CITIES, COUNTRIES = 14, 6, 3
MODES = ("DIFFERENT EDGES", "DIFFERENT NODES", "REPEATABLE ELEMENTS", "INDUCED")
PATTERNS = {
    "in one country": "(a:P)-[:IN]->(x:C)-[:OF]->(k:K)<-[:OF]-(y:C)<-[:IN]-(b:P)-[:E]-(a)",
    "in one city": "(a:P)-[:IN]->(x:C)<-[:IN]-(b:P)-[:E]-(a)",
    "triangle": "(a:P)-[:IN]->(x)-[:OF]->(k), (b:P)-[:IN]->(y)-[:OF]->(k), (c:P)-[:IN]->(z)-[:OF]->(k), "
    "(a)-[:E]-(b)-[:E]-(c)-[:E]-(a)",
    "visits": "(a:P)-[:IN]->(x)-[:OF]->(k)<-[:SEEN]-(b:P)-[:E]->(a)",
    "at home": "(a:P)-[:IN]->(x)-[:OF]->(k)<-[:SEEN]-(a)",
    "three hops": "(a:P)-[:IN]->(x)-[:OF]->(k)-[:ON]->(w)<-[:ON]-(l)<-[:SEEN]-(b)-[:E]-(a)",
    "any direction": "(a)-[:IN]-(x)-[:OF]-(k)-[:SEEN]-(b)-[:E]-(a)",
    "any type": "(a:P)-[:IN|E]->(x)-[:OF]->(k)<-[:SEEN]-(a)",
    "no such way": "(a:P)-[:OF]->(x)-[:ON]->(w)<-[:ON]-(k)<-[:SEEN]-(a)",
    "itself": "(a)-[:NEXT]->(b)-[:NEXT]->(c)-[:E]-(a)",
}
CONDITIONS = ("", " WHERE a.v > 1", " WHERE x.v > 0", " WHERE x <> a", " WHERE a.v < b.v", " WHERE NOT (a)-[:E]->(x)")
RETURNS = (
    "count(*) AS n",
    "id(a) AS a, id(k) AS k",
    "k.v AS v, count(*) AS n",
    "id(a) AS a, id(x) AS x",
    "DISTINCT a.v AS v",
)


def random_graph(random: Random) -> gquery.Graph:
    people, cities = range(PEOPLE), range(100, 100 + CITIES)
    countries, continents = range(200, 200 + COUNTRIES), range(300, 302)
    edges: dict[tuple[str, str, str], dict[str, list[int]]] = {}

    def add(label: str, type_: str, other: str, pairs: list[tuple[int, int]]) -> None:
        edges[label, type_, other] = {"source": [u for u, _ in pairs], "target": [v for _, v in pairs]}

    def one_each(sources: range, targets: range) -> list[tuple[int, int]]:
        return [(source, random.choice(targets)) for source in sources if random.random() < 0.9]

    add("P", "IN", "C", one_each(people, cities))
    add("C", "OF", "K", one_each(cities, countries))
    add("K", "ON", "W", one_each(countries, continents))
    add("P", "NEXT", "P", one_each(people, people))
    add("P", "E", "P", [(random.choice(people), random.choice(people)) for _ in range(30)])
    add("P", "SEEN", "K", [(random.choice(people), random.choice(countries)) for _ in range(12)])
    vertices = {
        label: {"id": list(ids), "v": [number % 4 for number in ids]}
        for label, ids in (("P", people), ("C", cities), ("K", countries), ("W", continents))
    }
    return gquery.from_arrow(vertices=vertices, edges=edges)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", PATTERNS)
def test_answers_stay_the_same(name: str, seed: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(f"compose {name} {seed}")
    graph = random_graph(random)
    space = random.choice(["vertices", "candidates"])
    monkeypatch.setattr("gquery.planner.search.second_half.pick_space", lambda *_: (space, "the test says so"))

    def rows(text: str) -> Counter[Any]:
        try:
            return Counter(tuple(row) for row in gquery.Graph(graph.snapshot).query(text, device=device).rows())
        except gquery.BindError:  # a condition on what this pattern does not have
            return Counter()

    for mode in MODES:
        for condition in ("", *random.sample(CONDITIONS, 2)):
            for returned in random.sample(RETURNS, 3):
                text = f"MATCH {mode} {PATTERNS[name]}{condition} RETURN {returned}"
                found = rows(text)
                with monkeypatch.context() as patch:
                    patch.setattr(plan, "PASSES", tuple(step for step in plan.PASSES if unwrap(step) is not compose))
                    assert found == rows(text), f"seed {seed}, {space}: {text}"


@pytest.mark.parametrize(
    ("name", "matched"), [("in one country", 3), ("triangle", 4), ("visits", 3), ("three hops", 4)]
)
def test_what_is_in_between_is_not_matched(name: str, matched: int) -> None:
    text = gquery.Graph(random_graph(Random("plan")).snapshot).explain(
        f"MATCH REPEATABLE ELEMENTS {PATTERNS[name]} RETURN count(*)"
    )
    assert sum(": label" in line for line in text.splitlines()) == matched, text


def test_a_shared_edge_type_may_lead_elsewhere(device: str) -> None:
    """Edges of the first hop to vertices of another label are no part of it."""
    graph = gquery.from_arrow(
        vertices={"P": {"id": [1, 2]}, "C": {"id": [10]}, "K": {"id": [20, 21]}},
        edges={
            ("P", "IN", "C"): {"source": [1], "target": [10]},
            ("P", "IN", "K"): {"source": [2], "target": [20]},
            ("C", "OF", "K"): {"source": [10], "target": [20]},
            ("K", "OF", "K"): {"source": [20], "target": [21]},
            ("P", "SEEN", "K"): {"source": [1, 2, 2], "target": [20, 20, 21]},
        },
    )
    text = "MATCH (p:P)-[:IN]->(x{})-[:OF]->(k:K)<-[:SEEN]-(p) RETURN id(p) AS p, id(k) AS k"
    assert sorted(map(tuple, graph.query(text.format(""), mode="repeatable elements", device=device).rows())) == [
        (1, 20),
        (2, 21),
    ]
    assert sorted(map(tuple, graph.query(text.format(":C"), device=device).rows())) == [(1, 20)]
