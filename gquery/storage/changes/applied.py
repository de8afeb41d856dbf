"""The snapshot after a batch. What did not change is shared with the one before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from gquery.arrays import to_arrow
from gquery.storage.changes.batch import Batch, NewVertices
from gquery.storage.changes.placing import ANY_ID
from gquery.storage.changes.rearranged import Changes, rearranged
from gquery.storage.changes.tables import Shape
from gquery.storage.edges import Edges
from gquery.storage.graph import Snapshot
from gquery.storage.tables import EdgeTable, VertexTable


def applied(snapshot: Snapshot, batch: Batch) -> Snapshot:
    """The graph with the changes of a batch. Ids of vertices and edges mean in both what they meant.

    Raises LoadError when a user's id would be removed, or be of a type that ids cannot have.
    """
    changes = _of_vertices(snapshot, batch)
    tables, numbers = snapshot.vertex_tables, snapshot.vertex_numbers
    if changes:
        tables, numbers = rearranged(tables, numbers, changes)
    edges = _edges(snapshot, batch)
    if edges is snapshot.edges and not changes.moves:
        counts = replace(snapshot.counts, vertices=tuple(table.count for table in tables))
        after = Snapshot(tables, edges, numbers, lambda: counts, snapshot.load_signatures)
    else:
        after = Snapshot(tables, edges, numbers)
    if not changes:
        after.vertex_cache = snapshot.vertex_cache
    if "free_id" in snapshot.__dict__:
        after.free_id = max([snapshot.free_id, *(table.largest_number + 1 for table in changes.new)])
    return after


def _of_vertices(snapshot: Snapshot, batch: Batch) -> Changes[VertexTable]:
    free = snapshot.free_id if any(each.ids is None for each in batch.vertices) else 0
    counts = np.cumsum([0, *(each.count for each in batch.vertices if each.ids is None)])
    firsts = iter((free + counts[:-1]).tolist())
    tables = [_new_vertices(each, next(firsts) if each.ids is None else 0) for each in batch.vertices]
    shapes = [
        Shape(each.labels, dict(table.columns.types), each.id_name, ANY_ID if each.ids is None else table.id_type)
        for each, table in zip(batch.vertices, tables, strict=True)
    ]
    return Changes(
        shapes,
        tables,
        [each.properties for each in batch.vertices],
        np.unique(batch.gone_vertices).astype(np.int64),
        batch.vertex_values,
        batch.labels,
    )


def _new_vertices(new: NewVertices, first: int) -> VertexTable:
    ids = to_arrow(np.arange(first, first + new.count)) if new.ids is None else new.ids
    return VertexTable.from_arrow(new.labels, pa.chunked_array([ids]), new.properties, None)


def _edges(snapshot: Snapshot, batch: Batch) -> Edges:
    before = snapshot.edges
    new = [EdgeTable.from_arrow(each.type, each.source, each.target, each.properties) for each in batch.edges]
    shapes = [Shape.of(table) for table in new]
    nothing = np.zeros(0, np.int64)
    changes = Changes(shapes, new, [each.properties for each in batch.edges], nothing, batch.edge_values)
    if not (changes or len(batch.gone_edges)):
        return before
    tables, numbers = rearranged(before.tables, before.numbers, changes) if changes else (before.tables, before.numbers)
    of_types = {each.type for each in batch.edges}
    of_types |= {before.tables[table].type for table in np.unique(before.numbers.tables_of(batch.gone_edges)).tolist()}
    return before.changed(tables, numbers, np.union1d(before.gone, batch.gone_edges), of_types)
