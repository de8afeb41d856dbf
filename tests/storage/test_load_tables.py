"""Tables in memory: Arrow, pandas, Polars, DuckDB, networkx."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import networkx as nx
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gquery
from gquery.errors import LoadError
from gquery.integrations.networkx import from_networkx
from gquery.storage.load import from_arrow, from_duckdb
from tests.storage.loaded import edges, ids, vertices

PEOPLE = {"id": [1, 2, 3], "name": ["a", None, "c"]}
KNOWS = {"source": [1, 2], "target": [2, 3], "w": [0.5, 1.5]}

MAKERS = {
    "dict": dict,
    "table": pa.table,
    "batch": pa.record_batch,
    "reader": lambda columns: pa.table(columns).to_reader(),
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "rows": lambda columns: pa.table(columns).to_pylist(),
    "relation": lambda columns: duckdb.from_arrow(pa.table(columns)),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_anything_with_columns(maker: str) -> None:
    make: Any = MAKERS[maker]
    graph = from_arrow({"Person": make(PEOPLE)}, {("Person", "KNOWS", "Person"): make(KNOWS)})
    assert vertices(graph, "Person") == [{"id": 1, "name": "a"}, {"id": 2, "name": None}, {"id": 3, "name": "c"}]
    assert edges(graph) == [(1, "KNOWS", 2, {"w": 0.5}), (2, "KNOWS", 3, {"w": 1.5})]


def test_an_index_with_a_name_is_columns() -> None:
    """Without it the next column was taken for the ids, or the ends of edges were not found."""
    people, knows = pd.DataFrame(PEOPLE).set_index("id"), pd.DataFrame(KNOWS).set_index(["source", "target"])
    graph = from_arrow({"Person": people}, {("Person", "KNOWS", "Person"): knows})
    assert vertices(graph, "Person") == [{"id": 1, "name": "a"}, {"id": 2, "name": None}, {"id": 3, "name": "c"}]
    assert edges(graph) == [(1, "KNOWS", 2, {"w": 0.5}), (2, "KNOWS", 3, {"w": 1.5})]
    twice = from_arrow({"Person": pd.DataFrame(PEOPLE).set_index("id", drop=False)}, {})
    assert ids(twice) == {"Person": [1, 2, 3]}
    sorted_by = from_arrow({"Person": pd.DataFrame(PEOPLE).sort_values("id", ascending=False)}, {})
    assert [each["id"] for each in vertices(sorted_by, "Person")] == [3, 2, 1]


def test_several_labels_and_none() -> None:
    graph = from_arrow(
        {"Post:Message": {"id": [1]}, ("Comment", "Message"): {"id": [2]}, "": {"id": [3]}},
        {("Message", "X", "Message"): {"a": [1, 2], "b": [2, 1]}, ("", "Y", "Post"): {"a": [3], "b": [1]}},
    )
    assert ids(graph) == {"Post:Message": [1], "Comment:Message": [2], "": [3]}
    assert edges(graph) == [(1, "X", 2), (2, "X", 1), (3, "Y", 1)]


def test_exact_labels_come_before_those_that_include_them() -> None:
    tables = {("A",): {"id": [1, 2]}, ("A", "B"): {"id": [1, 9]}}
    graph = from_arrow(tables, {(("A",), "X", ("A", "B")): {"s": [1, 9], "t": [1, 9]}})
    source, target = graph.snapshot.edge_tables[0].ends
    assert (source.tolist(), target.tolist()) == ([0, 3], [2, 3])


def test_pairs_are_merged_between_tables_of_one_type() -> None:
    """Between the labels of one table and those of another, each pair had an edge for each table."""
    one = {"source": [1], "target": [1]}
    tables = {
        ("A", "R", "A"): {"source": [1, 2, 1], "target": [2, 1, 1]},
        ("A", "R", "B"): one,
        ("B", "R", "A"): one,
        ("B", "S", "A"): one,
        ("B", "R", ("A",)): {"source": [1, 1, 2], "target": [1, 2, 2]},
    }
    graph = from_arrow({"A": {"id": [1, 2]}, "B": {"id": [1, 2]}}, tables, undirected=True)
    assert graph.report.merged_edges == 3
    assert [table.count for table in graph.snapshot.edge_tables] == [2, 1, 0, 1, 2]


def test_id_and_end_columns() -> None:
    graph = from_arrow(
        {"A": {"x": [9], "_ID": [1]}, "B": {"pid": ["p"], "x": [9]}, "C": {"x": [8], "key": [5]}},
        {("A", "R", "B"): {"b": ["p"], "a": [1]}, ("A", "S", "C"): {"to": [5], "from": [1]}},
        id={"C": "key"},
        ends={"R": ("a", "b")},
    )
    assert ids(graph) == {"A": [1], "B": ["p"], "C": [5]}
    assert edges(graph) == [(1, "R", "p"), (1, "S", 5)]


def test_types_are_brought_to_few() -> None:
    table = pa.table(
        {
            "id": pa.array([1], pa.uint8()),
            "a": pa.array([1], pa.int16()),
            "b": pa.array([1.5], pa.float32()),
            "c": pa.array(["x"], pa.large_string()),
            "d": pa.array(["x"]).dictionary_encode(),
            "e": pa.array([[1, 2]], pa.large_list(pa.int8())),
            "f": pa.array(["x"], pa.string_view()),
        }
    )
    schema = from_arrow({"A": table}, {}).snapshot.schema.vertex_tables[0]
    assert schema.properties == {
        "id": pa.int64(), "a": pa.int64(), "b": pa.float64(), "c": pa.string(), "d": pa.string(),
        "e": pa.list_(pa.int64()), "f": pa.string(),
    }  # fmt: skip


def test_floats_of_pandas_that_are_integers_are_ids() -> None:
    frame = pd.DataFrame({"source": [1.0, None], "target": [2, 2]})
    graph = from_arrow({"A": {"id": [1, 2]}}, {("A", "R", "A"): frame}, on_bad_row="skip")
    assert edges(graph) == [(1, "R", 2)]
    assert graph.report.rejects.to_pylist()[0]["line"] == 2


def test_a_graph_of_nothing() -> None:
    assert from_arrow({}, {}).report.vertices == 0


@pytest.mark.parametrize(
    ("vertices", "edges", "words"),
    [
        ({"A": 3}, {}, ["is no table", "int"]),
        ({"A": {"id": [1], "x": [1, 2]}}, {}, ["cannot be taken as Arrow"]),
        ({"A": pl.LazyFrame({"id": [1]})}, {}, ["a LazyFrame is no table", "hint: its .collect() gives a table"]),
        ({"A": {"id": [1.5]}}, {}, ["cannot be an id", "column id"]),
        ({"A": {"id": [1, 1]}}, {}, ["occurs twice", "row 2", "value '1'"]),
        ({"A": {"id": [1, None]}}, {}, ["missing", "row 2"]),
        ({"A": {"id": [1], "u": pa.array([2**63], pa.uint64())}}, {}, ["column u"]),
        ({"A": {"id": [1]}}, {("A", "R", "Aa"): {"a": [1], "b": [1]}}, ["no vertices `Aa`", "did you mean `A`"]),
        ({"A": {"id": [1]}}, {("A", "R", "A"): {"a": [1], "b": [5]}}, ["no `A` has this id", "value '5'", "column b"]),
        ({"A": {"id": [1]}}, {("A", "R"): {"a": [1], "b": [5]}}, ["not (source label, type, target label)"]),
        ({"A": {"id": [1]}}, {("A", "R", "A"): {"a": [1]}}, ["two columns"]),
        ({1: {"id": [1]}}, {}, ["not labels"]),
    ],
)
def test_errors(vertices: Any, edges: Any, words: list[str]) -> None:
    with pytest.raises(LoadError) as caught:
        from_arrow(vertices, edges)
    for word in words:
        assert word in str(caught.value)


def test_unknown_id_column() -> None:
    with pytest.raises(LoadError, match="did you mean `pid`"):
        from_arrow({"A": {"pid": [1]}}, {}, id={"A": "pidd"})


def test_duckdb_tables_and_queries() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE SCHEMA s; CREATE TABLE s.p AS SELECT range AS id, 'n' || range AS name FROM range(3)")
    graph = from_duckdb(
        connection, {"P": "s.p"}, {("P", "NEXT", "P"): "SELECT id AS a, (id + 1) % 3 AS b FROM s.p ORDER BY id"}
    )
    assert edges(graph) == [(0, "NEXT", 1), (1, "NEXT", 2), (2, "NEXT", 0)]
    for wrong in ("nothing_here", "SELECT * FRO p", "CREATE TABLE z (a INT)"):
        with pytest.raises(LoadError, match="DuckDB"):
            from_duckdb(connection, {"P": wrong}, {})


def test_networkx() -> None:
    graph = nx.MultiDiGraph()
    graph.add_node("ann", label="Person", age=30)
    graph.add_node("bob", labels=["Person", "Author"])
    graph.add_edge("ann", "bob", type="KNOWS", since=2010)
    graph.add_edge("ann", "bob")
    graph.add_edge("bob", "rex")
    loaded = from_networkx(graph)
    assert ids(loaded) == {"Person": ["ann"], "Person:Author": ["bob"], "": ["rex"]}
    assert edges(loaded) == [("ann", "KNOWS", "bob", {"since": 2010}), ("ann", "EDGE", "bob"), ("bob", "EDGE", "rex")]
    assert vertices(loaded, "Person") == [{"id": "ann", "age": 30}]


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx_kinds(kind: Any) -> None:
    loaded = from_networkx(kind([(1, 2), (2, 1), (3, 3)]))
    assert loaded.report.edges == {nx.Graph: 2, nx.DiGraph: 3, nx.MultiGraph: 3, nx.MultiDiGraph: 3}[kind]
    assert loaded.report.vertices == 3


def test_networkx_errors() -> None:
    mixed = nx.Graph()
    mixed.add_node(1, x=1)
    mixed.add_node(2, x="a")
    with pytest.raises(LoadError, match="attribute cannot be a column"):
        from_networkx(mixed)
    with pytest.raises(LoadError, match="no networkx graph"):
        from_networkx([1, 2])
    assert from_networkx(nx.Graph()).report.vertices == 0


@pytest.mark.parametrize("edge", [False, True])
def test_networkx_attributes_of_one_name(edge: bool) -> None:
    """Python tells 3 from "3", a property does not: one of the two values was left out."""
    graph = nx.DiGraph([(1, 2)])
    (graph.edges[1, 2] if edge else graph.nodes[1]).update({3: "a", "3": "b"})
    with pytest.raises(LoadError, match="two attributes have this name") as raised:
        from_networkx(graph)
    assert raised.value.column == "3"


HALF = "a\ud800"


@pytest.mark.parametrize(
    ("nodes", "edges", "what"),
    [
        ([(1, {"label": HALF})], [], "label"),
        ([], [(1, 2, {"type": HALF})], "type"),
        ([(1, {HALF: 1})], [], "property"),
        ([], [(1, 2, {HALF: 1})], "property"),
    ],
)
def test_names_with_half_of_a_surrogate_pair(nodes: Any, edges: Any, what: str) -> None:
    graph = nx.DiGraph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(edges)
    with pytest.raises(LoadError, match=f"name of a {what} is no valid text"):
        from_networkx(graph)


def test_labels_and_types_with_half_of_a_surrogate_pair() -> None:
    """They were loaded, and then answers and saved graphs could not hold them."""
    with pytest.raises(LoadError, match="name of a label is no valid text"):
        from_arrow({HALF: PEOPLE}, {})
    with pytest.raises(LoadError, match="name of a label is no valid text"):
        from_arrow({"A": PEOPLE}, {}, super_labels={HALF: ["A"]})
    with pytest.raises(LoadError, match="name of a type is no valid text"):
        from_arrow({"A": PEOPLE}, {("A", HALF, "A"): KNOWS})


@pytest.mark.parametrize("insert", [{HALF: {"id": [9]}}, {("A", HALF, "A"): {"source": [1], "target": [2]}}])
def test_batches_of_labels_and_types_with_half_of_a_surrogate_pair(insert: Any) -> None:
    store = gquery.Store(gquery.from_arrow({"A": PEOPLE}, {("A", "KNOWS", "A"): KNOWS}))
    with pytest.raises(LoadError, match="is no valid text"):
        store.apply(insert=insert)
    assert store.version == 0


NUL = "\0a"


@pytest.mark.parametrize(
    ("tables", "what"),
    [
        ({NUL: {"id": [9]}}, "label"),
        ({"A": {"id": [9], NUL: [1]}}, "property"),
        ({("A", NUL, "A"): {"source": [1], "target": [2]}}, "type"),
        ({("A", "KNOWS", "A"): {"source": [1], "target": [2], NUL: [1]}}, "property"),
    ],
)
def test_names_with_a_nul_byte(tables: Any, what: str, tmp_path: Path) -> None:
    """No query can name them; and a store whose folder had kept such a change could not be opened any more."""
    gquery.from_arrow({"A": PEOPLE}, {("A", "KNOWS", "A"): KNOWS}).save(tmp_path / "a.gq")
    with gquery.Store.open(tmp_path / "a.gq") as store:
        with pytest.raises(LoadError, match=f"name of a {what} has a NUL byte"):
            store.apply(insert=tables)
        if what == "property":
            with pytest.raises(LoadError, match="name of a property has a NUL byte"):
                store.apply(set={key: {**table, "id": [1]} for key, table in tables.items()})
        with pytest.raises(gquery.BindError, match="NUL byte"):
            store.execute("MATCH (a:A) SET a += $more", {"more": {NUL: 1}})
        store.execute("MATCH (a:A) SET a += $more", {"more": {"x": 1}})
    assert gquery.open(tmp_path / "a.gq").query("MATCH (a:A {x: 1}) RETURN count(*)").scalar() == 3


@pytest.mark.parametrize("kind", [":LABEL", ":TYPE"])
def test_labels_and_types_in_columns_with_a_nul_byte(kind: str, tmp_path: Path) -> None:
    nodes = {"id:ID": [1, 2], ":LABEL": ["A", NUL if kind == ":LABEL" else "A"]}
    links = {":START_ID": [1, 1], ":END_ID": [2, 2], ":TYPE": ["T", NUL if kind == ":TYPE" else "T"]}
    for name, table in {"nodes": nodes, "links": links}.items():
        pq.write_table(pa.table(table), tmp_path / f"{name}.parquet")
    with pytest.raises(LoadError, match="has a NUL byte"):
        gquery.load(tmp_path)
