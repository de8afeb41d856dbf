"""Adjacencies that change: what a batch does not touch is where it was.

Rows that change are written again, behind all others, in arrays that the snapshots of a graph share: an old one never
looks there. Where the rows are is kept in pages of some hundred rows, and a snapshot has copies of those pages alone in
which a row has moved. So an edge more in forty million is two rows and two pages more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gquery.arrays import ranges
from gquery.lasting.locks import lasting_lock
from gquery.lasting.promises import Promise
from gquery.records import record
from gquery.storage.adjacency import PAGE_BITS, PAGE_ROWS, Adjacency
from gquery.storage.sorting import changes

Ids = NDArray[np.int64]
Vertices = NDArray[np.int32]

_ROOM, _LEAST = 4, 1 << 18  # an nth of the entries, and so many more, are room for those that are written again
_MOVED = 128  # entries for which there is room for another page
_BASE, _EMPTY = -1, 0  # the page of rows that are where they were when the room was made, and of rows without entries
_PAGE = PAGE_BITS + 4  # bits of the bytes of a page
_PART = 1 << 20  # entries that are copied at once
_NO_OFFSETS = np.zeros(0, np.int64)


Renewal = tuple[Ids, int, "ChangedAdjacency"]
"""The directory of rows, how many there are, and the same rows in another room. Not the adjacency that they were of: it
holds the room that holds this, and both would wait for the garbage collector with all their memory."""


def _taken() -> Promise[Renewal]:
    nothing: Promise[Renewal] = Promise()
    nothing.keep(None)
    return nothing


class Room:
    """Arrays that grow at their end, up to a size that is reserved when they are made: memory that nobody has written
    to is not there yet. Safe from several threads."""

    def __init__(self, adjacency: Adjacency, rows: int) -> None:
        """For an adjacency, and its rows as they change."""
        size = len(adjacency.neighbours)
        room = size + size // _ROOM + _LEAST
        self.neighbours, self.edges = np.empty(room, np.int32), np.empty(room, np.int64)
        self.neighbours[:size], self.edges[:size] = adjacency.neighbours, adjacency.edges
        self.pages = np.empty((_pages(rows) + room // _MOVED, PAGE_ROWS, 2), np.int64)
        self.first, self.offsets = adjacency.first, adjacency.offsets
        self.used, self._pages_used = size, _EMPTY + 1
        self.pages[_EMPTY] = 0
        self._address = self.pages.ctypes.data
        self._lock = lasting_lock()
        self._ample = size + (room - size) // 2, len(self.pages) // 2
        self._renewal: Promise[Renewal] | None = None

    def begun(self, vertex: int, adjacency: Adjacency) -> int:
        """A page more, for the rows from a vertex on: before anybody knows the room."""
        self._pages_used += 1
        page = self.pages[self._pages_used - 1]
        page[:, 0], page[:, 1] = adjacency.bounds(np.arange(vertex, vertex + PAGE_ROWS))
        return self._pages_used - 1

    def addresses(self, numbers: NDArray[np.integer[Any]]) -> Ids:
        """Where some pages are."""
        return self._address + (numbers.astype(np.int64) << _PAGE)

    def numbers(self, addresses: Ids) -> Ids:
        """The pages that are there; _BASE for those of the offsets."""
        return np.where(addresses & 1, _BASE, (addresses - self._address) >> _PAGE)

    def write_offsets(self, page: int, rows: Ids) -> None:
        """The bounds of rows that are where they were, int64[rows, 2]."""
        begin = page * PAGE_ROWS - self.first
        rows[:, 0] = self.offsets[begin : begin + PAGE_ROWS]
        rows[:, 1] = self.offsets[begin + 1 : begin + PAGE_ROWS + 1]

    def to_be_renewed(self) -> Promise[Renewal] | None:
        """Once there is less than half of it left: what the caller is to make, and nobody else."""
        with self._lock:
            if self._renewal is not None or (self.used <= self._ample[0] and self._pages_used <= self._ample[1]):
                return None
            self._renewal = Promise()
            return self._renewal

    def renewal(self) -> Renewal | None:
        """Rows of this room, in another one that has room again; once, so that who still reads here does not hold all
        rooms that come after. Waits for who makes it."""
        if self._renewal is None:
            return None
        made = self._renewal.result()
        self._renewal = _taken()
        return made

    def taken(self, entries: int, pages: int) -> tuple[int, int] | None:
        """Where so many more entries and pages begin; None where there is no room for them."""
        with self._lock:
            begin, first = self.used, self._pages_used
            if begin + entries > len(self.edges) or first + pages > len(self.pages):
                return None
            self.used, self._pages_used = begin + entries, first + pages
            return begin, first


@record(frozen=True, slots=True)
class Rows:
    """Some rows, one after the other. lengths: int64, of each."""

    lengths: Ids
    neighbours: Vertices
    edges: Ids
    simple: bool


class ChangedAdjacency(Adjacency):
    """An adjacency whose rows are anywhere in its arrays, which hold other entries too. It begins at vertex 0, and has
    no offsets. entries: of its rows; longest: no row is longer."""

    __slots__ = ("_compact", "_entries_of_rows", "_longest", "_rows", "directory", "room")

    def __init__(self, room: Room, directory: Ids, rows: int, entries: int, longest: int, simple: bool) -> None:
        super().__init__(0, _NO_OFFSETS, room.neighbours[: room.used], room.edges[: room.used], simple)
        self.room, self._rows = room, rows
        self._entries_of_rows, self._longest = entries, longest
        self._compact: Adjacency | None = None
        self.directory = directory
        """int64[pages]: where the begin and end of its rows are, side by side; or, one more than that, where they are
        one offset after the other."""

    @property
    def rows(self) -> int:
        return self._rows

    @property
    def entries(self) -> int:
        return self._entries_of_rows

    @property
    def longest(self) -> int:
        return self._longest

    @property
    def nbytes(self) -> int:
        return self.neighbours.nbytes + self.edges.nbytes + self.directory.nbytes

    def bounds(self, vertices: NDArray[np.integer[Any]]) -> tuple[Ids, Ids]:
        return self._bounds(self.directory, self._rows, vertices)

    def _bounds(self, directory: Ids, count: int, vertices: NDArray[np.integer[Any]]) -> tuple[Ids, Ids]:
        """Of rows in its room that a directory of so many rows has."""
        rows = vertices.astype(np.int64)
        outside = rows.view(np.uint64) >= count
        has_outside = outside.any()
        if has_outside:
            if outside.all():
                return np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
            rows[outside] = 0
        numbers = self.room.numbers(directory[rows >> PAGE_BITS])
        pair = self.room.pages[numbers, rows & (PAGE_ROWS - 1)]  # what _BASE finds there, no matter what, is replaced
        is_base = numbers == _BASE
        if is_base.any():
            kept = rows[is_base] - self.room.first
            pair[is_base, 0], pair[is_base, 1] = self.room.offsets[kept], self.room.offsets[kept + 1]
        if has_outside:
            pair[outside] = 0
        begins, ends = np.ascontiguousarray(pair.T)
        return begins, ends

    def compact(self) -> Adjacency:
        if self._compact is None:
            self._compact = self.copied()
        return self._compact

    def copied(self) -> Adjacency:
        """As `compact`, and not kept. A part at a time, so that others go on meanwhile."""
        begins, ends = self.bounds(np.arange(self._rows))
        offsets = np.concatenate([[0], np.cumsum(ends - begins)])
        neighbours, edges = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int64)
        row = 0
        while row < self._rows:
            end = max(row + 1, int(np.searchsorted(offsets, offsets[row] + _PART, side="right")) - 1)
            entries, place = ranges(begins[row:end], ends[row:end]), slice(offsets[row], offsets[end])
            neighbours[place], edges[place] = self.neighbours[entries], self.edges[entries]
            row = end
        return Adjacency(0, offsets, neighbours, edges, self.simple)

    def moved_to(self, before: Ids, count: int, other: ChangedAdjacency) -> ChangedAdjacency | None:
        """The same rows, in the room of another adjacency that has those which were here when there were so many, by
        the directory of `before`; None where there is not enough."""
        known = len(before)
        pages = np.flatnonzero(self.directory[:known] != before)
        pages = np.concatenate([pages, np.arange(known, len(self.directory))])
        rows = (pages[:, None] * PAGE_ROWS + np.arange(PAGE_ROWS)).ravel()
        rows = rows[rows < self._rows]
        (begins, ends), was = self.bounds(rows), self._bounds(before, count, rows)
        moved = (begins != was[0]) | (ends != was[1])
        if not moved.any():
            return other
        rows, begins, ends = rows[moved], begins[moved], ends[moved]
        entries = ranges(begins, ends)
        found = Rows(ends - begins, self.neighbours[entries], self.edges[entries], self.simple)
        return other.with_rows(rows, found, self._entries_of_rows)

    def with_rows(self, vertices: Ids, found: Rows, entries: int) -> ChangedAdjacency | None:
        """With these rows, ascending, instead of its own; None where there is no room."""
        room, rows = self.room, max(self._rows, int(vertices[-1]) + 1)
        page_of = vertices >> PAGE_BITS
        pages = page_of[changes(page_of)]
        taken = room.taken(len(found.edges), len(pages))
        if taken is None:
            return None
        begin, first = taken
        room.neighbours[begin : begin + len(found.edges)] = found.neighbours
        room.edges[begin : begin + len(found.edges)] = found.edges
        directory = self._grown(_pages(rows))
        written = room.pages[first : first + len(pages)]
        numbers = room.numbers(directory[pages]).tolist()
        for rows_of_page, page, number in zip(written, pages.tolist(), numbers, strict=True):
            if number == _BASE:
                room.write_offsets(page, rows_of_page)
            else:
                rows_of_page[:] = room.pages[number]
        places = np.searchsorted(pages, page_of), vertices & (PAGE_ROWS - 1)
        ends = begin + np.cumsum(found.lengths)
        written[(*places, 0)], written[(*places, 1)] = ends - found.lengths, ends
        directory[pages] = room.addresses(np.arange(first, first + len(pages)))
        longest = max(self._longest, int(found.lengths.max()))
        return ChangedAdjacency(room, directory, rows, entries, longest, found.simple and self.simple)

    def _grown(self, pages: int) -> Ids:
        """The directory of so many pages, those that are new empty."""
        more = pages - len(self.directory)
        empty = self.room.addresses(np.full(more, _EMPTY))
        return np.concatenate([self.directory, empty]) if more else self.directory.copy()


def _directory(room: Room, numbers: NDArray[np.int32]) -> Ids:
    kept = room.offsets.ctypes.data + 8 * (np.arange(len(numbers)) * PAGE_ROWS - room.first) + 1
    return np.where(numbers == _BASE, kept, room.addresses(numbers))


def with_room(adjacency: Adjacency) -> ChangedAdjacency:
    """The same rows, with room for changes."""
    if isinstance(adjacency, ChangedAdjacency):
        return adjacency
    end = adjacency.first + adjacency.rows
    room = Room(adjacency, end)
    numbers = np.full(_pages(end), _EMPTY, np.int32)
    whole = slice(_pages(adjacency.first), end // PAGE_ROWS)  # pages all of whose rows the offsets have
    numbers[whole] = _BASE
    for page in {adjacency.first // PAGE_ROWS, (end - 1) // PAGE_ROWS} if end else ():
        if numbers[page] == _EMPTY:
            numbers[page] = room.begun(page * PAGE_ROWS, adjacency)
    return ChangedAdjacency(
        room, _directory(room, numbers), end, adjacency.entries, adjacency.longest, adjacency.simple
    )


def _pages(rows: int) -> int:
    return -(-rows // PAGE_ROWS)
