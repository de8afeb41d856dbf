"""Ids that count up are computed and not looked up."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

import gquery
from gquery.storage.changes.applied import applied
from gquery.storage.changes.batch import Batch, NewVertices
from gquery.storage.tables import VertexTable


def table_of(ids: pa.ChunkedArray) -> VertexTable:
    return VertexTable.from_arrow(("A",), ids, pa.table({"id": ids}), "id")


@pytest.mark.parametrize(
    ("ids", "first"),
    [
        ([0, 1, 2], 0),
        ([-1, 0, 1, 2], -1),
        ([2**62, 2**62 + 1], 2**62),
        ([7], 7),
        ([], None),
        ([0, 2, 1, 3], None),
        ([3, 2, 1, 0], None),
        ([0, 1, 3], None),
        (["0", "1"], None),
    ],
)
def test_which_ids_count_up(ids: list[int], first: int | None) -> None:
    type_ = pa.int64() if not ids or isinstance(ids[0], int) else pa.string()
    for chunks in ([ids], [ids[:1], ids[1:]]):
        assert table_of(pa.chunked_array(chunks, type_)).counts_from == first


def test_long_ids_are_looked_at_to_their_end() -> None:
    ids = list(range(200_000))
    assert table_of(pa.chunked_array([ids])).counts_from == 0
    ids[150_000], ids[150_001] = ids[150_001], ids[150_000]
    assert table_of(pa.chunked_array([ids])).counts_from is None


@pytest.mark.parametrize("ids", [range(5, 105), [*range(50, 100), *range(50)], [3 * number for number in range(100)]])
@pytest.mark.parametrize("narrow", [pa.int64(), pa.int16()])
def test_they_are_the_same_in_the_answer(ids: Sequence[int], narrow: pa.DataType, tmp_path: Path) -> None:
    """Behind another table, in a saved graph, and where a table has grown."""
    others = [1000 + number for number in range(10)]
    ends = [(one, other) for one in ids for other in others if one % 7 == other % 7]
    graph = gquery.from_arrow(
        vertices={"B": {"id": others}, "A": {"id": pa.array(ids, narrow)}},
        edges={("A", "E", "B"): {"from": [one for one, _ in ends], "to": [other for _, other in ends]}},
    )
    graph.save(tmp_path / "graph")
    for each in (graph, gquery.open(tmp_path / "graph")):
        rows = each.query("MATCH (a:A)-[]->(b:B) RETURN id(a), a.id, b.id, id(b)").rows()
        assert sorted(map(tuple, rows)) == sorted((one, one, other, other) for one, other in ends)
    batch = Batch((NewVertices(("A",), pa.table({"id": [7000, 7001]}), pa.array([7000, 7001])),))
    grown = gquery.Graph(applied(graph.snapshot, batch))
    found = [value for (value,) in grown.query("MATCH (a:A) RETURN id(a)").rows()]
    assert sorted(found) == sorted([*ids, 7000, 7001])
