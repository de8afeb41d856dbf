"""DELETE and DETACH DELETE."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_numpy
from gquery.errors import ExecutionError
from gquery.executor.updates.rows import GivenRows
from gquery.planner.ir.expr import Kind
from gquery.planner.ir.updates import Delete
from gquery.storage.changes.batch import Batch
from gquery.storage.graph import Snapshot
from gquery.storage.numbering import HOLE
from gquery.storage.schema import Direction
from gquery.storage.sorting import distinct, either, without

Ids = NDArray[np.int64]


def deleted(delete: Delete, rows: GivenRows, snapshot: Snapshot) -> Batch:
    """What is gone for all rows. Raises ExecutionError for a vertex that keeps edges."""
    vertices, edges = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    kinds = {variable.name: variable.type.kind for variable in rows.variables}
    for name in delete.columns:
        column = rows.column(name).drop_null()
        match kinds[name]:
            case Kind.NODE:
                vertices.append(to_numpy(column).astype(np.int64))
            case Kind.RELATIONSHIP:
                edges.append(to_numpy(column).astype(np.int64))
            case Kind.PATH:
                nodes, links = (_items(part) for part in column.flatten())
                vertices.append(nodes)
                edges.append(links)
    gone = distinct(np.concatenate(vertices))
    gone = gone[snapshot.vertex_numbers.tables_of(gone) != HOLE]
    gone_edges = without(np.concatenate(edges), snapshot.edges.gone)
    left = without(_incident(snapshot, gone), gone_edges)
    if len(left) and not delete.detach:
        count = f"{len(left):,} relationship{'s' if len(left) > 1 else ''}"
        raise ExecutionError(f"nodes that are deleted still have {count}", hint="DETACH DELETE deletes these too")
    return Batch(gone_vertices=gone.astype(np.int32), gone_edges=either(gone_edges, left))


def _items(lists: pa.Array) -> Ids:
    return to_numpy(lists.flatten()).astype(np.int64)


def _incident(snapshot: Snapshot, vertices: Ids) -> Ids:
    """The edges that begin or end at some vertices."""
    found = [np.zeros(0, np.int64)]
    directions: tuple[Direction, ...] = ("out", "in")
    for type_ in snapshot.schema.types if len(vertices) else ():
        for direction in directions:
            edges = snapshot.adjacency((type_,), direction).edges_at(vertices.astype(np.int32), snapshot.edge_count)
            assert edges is not None
            found.append(edges)
    return distinct(np.concatenate(found))
