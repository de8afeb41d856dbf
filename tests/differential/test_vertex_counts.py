"""The matches of each vertex, counted as sums of several problems: DuckDB's grouped joins know the numbers."""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest

import gquery
from gquery.executor.backend import PartialMatches
from gquery.executor.expansion.vertex_counts import VertexCounts
from gquery.executor.lowering import exact
from gquery.executor.memory import Budget
from gquery.planner.search import counting
from tests.differential import sql
from tests.differential.build import to_gquery
from tests.differential.forms import DataGraph, Query
from tests.differential.generate import random_graph, random_query
from tests.differential.judged import written
from tests.differential.test_collisions import WAYS, alike_graph, alike_query
from tests.differential.test_counting import costs
from tests.differential.test_far_tests import tree_query

FUZZ = int(os.environ.get("GQUERY_FUZZ", "1"))
GRAPHS, QUERIES = 3 * FUZZ, 6
FORCED = costs({"gain": 1e9, "least_problems": 150, "numbered": 0.0}, worth_improving=-1.0, dear=-1.0)
WAYS = {
    **WAYS,
    "far tests": [*((counting, name, lambda *_: iter(())) for name in ("twins", "exclusions")), FORCED],
    "pushed sums": [costs({"gain": 1e9, "least_problems": 30}, worth_improving=-1.0, push=-1.0)],
}


def any_query(random: Random, data: DataGraph) -> Query:
    kind = random.randrange(3)
    if kind == 0:
        return random_query(random, data, connected=True)
    return alike_query(random, data) if kind == 1 else tree_query(random)


@pytest.mark.parametrize("seed", range(GRAPHS))
@pytest.mark.parametrize("way", WAYS)
def test_each_vertex_has_its_number(way: str, seed: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name, value in WAYS[way]:
        monkeypatch.setattr(owner, name, value)
    random = Random(f"vertex counts {seed}")
    data = alike_graph(random) if seed % 3 else random_graph(random, 8)
    graph = to_gquery(data)
    with sql.open_graph(data) as connection:
        for _ in range(QUERIES):
            query = any_query(random, data) if seed % 3 else random_query(random, data, connected=True)
            named = [vertex.name for vertex in query.vertices if vertex.name not in query.hidden]
            if not named:
                continue
            renderer, body, mode = written(query, random)
            key = random.choice(named)
            text = f"{body} RETURN toString(id({key})) AS k, count(*) AS n"
            told = f"{way}, seed {seed}: {text} {renderer.parameters} {mode}\n{data}"
            found = graph.query(text, renderer.parameters, mode=mode, device=device).to_arrow()
            numbers = dict(zip(found["k"].to_pylist(), found["n"].to_pylist(), strict=True))
            assert numbers == sql.counts(connection, query, key), told


def test_these_are_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*FORCED)
    graph = to_gquery(alike_graph(Random(3)))
    said = graph.profile("MATCH DIFFERENT NODES (a)--(b)--(c)--(d) RETURN b.id, count(*)")
    assert "Subtract" in said
    assert "Scan (b)" in said


@pytest.mark.parametrize("mode", ["DIFFERENT NODES", "DIFFERENT EDGES", "REPEATABLE ELEMENTS"])
def test_sums_of_each_vertex_are_pushed(mode: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*costs(worth_improving=-1.0, push=-1.0))
    pairs = [(one, other) for other in range(14) for one in range(other) if (one * other) % 5 < 3]
    edges = {"source": [one for one, _ in pairs], "target": [other for _, other in pairs]}
    graph = gquery.from_arrow({"V": {"id": list(range(14))}}, {("V", "E", "V"): edges})
    square = f"MATCH {mode} (a)--(b)--(c)--(d)--(a) RETURN c.id AS k, count(*) AS n ORDER BY k"
    assert "pushed from each" in graph.explain(square)
    found = graph.query(square, device=device).to_arrow()
    listed = graph.query(f"MATCH {mode} (a)--(b)--(c)--(d)--(a) RETURN c.id AS c", device="cpu").to_arrow()
    expected = sorted(Counter(listed["c"].to_pylist()).items())
    assert list(zip(found["k"].to_pylist(), found["n"].to_pylist(), strict=True)) == expected


def test_one_problem_may_count_twice(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two edges the first may be one's or the other's: that is one problem, each of whose matches is two."""
    for owner, name, value in WAYS["edges by number"]:
        monkeypatch.setattr(owner, name, value)
    edges = {"source": [0, 1, 2], "target": [1, 2, 0]}
    paths = {"source": [0, 2], "target": [1, 0]}
    graph = gquery.from_arrow({"V": {"id": [0, 1, 2]}}, {("V", "E", "V"): edges, ("V", "P", "V"): paths})
    text = "MATCH (a)-[r]->(b), (a)-[s]->(b) RETURN a.id AS k, count(*) AS n ORDER BY k"
    assert "the second of" in graph.explain(text)
    assert graph.query(text, device=device).rows() == [(0, 2), (2, 2)]


def loops() -> gquery.Graph:
    """A circle of three, and two payments to oneself."""
    edges = {"source": [0, 1, 2, 3, 3], "target": [1, 2, 0, 3, 3], "w": [1, 2, 3, 4, 5]}
    return gquery.from_arrow({"V": {"id": [0, 1, 2, 3], "x": [1.5, 2.0, None, 7.0]}}, {("V", "E", "V"): edges})


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ("a.id AS k, count(*) AS n", [(0, 1), (1, 1), (2, 1), (3, 2)]),
        ("b.x AS k, count(*) AS n", [(1.5, 1), (2.0, 1), (7.0, 2), (None, 1)]),
        ("c.id % 2 AS k, sum(c.x) AS s, min(c.x) AS m, count(c.x) AS n", [(0, 1.5, 1.5, 1), (1, 16.0, 2.0, 3)]),
        ("count(DISTINCT a.id) AS n, avg(a.x) AS m, sum(a.id) AS s", [(4, 4.375, 9)]),
        ("DISTINCT b.id > 2 AS k", [(False,), (True,)]),
        ("a.id AS k, count(*) AS n ORDER BY n DESC, k LIMIT 2", [(3, 2), (0, 1)]),
    ],
)
def test_what_is_made_of_the_numbers(
    returned: str, expected: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*FORCED)
    found = loops().query(f"MATCH (a)-[]->(b)-[]->(c) RETURN {returned}").to_arrow()
    rows = [tuple(row.values()) for row in found.to_pylist()]
    if "ORDER" not in returned:
        rows.sort(key=lambda row: (row[0] is None, row))
    assert rows == expected


@pytest.mark.parametrize("memory", [None, "32 MiB"])
def test_memory_is_given_back(memory: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*FORCED)
    result = loops().query("MATCH (a)-[]->(b)-[]->(c) RETURN a.id, count(*)", memory_limit=memory)
    assert result.to_arrow().num_rows == 4
    assert result.progress.memory.used == 0


def test_too_many_for_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """What single problems have may be beyond that, as long as what is left of it is not."""
    monkeypatch.setattr(*FORCED)
    monkeypatch.setattr("gquery.executor.expansion.expand.SAFE", 2.0)
    text = "MATCH (a)-[]->(b)-[]->(c) RETURN a.id AS k, count(*) AS n"
    with pytest.raises(gquery.ExecutionError, match=r"more than 2\^62 matches"):
        loops().query(text).to_arrow()
    monkeypatch.setattr("gquery.executor.expansion.expand.SAFE", 3.0)  # four walks along two self-loops, less two
    assert loops().query(text).to_arrow().num_rows == 4
    assert exact.SAFE > 2.0**61


def test_numbers_that_are_nothing_modulo_what_a_word_holds() -> None:
    counts = VertexCounts(0, loops().snapshot.vertex_count, Budget(None))
    half = PartialMatches(np.array([[1]], np.int32), 1, np.array([2**63], np.uint64), np.array([2.0**63]))
    counts.add(half, None, 1)
    counts.add(half, None, 1)
    with pytest.raises(gquery.ExecutionError, match=r"more than 2\^62 matches"):
        list(counts.matches())
    counts.add(half, None, -2)
    assert not list(counts.matches())


@pytest.mark.parametrize(("memory", "is_sum"), [(None, True), ("64 MiB", True), ("40 MiB", False)])
def test_little_memory_is_left_to_one_problem(
    memory: str | None, is_sum: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which goes through matches, and holds the number of no vertex."""
    monkeypatch.setattr(*FORCED)
    count = 600_000
    edges = {"source": [0, 1, 2, 2], "target": [1, 2, 2, 0]}
    graph = gquery.from_arrow({"V": {"id": range(count)}}, {("V", "E", "V"): edges}).with_settings(memory_limit=memory)
    text = "MATCH (a)-[]->(b)-[]->(c) RETURN a.id AS k, count(*) AS n ORDER BY k"
    assert graph.query(text).rows() == [(0, 1), (1, 2), (2, 2)]
    assert ("Subtract" in graph.explain(text)) == is_sum
