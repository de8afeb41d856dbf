"""Tables whose rows are rows of others, one piece after the other, with other values here and there.

Nothing is copied before a column is asked for. What is made of such a table is made of its pieces, so that a graph that
has changed a thousand times is not a thousand tables deep. Once a table has too many of them, or too many patches,
short pieces beside each other are written as one; if it has too many then, it is a piece itself of those that come
after it, until they have too many: then all is one table of pieces again, and never more than two deep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import ranges, to_arrow
from gquery.lasting.properties import cached_property
from gquery.records import record
from gquery.storage.changes.columns.values import as_ids, held_or_null, in_a_row
from gquery.storage.sorting import distinct
from gquery.storage.tables import EdgeTable, Ends, VertexTable

Table = VertexTable | EdgeTable
Types = Mapping[str | None, pa.DataType]

_MANY = 32  # pieces, and
_LONG = 4096  # patched rows, of a table that is not taken apart by every version
_SHARE = 8  # an nth of a table's rows is never written as one
_LARGE = 1 << 30  # bytes of a column of which rows are not taken at once: texts of one array have offsets of 32 bits
_BLOCK = 1 << 16  # rows that are written anew around a patched one


class Piece(NamedTuple):
    """The rows [begin, end) of a table."""

    table: Table
    begin: int
    end: int


@record(frozen=True, slots=True)
class Patch:
    """Other values of some rows. rows: int64, ascending."""

    rows: NDArray[np.int64]
    values: pa.Array

    def within(self, begin: int, end: int, place: int, type_: pa.DataType) -> Patch:
        """Of the rows [begin, end), which are those from `place` on."""
        low, high = np.searchsorted(self.rows, (begin, end)).tolist()
        return Patch(self.rows[low:high] + (place - begin), held_or_null(self.values[low:high], type_))

    def those(self, chosen: NDArray[np.bool_]) -> Patch:
        """Of some of the rows."""
        return self if chosen.all() else Patch(self.rows[chosen], self.values.filter(pa.array(chosen)))

    def then(self, later: Patch) -> Patch:
        """With later values of the same type, which count where there are both."""
        kept = np.flatnonzero(np.isin(self.rows, later.rows, assume_unique=True, invert=True))
        rows = np.concatenate([self.rows[kept], later.rows])
        order = np.argsort(rows, kind="stable")
        values = in_a_row([self.values.take(to_arrow(kept)), later.values], later.values.type)
        return Patch(rows[order], values.take(to_arrow(order)))


@record(frozen=True)
class Pieces:
    """types, patches: by column, None for the users' ids."""

    pieces: tuple[Piece, ...]
    types: Types
    patches: Mapping[str | None, Patch]

    @classmethod
    def of(cls, pieces: Iterable[Piece], types: Types, to_the_ground: bool = False) -> Pieces:
        """Rows of tables that may be made of pieces themselves. to_the_ground: also of those that have many."""
        found: list[Piece] = []
        patches: dict[str | None, Patch] = {}
        place = 0
        for piece in pieces:
            inner = getattr(piece.table, "pieces", None)
            if inner is None or (inner.is_heavy and not to_the_ground):
                _add(found, (piece,))
            else:
                inner = inner.flat() if to_the_ground else inner
                _add(found, inner.within(piece.begin, piece.end))
                for name, patch in inner.patches.items():
                    here = patch.within(piece.begin, piece.end, place, types[name])
                    patches[name] = patches[name].then(here) if name in patches else here
            place += piece.end - piece.begin
        return cls(tuple(found), types, patches)

    def flat(self) -> Pieces:
        """The same rows, of tables that are not made of pieces."""
        if all(getattr(piece.table, "pieces", None) is None for piece in self.pieces):
            return self
        return Pieces.of(self.pieces, self.types, to_the_ground=True).patched(self.patches)

    def with_fewer(self, written: Callable[[Pieces], Table]) -> Pieces:
        """With short pieces beside each other written as one table. A row is written as often as the piece that it is
        in doubles."""
        pieces: list[Piece] = []
        stay = {name: np.ones(len(patch.rows), np.bool_) for name, patch in self.patches.items()}
        begin = 0
        for group in _groups(self.pieces, self.count // _SHARE):
            end = begin + sum(piece.end - piece.begin for piece in group)
            if len(group) == 1:
                pieces += group
            else:
                patches = {name: p.within(begin, end, 0, self.types[name]) for name, p in self.patches.items()}
                patches = {name: patch for name, patch in patches.items() if len(patch.rows)}
                pieces.append(Piece(written(Pieces(tuple(group), self.types, patches)), 0, end - begin))
                for name, patch in self.patches.items():
                    stay[name][slice(*np.searchsorted(patch.rows, (begin, end)))] = False
            begin = end
        left = {name: patch.those(stay[name]) for name, patch in self.patches.items() if stay[name].any()}
        return Pieces(tuple(pieces), self.types, left)

    @cached_property
    def count(self) -> int:
        return _rows_of(self.pieces)

    @property
    def is_heavy(self) -> bool:
        return len(self.pieces) > _MANY or sum(len(patch.rows) for patch in self.patches.values()) > _LONG

    def within(self, begin: int, end: int) -> Sequence[Piece]:
        """The pieces of the rows [begin, end)."""
        if begin == 0 and end == self.count:
            return self.pieces
        found, first = [], 0
        for table, its_begin, its_end in self.pieces:
            low, high = max(begin - first, 0), min(end - first, its_end - its_begin)
            if low < high:
                found.append(Piece(table, its_begin + low, its_begin + high))
            first += its_end - its_begin
        return found

    def patched(self, patches: Mapping[str | None, Patch]) -> Pieces:
        """With other values of some rows, in place of those that they may have been given before."""
        both = dict(self.patches)
        for name, patch in patches.items():
            both[name] = both[name].then(patch) if name in both else patch
        return replace(self, patches=both)

    def column(self, name: str | None, id_name: str | None = None) -> pa.ChunkedArray:
        """The values. Those that the column's type does not hold have all been replaced. A piece without the column
        `id_name` shows its ids there."""
        type_, chunks = self.types[name], []
        for table, pieces in _by_table(self.pieces):
            values = table.column(name)
            are_ids = name is None or (values is None and name == id_name)
            values = table.column(None) if are_ids else values
            values = pa.chunked_array([pa.nulls(_rows_of(pieces))]) if values is None else _taken(values, pieces)
            chunks += (as_ids(values, type_) if are_ids else held_or_null(values, type_)).chunks
        whole = pa.chunked_array(chunks, type_)
        return _patched(whole, self.patches[name]) if name in self.patches else whole

    def ends(self) -> Ends:
        """Of edges."""
        edges = [(table.ends, begin, end) for table, begin, end in self.pieces if isinstance(table, EdgeTable)]
        found = [[side[begin:end] for side in ends] for ends, begin, end in edges]
        source, target = (np.concatenate([np.zeros(0, np.int32), *(each[side] for each in found)]) for side in (0, 1))
        return source, target

    def ends_at(self, rows: NDArray[np.integer[Any]]) -> Ends:
        """Of some edges, without putting those of all others together."""
        found = np.zeros((2, len(rows)), np.int32)
        bounds = np.cumsum([end - begin for _, begin, end in self.pieces])
        numbers = np.searchsorted(bounds, rows, side="right")
        several = distinct(numbers).tolist()
        for number in several:
            table, _, end = self.pieces[number]
            if isinstance(table, EdgeTable):
                here = slice(None) if len(several) == 1 else np.flatnonzero(numbers == number)
                found[:, here] = table.ends_at(rows[here] - bounds[number] + end)
        return found[0], found[1]


def _by_table(pieces: Sequence[Piece]) -> Iterator[tuple[Table, list[Piece]]]:
    """The pieces in order, those together that follow others of their table."""
    for _, those in groupby(pieces, lambda piece: id(piece.table)):
        own = list(those)
        yield own[0].table, own


def _rows_of(pieces: Sequence[Piece]) -> int:
    return sum([end - begin for _, begin, end in pieces])


def _taken(values: pa.ChunkedArray, pieces: Sequence[Piece]) -> pa.ChunkedArray:
    """What the pieces of one table have of a column: the slices of few, the rows of many."""
    if len(pieces) <= _MANY or values.nbytes > _LARGE:
        chunks = [chunk for _, begin, end in pieces for chunk in values.slice(begin, end - begin).chunks]
        return pa.chunked_array(chunks, values.type)
    begins, ends = np.array([(begin, end) for _, begin, end in pieces]).T
    return values.take(to_arrow(ranges(begins, ends)))


def _add(pieces: list[Piece], more: Sequence[Piece]) -> None:
    """Adds pieces of which none goes on where the one before it ends, but for the first."""
    if pieces and more:
        last, first = pieces[-1], more[0]
        if last.table is first.table and last.end == first.begin:
            pieces[-1] = last._replace(end=first.end)
            more = more[1:]
    pieces += more


def _groups(pieces: Iterable[Piece], longest: int) -> list[list[Piece]]:
    """The pieces in order, those together that follow others which are not twice as long as they are."""
    groups: list[list[Piece]] = []
    lengths: list[int] = []
    for piece in pieces:
        groups.append([piece])
        lengths.append(piece.end - piece.begin)
        while len(groups) > 1 and lengths[-2] <= 2 * lengths[-1] and lengths[-2] + lengths[-1] <= longest:
            last, length = groups.pop(), lengths.pop()
            groups[-1] += last
            lengths[-1] += length
    return groups


def _patched(column: pa.ChunkedArray, patch: Patch) -> pa.ChunkedArray:
    """The column with other values: blocks of rows are written anew where there are any, the others stay."""
    chunks: list[pa.Array] = []
    first = 0
    for chunk in column.chunks:
        untouched = 0  # where the rows begin that stay as they are
        low, high = np.searchsorted(patch.rows, (first, first + len(chunk))).tolist()
        rows, values = patch.rows[low:high] - first, patch.values[low:high]
        for block in distinct(rows // _BLOCK).tolist():
            begin, end = block * _BLOCK, min((block + 1) * _BLOCK, len(chunk))
            low, high = np.searchsorted(rows, (begin, end)).tolist()
            place = np.arange(end - begin)
            place[rows[low:high] - begin] = np.arange(end - begin, end - begin + high - low)
            both = in_a_row([chunk[begin:end], values[low:high]], column.type)
            chunks += [chunk[untouched:begin], both.take(to_arrow(place))]
            untouched = end
        chunks.append(chunk[untouched:])
        first += len(chunk)
    return pa.chunked_array([chunk for chunk in chunks if len(chunk)], column.type)
