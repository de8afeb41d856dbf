"""Small snapshots with everything a graph can hold, and their whole content as plain Python."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from gquery.storage.graph import Snapshot
from gquery.storage.schema import Direction
from gquery.storage.tables import EdgeTable, VertexTable

DIRECTIONS: tuple[Direction, ...] = ("out", "in", "both")


def rich_snapshot(version: int = 0) -> Snapshot:
    """Four vertex tables and four edge tables, of all kinds; every value tells the version."""
    people = pa.table(
        {
            "id": pa.array([10, 20, 30], pa.int64()),
            "name": [f"Ann {version}", None, "Łukasz 🜚"],
            "tags": pa.array([["a", "b"], [], None], pa.list_(pa.string())),
            "born": pa.array([datetime.date(2000, 1, 1 + version % 28), None, None]),
            "home": [{"street": "Hill", "number": version}, None, {"street": None, "number": 2}],
        }
    )
    colours = pa.chunked_array(
        [
            pa.array([f"red {version}", "blue"]).dictionary_encode(),
            pa.array(["green", "red"]).dictionary_encode(),
        ]
    )
    posts = pa.table({"colour": colours, "score": pa.array([1.5, float("inf"), None, version])})
    nothing = pa.table({})
    ids = pa.chunked_array([["p1", "p2"], [f"p{version + 3}", "ä"]])
    source, target = np.array([[0, 0, 0, 1, 2], [1, 1, 0, 2, 0]], np.int32)
    return Snapshot(
        [
            VertexTable.from_arrow(("Person",), people["id"], people, "id"),
            VertexTable.from_arrow(("Post", "Message"), ids, posts, None),
            VertexTable.from_arrow(("Empty",), pa.chunked_array([], pa.int64()), pa.table({"x": pa.nulls(0)}), None),
            VertexTable.from_arrow((), pa.chunked_array([[7 + version]]), nothing, None),
        ],
        [
            EdgeTable.from_arrow("KNOWS", source, target, pa.table({"since": range(version, version + 5)})),
            EdgeTable.from_arrow("LIKES", np.array([0, 2], np.int32), np.array([3, 6], np.int32), nothing),
            EdgeTable.from_arrow("KNOWS", np.array([7], np.int32), np.array([version % 3], np.int32), nothing),
            EdgeTable.from_arrow("NEVER", np.zeros(0, np.int32), np.zeros(0, np.int32), nothing),
        ],
    )


def content(snapshot: Snapshot) -> dict[str, Any]:
    """Everything that a snapshot holds, every file of a saved one touched."""
    found: dict[str, Any] = {"schema": str(snapshot.schema), "counts": snapshot.counts}
    found["signatures"] = snapshot.signatures().tolist()
    for number, vertices in enumerate(snapshot.vertex_tables):
        columns = {name: (column.type, column.to_pylist()) for name, column in vertices.columns.items()}
        found[f"vertices {number}"] = vertices.labels, vertices.id_name, vertices.ids.to_pylist(), columns
    for number, edges in enumerate(snapshot.edge_tables):
        columns = {name: (column.type, column.to_pylist()) for name, column in edges.columns.items()}
        found[f"edges {number}"] = edges.type, [end.tolist() for end in edges.ends], columns
    for name in snapshot.schema.types:
        for direction in DIRECTIONS:
            adjacency = snapshot.adjacency([name], direction)
            arrays = (adjacency.offsets, adjacency.neighbours, adjacency.edges)
            found[f"{name} {direction}"] = adjacency.first, adjacency.simple, [array.tolist() for array in arrays]
    return found
