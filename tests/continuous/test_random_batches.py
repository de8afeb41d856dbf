"""What was answered before a batch, with what the batch changed, is what is answered after it."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from gquery.continuous.standing import Emit, Standing
from gquery.session import Graph
from gquery.settings import Settings
from gquery.storage.graph import Snapshot
from tests.continuous.batches import random_graph, random_steps

MODES = ("different edges", "repeatable elements", "different nodes", "induced")

ROWS = (
    "MATCH (a:A)-[:X]-(b)-[:Y]->(c) RETURN a.p, c.p",
    "MATCH (a)-[e:X]->(b:A)-[f:X|Y]-(c) WHERE e.w > 2 AND a.p < c.p RETURN a.p, e.w, f.w, c.p",
    "MATCH (a)-[e]->(b)<-[f]-(c), (a)-[g]-(a) RETURN e.w, b.p, c.p",
    "MATCH (a:A)-[:X]->(b) RETURN a, b.p",
    "MATCH p = (a:A)-[:X]->(b)-[]->(c:B) RETURN p",
    "MATCH (a)-[e:X]->(b) WITH a, e.w + b.p AS s WHERE s > 2 RETURN a.p AS p, s ORDER BY s",
    "MATCH (a)-[e:X]->(b) UNWIND [a.p, b.p] AS p RETURN p, e.w",
    "MATCH (a)-[e:Z]->(b) RETURN a.p AS p",
    "MATCH (a:A) WHERE a.p > 1 RETURN a.p",
    "MATCH (a:A) OPTIONAL MATCH (a)-[:X]->(b) RETURN a.p, b.p",
    "MATCH (a:A)-[:X]->(b) WHERE NOT (b)-[:Y]->(a) RETURN a.p, b.p",
    "MATCH (a:A)-[:X*1..2]->(b) RETURN a.p, b.p",
    "MATCH (a:A)-[:X]->(b) RETURN DISTINCT b.p",
    "MATCH (a)-[:X]->(b) RETURN a.p AS p ORDER BY p LIMIT 3",
    "MATCH (a)-[:X]->(b) RETURN a.p AS p UNION MATCH (a)-[:Y]->(b) RETURN b.p AS p",
)
COUNTS = (
    "MATCH (a)-[:X]->(b)-[:X]->(c) RETURN count(*) AS n",
    "MATCH (a)-[]-(b)-[]-(c)-[]-(a) RETURN count(*) AS n",
    "MATCH (a)-[:X]-(b)-[:X]-(c)-[:X]-(d)-[:X]-(a) RETURN count(*) AS n",
    "MATCH (a)-[:X]-(b), (a)-[:X]-(c), (a)-[:Y]-(d) RETURN count(*) AS n",
    "MATCH (a)-[:X]->(b:B), (c:A)-[:Y]->(d) WHERE a.p = c.p RETURN count(*) AS n",
    "MATCH (a)-[:X]-(b)-[:X]-(c) RETURN a.p AS p, count(*) AS n",
    "MATCH (a:A)-[:X]->(b) WHERE NOT (b)-[:Y]->() RETURN a.p AS p, count(*) AS n",
    "MATCH (a:A) OPTIONAL MATCH (a)-[:X]->(b) RETURN a.p AS p, count(b) AS n",
)
pytestmark = pytest.mark.filterwarnings("ignore::gquery.QueryWarning")

GRAPHS, BATCHES = 1_250 if os.environ.get("GQUERY_SLOW") else 12, 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(GRAPHS))
def test_rows(seed: int, mode: str, device: str) -> None:
    for query, before, after, added, removed in _changes(seed, mode, device, ROWS, "rows"):
        expected = _rows(after)
        expected.subtract(_rows(before))
        assert (_rows(added), _rows(removed)) == (+expected, -expected), f"{query}, {mode}, seed {seed}"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(GRAPHS))
def test_counts(seed: int, mode: str, device: str) -> None:
    for query, before, after, added, removed in _changes(seed, mode, device, COUNTS, "counts"):
        expected, found = _groups(after), _groups(added)
        expected.subtract(_groups(before))
        found.subtract(_groups(removed))
        assert _some(found) == _some(expected), f"{query}, {mode}, seed {seed}"


def test_vertices_beyond_all_rows_of_a_matrix() -> None:
    """Two rows decide a sum, and the vertex of one is beyond all that have any: that ended the process."""
    test_counts(102, "repeatable elements", "cpu")


@pytest.mark.parametrize("seed", range(8))
def test_several_batches_as_one_change(seed: int) -> None:
    random = np.random.default_rng([seed, 2])
    first, *others = random_steps(random, random_graph(random).snapshot, 4)
    for each in others:
        first = first.joined(each)
    for query in ROWS:
        added, removed = Standing(query, {}, Settings(strict=False), "rows").change(first)
        expected = _rows(_answer(first.new, query, Settings(strict=False)))
        expected.subtract(_rows(_answer(first.old, query, Settings(strict=False))))
        assert (_rows(added), _rows(removed)) == (+expected, -expected), f"{query}, seed {seed}"


def _changes(seed: int, mode: Any, device: Any, queries: tuple[str, ...], emit: Emit) -> Any:
    """A few of the queries with what they answer before and after each batch, and what was said of the change."""
    random = np.random.default_rng([seed, MODES.index(mode)])
    settings = Settings(mode=mode, device=device, strict=False)
    chosen = [Standing(query, {}, settings, emit) for query in random.choice(queries, 3, replace=False).tolist()]
    graph = random_graph(random)
    answers = [_answer(graph.snapshot, standing.text, settings) for standing in chosen]
    for between in random_steps(random, graph.snapshot, BATCHES):
        for place, standing in enumerate(chosen):
            before, answers[place] = answers[place], _answer(between.new, standing.text, settings)
            yield standing.text, before, answers[place], *standing.change(between)


def _answer(snapshot: Snapshot, query: str, settings: Settings) -> pa.Table:
    return Graph(snapshot, settings=settings).query(query).to_arrow()


def _rows(table: pa.Table) -> Counter[str]:
    return Counter(repr(list(row.values())) for row in table.to_pylist())


def _groups(table: pa.Table) -> Counter[str]:
    groups: Counter[str] = Counter()
    for row in table.to_pylist():
        groups[repr(row.get("p"))] += row["n"]
    return groups


def _some(groups: Counter[str]) -> dict[str, int]:
    return {group: count for group, count in groups.items() if count}
