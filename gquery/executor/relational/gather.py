"""Properties wait: columns of graph attributes, taken for the ids that travelled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gquery.planner.expr import Attribute, Column
from gquery.storage.graph import Snapshot


def gather(snapshot: Snapshot, column: Column, ids: pa.Array) -> pa.Array:
    """The column's values for internal vertex or edge ids (int32 or int64), in their order. Null ids give null."""
    of_vertex = pa.types.is_int32(ids.type)  # edges travel as int64
    match column.attribute:
        case Attribute.ELEMENT:
            return ids
        case Attribute.ID:
            return take(snapshot.vertex_ids(), ids).cast(column.type.arrow) if of_vertex else ids
        case Attribute.LABELS:
            return labels_of(snapshot, ids)
        case Attribute.TYPE:
            return types_of(snapshot, ids)
    assert column.key is not None
    arrow = column.type.arrow or pa.null()
    stored = snapshot.vertex_property if of_vertex else snapshot.edge_property
    return take(stored(column.key, arrow), ids)


def take(values: pa.Array | pa.ChunkedArray, indices: pa.Array) -> pa.Array:
    """`values[indices]` as one array; the indices are known to be in range."""
    if isinstance(values, pa.ChunkedArray) and values.num_chunks == 1:
        values = values.chunk(0)
    taken = pc.take(values, indices, boundscheck=False)
    return taken.combine_chunks() if isinstance(taken, pa.ChunkedArray) else taken


def labels_of(snapshot: Snapshot, vertices: pa.Array) -> pa.Array:
    """list<string> for vertex ids."""
    labels = pa.array([list(table.labels) for table in snapshot.vertex_tables], pa.list_(pa.string()))
    return take(labels, _tables(vertices, snapshot.vertex_starts))


def types_of(snapshot: Snapshot, edges: pa.Array) -> pa.Array:
    """string for edge ids."""
    names = pa.array([table.type for table in snapshot.edge_tables], pa.string())
    return take(names, _tables(edges, snapshot.edge_starts))


def _tables(ids: pa.Array, starts: Any) -> pa.Array:
    """The table of each id; null stays null."""
    values = ids.fill_null(0).to_numpy(zero_copy_only=False)
    tables = np.searchsorted(starts, values, side="right") - 1
    return pa.array(
        tables, pa.int32(), mask=None if ids.null_count == 0 else ids.is_null().to_numpy(zero_copy_only=False)
    )
