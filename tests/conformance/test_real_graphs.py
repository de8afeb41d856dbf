"""Published match counts on real graphs: undirected, injective embeddings, automorphic ones counted too."""

from __future__ import annotations

import csv
import os
from functools import cache
from pathlib import Path

import pytest

import gquery
from benchmarks.query_files import SMALL_PATTERNS, QueryFile, read_query

pytestmark = pytest.mark.large
SLOW = bool(os.environ.get("GQUERY_SLOW"))
MAX_MATCHES = 1e8 if SLOW else 1e7


@cache
def edge_list(path: Path) -> gquery.Graph:
    return gquery.load(path, undirected=True)


@cache
def labelled_graph(path: Path) -> gquery.Graph:
    return gquery.load(path)


def count(graph: gquery.Graph, query: QueryFile, device: str) -> int:
    text = f"MATCH DIFFERENT NODES {query.pattern()} RETURN count(*) AS matches"
    return int(graph.query(text, device=device).scalar())


def stream_rows(graph: gquery.Graph, query: QueryFile, device: str) -> int:
    """The number of rows that arrive when every vertex of every match is asked for; no batch is kept."""
    items = ", ".join(f"id(u{vertex}) AS u{vertex}" for vertex in range(len(query.labels)))
    text = f"MATCH DIFFERENT NODES {query.pattern()} RETURN {items}"
    return sum(batch.num_rows for batch in graph.query(text, device=device).reader())


def small_pattern_counts(data: Path, graph: str) -> dict[str, int]:
    with open(data / "bench" / "peers_h100_small_patterns.csv") as lines:
        rows = [row for row in csv.DictReader(lines) if row["graph"] == graph]
    return {row["pattern"]: int(row["embeddings"]) for row in rows}


@pytest.mark.parametrize("pattern", ["P1", "P2", "P3", "P4"])
@pytest.mark.parametrize(("name", "file"), [("enron", "email-Enron.txt.gz"), ("slashdot", "soc-Slashdot0902.txt.gz")])
def test_small_patterns(shared_data: Path, name: str, file: str, pattern: str, device: str) -> None:
    if (name, pattern) == ("slashdot", "P4") and not SLOW:
        pytest.skip("takes minutes: set GQUERY_SLOW=1")
    graph = edge_list(shared_data / "snap" / file)
    assert count(graph, SMALL_PATTERNS[pattern], device) == small_pattern_counts(shared_data, name)[pattern]


def test_enron_triangles(shared_data: Path, device: str) -> None:
    graph = edge_list(shared_data / "snap" / "email-Enron.txt.gz")
    assert count(graph, SMALL_PATTERNS["P1"], device) == 6 * 727_044


def test_github_counts_and_rows(shared_data: Path, device: str) -> None:
    """All counts, up to 2e13; the rows too where they are not too many to be listed."""
    graph = labelled_graph(shared_data / "labelled" / "github16.graph.gz")
    folder = shared_data / "labelled" / "queries" / "github16"
    counts = [int(line) for line in (folder / "expected_counts.txt").read_text().split()]
    queries = [read_query(folder / f"Q_{number}.graph") for number in range(len(counts))]
    assert [count(graph, query, device) for query in queries] == counts
    listed = [(query, expected) for query, expected in zip(queries, counts, strict=True) if expected < 4e7]
    assert [stream_rows(graph, query, device) for query, _ in listed] == [expected for _, expected in listed]


@pytest.mark.parametrize("name", ["astroph", "enron", "slashdot"])
def test_benchmark_counts(shared_data: Path, name: str, device: str) -> None:
    """The queries that a published counter finished within 50 ms. It counts modulo 2^64."""
    folder = shared_data / "bench" / name
    graph = labelled_graph(folder / "data.graph.gz")
    with open(shared_data / "bench" / "peers_h100_labelled.csv") as lines:
        rows = [row for row in csv.DictReader(lines) if row["graph"] == name and row["daf_1core_search_ms"]]
    expected = {row["query"]: int(row["matches"]) for row in rows if float(row["daf_1core_search_ms"]) < 50}
    counts = {file: count(graph, read_query(folder / "queries" / file), device) for file in expected}
    assert {file: found if found < 2**64 else found % 2**64 for file, found in counts.items()} == expected


@pytest.mark.parametrize(("name", "milliseconds"), [("yeast", 5.0), ("hprd", 5.0), ("human", 50.0)])
def test_labelled_counts(shared_data: Path, name: str, milliseconds: float, device: str) -> None:
    """The queries that a published counter finished within `milliseconds`; GQUERY_SLOW=1 takes all that it finished."""
    graph = labelled_graph(shared_data / "labelled" / f"{name}.graph.gz")
    with open(shared_data / "labelled" / "daf_counts.csv") as lines:
        counted = [row for row in csv.DictReader(lines) if row["query"].startswith(name) and row["matches"]]
    expected = {
        row["query"]: int(row["matches"])
        for row in counted
        if int(row["matches"]) <= MAX_MATCHES and (SLOW or float(row["search_ms"]) <= milliseconds)
    }
    queries = shared_data / "labelled" / "queries"
    assert expected
    assert {file: count(graph, read_query(queries / file), device) for file in expected} == expected
