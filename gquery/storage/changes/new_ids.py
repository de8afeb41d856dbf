"""What a batch is to a graph that has been compacted since: the same changes, of elements with other ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gquery.storage.changes.batch import Batch
from gquery.storage.graph import Snapshot
from gquery.storage.numbering import Numbering


class NewIds:
    """The ids that the elements of a snapshot have once it is `compacted`. Elements that come later follow each other
    in both."""

    def __init__(self, snapshot: Snapshot) -> None:
        edges = snapshot.edges
        self._vertices = _Ids(snapshot.vertex_numbers, [table.count for table in snapshot.vertex_tables], {})
        self._edges = _Ids(edges.numbers, edges.counts, edges.gone_rows)

    def batch(self, batch: Batch) -> Batch:
        """A batch on a later version of the snapshot, as it is on the same version of what is compacted."""
        vertices, edges = self._vertices.of, self._edges.of
        return Batch(
            batch.vertices,
            tuple(replace(each, source=vertices(each.source), target=vertices(each.target)) for each in batch.edges),
            vertices(batch.gone_vertices),
            edges(batch.gone_edges),
            tuple(replace(each, of=vertices(each.of)) for each in batch.vertex_values),
            tuple(replace(each, of=edges(each.of)) for each in batch.edge_values),
            tuple(replace(each, vertices=vertices(each.vertices)) for each in batch.labels),
        )


class _Ids:
    """Of one kind of elements. counts: how many each table has then; gone: the rows of a table that it has no more."""

    def __init__(self, numbers: Numbering, counts: Sequence[int], gone: Mapping[int, NDArray[np.int64]]) -> None:
        self._numbers = numbers
        self._first = np.cumsum([0, *counts]).tolist()
        self._gone = gone

    def of(self, ids: NDArray[Any]) -> NDArray[Any]:
        """The new ids of some that are not gone, in their type."""
        new: NDArray[Any] = ids + ids.dtype.type(self._first[-1] - self._numbers.count)  # of those that have come since
        old = np.flatnonzero(ids < self._numbers.count)
        for table, where, rows in self._numbers.parts(ids[old]):
            gone = self._gone.get(table)
            new[old[where]] = self._first[table] + (rows if gone is None else rows - np.searchsorted(gone, rows))
        return new
