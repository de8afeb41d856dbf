"""The same graph without what changes have left: ids that nobody has, rows of edges that are gone, tables in pieces."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_arrow
from gquery.storage.changes.columns.shape import PiecedEdges, PiecedVertices
from gquery.storage.graph import Snapshot
from gquery.storage.tables import Columns, EdgeTable, VertexTable, in_one_piece


def compacted(snapshot: Snapshot) -> Snapshot:
    """The graph with its tables numbered one after the other, and all counted anew, as if it had been loaded: what was
    kept of ids means other elements then (`NewIds` says which). Elements of a table stay in their order. Of a table
    that changes nothing is left to be read, so that nothing holds what it was made of. A graph that was loaded is the
    same one."""
    if not snapshot.is_changed:
        return snapshot
    numbers = snapshot.vertex_numbers
    ids: NDArray[np.int32] | None = None  # the new one of each vertex; None where it is the same
    if not numbers.is_consecutive:
        ids, first = np.zeros(snapshot.vertex_count, np.int32), 0
        for number, table in enumerate(snapshot.vertex_tables):
            ids[numbers.ids([number], np.int32)] = np.arange(first, first + table.count, dtype=np.int32)
            first += table.count
    edges = [_edges(snapshot, number, ids) for number in range(len(snapshot.edge_tables))]
    return Snapshot(map(_vertices, snapshot.vertex_tables), edges)


def _vertices(table: VertexTable) -> VertexTable:
    return table.settled() if isinstance(table, PiecedVertices) else table


def _edges(snapshot: Snapshot, number: int, ids: NDArray[np.int32] | None) -> EdgeTable:
    table, rows = snapshot.edge_tables[number], snapshot.edges.rows_there(number)
    if ids is None and rows is None and not isinstance(table, PiecedEdges):
        return table
    source, target = (side if rows is None else side[rows] for side in table.ends)
    if ids is not None:
        source, target = ids[source], ids[target]
    columns = {name: _taken(column, rows) for name, column in table.columns.items()}
    loaded = Columns(table.columns.types, columns.__getitem__)
    return EdgeTable(table.type, len(source), loaded, lambda: (source, target))


def _taken(column: pa.ChunkedArray, rows: NDArray[np.int64] | None) -> pa.ChunkedArray:
    return in_one_piece(column if rows is None else column.take(to_arrow(rows)))
