"""Trees of which all vertices differ: the tests that tie far vertices together are left out all at once, whatever that
costs, and what they would have refused is added and subtracted."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest

from gquery.planner.search import counting
from tests.differential import sql
from tests.differential.build import to_gquery
from tests.differential.forms import Clause, Label, Query, QueryEdge, QueryVertex
from tests.differential.judged import written
from tests.differential.test_collisions import WAYS, alike_graph
from tests.differential.test_counting import costs

GRAPHS, QUERIES = 2 * int(os.environ.get("GQUERY_FUZZ", "1")), 4
ALONE: list[tuple[Any, str, Any]] = [(counting, name, lambda *_: iter(())) for name in ("twins", "exclusions")]
EFFORT = {"gain": 1e9, "least_problems": 150, "numbered": 0.0}


def tree_query(random: Random) -> Query:
    """A tree of four to seven vertices, now and then with one more edge."""
    names = [f"v{number}" for number in range(random.randint(4, 7))]
    links = [(names[random.randrange(max(0, place - 3), place)], names[place]) for place in range(1, len(names))]
    if random.random() < 0.3:
        links.append(tuple(random.sample(names, 2)))  # type: ignore[arg-type]
    directed = random.random() < 0.4
    edges = tuple(
        QueryEdge(f"r{index}", *link, random.choice([None, None, Label("X")]), directed)
        for index, link in enumerate(links)
    )
    vertices = tuple(QueryVertex(name, random.choice([None, None, Label("A"), Label("B")])) for name in names)
    return Query(vertices, (Clause("different nodes", tuple(names), edges, ()),), frozenset())


@pytest.mark.parametrize(
    ("way", "folds", "reuse"),
    [("as planned", -1.0, 0.0), ("candidate graph", 1e9, 1.3), ("no symmetry", 1e9, 0.0), ("no constants", -1.0, 1.3)],
)
def test_far_tests(way: str, folds: float, reuse: float, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    forced = costs(EFFORT, worth_improving=-1.0, dear=-1.0, folds=folds, reuse=reuse)
    for owner, name, value in (*ALONE, *WAYS[way], forced):
        monkeypatch.setattr(owner, name, value)
    problems = 0
    for seed in range(GRAPHS):
        random = Random(f"far {way} {seed}")
        data = alike_graph(random)
        graph = to_gquery(data)
        with sql.open_graph(data) as connection:
            for _ in range(QUERIES):
                query = tree_query(random)
                renderer, body, mode = written(query, random)
                text = f"{body} RETURN count(*)"
                count = graph.query(text, renderer.parameters, mode=mode, device=device).scalar()
                assert count == sql.count(connection, query), (
                    f"seed {seed}: {body} {renderer.parameters} {mode}\n{data}"
                )
                problems += graph.explain(text, renderer.parameters, mode=mode).count("Subtract")
    assert problems > GRAPHS * QUERIES


def test_far_tests_go_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Either of two such tests alone would gain nothing; those of neighbours of neighbours stay. What both take away is
    alike, and counted once."""
    for owner, name, value in (*ALONE, costs(EFFORT, worth_improving=-1.0)):
        monkeypatch.setattr(owner, name, value)
    plan = to_gquery(alike_graph(Random(3))).explain("MATCH DIFFERENT NODES (a)--(b)--(c)--(d)--(e) RETURN count(*)")
    assert "Subtract 2 times the matches where (b) = (e)" in plan
    assert "Subtract the matches where (a) = (d)" not in plan
    assert "Add the matches where" in plan
