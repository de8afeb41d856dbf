"""Relationships of variable length and shortest paths against DuckDB's recursive queries, on random small graphs with
self-loops and parallel edges."""

from __future__ import annotations

from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import gquery

SIZE, EDGES = 7, 11
GRAPHS = 25  # of each seed

# Walks as lists of edges, from each vertex on. Such a query meets again what it has met before: how long walks are has
# to be said.
WALKS = """
WITH RECURSIVE walks(start, stop, edges) AS (
    SELECT source, target, [number] FROM edges
    UNION ALL
    SELECT start, target, list_append(walks.edges, number) FROM walks JOIN edges ON source = stop
    WHERE len(walks.edges) < {most} {further}
)
"""
TRAIL = "AND NOT list_contains(walks.edges, number)"
LONGEST_TRAIL, LONGEST_PATH = 5, SIZE

QUESTIONS = {
    "walks": (
        "MATCH REPEATABLE ELEMENTS (a)-[:E*1..4]->(b) RETURN a.id, b.id, count(*)",
        WALKS.format(most=4, further="") + "SELECT start, stop, count(*) FROM walks GROUP BY ALL",
    ),
    "trails": (
        f"MATCH (a)-[e:E*2..{LONGEST_TRAIL}]->(b) RETURN a.id, b.id, size(e), count(*)",
        WALKS.format(most=LONGEST_TRAIL, further=TRAIL)
        + "SELECT start, stop, len(edges), count(*) FROM walks WHERE len(edges) >= 2 GROUP BY ALL",
    ),
    "reached": (
        "MATCH (a)-[:E*]->(b) RETURN DISTINCT a.id, b.id",
        WALKS.format(most=LONGEST_PATH, further="") + "SELECT DISTINCT start, stop FROM walks",
    ),
    "lengths of shortest paths": (
        "MATCH p = shortestPath((a)-[:E*]->(b)) WHERE a <> b RETURN a.id, b.id, length(p)",
        WALKS.format(most=LONGEST_PATH, further="")
        + "SELECT start, stop, min(len(edges)) FROM walks WHERE start <> stop GROUP BY ALL",
    ),
    "all shortest paths": (
        "MATCH p = allShortestPaths((a)-[:E*]->(b)) WHERE a <> b RETURN a.id, b.id, length(p), count(*)",
        WALKS.format(most=LONGEST_PATH, further="")
        + "SELECT start, stop, len(edges), count(*) FROM walks WHERE start <> stop "
        "GROUP BY start, stop, len(edges) QUALIFY len(edges) = min(len(edges)) OVER (PARTITION BY start, stop)",
    ),
}  # fmt: skip


def random_edges(random: Random) -> pa.Table:
    ends = [(random.randrange(SIZE), random.randrange(SIZE)) for _ in range(random.randrange(EDGES))]
    sources, targets = zip(*ends, strict=True) if ends else ((), ())
    columns = {"source": sources, "target": targets, "number": range(len(ends))}
    return pa.table({name: pa.array(list(values), pa.int64()) for name, values in columns.items()})


@pytest.mark.parametrize("seed", range(4))
def test_both_say_the_same(seed: int) -> None:
    random = Random(f"recursive {seed}")
    connection = duckdb.connect(config={"threads": 1})
    for number in range(GRAPHS):
        edges = random_edges(random)
        graph = gquery.from_arrow({"V": pa.table({"id": range(SIZE)})}, {("V", "E", "V"): edges})
        connection.register("edges", edges)
        for name, (cypher, sql) in QUESTIONS.items():
            found: list[Any] = sorted(map(tuple, graph.query(cypher)))
            assert found == sorted(connection.execute(sql).fetchall()), (seed, number, name)
