"""How many matches each branch of a pattern has with each vertex at the cut vertex (`branches.py`), for one version
after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from weakref import ReferenceType, ref

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_numpy
from gquery.continuous.numbers.branches import MATCHES, VERTEX
from gquery.executor.chain.rows import too_many
from gquery.executor.relational.selection import WEIGHT
from gquery.storage.graph import Snapshot
from gquery.storage.sorting import distinct

_EXACT = 2.0**62

Met = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Vertices at the cut vertex, and of how many matches of a branch each is told; one may be there several times."""

NONE_MET: Met = (np.zeros(0, np.int64), np.zeros(0, np.int64))


def met_by(answer: pa.Table) -> Met:
    """As a branch's query answers."""
    vertices, matches = (to_numpy(answer[name].combine_chunks()) for name in (VERTEX, MATCHES))
    return vertices, matches


def met_in(rows: Sequence[pa.RecordBatch]) -> Met:
    """By rows before the projection of that. Raises ExecutionError for numbers beyond 2^62."""
    found = [NONE_MET, *map(_met_in, rows)]
    vertices, matches = (np.concatenate(side) for side in zip(*found, strict=True))
    if matches.sum(dtype=np.float64) >= _EXACT:
        raise too_many()
    return vertices, matches


def _met_in(batch: pa.RecordBatch) -> Met:
    (name,) = (name for name in batch.schema.names if name != WEIGHT)
    vertices = to_numpy(batch.column(name))
    weighted = WEIGHT in batch.schema.names
    return vertices, to_numpy(batch.column(WEIGHT)) if weighted else np.ones(len(vertices), np.int64)


class Sums:
    """For one version at a time, by one thread at a time."""

    def __init__(self, met: Sequence[Met], snapshot: Snapshot) -> None:
        """met: the matches of the branches on a version."""
        self._sums = [np.zeros(snapshot.vertex_count, np.int64) for _ in met]
        self._add(met, 1)
        self._version: ReferenceType[Snapshot] | None = ref(snapshot)

    def are_of(self, snapshot: Snapshot) -> bool:
        """Whether they are those of a version."""
        return self._version is not None and self._version() is snapshot

    def follow(self, added: Sequence[Met], removed: Sequence[Met], new: Snapshot) -> tuple[int, int]:
        """To a new version: by the matches of the branches that are new, and those that are gone.
        Returns how many matches of the whole pattern are new, and how many are gone."""
        self._version = None  # until all of them are those of the new one
        more = new.vertex_count - len(self._sums[0])
        if more > 0:
            room = np.zeros(more + len(self._sums[0]) // 4, np.int64)
            self._sums = [np.concatenate([each, room]) for each in self._sums]
        gone = self._add(removed, -1)
        come = self._add(added, 1)
        self._version = ref(new)
        return come, -gone

    def _add(self, met: Sequence[Met], sign: int) -> int:
        """Returns how many matches more there are."""
        touched = distinct(np.concatenate([vertices for vertices, _ in met]))
        if not len(touched):
            return 0
        before = self._matches(touched)
        for sums, (vertices, matches) in zip(self._sums, met, strict=True):
            np.add.at(sums, vertices, sign * matches)
        return self._matches(touched) - before

    def _matches(self, vertices: NDArray[np.int64]) -> int:
        """Of the whole pattern, with one of some vertices at the cut vertex."""
        rows = np.stack([each[vertices] for each in self._sums])
        if np.prod(rows, axis=0, dtype=np.float64).sum() < _EXACT:
            return int(np.prod(rows, axis=0).sum())
        return sum(map(math.prod, rows.T.tolist()))
