"""How much a statement has changed: what is there after it and was not before, and the other way round."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import comparable, pc, truths
from gquery.executor.relational.gather import take
from gquery.executor.updates.there import is_gone
from gquery.planner.ir.expr import Kind
from gquery.storage.changes.batch import Batch, NewValues
from gquery.storage.graph import Snapshot
from gquery.storage.numbering import Numbering
from gquery.storage.sorting import distinct
from gquery.storage.tables import EdgeTable, VertexTable

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Changes:
    """Net counts. A property that gets another value has been set, and its old value removed; labels are counted by
    name: those that no node had before, or has any more."""

    nodes_created: int = 0
    nodes_deleted: int = 0
    relationships_created: int = 0
    relationships_deleted: int = 0
    properties_set: int = 0
    properties_removed: int = 0
    labels_added: int = 0
    labels_removed: int = 0

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))

    def __str__(self) -> str:
        """In words, such as `2 nodes created, 1 property set`."""
        counts = ((field.name.split("_"), getattr(self, field.name)) for field in fields(self))
        told = [
            f"{count:,} {_SINGULAR[what] if count == 1 else what} {done}" for (what, done), count in counts if count
        ]
        return ", ".join(told) or "nothing changed"


_SINGULAR = {"nodes": "node", "relationships": "relationship", "properties": "property", "labels": "label"}


def counted(before: Snapshot, after: Snapshot, batches: Sequence[Batch]) -> Changes:
    """What batches, one after the other, have changed."""
    nodes = _Elements(Kind.NODE, before, after, [each for batch in batches for each in batch.vertex_values])
    links = _Elements(Kind.RELATIONSHIP, before, after, [each for batch in batches for each in batch.edge_values])
    gone = nodes.gone(batch.gone_vertices for batch in batches)
    gone_links = links.gone(batch.gone_edges for batch in batches)
    added, removed = map(sum, zip(nodes.properties(gone), links.properties(gone_links), strict=True))
    old, new = (_labels(snapshot) for snapshot in (before, after))
    return Changes(
        len(nodes.new),
        len(gone),
        len(links.new),
        len(gone_links),
        added,
        removed,
        len(new - old),
        len(old - new),
    )


def _labels(snapshot: Snapshot) -> set[str]:
    return {label for table in snapshot.schema.vertex_tables if table.count for label in table.labels}


class _Elements:
    """Vertices or edges, before and after."""

    def __init__(self, kind: Kind, before: Snapshot, after: Snapshot, values: Sequence[NewValues]) -> None:
        self.kind = kind
        self.before, self.after = before, after
        self.values = values
        self.known = _numbers(before, kind).count
        new = np.arange(self.known, _numbers(after, kind).count)
        self.new = new[~is_gone(after, kind, new)]

    def gone(self, ids: Iterable[NDArray[np.integer]]) -> Ids:
        """Those that were there before."""
        every = distinct(np.concatenate([np.zeros(0, np.int64), *ids]))
        return every[every < self.known]

    def properties(self, gone: Ids) -> tuple[int, int]:
        """How many values there are only after, and only before."""
        added, removed = self._held(self.after, self.new), self._held(self.before, gone)
        for key in dict.fromkeys(each.name for each in self.values):
            ids = distinct(np.concatenate([each.of for each in self.values if each.name == key])).astype(np.int64)
            ids = ids[ids < self.known]
            ids = ids[~is_gone(self.after, self.kind, ids)]
            more, less = self._changed(key, ids)
            added, removed = added + more, removed + less
        return added, removed

    def _held(self, snapshot: Snapshot, ids: Ids) -> int:
        """How many properties some elements have."""
        tables, found = _tables(snapshot, self.kind), 0
        for table, _, rows in _numbers(snapshot, self.kind).parts(ids):
            columns = (take(tables[table].columns[key], rows) for key in tables[table].columns)
            found += sum(len(column) - column.null_count for column in columns)
        return found

    def _changed(self, key: str, ids: Ids) -> tuple[int, int]:
        added = removed = 0
        for where, old in self._values(self.before, key, ids):
            for inside, new in self._values(self.after, key, ids[where]):
                here = old.take(pa.array(inside))
                same = _same(here, new)
                added += int((truths(new.is_valid()) & ~same).sum())
                removed += int((truths(here.is_valid()) & ~same).sum())
        return added, removed

    def _values(self, snapshot: Snapshot, key: str, ids: Ids) -> Iterator[tuple[Ids, pa.Array]]:
        tables = _tables(snapshot, self.kind)
        for table, where, rows in _numbers(snapshot, self.kind).parts(ids):
            column = tables[table].columns.get(key)
            yield np.arange(len(ids))[where], pa.nulls(len(rows)) if column is None else take(column, rows)


def _numbers(snapshot: Snapshot, kind: Kind) -> Numbering:
    return snapshot.vertex_numbers if kind is Kind.NODE else snapshot.edges.numbers


def _tables(snapshot: Snapshot, kind: Kind) -> Sequence[VertexTable | EdgeTable]:
    return snapshot.vertex_tables if kind is Kind.NODE else snapshot.edge_tables


def _same(old: pa.Array, new: pa.Array) -> NDArray[np.bool_]:
    """Where two values are the same; nulls are not."""
    if old.type == new.type and not pa.types.is_nested(old.type) and not pa.types.is_null(old.type):
        with suppress(pa.ArrowNotImplementedError):  # durations, say
            return truths(pc.equal(old, new))
    pairs = zip(comparable(old), comparable(new), strict=True)
    return np.array([type(one) is type(other) and one == other and one is not None for one, other in pairs], np.bool_)
