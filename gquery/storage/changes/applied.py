"""The snapshot after a batch. What did not change is shared with the one before."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_arrow
from gquery.errors import ExecutionError
from gquery.stopping import Check, unchecked
from gquery.storage.adjacency import Adjacency
from gquery.storage.cache import Sized
from gquery.storage.changes.batch import Batch, NewVertices
from gquery.storage.changes.columns.placing import ANY_ID
from gquery.storage.changes.columns.rearranged import Changes, rearranged
from gquery.storage.changes.columns.shape import Shape
from gquery.storage.changes.edge_delta import EdgeDelta
from gquery.storage.changes.edge_keys import edges_at
from gquery.storage.changes.recounted import recounted
from gquery.storage.counted.signatures import CountedSignatures
from gquery.storage.edges import AdjacencyKey, Edges
from gquery.storage.graph import LoadSignatures, Snapshot
from gquery.storage.sorting import distinct
from gquery.storage.tables import EdgeTable, VertexTable, largest_number

Ids = NDArray[np.int64]

_NUMBERS = 1 << 63  # that ids can be
_MANY = 16  # of so many vertices one has another signature: then all are counted anew


def applied(snapshot: Snapshot, batch: Batch, check: Check = unchecked) -> Snapshot:
    """The graph with the changes of a batch. Ids of vertices and edges mean in both what they meant. check: called
    between the steps of a large one.

    Raises LoadError when a user's id would be removed, or be of a type that ids cannot have, and ExecutionError when
    there are no more numbers to give out as ids.
    """
    changes = _of_vertices(snapshot, batch)
    tables, numbers = snapshot.vertex_tables, snapshot.vertex_numbers
    if changes:
        tables, numbers = rearranged(tables, numbers, changes)
        check()
    delta = EdgeDelta(snapshot, batch)
    counted = "counts" in snapshot.__dict__
    if counted:
        _make_rows(snapshot, delta)
        check()
    edges = _edges(snapshot, batch, delta)
    check()
    after = Snapshot(tables, edges, numbers)
    after.is_changed = True
    moved = _moved(snapshot, after, batch)
    counts = recounted(snapshot, after, delta, moved) if counted else None
    check()
    if counts is not None:
        after.counts = counts
        after.load_signatures = _signatures(snapshot, delta, moved)
    _carry(snapshot, after, delta)
    if "free_id" in snapshot.__dict__:
        given = [*(table.ids for table in changes.new), *_ids_set(after, batch)]
        after.free_id = max([snapshot.free_id, *(largest_number(ids) + 1 for ids in given)])
    return after


def first_free(snapshot: Snapshot, batch: Batch) -> int:
    """No vertex has this number, or a larger one, before a batch that gives out ids; 0 where it gives out none."""
    return snapshot.free_id if any(each.ids is None for each in batch.vertices) else 0


def _make_rows(snapshot: Snapshot, delta: EdgeDelta) -> None:
    """Makes the adjacencies that counting anew asks for: those that are there before a batch go on behind it."""
    for type_ in {*delta.new, *delta.gone}.intersection(snapshot.edges.types):
        snapshot.adjacency([type_], "out")
        snapshot.adjacency([type_], "in")


def _of_vertices(snapshot: Snapshot, batch: Batch) -> Changes[VertexTable]:
    free = first_free(snapshot, batch)
    if any(each.ids is None for each in batch.vertices):  # whose ids are behind those that others are given
        given = (pa.chunked_array([each.ids]) for each in batch.vertices if each.ids is not None)
        free = max([free, *(largest_number(ids) + 1 for ids in given)])
    counts = np.cumsum([0, *(each.count for each in batch.vertices if each.ids is None)])
    if free > _NUMBERS - int(counts[-1]):
        raise ExecutionError(
            f"no larger numbers are left to be ids: the largest one is {free - 1}",
            hint="give new nodes ids of their own, or the one with that id another",
        )
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
        distinct(batch.gone_vertices).astype(np.int64),
        batch.vertex_values,
        batch.labels,
    )


def _ids_set(after: Snapshot, batch: Batch) -> Iterator[pa.ChunkedArray]:
    """The values that become ids of vertices which are there."""
    for each in batch.vertex_values:
        for table, where, _ in after.vertex_numbers.parts(each.of):
            if after.vertex_tables[table].id_name == each.name:
                yield pa.chunked_array([each.values.take(to_arrow(np.arange(len(each.of))[where]))])


def _new_vertices(new: NewVertices, first: int) -> VertexTable:
    ids = to_arrow(np.arange(first, first + new.count)) if new.ids is None else new.ids
    return VertexTable.from_arrow(new.labels, pa.chunked_array([ids]), new.properties, None)


def _edges(snapshot: Snapshot, batch: Batch, delta: EdgeDelta) -> Edges:
    before = snapshot.edges
    new = [EdgeTable.from_arrow(each.type, each.source, each.target, each.properties) for each in batch.edges]
    shapes = [Shape.of(table) for table in new]
    nothing = np.zeros(0, np.int64)
    changes = Changes(shapes, new, [each.properties for each in batch.edges], nothing, batch.edge_values)
    if not (changes or len(batch.gone_edges)):
        return before
    tables, numbers = rearranged(before.tables, before.numbers, changes) if changes else (before.tables, before.numbers)
    gone = before.gone
    for _, _, ids in delta.gone.values():
        gone = np.insert(gone, np.searchsorted(gone, ids), ids)
    return before.changed(tables, numbers, gone, delta.adjacency)


def _carry(before: Snapshot, after: Snapshot, delta: EdgeDelta) -> None:
    """Keeps what had been made of the graph before, where it can be told what it is now."""

    def carry(key: object, value: Sized) -> Sized | None:
        if isinstance(key, AdjacencyKey) and isinstance(value, Adjacency):
            return delta.adjacency(key, value)
        match key, value:
            case ("loops", tuple(types)), Adjacency():
                return delta.loops(types, value)
        return None

    after.cache.carried(before.cache, carry)
    if before.vertex_tables is after.vertex_tables:
        after.vertex_cache, after.indexes = before.vertex_cache, before.indexes


def _signatures(before: Snapshot, delta: EdgeDelta, moved: Ids) -> LoadSignatures:
    """Those from before, where only those change that are at changed edges, or beside a vertex in another table."""
    if not (delta.new or delta.gone or len(moved)):
        return before.load_signatures
    if not isinstance(before.load_signatures, CountedSignatures):
        return CountedSignatures()
    sides = [side for of in (delta.new, delta.gone) for ends in of.values() for side in ends[:2]]
    near = before.edges.ends_of(edges_at(before.edges, moved, before.edges.types))
    touched = np.concatenate([np.zeros(0, np.int64), *sides, *near]).astype(np.int64)
    return before.load_signatures.changed(touched, before.vertex_count // _MANY)


def _moved(before: Snapshot, after: Snapshot, batch: Batch) -> Ids:
    """The vertices that are there before and after, in another table."""
    named = [*(each.vertices for each in batch.labels), *(each.of for each in batch.vertex_values)]
    if not named:
        return np.zeros(0, np.int64)
    ids = distinct(np.concatenate([np.zeros(0, np.int64), *named])).astype(np.int64)
    ids = ids[ids < before.vertex_count]
    moved: Ids = ids[before.vertex_numbers.tables_of(ids) != after.vertex_numbers.tables_of(ids)]
    return moved
