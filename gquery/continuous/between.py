"""What lies between two versions of a graph: the elements that differ, and the edges that a pattern may lose and gain
by that."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from gquery.lasting.locks import lasting_lock
from gquery.lasting.properties import cached_property
from gquery.planner.ir.hashed import Hashed
from gquery.records import record
from gquery.storage.changes.applied import applied
from gquery.storage.changes.batch import Batch, NewValues
from gquery.storage.graph import Snapshot
from gquery.storage.parted.snapshot import Parted
from gquery.storage.sorting import among, distinct

_ALL = 2**62  # entries: more than any adjacency has

Id = TypeVar("Id", bound=np.integer[Any])


@record(frozen=True, slots=True)
class Touched:
    """Elements by their ids, ascending. edges: int64, those that are new, and those that are gone. vertices: int32,
    those that have other labels; come_or_gone: int32, those that are new, and those that are gone, which for patterns
    differ by their edges. vertex_values, edge_values: those that have other values, by the property's name."""

    edges: NDArray[np.int64]
    vertices: NDArray[np.int32]
    come_or_gone: NDArray[np.int32]
    vertex_values: Mapping[str, NDArray[np.int32]] = field(default_factory=dict)
    edge_values: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)

    @classmethod
    def by(cls, batch: Batch, vertex_count: int, edge_count: int) -> Touched:
        """By a batch on a snapshot with ids for so many vertices and edges."""
        come = np.arange(vertex_count, vertex_count + sum(each.count for each in batch.vertices))
        new = np.arange(edge_count, edge_count + sum(each.count for each in batch.edges))
        return cls(
            _united([new, batch.gone_edges], np.int64),
            _united((each.vertices for each in batch.labels), np.int32),
            _united([come, batch.gone_vertices], np.int32),
            _by_name(batch.vertex_values, np.int32),
            _by_name(batch.edge_values, np.int64),
        )

    @classmethod
    def by_all(cls, several: Collection[Touched]) -> Touched:
        """By several batches, one after the other."""
        if len(several) == 1:
            return next(iter(several))
        return cls(
            _united((each.edges for each in several), np.int64),
            _united((each.vertices for each in several), np.int32),
            _united((each.come_or_gone for each in several), np.int32),
            _joined([each.vertex_values for each in several], np.int32),
            _joined([each.edge_values for each in several], np.int64),
        )

    @property
    def size(self) -> int:
        """How many elements that are."""
        values = sum(map(len, self.vertex_values.values())) + sum(map(len, self.edge_values.values()))
        return len(self.edges) + len(self.vertices) + len(self.come_or_gone) + values

    def read_by(self, names: Collection[str] | None) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The vertices and edges that differ for who reads properties of some names, or all."""
        vertices = (own for name, own in self.vertex_values.items() if names is None or name in names)
        edges = (own for name, own in self.edge_values.items() if names is None or name in names)
        return _united([self.vertices, *vertices], np.int32), _united([self.edges, *edges], np.int64)


class Between:
    """Two versions of a graph, and what differs. Safe from several threads."""

    def __init__(self, old: Snapshot, new: Snapshot, parts: Sequence[Touched]) -> None:
        """parts: what was touched, one after the other."""
        self.old = old
        self.new = new
        self._parts = parts
        self._parted: dict[object, tuple[Parted | None, Parted | None]] = {}
        self._lock = lasting_lock()

    @classmethod
    def by(cls, old: Snapshot, new: Snapshot, batches: Sequence[Batch]) -> Between:
        """What some batches have changed, one after the other."""
        vertices, edges = old.vertex_count, old.edge_count
        touched = []
        for batch in batches:
            touched.append(Touched.by(batch, vertices, edges))
            vertices += sum(each.count for each in batch.vertices)
            edges += sum(each.count for each in batch.edges)
        return cls(old, new, touched)

    def joined(self, later: Between) -> Between:
        """From the old version to the new one of what follows. A part is put together with others that are about as
        large, so that a writer whom nobody reads for long does not go through all of it for each version."""
        parts = [*self._parts, *later._parts]
        while len(parts) > 1 and parts[-2].size <= 2 * parts[-1].size:
            parts[-2:] = [Touched.by_all(parts[-2:])]
        return Between(self.old, later.new, parts)

    @cached_property
    def _touched(self) -> Touched:
        return Touched.by_all(self._parts)

    @cached_property
    def keys(self) -> tuple[Hashable, Hashable]:
        """What queries are bound by on the old version, and on the new one."""
        old, new = schema_key(self.old), schema_key(self.new)
        return (old, old) if old == new else (old, new)

    @cached_property
    def sides(self) -> tuple[Parted, Parted]:
        """The old snapshot and the new one, with no edges apart."""
        return Parted.with_none_apart(self.old), Parted.with_none_apart(self.new)

    def vertices(self, names: frozenset[str] | None) -> NDArray[np.int32]:
        """Those that differ, or that only one of the versions has. names: of the properties that are read, None for
        all."""
        return _united([self._touched.read_by(names)[0], self._touched.come_or_gone], np.int32)

    def parted(self, types: frozenset[str], names: frozenset[str] | None) -> tuple[Parted | None, Parted | None]:
        """The old snapshot with the edges apart that are lost, and the new one with those apart that are gained; None
        where there are none. An edge with another value, or at a vertex with other labels or values, is lost and
        gained. types: of the edges that are looked at; names: of the properties that are read, None for all."""
        key = types, names
        with self._lock:
            if key not in self._parted:
                self._parted[key] = self._part(types, names)
            return self._parted[key]

    def in_common(self, types: frozenset[str], names: frozenset[str] | None) -> Snapshot:
        """A version with the edges that are neither lost nor gained, and no others of these types."""
        lost, gained = self.parted(types, names)
        if lost is None:
            return self.old
        return self.new if gained is None else lost.rest

    def _part(self, types: frozenset[str], names: frozenset[str] | None) -> tuple[Parted | None, Parted | None]:
        vertices, edges = self._touched.read_by(names)
        lost, gained = (_edges_of(each, types, vertices, edges) for each in (self.old, self.new))
        if len(lost) and len(gained):
            rest = applied(self.old, Batch(gone_edges=lost))
        else:
            rest = self.new if len(lost) else self.old
        return (
            Parted(self.old, lost, rest) if len(lost) else None,
            Parted(self.new, gained, rest) if len(gained) else None,
        )


def _edges_of(
    snapshot: Snapshot, types: frozenset[str], vertices: NDArray[np.int32], edges: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Those of some edges, and those at some vertices, that a snapshot has, of some types."""
    there = edges[: np.searchsorted(edges, snapshot.edge_count)]
    gone, tables = snapshot.edges.gone, snapshot.tables_of(types)
    if len(gone):
        there = there[~among(there, gone)]
    if len(tables) < len(snapshot.edge_tables):
        there = there[np.isin(snapshot.edges.numbers.tables_of(there), tables)]
    if not len(vertices):
        return there
    known = [type_ for type_ in types if snapshot.tables_of([type_])]
    sides = (snapshot.adjacency([type_], side) for type_ in known for side in ("out", "in"))
    near = (found for side in sides if (found := side.edges_at(vertices, _ALL)) is not None)
    return _united([there, *near], np.int64)


def _united(parts: Iterable[NDArray[Any]], dtype: type[Id]) -> NDArray[Id]:
    """All that is in any part, ascending, each once."""
    several = [part for part in parts if len(part)] or [np.zeros(0, dtype)]
    together = several[0] if len(several) == 1 else np.concatenate(several)
    return distinct(together).astype(dtype, copy=False)


def _by_name(values: Iterable[NewValues], dtype: type[Id]) -> dict[str, NDArray[Id]]:
    return _joined([{each.name: each.of} for each in values], dtype)


def _joined(several: Iterable[Mapping[str, NDArray[Any]]], dtype: type[Id]) -> dict[str, NDArray[Id]]:
    found: dict[str, list[NDArray[Any]]] = {}
    for each in several:
        for name, own in each.items():
            found.setdefault(name, []).append(own)
    return {name: _united(parts, dtype) for name, parts in found.items()}


def schema_key(snapshot: Snapshot) -> Hashable:
    """What queries are bound by: equal for snapshots whose schemas differ in numbers alone."""
    key = _keys.get(snapshot)
    if key is None:
        vertices = ((each.labels, each.id_type, tuple(each.columns.types.items())) for each in snapshot.vertex_tables)
        edges = ((each.type, tuple(each.columns.types.items())) for each in snapshot.edge_tables)
        key = _keys[snapshot] = _same((tuple(vertices), tuple(edges)))
    return key


_keys: WeakKeyDictionary[Snapshot, Hashable] = WeakKeyDictionary()  # a version is new once, and then the old one
_same = lru_cache(maxsize=64)(Hashed)  # of equal keys the same, which need not be compared
