"""Published match counts on real graphs: undirected, injective embeddings, automorphic ones counted too."""

from __future__ import annotations

import csv
import os
from functools import cache
from pathlib import Path

import pytest

import gquery
from benchmarks.query_files import SMALL_PATTERNS, QueryFile, read_query

SLOW = bool(os.environ.get("GQUERY_SLOW"))
MAX_SEARCH_MS = 1e9 if SLOW else 5.0  # a published counter's time: the harder queries wait for the long run


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
    graph = edge_list(shared_data / "snap" / file)
    assert count(graph, SMALL_PATTERNS[pattern], device) == small_pattern_counts(shared_data, name)[pattern]


def test_enron_triangles(shared_data: Path, device: str) -> None:
    graph = edge_list(shared_data / "snap" / "email-Enron.txt.gz")
    assert count(graph, SMALL_PATTERNS["P1"], device) == 6 * 727_044


def github_queries(data: Path) -> dict[str, int]:
    folder = data / "labelled" / "queries" / "github16"
    counts = [int(line) for line in (folder / "expected_counts.txt").read_text().split()]
    return {f"Q_{number}": count for number, count in enumerate(counts) if count < 4e7}


def test_github_counts_and_rows(shared_data: Path, device: str) -> None:
    graph = labelled_graph(shared_data / "labelled" / "github16.graph.gz")
    wrong = {}
    for name, expected in github_queries(shared_data).items():
        query = read_query(shared_data / "labelled" / "queries" / "github16" / f"{name}.graph")
        found = (count(graph, query, device), stream_rows(graph, query, device))
        if found != (expected, expected):
            wrong[name] = (found, expected)
    assert not wrong


@pytest.mark.parametrize("name", ["yeast", "hprd", "human"])
def test_labelled_counts(shared_data: Path, name: str, device: str) -> None:
    graph = labelled_graph(shared_data / "labelled" / f"{name}.graph.gz")
    with open(shared_data / "labelled" / "daf_counts.csv") as lines:
        counted = [row for row in csv.DictReader(lines) if row["query"].startswith(name) and row["matches"]]
    wrong = {}
    for row in counted:
        if int(row["matches"]) < 1e6 and float(row["search_ms"]) <= MAX_SEARCH_MS:
            query = read_query(shared_data / "labelled" / "queries" / row["query"])
            if (found := count(graph, query, device)) != int(row["matches"]):
                wrong[row["query"]] = (found, int(row["matches"]))
    assert not wrong
