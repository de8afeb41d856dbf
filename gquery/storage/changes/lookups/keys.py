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


def vertices_with(
    snapshot: Snapshot, tables: Sequence[int], ids: pa.ChunkedArray, gone: Rows | None = None
) -> tuple[Rows, NDArray[np.bool_]]:
    """For each of some ids, which are int64 or string, the first vertex of the tables that has it and is not among
    those that are gone, ABSENT where there is none; and whether another one has it too."""
    found, again = np.full(len(ids), ABSENT, np.int64), np.zeros(len(ids), np.bool_)
    for table in tables:
        for rows in _rows_of(snapshot.vertex_tables[table], ids):
            here = np.flatnonzero(rows != ABSENT)
            those = snapshot.vertex_numbers.ids_at(table, rows[here])
            if gone is not None and len(gone):
                stays = np.isin(those, gone, invert=True)
                here, those = here[stays], those[stays]
            again[here] |= found[here] != ABSENT
            found[here] = np.where(found[here] == ABSENT, those, found[here])
    return found, again


def _rows_of(table: VertexTable, ids: pa.ChunkedArray) -> Iterator[Rows]:
    """The rows of a table that have each of some ids: one row of each at a time, ABSENT where there are no more."""
    pieces = getattr(table, "pieces", None)
    if isinstance(pieces, Pieces):
        yield from _rows_of_pieces(table, pieces, ids)
        return
    if table not in _KNOWN:
        _KNOWN[table] = _Keys(table)
    yield from _KNOWN[table].rows(as_type(ids, _plain(table.id_type)))


def _rows_of_pieces(table: VertexTable, pieces: Pieces, ids: pa.ChunkedArray) -> Iterator[Rows]:
    changed = pieces.patches.get(None)
    for piece, begins, ends, firsts in _by_table(pieces):
        for rows in _rows_of(piece, ids):
            place = np.searchsorted(begins, rows, side="right") - 1
            own = np.where((place >= 0) & (rows < ends[place]), rows + (firsts - begins)[place], ABSENT)
            if changed is not None:
                own[np.isin(own, changed.rows)] = ABSENT
            yield own
    if changed is not None:
        wanted = as_type(ids, _plain(table.id_type))
        for rows in _Values(pa.chunked_array([changed.values])).rows(wanted):
            yield np.where(rows == ABSENT, ABSENT, changed.rows.take(rows, mode="clip"))


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
        self._order = order_of(ids)
        numbers = pa.types.is_integer(ids.type)
        self._sorted = to_numpy(ids)[self._order].astype(np.int64) if numbers else Index(ids, self._order)
        self._dense: Rows | None = None
        if isinstance(self._sorted, np.ndarray) and len(self._sorted):
            span = int(self._sorted[-1]) - int(self._sorted[0]) + 1
            if span <= _SPARSE * len(self._sorted):
                self._dense = np.full(span + 1, ABSENT, np.int64)  # the last is of those beyond
                self._dense[self._sorted[::-1] - self._sorted[0]] = self._order[::-1]  # backwards: the first one stays
        self._following = _following(ids, self._order)

    def rows(self, wanted: pa.ChunkedArray) -> Iterator[Rows]:
        """The rows of each, one at a time: ABSENT where there are no more, and for null."""
        rows = self.first_rows(wanted)
        while (rows != ABSENT).any():
            yield rows
            rows = np.full(len(rows), ABSENT) if self._following is None else self._following[rows]

    def first_rows(self, wanted: pa.ChunkedArray) -> Rows:
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


def _following(ids: pa.ChunkedArray, order: NDArray[np.int32]) -> Rows | None:
    """For each row the next one that has the same id, ABSENT where there is none, and behind all; None where all ids
    differ, as they do but where labels have brought two vertices together."""
    ordered = ids.take(to_arrow(order))
    again = truths(pc.equal(ordered.slice(1), ordered.slice(0, max(len(order) - 1, 0))))
    if not again.any():
        return None
    following = np.full(len(ids) + 1, ABSENT, np.int64)  # the last is that of ABSENT
    following[order[:-1][again]] = order[1:][again]
    return following


class _Keys:
    """The ids of a table that is not made of pieces."""

    def __init__(self, table: VertexTable) -> None:
        self._first, self._count = table.counts_from, table.count
        self._values = _Values(table.ids) if self._first is None else None

    def rows(self, wanted: pa.ChunkedArray) -> Iterator[Rows]:
        """As of `_Values`."""
        if self._values is not None:
            yield from self._values.rows(wanted)
            return
        rows = to_numpy(wanted) - self._first
        there = (rows >= 0) & (rows < self._count)
        if wanted.null_count:
            there &= truths(wanted.is_valid())
        yield np.where(there, rows, ABSENT)


_KNOWN: WeakKeyDictionary[VertexTable, _Keys] = WeakKeyDictionary()


def first_with(ids: pa.ChunkedArray, wanted: pa.ChunkedArray) -> Rows:
    """Where each wanted id is among some others; ABSENT where it is not."""
    return _Values(ids).first_rows(as_type(wanted, _plain(ids.type)))
