"""A change of one edge: edges of the pattern that are alike are looked at once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from gquery.continuous.answers import Answering
from gquery.continuous.between import Between
from gquery.settings import Settings
from gquery.storage.changes.applied import applied
from gquery.storage.changes.batch import Batch, NewEdges
from tests.continuous.batches import random_graph
from tests.continuous.queries import MODES
from tests.continuous.rerun import Rerun

ROWS = (
    "MATCH (a)-[:X]->(b)-[:X]->(c)-[:X]->(a) RETURN a.p, b.p, c.p",
    "MATCH (a)-[:X]-(b)-[:X]-(c)-[:X]-(d)-[:X]-(a) RETURN a.p, b.p, c.p, d.p",
    "MATCH (a)-[:X]->(b)<-[:X]-(c) RETURN a.p, b.p, c.p",
    "MATCH (a)-[:X]->(b)<-[:X]-(c) WHERE a.p < c.p RETURN a.p, b.p, c.p",
    "MATCH (a)-[e:X]->(b)<-[f:X]-(c) RETURN a.p, e.w, f.w",
    "MATCH (a)-[:X]-(b), (a)-[:X]-(c), (a)-[:Y]-(d) RETURN a.p, b.p",
    "MATCH (a)-[:X]->(b)-[:X]->(a) RETURN a.p, b.p",
    "MATCH (a)-[:X]->(b), (a)-[:X]->(b), (b)-[:X]-(c) RETURN a.p, c.p",
)
COUNTS = tuple(f"{query.split('RETURN')[0]} RETURN count(*) AS n" for query in ROWS)


@pytest.mark.parametrize("mode", MODES[:3])
@pytest.mark.parametrize("seed", range(6))
def test_one_edge(seed: int, mode: str, device: str) -> None:
    random = np.random.default_rng([seed, 1])
    snapshot, settings = random_graph(random).snapshot, Settings(mode=mode, device=device)  # type: ignore[arg-type]
    watched = [Rerun(query, "rows", settings, snapshot) for query in ROWS]
    watched += [Rerun(query, "counts", settings, snapshot) for query in COUNTS]
    for _ in range(2):
        ends = random.integers(0, snapshot.vertex_count, (2, 1)).astype(np.int32)
        there = np.setdiff1d(np.arange(snapshot.edge_count), snapshot.edges.gone)
        new = NewEdges("X", *ends, pa.table({"w": random.integers(0, 4, 1)}))
        batch = Batch(gone_edges=random.choice(there, 1)) if random.random() < 0.4 and len(there) else Batch((), (new,))
        after = applied(snapshot, batch)
        between = Between.by(snapshot, after, [batch])
        for each in watched:
            each.follow(between)
        snapshot = after


def test_edges_that_are_alike_are_planned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a ring one relationship is looked at, in a graph without loops."""
    ring = "MATCH (a)-[:X]->(b)-[:X]->(c)-[:X]->(a) RETURN a.id AS a, b.id AS b, c.id AS c"
    store = _ring()
    planned = []
    whole = Answering._plan

    def plan(answering: Answering, query: object, *rest: object) -> object:
        planned.append(whole(answering, query, *rest))  # type: ignore[arg-type]
        return planned[-1]

    watch = store.watch(ring)
    monkeypatch.setattr(Answering, "_plan", plan)
    store.apply(insert={("V", "X", "V"): {"source": [3], "target": [1]}})
    change = watch.next()
    assert change is not None
    assert sorted(change.added["a"].to_pylist()) == [1, 2, 3]
    assert [len(each.plan.matches) for each in planned] == [1, 1]  # the pattern, its term


def _ring() -> object:
    import gquery

    edges = {("V", "X", "V"): {"source": [1, 2], "target": [2, 3]}}
    return gquery.Store(gquery.from_arrow(vertices={"V": {"id": [1, 2, 3, 4]}}, edges=edges))
