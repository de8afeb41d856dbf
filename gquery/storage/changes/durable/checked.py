"""Whether a batch that somebody else wrote fits a graph: kernels do not look where they read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.storage.changes.batch import Batch, NewValues
from gquery.storage.changes.edge_keys import edges_at
from gquery.storage.graph import MAX_VERTICES, Snapshot
from gquery.storage.numbering import HOLE, Numbering
from gquery.storage.persist.encoding import check_type
from gquery.storage.sorting import distinct, without

Ids = NDArray[np.integer[Any]]


def check(batch: Batch, snapshot: Snapshot) -> None:
    """ValueError when a batch does not fit a snapshot."""
    vertices = snapshot.vertex_count + sum(each.count for each in batch.vertices)
    edges = snapshot.edge_count + sum(each.count for each in batch.edges)
    if vertices > MAX_VERTICES:
        raise ValueError("more vertices than can be numbered")
    _are_there(batch.gone_vertices, snapshot.vertex_numbers, None, snapshot.vertex_count)
    _are_there(batch.gone_edges, snapshot.edges.numbers, snapshot.edges.gone, snapshot.edge_count)
    left = without(edges_at(snapshot.edges, batch.gone_vertices, snapshot.edges.types), batch.gone_edges)
    if len(left):
        raise ValueError("edges of vertices that are gone")
    for new in batch.edges:
        for side in (new.source, new.target):
            _are_there(side, snapshot.vertex_numbers, batch.gone_vertices, vertices)
        _check_types(new.properties.schema.types)
    for rows in batch.vertices:
        _check_types(rows.properties.schema.types)
        if len(rows.labels) != len(set(rows.labels)) or (rows.ids is not None and len(rows.ids) != rows.count):
            raise ValueError(rows.labels)
    for values in batch.vertex_values:
        _check_values(values)
        _are_there(values.of, snapshot.vertex_numbers, batch.gone_vertices, vertices)
    gone = np.concatenate([snapshot.edges.gone, batch.gone_edges])
    for values in batch.edge_values:
        _check_values(values)
        _are_there(values.of, snapshot.edges.numbers, gone, edges)
    for labels in batch.labels:
        _are_there(labels.vertices, snapshot.vertex_numbers, batch.gone_vertices, vertices)
        if len(labels.labels) != len(set(labels.labels)):
            raise ValueError(labels.labels)


def _are_there(ids: Ids, numbers: Numbering, gone: Ids | None, end: int) -> None:
    """ValueError unless all ids are those of elements, those from the numbering's end up to `end` among them."""
    if not len(ids):
        return
    if ids.min() < 0 or ids.max() >= end:
        raise ValueError("an id that nobody has")
    old = ids[ids < numbers.count]
    if np.any(numbers.tables_of(old) == HOLE) or (gone is not None and np.isin(ids, gone).any()):
        raise ValueError("an id that nobody has any more")


def _check_values(values: NewValues) -> None:
    _check_types([values.values.type])
    if len(values.of) != len(values.values) or len(distinct(values.of)) != len(values.of):
        raise ValueError(values.name)


def _check_types(types: list[pa.DataType]) -> None:
    for type_ in types:
        check_type(type_)
