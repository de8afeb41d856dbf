"""Columns in one piece: what a load leaves of the chunks that it was given."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import gquery
from gquery.storage.tables import Columns, in_one_piece


def test_a_loaded_graph_has_columns_in_one_piece(tmp_path: Path) -> None:
    people = pa.table({"id": pa.chunked_array([[1, 2], [3]]), "name": pa.chunked_array([["a"], [None, "c"]])})
    knows = pa.table({"from": [1, 2], "to": [3, 3], "since": pa.chunked_array([[7], [8]])})
    graph = gquery.from_arrow(vertices={"Person": people}, edges={("Person", "KNOWS", "Person"): knows})
    graph.save(tmp_path / "graph")
    for each in (graph, gquery.open(tmp_path / "graph")):
        (vertices,), (edges,) = each.snapshot.vertex_tables, each.snapshot.edge_tables
        for column in (vertices.ids, *vertices.columns.values(), *edges.columns.values()):
            assert column.num_chunks == 1
        text = "MATCH (a)-[k]->(b) RETURN a.name AS a, k.since AS s, b.name AS b ORDER BY s"
        assert each.query(text).rows() == [("a", 7, "c"), (None, 8, "c")]


def test_the_ids_are_not_there_twice() -> None:
    people = pa.table({"id": pa.chunked_array([[1, 2], [3]])})
    (table,) = gquery.from_arrow(vertices={"Person": people}, edges={}).snapshot.vertex_tables
    assert table.ids.chunk(0).buffers()[1].address == table.columns["id"].chunk(0).buffers()[1].address


@pytest.mark.parametrize(
    "chunks",
    [
        [pa.DictionaryArray.from_arrays(pa.array([100], pa.int8()), pa.array([f"{part} {i}" for i in range(101)]))
         for part in "ab"],
        [pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([[number]])) for number in (1, 2)],
        [pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([text, None])) for text in "ab"],
    ],
    ids=["more values than the type counts", "lists", "nulls"],
)  # fmt: skip
def test_dictionaries_that_arrow_cannot_unite_stay_in_pieces(chunks: list[pa.Array]) -> None:
    column = pa.chunked_array(chunks)
    whole = in_one_piece(column)
    assert whole.num_chunks == 2
    assert whole.to_pylist() == column.to_pylist()


def test_no_values_at_all() -> None:
    columns = Columns.from_table(pa.table({"x": pa.chunked_array([], pa.string())}))
    assert len(columns["x"]) == 0
