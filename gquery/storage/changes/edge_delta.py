"""The edges that a batch adds and takes away, by type."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from gquery.storage.adjacency import Adjacency
from gquery.storage.changes.batch import Batch
from gquery.storage.changes.rows import Delta, EdgeEnds, changed
from gquery.storage.edges import AdjacencyKey
from gquery.storage.graph import Snapshot
from gquery.storage.sorting import distinct

Ids = NDArray[np.int64]


class EdgeDelta:
    """new, gone: source, target and id, ascending by id, of the edges of each type that has any."""

    def __init__(self, snapshot: Snapshot, batch: Batch) -> None:
        edges = snapshot.edges
        self.gone: dict[str, EdgeEnds] = {}
        if len(batch.gone_edges):
            gone = without(distinct(batch.gone_edges), edges.gone)
            tables = edges.numbers.tables_of(gone)
            for type_ in {edges.tables[table].type for table in distinct(tables).tolist()}:
                mine = gone[np.isin(tables, edges.tables_of([type_]))]
                self.gone[type_] = (*edges.ends_of(mine), mine)
        self.new: dict[str, EdgeEnds] = {}
        first = snapshot.edge_count
        for each in batch.edges:
            ids = np.arange(first, first + each.count)
            known = [self.new[each.type]] if each.type in self.new else []
            self.new[each.type] = together([*known, (each.source, each.target, ids)])
            first += each.count

    def adjacency(self, key: AdjacencyKey, before: Adjacency) -> Adjacency:
        """What an adjacency is after the batch."""
        new, gone = (together(of[type_] for type_ in key.types if type_ in of) for of in (self.new, self.gone))
        return changed(before, Delta.of(new, gone, key.direction))

    def loops(self, types: tuple[str, ...], before: Adjacency) -> Adjacency:
        """What the self-loops of some types are after the batch."""
        parts = (together(of[type_] for type_ in types if type_ in of) for of in (self.new, self.gone))
        new, gone = (tuple(side[source == target] for side in (source, target, ids)) for source, target, ids in parts)
        return changed(before, Delta.of(new, gone, "out"))


def without(ids: Ids, others: Ids) -> Ids:
    """Those of some ids that are not among others, which ascend."""
    if not len(others):
        return ids
    left: Ids = ids[others.take(np.searchsorted(others, ids), mode="clip") != ids]
    return left


def together(parts: Iterable[EdgeEnds]) -> EdgeEnds:
    """Edges as source, target and id, ascending by id."""
    found = list(parts)
    if len(found) == 1:
        return found[0]
    columns = list(zip(*found, strict=True))
    if not columns:
        return np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64)
    source, target, ids = (np.concatenate(column) for column in columns)
    order = np.argsort(ids, kind="stable")
    return source[order], target[order], ids[order]
