"""Values that are added up where rows are found come to what a statement makes of the rows."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.executor.relational import computing
from gquery.executor.relational.codes import measured

QUERIES = {
    "by a vertex": "MATCH (a:A)-[k:K]->(b:A) RETURN a.id AS a, a.s AS s, sum(k.w) AS w, min(k.w) AS l, max(b.x) AS m",
    "by values": "MATCH (a:A)-[k:K]->(b:A) RETURN a.s AS a, b.x AS b, avg(k.v) AS v, count(*) AS n, avg(k.w) AS w",
    "by both": "MATCH (a:A)-[k:K]->(b:A) RETURN id(a) AS a, b.s AS b, sum(k.v) AS v, count(b) AS n",
    "by a whole one": "MATCH (a:A)-[k:K]->(b:A) WITH a, sum(k.w) AS w WHERE w > 0 RETURN a.id AS a, w + 1 AS w",
    "the first": "MATCH (a:A)-[k:K]->(b:A) RETURN a.id AS a, sum(k.w) AS w ORDER BY w DESC, a LIMIT 7",
    "the ends of fractions": "MATCH (a:A)-[k:K]->(b:A) RETURN a.x AS x, min(k.v) AS l, max(k.v) AS m, max(k.w) AS w",
    "nobody": "MATCH (a:A) OPTIONAL MATCH (a)-[k:L]->(b:B) RETURN a.id, count(b), max(k.w) AS w, avg(k.v)",
    "rows that weigh": "MATCH (a:A)-[k:K]->(b:A)-[:L]->(:B) RETURN a.id, max(k.w) AS w, sum(k.v), count(*)",
    "of what is calculated": "MATCH (a:A)-[k:K]->(b:A) RETURN a.x AS x, 2.0 * sum(k.w) / (1 + count(*)) AS r",
}
LISTED = {
    "a key of fractions": "MATCH (a:A)-[k:K]->(b:A) RETURN k.v AS v, count(*) AS n, sum(k.w) AS w",
    "rows that weigh": "MATCH (a:A)-[k:K]->(b:A)-[:L]->(:B) RETURN a.id AS a, sum(k.w) AS w",
    "a key of two labels": "MATCH (a)-[k:K]->(b) RETURN id(a) AS a, sum(k.w) AS w",
    "what is calculated": "MATCH (a:A)-[k:K]->(b:A) RETURN a.x AS x, sum(k.w * 2) AS w",
    "different values": "MATCH (a:A)-[k:K]->(b:A) RETURN a.x AS x, count(DISTINCT b) AS n",
    "what is collected": "MATCH (a:A)-[k:K]->(b:A) RETURN a.x AS x, collect(k.w) AS w",
}


def random_graph(random: Random, largest: int = 1000) -> gquery.Graph:
    size, edges = 40, 300

    def between(first: int) -> dict[str, Any]:
        return {
            "source": random.choices(range(size), k=edges),
            "target": random.choices(range(first, first + size), k=edges),
            "w": random.choices(range(-largest, largest), k=edges),
            "v": random.choices([0.5, -2.0, 8.25], k=edges),
        }

    columns = {"x": random.choices(range(4), k=size), "s": random.choices(["a", "b", None], k=size)}
    vertices = {"A": {"id": list(range(size)), **columns}, "B": {"id": list(range(100, 100 + size))}}
    return gquery.from_arrow(vertices, {("A", "K", "A"): between(0), ("A", "L", "B"): between(100)})


def told(table: pa.Table) -> Counter[str]:
    def rounded(value: object) -> object:
        return round(value, 9) if isinstance(value, float) else value

    return Counter(repr([rounded(value) for value in row.values()]) for row in table.to_pylist())


def answers(
    graph: gquery.Graph, text: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[Counter[str], Counter[str], int]:
    """With groups that have numbers, and without; and how often they had."""
    monkeypatch.setattr(computing, "FEWEST", 1)
    monkeypatch.setattr(measured, "_WORTH", 1 << 30)
    of, used = measured.MeasuredRows.of.__func__, list[bool]()  # type: ignore[attr-defined]

    def counted(cls: type, *given: object) -> object:
        found = of(cls, *given)
        used.append(found is not None)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(measured.MeasuredRows, "of", classmethod(counted))
        found = told(gquery.Graph(graph.snapshot, settings=graph.settings).query(text, device=device).to_arrow())
    with monkeypatch.context() as patched:
        patched.setattr(computing, "groups_of", lambda *_: None)
        expected = told(gquery.Graph(graph.snapshot, settings=graph.settings).query(text, device=device).to_arrow())
    return found, expected, sum(used)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", QUERIES)
def test_groups_have_what_rows_have(name: str, seed: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(Random(f"measured {seed}")).with_settings(threads=1 + 2 * seed)
    found, expected, used = answers(graph, QUERIES[name], device, monkeypatch)
    assert found == expected
    assert used == 1


@pytest.mark.parametrize("name", LISTED)
def test_other_groups_are_those_of_rows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found, expected, used = answers(random_graph(Random("listed"), 10**5), LISTED[name], "cpu", monkeypatch)
    assert found == expected
    assert used == 0


@pytest.mark.parametrize("threads", [1, 3])
def test_sums_are_exact(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of values that are large what is beyond 32 bits is put elsewhere now and then."""
    monkeypatch.setattr(measured, "_SUM", 1 << 44)
    graph = random_graph(Random("large"), 1 << 39).with_settings(threads=threads)
    found, expected, used = answers(graph, QUERIES["by a vertex"], "cpu", monkeypatch)
    assert found == expected
    assert used == 1


def test_many_rows_are_added_up() -> None:
    random = np.random.default_rng(5)
    size, edges = 3000, 200_000
    columns = {"source": random.integers(0, size, edges), "target": random.integers(0, size, edges)}
    weights = random.integers(-(10**6), 10**6, edges)
    graph = gquery.from_arrow({"V": {"id": np.arange(size)}}, {("V", "E", "V"): {**columns, "w": weights}})
    text = "MATCH (a)-[k:E]->(b) RETURN a.id AS a, sum(k.w) AS w"
    assert "Add up many rows" in graph.explain(text)
    found = graph.query(text).to_arrow()
    expected = np.zeros(size, np.int64)
    np.add.at(expected, columns["source"], weights)
    sources = np.unique(columns["source"]).tolist()
    assert dict(zip(found["a"].to_pylist(), found["w"].to_pylist(), strict=True)) == {
        vertex: int(expected[vertex]) for vertex in sources
    }


@pytest.mark.parametrize("name", ["by a vertex", "the ends of fractions", "rows that weigh"])
def test_threads_that_add_to_the_same_places(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where groups are many. Sums of fractions would depend on who comes first: threads leave these to DuckDB."""
    monkeypatch.setattr(measured, "_EACH", 1)
    graph = random_graph(Random("together")).with_settings(threads=3)
    found, expected, used = answers(graph, QUERIES[name], "cpu", monkeypatch)
    assert found == expected
    assert used == (name != "rows that weigh")


def test_the_ends_of_many_values_by_many_vertices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 30 vertices, whose ends several threads move at once."""
    monkeypatch.setattr(measured, "_EACH", 1)
    random, size, edges = np.random.default_rng(8), 30, 2_000_000
    source, values = np.sort(random.integers(0, size, edges)), random.integers(-(2**62), 2**62, edges)
    ends = {"source": source, "target": random.permutation(source), "w": values, "v": values / 7}
    graph = gquery.from_arrow({"V": {"id": np.arange(size)}}, {("V", "E", "V"): ends}).with_settings(threads=4)
    text = "MATCH (a)<-[k:E]-() RETURN a.id AS a, min(k.w), max(k.w), min(k.v), max(k.v), count(*) ORDER BY a"
    for row in graph.query(text).rows():
        own = values[ends["target"] == row[0]]
        assert row[1:] == (own.min(), own.max(), (own / 7).min(), (own / 7).max(), len(own))


def test_fractions_that_are_no_numbers_or_without_end() -> None:
    """NaN is the largest of all, and the least where there is no other."""
    random, size, edges = np.random.default_rng(3), 500, 50_000
    source = random.integers(0, size, edges)
    values = random.normal(size=edges) * 10.0 ** random.integers(-300, 300, edges)
    for value in (np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324):
        values[random.random(edges) < 0.005] = value
    values[source < 5] = np.nan
    ends = {"source": source, "target": source, "v": values}
    graph = gquery.from_arrow({"A": {"id": np.arange(size)}}, {("A", "K", "A"): ends})
    for row in graph.query("MATCH (a)-[k:K]->() RETURN a.id, min(k.v), max(k.v), count(*)").rows():
        own = values[source == row[0]]
        known = own[~np.isnan(own)]
        expected = (known.min() if len(known) else np.nan, own.max())
        np.testing.assert_array_equal(row[1:3], expected)
        assert row[3] == len(own)
