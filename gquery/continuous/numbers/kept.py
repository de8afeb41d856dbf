"""Sums that are kept from version to version: how many matches each branch of a pattern has with each vertex at the cut
vertex (`branches.py`)."""

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

_CALL = 0.002  # seconds that a change takes at least, more or less, however little there is to find
_CHANGES, _LEAST = 16, 0.05  # changes, and seconds of these, before it is worth a try
_LONGER = 4  # times as long as these may a try take: who has stood for a while is likely to stand for longer
_PATIENCE = (
    0.5  # seconds that changes take more with sums than they took without, altogether, before these are given up
)
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


class Kept:
    """For one version at a time. It takes a while to make the sums: it is tried when changes that were answered without
    have taken a share of that, and again when they have taken so many times as much as before the last try. So all
    tries together take a few times as long as the changes. Of trees the numbers by vertex may be many where the matches
    are counted soon: then there are no sums any more."""

    def __init__(self) -> None:
        self._version: ReferenceType[Snapshot] | None = None
        self._sums: list[NDArray[np.int64]] = []
        self._changes, self._spent, self._worth = 0, 0.0, _LEAST
        self._took, self._usual, self._lost = 0.0, 0.0, 0.0

    def are_of(self, snapshot: Snapshot) -> bool:
        """Whether there are sums of a version."""
        return self._version is not None and self._version() is snapshot

    def forget(self) -> None:
        """They are of a version that nobody goes on from."""
        self._version, self._sums = None, []

    def answered_without(self, seconds: float) -> float | None:
        """A change has taken so long without sums. Returns the seconds that it is worth to make them; None where it is
        not worth while."""
        self._changes += 1
        self._took += seconds
        self._spent += max(0.0, seconds - _CALL)
        return _LONGER * self._spent if self._changes >= _CHANGES and self._spent >= self._worth else None

    def answered_with(self, seconds: float) -> None:
        """A change has taken so long with sums."""
        self._lost += seconds - self._usual
        if self._lost > _PATIENCE:
            self.forget()
            self._worth = math.inf

    def given_up(self) -> None:
        """It took longer, or there is no room."""
        self._worth = _LONGER * self._spent

    def make(self, met: Sequence[Met], snapshot: Snapshot) -> None:
        """By the matches of the branches on a version."""
        self._sums = [np.zeros(snapshot.vertex_count, np.int64) for _ in met]
        self._add(met, 1)
        self._version = ref(snapshot)
        self._usual, self._lost = self._took / max(1, self._changes), 0.0
        self._changes, self._spent, self._took, self._worth = 0, 0.0, 0.0, _LEAST

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
