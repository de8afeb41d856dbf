"""OPTIONAL MATCH and patterns as conditions, at random: counts and rows against the oracle and against DuckDB.

GQUERY_FUZZ=n multiplies the number of cases. A failure shows the seed, the graph and the text.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest

import gquery
from tests.differential import sql
from tests.differential.build import found_rows, to_gquery
from tests.differential.forms import DataGraph, Match, Query
from tests.differential.generate_parts import with_parts
from tests.differential.judged import matched
from tests.differential.oracle import Oracle
from tests.differential.test_counting import WAYS

FUZZ = int(os.environ.get("GQUERY_FUZZ", "1"))
CHUNKS = 10
GRAPHS = 9 * FUZZ  # a chunk
QUERIES = 6  # a graph
MAX_MATCHES = 2_000


def cases(random: Random, graph: DataGraph) -> Iterator[tuple[Query, list[Match]]]:
    """Queries with all their matches, of which there are some more often than chance would have it."""
    for _ in range(QUERIES):
        for _ in range(random.choice([1, 10, 10])):
            query = with_parts(random, graph)
            matches = list(islice(Oracle(graph, query).matches(), MAX_MATCHES + 1))
            if 0 < len(matches) <= MAX_MATCHES:
                break
        if len(matches) <= MAX_MATCHES:
            yield query, matches


@pytest.mark.parametrize(
    "what",
    [
        "count",
        "rows",
        "count by inclusion and exclusion",
        "count by changed orders",
        "rows by predicates where edges lead",
    ],
)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_counts_and_rows(chunk: int, what: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    what, _, way = what.partition(" by ")
    for owner, name, value in WAYS[way or "as planned"]:
        monkeypatch.setattr(owner, name, value)
    executed = 0
    for seed in range(chunk * GRAPHS, (chunk + 1) * GRAPHS):
        data, queries = matched(f"parts {seed}", cases)
        graph = to_gquery(data)
        for query, rows in queries:
            text = f"{query.body} RETURN {'count(*) AS n' if what == 'count' else query.returned}"
            told = f"seed {seed}: {text} {query.parameters} {query.mode}\n{data}"
            try:
                result = graph.query(text, query.parameters, mode=query.mode, device=device)
                found = result.scalar() if what == "count" else found_rows(result)
            except gquery.UnsupportedError:
                continue
            except Exception as error:
                raise AssertionError(told) from error
            assert found == (query.count if what == "count" else rows), told
            executed += 1
    if not executed:
        pytest.skip("not executed yet")


@pytest.mark.parametrize("chunk", range(4))
def test_oracle_agrees_with_sql(chunk: int) -> None:
    """The judges judge each other, without gquery."""
    for seed in range(chunk * 10 * FUZZ, (chunk + 1) * 10 * FUZZ):
        data, queries = matched(f"parts {seed}", cases)
        with sql.open_graph(data) as connection:
            for query, _ in queries:
                assert sql.count(connection, query.query) == query.count, f"seed {seed}: {query.body}\n{data}"
