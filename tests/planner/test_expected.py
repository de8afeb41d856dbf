"""About how many rows a query has, told before anything runs."""

from __future__ import annotations

import numpy as np
import pytest

import gquery


@pytest.fixture(scope="module")
def graph() -> gquery.Graph:
    random, size, edges = np.random.default_rng(1), 2000, 12_000
    ends = {"source": random.integers(0, size, edges), "target": random.integers(0, size, edges)}
    vertices = {"P": {"id": np.arange(size), "age": random.integers(0, 50, size)}, "Q": {"id": np.arange(9)}}
    return gquery.from_arrow(vertices, {("P", "K", "P"): ends})


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a:P) RETURN a.id",
        "MATCH (a)-[:K]->(b) RETURN a.id, b.id",
        "MATCH (a)-[:K]->(b)-[:K]->(c) RETURN a.id",  # rows that weigh
        "MATCH (a)-[:K]->(b) RETURN 1",
        "MATCH (a:Q), (b:Q) RETURN id(a), id(b)",
        "MATCH (a)-[:K]->(b) RETURN count(*), max(a.age)",
        "MATCH (a)-[:K]->(b) RETURN a.id LIMIT 7",
        "RETURN 1",
    ],
)
def test_about_as_many_as_there_are(graph: gquery.Graph, text: str) -> None:
    result = graph.query(text)
    expected, found = result.expected_rows, result.to_arrow().num_rows
    assert expected is not None
    assert found / 1.3 <= expected <= 1.3 * found


@pytest.mark.parametrize(
    "text", ["MATCH (a) WITH a LIMIT 9 MATCH (a)-[:K]->(b) RETURN b.id", "UNWIND [1, 2] AS x RETURN x"]
)
def test_what_nobody_estimates_has_as_many_as_the_graph_has_elements(graph: gquery.Graph, text: str) -> None:
    assert graph.query(text).expected_rows == graph.vertex_count + graph.edge_count


def test_a_plan_has_no_estimate(graph: gquery.Graph) -> None:
    assert graph.query("EXPLAIN MATCH (a) RETURN a").expected_rows is None
