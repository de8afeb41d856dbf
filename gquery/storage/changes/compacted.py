"""The same graph without what changes have left: ids that nobody has, rows of edges that are gone, tables in pieces."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_arrow
from gquery.storage.graph import Snapshot
from gquery.storage.tables import Columns, EdgeTable, VertexTable, in_one_piece


def compacted(snapshot: Snapshot) -> Snapshot:
    """The graph with its tables numbered one after the other, and all counted anew, as if it had been loaded: what was
    kept of ids means other elements then. Elements of a table stay in their order. One that was loaded is the same."""
    if not snapshot.is_changed:
        return snapshot
    numbers = snapshot.vertex_numbers
    ids = np.zeros(snapshot.vertex_count, np.int32)  # the new one of each vertex
    first = 0
    for number, table in enumerate(snapshot.vertex_tables):
        ids[numbers.ids([number], np.int32)] = np.arange(first, first + table.count, dtype=np.int32)
        first += table.count
    edges = [_edges(snapshot, number, ids) for number in range(len(snapshot.edge_tables))]
    return Snapshot(map(_vertices, snapshot.vertex_tables), edges)


def _vertices(table: VertexTable) -> VertexTable:
    columns = Columns(table.columns.types, lambda name: in_one_piece(table.columns[name]))

    def load_ids() -> pa.ChunkedArray:
        return in_one_piece(table.ids)

    return VertexTable(table.labels, table.count, table.id_type, table.id_name, columns, load_ids)


def _edges(snapshot: Snapshot, number: int, ids: NDArray[np.int32]) -> EdgeTable:
    table, rows = snapshot.edge_tables[number], snapshot.edges.rows_there(number)
    source, target = table.ends
    if rows is not None:
        source, target = source[rows], target[rows]
    columns = Columns(table.columns.types, partial(_column, table, rows))
    return EdgeTable(table.type, len(source), columns, lambda: (ids[source], ids[target]))


def _column(table: EdgeTable, rows: NDArray[np.int64] | None, name: str) -> pa.ChunkedArray:
    column = table.columns[name]
    return in_one_piece(column if rows is None else column.take(to_arrow(rows)))
