"""Thousands of random queries over random multigraphs: rows and counts against the oracle and against DuckDB.

GQUERY_FUZZ=n multiplies the number of cases. A failure shows the seed, the graph and the text.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest

from gquery.executor.expansion import expand
from tests.differential import sql
from tests.differential.build import found_rows, to_gquery
from tests.differential.forms import DataGraph, Match, Query, Vertex
from tests.differential.generate import random_graph, random_query
from tests.differential.judged import matched, written
from tests.differential.oracle import Oracle

FUZZ = int(os.environ.get("GQUERY_FUZZ", "1"))
CHUNKS = 20
GRAPHS = 12 * FUZZ  # a chunk
QUERIES = 6  # a graph
MAX_MATCHES = 2_000


def cases(random: Random, graph: DataGraph) -> Iterator[tuple[Query, list[Match]]]:
    """Queries with all their matches, of which there are some more often than chance would have it."""
    for _ in range(QUERIES):
        for _ in range(random.choice([1, 10, 10])):
            query = random_query(random, graph)
            matches = list(islice(Oracle(graph, query).matches(), MAX_MATCHES + 1))
            if 0 < len(matches) <= MAX_MATCHES:
                break
        if len(matches) <= MAX_MATCHES:
            yield query, matches


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_rows_and_counts(chunk: int, device: str) -> None:
    for seed in range(chunk * GRAPHS, (chunk + 1) * GRAPHS):
        compare(seed, device)


@pytest.mark.parametrize("size", [1, 3])
def test_pieces_of_any_size(size: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What partial matches stand for is made in pieces that end anywhere."""
    monkeypatch.setattr(expand, "PIECE", size)
    for seed in range(8 * FUZZ):
        compare(seed, device)


def compare(seed: int, device: str) -> None:
    """Rows and counts of the queries of one seed."""
    data, queries = matched(seed, cases)
    graph = to_gquery(data)
    for query, expected in queries:
        text = f"{query.body} RETURN {query.returned}"
        told = f"seed {seed}: {text} {query.parameters} {query.mode}\n{data}"
        try:
            rows = found_rows(graph.query(text, query.parameters, mode=query.mode, device=device))
        except Exception as error:
            raise AssertionError(told) from error
        assert rows == expected, told
        query.compare_count(graph, device, f"seed {seed}, {data}")


@pytest.mark.parametrize("chunk", range(5))
def test_groups(chunk: int, device: str) -> None:
    """Grouping, DISTINCT and sorting over random patterns."""
    for seed in range(chunk * 8 * FUZZ, (chunk + 1) * 8 * FUZZ):
        random = Random(f"groups {seed}")
        data = random_graph(random, 8)
        graph = to_gquery(data)
        for query, matches in cases(random, data):
            named = [vertex.name for vertex in query.vertices if vertex.name not in query.hidden]
            if not named:
                continue
            renderer, body, mode = written(query, random)
            key, counted = random.choice(named), random.choice(named)
            groups: dict[str, list[str]] = {}
            for match in matches:
                groups.setdefault(_id(match, key), []).append(_id(match, counted))
            expected = [(key, str(len(group)), str(len(set(group)))) for key, group in sorted(groups.items())]
            items = f"toString(id({key})) AS k, count(*) AS n, count(DISTINCT id({counted})) AS d"
            text = f"{body} RETURN {items} ORDER BY k"
            table = graph.query(text, renderer.parameters, mode=mode, device=device).to_arrow()
            found = [(row["k"], str(row["n"]), str(row["d"])) for row in table.to_pylist()]
            assert found == expected, f"seed {seed}: {text} {renderer.parameters} {mode}\n{data}"
            text = f"{body} RETURN DISTINCT id({key}) AS k"
            found_keys = graph.query(text, renderer.parameters, mode=mode, device=device).to_arrow()["k"].to_pylist()
            assert sorted(map(str, found_keys)) == sorted(groups), f"seed {seed}: {text} {renderer.parameters} {mode}"


@pytest.mark.parametrize("chunk", range(4))
def test_oracle_agrees_with_sql(chunk: int) -> None:
    """The judges judge each other, without gquery."""
    for seed in range(chunk * 10 * FUZZ, (chunk + 1) * 10 * FUZZ):
        data, queries = matched(seed, cases)
        with sql.open_graph(data) as connection:
            for query, _ in queries:
                assert sql.count(connection, query.query) == query.count, f"seed {seed}: {query.body}"


@pytest.mark.parametrize("chunk", range(5))
def test_counts_on_larger_graphs(chunk: int, device: str) -> None:
    """Up to 40 vertices and any number of matches: DuckDB counts."""
    for seed in range(chunk * 8 * FUZZ, (chunk + 1) * 8 * FUZZ):
        random = Random(f"larger {seed}")
        data = random_graph(random, 40)
        graph = to_gquery(data)
        with sql.open_graph(data) as connection:
            for _ in range(4):
                query = random_query(random, data, connected=True)
                renderer, body, mode = written(query, random)
                result = graph.query(f"{body} RETURN count(*) AS n", renderer.parameters, mode=mode, device=device)
                told = f"seed {seed}: {body} {renderer.parameters} {mode}\n{data}"
                assert result.scalar() == sql.count(connection, query), told


def _id(match: Match, name: str) -> str:
    vertex = match[name]
    assert isinstance(vertex, Vertex)
    return str(vertex.id)
