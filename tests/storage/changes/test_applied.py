"""A snapshot after batches against one that was made of the same elements from scratch."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import gquery
from gquery.session import Graph
from gquery.storage.changes import paged, rows
from gquery.storage.changes.applied import applied
from gquery.storage.changes.columns import pieces
from gquery.storage.changes.compacted import compacted
from gquery.storage.counted import copies
from gquery.storage.counted.counting import count
from gquery.storage.counted.signatures import count_signatures
from gquery.storage.edges import Edges
from gquery.storage.graph import Snapshot
from gquery.storage.tables import EdgeTable, VertexTable
from tests.storage.changes.model import TYPES, Model

QUERIES = [
    "MATCH (n) RETURN id(n) AS id, labels(n) AS l, n.x AS x, n.y AS y, n.z AS z",
    "MATCH (n:A) RETURN id(n) AS id, n",
    "MATCH (a)-[r]->(b) RETURN id(a) AS a, type(r) AS t, r.x AS x, id(b) AS b",
    "MATCH (a:A)-[r:T]-(b) RETURN id(a) AS a, r, id(b) AS b",
    "MATCH (a)-[:T]->(b)-[:U|V]->(c) RETURN count(*) AS n",
    "MATCH (a)-[:T]-(b)-[:T]-(c)-[:T]-(a) RETURN count(*) AS n",
    "MATCH (a)-[:T]->(a) RETURN id(a) AS a",
    "MATCH DIFFERENT NODES (a:A)-[:T]->(b)<-[:T]-(c:B) RETURN id(b) AS b, count(*) AS n",
    "MATCH (a) WHERE NOT EXISTS { (a)-[:T]->() } RETURN id(a) AS a",
    "MATCH (a:B) OPTIONAL MATCH (a)-[r:U]->(b:A) WHERE r.x > 1 RETURN id(a) AS a, id(b) AS b",
    "MATCH (a)-[r:T|U {x: 2}]->(b) RETURN id(a) AS a, id(b) AS b",
    "MATCH (a)-[:T*1..3]->(b:A) RETURN id(a) AS a, id(b) AS b",
    "MATCH (a {x: 1}) RETURN id(a) AS a, a.x AS x",
    "MATCH (a), (b) WHERE a.x = b.y RETURN count(*) AS n",
    "MATCH (n) WITH n.x AS x, count(*) AS c RETURN c",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_against_a_graph_from_scratch(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if seed % 2:  # rows in pages, though the graph is small
        monkeypatch.setattr(rows, "_SMALL", 0)
        monkeypatch.setattr(rows, "_WHOLE", 0)
    if seed % 3 == 0:  # tables that have too many pieces, or patches, though they are few
        monkeypatch.setattr(pieces, "_MANY", seed // 3 + 2)
        monkeypatch.setattr(pieces, "_LONG", 4)
    random, model = Random(f"applied {seed}"), Model()
    snapshot = model.snapshot()
    for step in range(20):
        snapshot = applied(snapshot, model.batch(random))
        check_elements(snapshot, model)
        check_counts(snapshot)
        assert max(map(depth, (*snapshot.vertex_tables, *snapshot.edge_tables)), default=0) <= 2
        if step % 10 == 9:
            check_answers(snapshot, model)
    whole = compacted(snapshot)
    assert (whole.vertex_count, whole.edge_count) == (len(model.vertices), len(model.edges))
    check_answers(whole, model)
    Graph(snapshot).save(tmp_path / "saved.gq")
    check_answers(gquery.open(tmp_path / "saved.gq").snapshot, model)
    snapshot = gquery.open(tmp_path / "saved.gq").snapshot


@pytest.mark.filterwarnings("ignore::gquery.QueryWarning")
def test_a_long_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of versions, none of which is looked at before the end."""
    monkeypatch.setattr(rows, "_SMALL", 0)
    monkeypatch.setattr(rows, "_WHOLE", 0)
    monkeypatch.setattr(paged, "_LEAST", 1 << 7)  # so that there is no room left now and then
    monkeypatch.setattr(pieces, "_MANY", 8)
    monkeypatch.setattr(pieces, "_LONG", 16)
    seed = os.environ.get("GQUERY_SEED", "long chain")
    print("seed", seed)
    random, model = Random(seed), Model()
    snapshot = model.snapshot()
    for type_ in TYPES:
        snapshot.adjacency([type_], "out")
    _ = snapshot.counts
    for _ in range(150):
        snapshot = applied(snapshot, model.batch(random))
    check_elements(snapshot, model)
    check_counts(snapshot)
    check_answers(snapshot, model)
    assert snapshot.signatures().tolist() == count_signatures(snapshot).tolist()


def depth(table: VertexTable | EdgeTable) -> int:
    """How many tables are made of each other."""
    inner = getattr(table, "pieces", None)
    return 0 if inner is None else 1 + max((depth(piece.table) for piece in inner.pieces), default=0)


def check_elements(snapshot: Snapshot, model: Model) -> None:
    """Every id means what it means in the model."""
    assert (snapshot.vertex_count, snapshot.edge_count) == (model.vertex_ids, model.edge_ids)
    graph = Graph(snapshot)
    assert (graph.vertex_count, graph.edge_count) == (len(model.vertices), len(model.edges))
    found = {}
    for number, (_, row) in _rows(snapshot.vertex_numbers, np.array([*model.vertices], np.int32)):
        table = snapshot.vertex_tables[_]
        found[number] = str(table.ids[row]), frozenset(table.labels), _properties(table, row)
    assert found == {number: (str(v.id), v.labels, v.properties) for number, v in model.vertices.items()}
    edges = {}
    for number, (_, row) in _rows(snapshot.edges.numbers, np.array([*model.edges], np.int64)):
        edge_table = snapshot.edge_tables[_]
        source, target = edge_table.ends
        edges[number] = edge_table.type, int(source[row]), int(target[row]), _properties(edge_table, row)
    assert edges == {number: (e.type, e.source, e.target, e.properties) for number, e in model.edges.items()}
    for name in TYPES:
        for direction in ("out", "in", "both"):
            adjacency = snapshot.adjacency([name], direction)
            own = {number for number, edge in model.edges.items() if edge.type == name}
            assert set(adjacency.compact().edges.tolist()) == own


def check_counts(snapshot: Snapshot) -> None:
    """As counted anew, but for what may be on the safe side."""
    wanted, found = count(snapshot), snapshot.counts
    assert (found.vertices, {*found.types}) == (wanted.vertices, {*wanted.types})
    for name, mine in found.types.items():
        anew = wanted.types[name]
        assert sorted(mine.between) == sorted(anew.between)
        assert sorted(row[:-1] for row in mine.degrees) == sorted(row[:-1] for row in anew.degrees)
        largest = {row[:2]: row.maximum for row in anew.degrees}
        assert all(row.maximum >= largest[row[:2]] for row in mine.degrees)
        assert (mine.simple, mine.simple_both) <= (anew.simple, anew.simple_both)
        assert anew.simple or not mine.simple
        assert anew.simple_both or not mine.simple_both


def _rows(numbers: Any, ids: Any) -> Iterator[tuple[int, tuple[int, int]]]:
    for table, where, part in numbers.parts(ids):
        yield from zip(ids[where].tolist(), ((table, row) for row in part.tolist()), strict=True)


def _properties(table: Any, row: int) -> dict[str, Any]:
    every = {name: column[int(row)].as_py() for name, column in table.columns.items()}
    return {name: value for name, value in every.items() if value is not None}


def check_answers(snapshot: Snapshot, model: Model) -> None:
    wanted, found = Graph(model.snapshot(), settings=LENIENT), Graph(snapshot, settings=LENIENT)
    for query in QUERIES:
        assert answer(found, query) == answer(wanted, query), query


LENIENT = gquery.settings.Settings(strict=False)


def answer(graph: Graph, query: str) -> Counter[str]:
    return Counter(str([_plain(value) for value in row]) for row in graph.query(query).rows())


def _plain(value: Any) -> Any:
    if isinstance(value, gquery.Node | gquery.Relationship):
        return sorted((name, each) for name, each in value.properties.items() if each is not None)
    return sorted(value) if isinstance(value, list) else value


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("short", [1 << 20, 0])
def test_signatures_are_kept_up(seed: int, short: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As those that are counted anew; short: whether they are copied or mapped."""
    monkeypatch.setattr(copies, "_SHORT", short)
    monkeypatch.setattr("gquery.storage.changes.applied._MANY", 1)
    random, model = Random(f"signatures {seed}"), Model()
    snapshot = model.snapshot()
    for _ in range(20):
        snapshot = applied(snapshot, model.batch(random))
        if random.random() < 0.5:
            assert snapshot.signatures().tolist() == count_signatures(snapshot).tolist()
        _ = snapshot.counts


def test_rows_that_counting_asks_for_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for each batch anew, where nobody else has asked for them."""
    ends = [{"source": [place], "target": [place + 1]} for place in range(5)]
    graph = gquery.from_arrow(vertices={"V": {"id": list(range(6))}}, edges={("V", "X", "V"): ends[0]})
    made = []
    build = Edges.build
    monkeypatch.setattr(Edges, "build", lambda edges, key: made.append(key) or build(edges, key))  # type: ignore[func-returns-value]
    store = gquery.Store(graph)
    watch = store.watch("MATCH (a)-[:X]-(b) RETURN count(*) AS n", emit="counts")
    for each in ends[1:]:
        store.apply(insert={("V", "X", "V"): each})
        assert watch.next() is not None
    assert len(made) == len({*made})
