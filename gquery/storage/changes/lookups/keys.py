"""Vertices by their users' ids, in a graph that changes: what is found out about a table serves all tables that are
made of its pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gquery.arrays import to_arrow, to_numpy, truths
from gquery.storage.changes.columns.pieces import Pieces
from gquery.storage.graph import Snapshot
from gquery.storage.indexes import Index, order_of
from gquery.storage.load.assembly.lookup import ABSENT, as_type
from gquery.storage.tables import VertexTable

Rows = NDArray[np.int64]

_SPARSE = 32  # times as many numbers as ids that a table may have


def vertices_with(snapshot: Snapshot, tables: Sequence[int], ids: pa.ChunkedArray) -> tuple[Rows, NDArray[np.bool_]]:
    """For each of some ids, which are int64 or string, the vertex of the first of the tables that has it, ABSENT where
    there is none; and whether another table has it too."""
    found, again = np.full(len(ids), ABSENT, np.int64), np.zeros(len(ids), np.bool_)
    for table in tables:
        rows = _rows_of(snapshot.vertex_tables[table], ids)
        here = rows != ABSENT
        if here.any():
            known = found != ABSENT
            again |= here & known
            new = here & ~known
            found[new] = snapshot.vertex_numbers.ids_at(table, rows[new])
    return found, again


def _rows_of(table: VertexTable, ids: pa.ChunkedArray) -> Rows:
    """The row of a table that has each of some ids, the first where there are several."""
    pieces = getattr(table, "pieces", None)
    if isinstance(pieces, Pieces):
        return _rows_of_pieces(table, pieces, ids)
    if table not in _KNOWN:
        _KNOWN[table] = _Keys(table)
    return _KNOWN[table].rows(as_type(ids, _plain(table.id_type)))


def _rows_of_pieces(table: VertexTable, pieces: Pieces, ids: pa.ChunkedArray) -> Rows:
    found = np.full(len(ids), ABSENT, np.int64)
    changed = pieces.patches.get(None)
    replaced = np.zeros(0, np.int64) if changed is None else changed.rows
    for piece, begins, ends, firsts in _by_table(pieces):
        rows = _rows_of(piece, ids)
        while (rows != ABSENT).any():  # what is gone may leave another with its id behind
            place = np.searchsorted(begins, rows, side="right") - 1
            here = np.flatnonzero((place >= 0) & (rows < ends[place]) & (found == ABSENT))
            own = rows[here] + (firsts - begins)[place[here]]
            stays = np.isin(own, replaced, invert=True) if len(replaced) else slice(None)
            found[here[stays]] = own[stays]
            rows = _following(piece, np.where(found == ABSENT, rows, ABSENT))
    if changed is not None and len(replaced):
        wanted = as_type(ids, _plain(table.id_type))
        rows = _Values(pa.chunked_array([changed.values])).rows(wanted)
        here = np.flatnonzero(rows != ABSENT)
        found[here] = replaced[rows[here]]
    return found


def _following(table: VertexTable, rows: Rows) -> Rows:
    """The next row that has the id of each; ABSENT where there is none."""
    keys = _KNOWN.get(table)
    if keys is None or (rows == ABSENT).all():
        return np.full(len(rows), ABSENT, np.int64)
    return keys.following(rows)


def _by_table(pieces: Pieces) -> Iterator[tuple[VertexTable, Rows, Rows, Rows]]:
    """Each table that others have rows of, with the begins and ends of its pieces, ascending, and where they come."""
    groups: dict[int, tuple[VertexTable, list[tuple[int, int, int]]]] = {}
    first = 0
    for piece, begin, end in pieces.pieces:
        assert isinstance(piece, VertexTable)
        groups.setdefault(id(piece), (piece, []))[1].append((begin, end, first))
        first += end - begin
    for piece, bounds in groups.values():
        begins, ends, firsts = np.array(sorted(bounds), np.int64).T
        yield piece, begins, ends, firsts


def _plain(id_type: pa.DataType) -> pa.DataType:
    return pa.int64() if pa.types.is_integer(id_type) else pa.string()


class _Values:
    """Ids in the order of some rows; numbers close together also in a table of all numbers between them."""

    def __init__(self, ids: pa.ChunkedArray) -> None:
        self._ids, self._order = ids, order_of(ids)
        self._next: Rows | None = None
        numbers = pa.types.is_integer(ids.type)
        self._sorted = to_numpy(ids)[self._order].astype(np.int64) if numbers else Index(ids, self._order)
        self._dense: Rows | None = None
        if isinstance(self._sorted, np.ndarray) and len(self._sorted):
            span = int(self._sorted[-1]) - int(self._sorted[0]) + 1
            if span <= _SPARSE * len(self._sorted):
                self._dense = np.full(span + 1, ABSENT, np.int64)  # the last is of those beyond
                self._dense[self._sorted[::-1] - self._sorted[0]] = self._order[::-1]  # backwards: the first one stays

    def rows(self, wanted: pa.ChunkedArray) -> Rows:
        """The first row of each; ABSENT where there is none, and for null."""
        if not len(self._order):
            return np.full(len(wanted), ABSENT, np.int64)
        known = truths(wanted.is_valid())
        if isinstance(self._sorted, Index):
            each = pa.concat_arrays(wanted.chunks) if wanted.num_chunks else pa.nulls(0, wanted.type)
            begins, ends = self._sorted.places(each.cast(self._sorted.values.type))
            there = known & (begins < ends)
        else:
            numbers = to_numpy(wanted)
            if self._dense is not None:
                inside = known & (numbers >= self._sorted[0]) & (numbers <= self._sorted[-1])
                return self._dense[np.where(inside, numbers - self._sorted[0], -1)]
            begins = np.searchsorted(self._sorted, numbers)
            there = known & (self._sorted.take(begins, mode="clip") == numbers)
        return np.where(there, self._order.take(begins, mode="clip"), ABSENT).astype(np.int64)

    def following(self, rows: Rows) -> Rows:
        """The next row with the id of each; ABSENT behind the last, and for ABSENT."""
        if self._next is None:
            following = np.full(len(self._ids) + 1, ABSENT, np.int64)  # the last is that of ABSENT
            ids = self._ids.take(to_arrow(self._order))
            again = truths(pc.equal(ids.slice(1), ids.slice(0, max(len(ids) - 1, 0))))
            following[self._order[:-1][again]] = self._order[1:][again]
            self._next = following
        return self._next[rows]


class _Keys:
    """The ids of a table that is not made of pieces."""

    def __init__(self, table: VertexTable) -> None:
        self._first, self._count = table.counts_from, table.count
        self._values = _Values(table.ids) if self._first is None else None

    def rows(self, wanted: pa.ChunkedArray) -> Rows:
        if self._values is not None:
            return self._values.rows(wanted)
        rows = to_numpy(wanted) - self._first
        there = (rows >= 0) & (rows < self._count)
        if wanted.null_count:
            there &= truths(wanted.is_valid())
        return np.where(there, rows, ABSENT)

    def following(self, rows: Rows) -> Rows:
        return np.full(len(rows), ABSENT, np.int64) if self._values is None else self._values.following(rows)


_KNOWN: WeakKeyDictionary[VertexTable, _Keys] = WeakKeyDictionary()


def first_with(ids: pa.ChunkedArray, wanted: pa.ChunkedArray) -> Rows:
    """Where each wanted id is among some others; ABSENT where it is not."""
    return _Values(ids).rows(as_type(wanted, _plain(ids.type)))
