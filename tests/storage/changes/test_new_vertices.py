"""Vertices that are added later, on the storage alone: nobody else's id changes, and every answer is right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.session import Graph
from gquery.storage.changes.applied import applied
from gquery.storage.changes.batch import Batch, NewVertices
from gquery.storage.graph import Snapshot
from gquery.storage.persist import open_snapshot, save
from tests.storage.snapshots import content, rich_snapshot

ALL = "MATCH (n) RETURN id(n) AS id, labels(n) AS labels, n AS n"


def vertices(*labels: str, ids: list[int] | list[str] | None, **columns: list[object]) -> NewVertices:
    table = pa.table(columns) if columns else pa.table({"id": ids}).select([])
    return NewVertices(labels, table, None if ids is None else pa.array(ids))


def with_vertices(snapshot: Snapshot, added: NewVertices) -> Snapshot:
    return applied(snapshot, Batch((added,)))


def grown(snapshot: Snapshot) -> Snapshot:
    """Two middle tables grow, one of them twice; the empty one gets rows; there are two new ones."""
    for added in (
        vertices("Person", ids=[40, 50], id=[40, 50], name=["Eve", None], age=[5, 6]),
        vertices("Message", "Post", ids=["p7"], score=[2.5]),
        vertices("Person", ids=[60], id=[60], name=["Zoë"]),
        vertices("City", ids=["c"], name=["Ulm"]),
        vertices("Empty", ids=[1]),
        vertices("Person", "City", ids=[70], name=["both"]),
    ):
        snapshot = with_vertices(snapshot, added)
    return snapshot


@pytest.fixture(params=["in memory", "opened", "saved again"])
def snapshots(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Snapshot, Snapshot]:
    """A graph, and one that has grown from it."""
    before = rich_snapshot()
    if request.param == "opened":
        save(before, tmp_path / "before.gq")
        before = open_snapshot(tmp_path / "before.gq")
    after = grown(before)
    if request.param == "saved again":
        save(after, tmp_path / "after.gq")
        after = open_snapshot(tmp_path / "after.gq")
    return before, after


@pytest.mark.parametrize("snapshots", ["in memory", "opened"], indirect=True)
def test_everybody_else_keeps_id_and_values(snapshots: tuple[Snapshot, Snapshot]) -> None:
    before, after = snapshots
    whole, later = content(before), content(after)
    for name in whole:
        if name.startswith(("edges", "KNOWS", "LIKES", "NEVER")):
            assert later[name] == whole[name]
    old = before.vertex_count
    assert after.vertex_count == old + 7
    assert after.signatures()[:old].tolist() == before.signatures().tolist()
    assert not after.signatures()[old:].any()
    ids = np.arange(old)
    assert after.vertex_numbers.tables_of(ids).tolist() == before.vertex_numbers.tables_of(ids).tolist()
    for (table, where, rows), (same, here, there) in zip(
        before.vertex_numbers.parts(ids), after.vertex_numbers.parts(ids), strict=True
    ):
        assert (table, where.tolist(), rows.tolist()) == (same, here.tolist(), there.tolist())  # type: ignore[union-attr]
        for column in before.vertex_tables[table].columns:
            values = before.vertex_tables[table].columns[column]
            assert after.vertex_tables[table].columns[column].to_pylist()[: len(values)] == values.to_pylist()
    assert before.counts.types == after.counts.types
    assert before.vertex_count == old  # a reader of the old graph sees nothing


def test_queries(snapshots: tuple[Snapshot, Snapshot]) -> None:
    graph = Graph(snapshots[1])
    people = "MATCH (p:Person) RETURN p.id AS id, p.name AS name, p.age AS age ORDER BY id"
    assert graph.query(people).rows() == [
        (10, "Ann 0", None), (20, None, None), (30, "Łukasz 🜚", None), (40, "Eve", 5), (50, None, 6), (60, "Zoë", None),
        (None, "both", None),
    ]  # fmt: skip
    count = "MATCH (p:Person) WHERE p.age >= 5 AND p.name IS NOT NULL RETURN count(*) AS n"
    assert graph.query(count).scalar() == 1
    assert graph.query("MATCH (p:Person {name: 'Zoë'}) RETURN toString(id(p)) AS id").scalar() == "60"
    assert graph.query("MATCH (m:Post) WHERE m.score > 1 AND m.score < 9 RETURN sum(m.score) AS s").scalar() == 4.0
    assert graph.query("MATCH (c:City) RETURN labels(c) AS l, c.name AS name ORDER BY name").rows() == [
        (["City"], "Ulm"), (["Person", "City"], "both"),
    ]  # fmt: skip
    assert graph.query("MATCH (e:Empty) RETURN count(*) AS n").scalar() == 1
    friends = "MATCH (a:Person)-[:KNOWS]-(b:Person) RETURN a.name AS a, b.name AS b ORDER BY a, b"
    assert graph.query(friends).rows() == Graph(snapshots[0]).query(friends).rows()
    lonely = "MATCH (a:Person) WHERE NOT EXISTS { (a)-[:KNOWS]-() } RETURN a.name AS a ORDER BY a"
    assert graph.query(lonely).rows() == [("Eve",), ("Zoë",), ("both",), (None,)]
    pairs = "MATCH (a:Person), (b:Post) RETURN count(*) AS n"
    assert graph.query(pairs).scalar() == 7 * 5


@pytest.mark.parametrize("snapshots", ["in memory", "opened"], indirect=True)
def test_whole_elements(snapshots: tuple[Snapshot, Snapshot]) -> None:
    before, after = (Graph(snapshot).query(ALL).rows() for snapshot in snapshots)
    assert len(after) == len(before) + 7
    told = [(str(id), labels, {key: value for key, value in node.properties.items() if value is not None})
            for id, labels, node in after]  # fmt: skip
    assert told[len(before) :] == [
        ("40", ["Person"], {"id": 40, "name": "Eve", "age": 5}), ("50", ["Person"], {"id": 50, "age": 6}),
        ("p7", ["Post", "Message"], {"score": 2.5}), ("60", ["Person"], {"id": 60, "name": "Zoë"}),
        ("c", ["City"], {"name": "Ulm"}), ("1", ["Empty"], {}), ("70", ["Person", "City"], {"name": "both"}),
    ]  # fmt: skip


def test_a_filter_that_all_passed_before() -> None:
    """Everybody had an edge; the new one has none, so that nothing may be left out any more."""
    people = pa.table({"id": [0, 1]})
    ring = pa.table({"source": [0, 1], "target": [1, 0]})
    before = gquery.from_arrow(vertices={"P": people}, edges={("P", "T", "P"): ring}).snapshot
    text = "MATCH (a:P) WHERE EXISTS { (a)-[:T]->(:P) } RETURN count(*) AS n"
    assert Graph(before).query(text).scalar() == 2
    assert "Left out: " in Graph(before).explain("MATCH (a:P)-[:T]->(b:P) RETURN a.id AS a")
    after = with_vertices(before, vertices("P", ids=[2], id=[2]))
    assert "Left out: " not in Graph(after).explain("MATCH (a:P)-[:T]->(b:P) RETURN a.id AS a")
    assert Graph(after).query(text).scalar() == 2


def test_edges_are_shared() -> None:
    before = rich_snapshot()
    after = grown(before)
    assert after.adjacency(["KNOWS"], "out") is before.adjacency(["KNOWS"], "out")
    assert after.edge_tables is before.edge_tables


def test_many_small_updates() -> None:
    snapshot = rich_snapshot()
    for number in range(1500):
        snapshot = with_vertices(snapshot, vertices("Person", ids=[100 + number], id=[100 + number]))
    assert len(snapshot.vertex_numbers.segments) == 4
    assert Graph(snapshot).query("MATCH (p:Person) RETURN sum(p.id) AS n").scalar() == 60 + sum(range(100, 1600))


def test_types_that_no_column_holds() -> None:
    """Values keep their types, and so do ids: the new vertices are in other tables of the same label."""
    after = with_vertices(rich_snapshot(), vertices("Person", ids=[1], name=[1.5]))
    after = with_vertices(after, vertices("Person", ids=["one"], name=["two"]))
    graph = Graph(after)
    assert [table.labels for table in after.vertex_tables] == [("Person",), ("Post", "Message"), ("Empty",), (),
                                                               ("Person",), ("Person",)]  # fmt: skip
    names = graph.query("MATCH (p:Person) RETURN id(p), p.name ORDER BY toString(id(p))").rows()
    assert names == [(1, 1.5), (10, "Ann 0"), (20, None), (30, "Łukasz 🜚"), ("one", "two")]
    assert graph.query("MATCH (p:Person) WHERE p.name > 1 RETURN id(p)").rows() == [(1,)]


def test_ids_that_are_given_out() -> None:
    """The next number is above all that are ids, and all that are written as one."""
    first = with_vertices(rich_snapshot(), vertices("Person", ids=None, name=["a", "b"]))
    assert first.vertex_tables[0].ids.to_pylist() == [10, 20, 30, 31, 32]
    assert first.vertex_tables[0].columns["id"].to_pylist() == [10, 20, 30, 31, 32]
    second = with_vertices(first, vertices("Message", "Post", ids=["100"], score=[1.0]))
    third = with_vertices(second, vertices("Message", "Post", ids=None, score=[2.0]))
    assert third.vertex_tables[1].ids.to_pylist() == ["p1", "p2", "p3", "ä", "100", "101"]
    assert with_vertices(third, vertices("New", ids=None, x=[1])).vertex_tables[-1].ids.to_pylist() == [102]
