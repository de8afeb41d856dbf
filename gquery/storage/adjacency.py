"""Adjacency (CSR) of a set of edge types in one direction: the only view of edges that matching reads."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gquery.arrays import ranges
from gquery.lasting.properties import cached_property
from gquery.records import record
from gquery.storage.schema import Direction
from gquery.storage.sorting import among, changes, distinct, is_ascending, order_of

PAGE_BITS = 7
PAGE_ROWS = 1 << PAGE_BITS  # of adjacencies that change, whose bounds are kept side by side


@record(frozen=True, slots=True)
class Adjacency:
    """Neighbours of the vertices `first .. first + rows - 1`; every other vertex has none.

    offsets: int64[rows + 1]; neighbours: int32[m], ascending within a row; edges: int64[m], the edge behind each entry.
    Parallel edges give equal neighbours side by side; `simple` says that no row has any. Those of a graph that has
    changed keep their rows elsewhere (`changes/paged.py`): ask for `bounds`, or for what is `compact`.
    """

    first: int
    offsets: NDArray[np.int64]
    neighbours: NDArray[np.int32]
    edges: NDArray[np.int64]
    simple: bool

    @property
    def rows(self) -> int:
        return len(self.offsets) - 1

    @property
    def entries(self) -> int:
        """Of all rows."""
        return len(self.neighbours)

    @property
    def longest(self) -> int:
        """No row has more entries."""
        return int(np.diff(self.offsets).max(initial=0))

    def compact(self) -> Adjacency:
        """The same, with its rows one after the other: what has `offsets`."""
        return self

    def as_simple(self) -> Adjacency:
        """The same, for who takes equal neighbours to be different ones."""
        if self.simple:
            return self
        found = copy(self)
        found.simple = True  # type: ignore[misc]
        return found

    def kept(self, mask: NDArray[np.bool_], simple: bool | None = None) -> Adjacency:
        """The entries in a mask, of what is compact; rows stay where they are. simple: of what is left, if that is
        known."""
        before = np.zeros(len(mask) + 1, np.int64)
        np.cumsum(mask, out=before[1:])
        entries = np.flatnonzero(mask)  # taking by number is quicker than by truth
        offsets, neighbours, edges = before[self.offsets], self.neighbours[entries], self.edges[entries]
        return type(self)(self.first, offsets, neighbours, edges, self.simple if simple is None else simple)

    def numbered(self, number: int) -> Adjacency:
        """Of equal neighbours side by side the first, the second and so on, of what is compact."""
        again = repeats(self.offsets, self.neighbours)
        reached, further = np.ones(len(again), np.bool_), again
        for _ in range(number - 1):
            reached, further = further, again & np.concatenate([[False], further[:-1]])
        return self.kept(reached & ~further, simple=True)

    def without_loops(self) -> Adjacency:
        """The entries that do not lead from a vertex to itself, of what is compact."""
        vertices = np.arange(self.first, self.first + self.rows, dtype=np.int32)
        return self.kept(self.neighbours != np.repeat(vertices, np.diff(self.offsets)))

    def among(self, vertices: NDArray[np.int32]) -> NDArray[np.int32]:
        """Those of some vertices, ascending, that may have a row: all that have one, and no others that are cheap to
        leave out."""
        begin = bisect_left(vertices, self.first)
        return vertices[begin : bisect_left(vertices, self.first + self.rows, begin)]

    def reached(self, vertices: NDArray[np.int32], most: int) -> NDArray[np.int32] | None:
        """The vertices, ascending, that are neighbours of some others; None when more than `most` entries tell."""
        entries = self._entries(vertices, most)
        return None if entries is None else distinct(self.neighbours[entries])

    def edges_at(self, vertices: NDArray[np.int32], most: int) -> NDArray[np.int64] | None:
        """The edges, ascending, of some vertices' rows; None when they have more than `most` entries."""
        entries = self._entries(vertices, most)
        if entries is None:
            return None
        return distinct(self.edges[entries])

    def _entries(self, vertices: NDArray[np.int32], most: int) -> NDArray[np.int64] | None:
        begins, ends = self.bounds(vertices)
        return None if int((ends - begins).sum()) > most else ranges(begins, ends)

    def bounds(self, vertices: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the row of each vertex begins and ends."""
        row = vertices.astype(np.int64) - self.first
        row[(row < 0) | (row > self.rows)] = self.rows  # behind the last: an empty row
        return self.offsets[row], self.offsets[np.minimum(row + 1, self.rows)]

    @property
    def nbytes(self) -> int:
        return self.offsets.nbytes + self.neighbours.nbytes + self.edges.nbytes


class LoopAdjacency(Adjacency):
    """Of edges that lead from vertices to themselves."""

    __slots__ = ("__dict__",)

    @cached_property
    def longest(self) -> int:
        begins = np.flatnonzero(changes(self.neighbours))
        return int(np.diff(begins, append=self.entries).max(initial=0))

    @cached_property
    def vertices(self) -> NDArray[np.int32]:
        """Those that have a row, ascending."""
        return distinct(self.neighbours)

    def among(self, vertices: NDArray[np.int32]) -> NDArray[np.int32]:
        return those_of(self.vertices, vertices)

    @property
    def nbytes(self) -> int:
        return super().nbytes + self.neighbours.nbytes


def those_of(few: NDArray[np.int32], vertices: NDArray[np.int32]) -> NDArray[np.int32]:
    """Those of few vertices that are among others; both ascend."""
    if not len(vertices):
        return vertices
    first, last = int(vertices[0]), int(vertices[-1])
    between = few[bisect_left(few, first) : bisect_right(few, last)]
    has_all = last - first < len(vertices)  # of those between
    return between if has_all else between[among(between, vertices)]


def build_adjacency(source: NDArray[np.int32], target: NDArray[np.int32], edges: NDArray[np.int64]) -> Adjacency:
    """Adjacency from `source[i] -> target[i]` with edge id `edges[i]`, in any order; parallel edges stay in theirs.
    O(m log m), one sort or two."""
    if len(source) == 0:
        empty = np.zeros(0, np.int64)
        return Adjacency(0, np.zeros(1, np.int64), np.zeros(0, np.int32), empty, True)
    first = int(source.min())
    offsets = np.concatenate([[0], np.cumsum(np.bincount(source - np.int32(first)))])
    order = order_of_pairs(source, target)
    neighbours = target[order]
    return Adjacency(first, offsets, neighbours, edges[order], not bool(repeats(offsets, neighbours).any()))


def repeats(offsets: NDArray[np.int64], neighbours: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which entries have the neighbour of the one before, in a row."""
    repeated = np.zeros(len(neighbours), np.bool_)
    repeated[1:] = neighbours[1:] == neighbours[:-1]
    repeated[offsets[offsets < len(neighbours)]] = False  # where a row begins
    return repeated


_BITS = 63  # of a number that is sorted


def order_of_pairs(first: NDArray[np.int32], second: NDArray[np.int32]) -> NDArray[np.int64]:
    """The positions of some pairs, ascending by pair and then by position.

    The pairs are sorted as one number where they fit into one beside the positions, else one half after the other;
    by the first alone where the second are in order already.
    """
    if not len(first):
        return np.zeros(0, np.int64)
    numbers, bits = _from_zero(first)
    if is_ascending(second):
        return order_of(numbers)
    others, more_bits = _from_zero(second)
    if bits + more_bits + len(first).bit_length() <= _BITS:
        numbers <<= more_bits
        numbers |= others
        return order_of(numbers)
    order = order_of(others)
    return order[order_of(numbers[order])]


def _from_zero(values: NDArray[np.int32]) -> tuple[NDArray[np.int64], int]:
    """Values from zero on, and the bits of the largest."""
    least = int(values.min())
    return values.astype(np.int64) - least, (int(values.max()) - least).bit_length()


def building_bytes(edges: int, vertices: int) -> int:
    """Bytes that `build_adjacency` and what is given to it take at most: ends and edge ids, keys, their order, and the
    adjacency itself."""
    return 16 * edges + 16 * edges + 24 * vertices + 12 * edges + 8


def merge_directions(
    source: NDArray[np.int32], target: NDArray[np.int32], edges: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Edges seen from both ends: each appears twice, but a self-loop once (Cypher matches `(a)--(a)` once per loop)."""
    turned = source != target
    return (
        np.concatenate([source, target[turned]]),
        np.concatenate([target, source[turned]]),
        np.concatenate([edges, edges[turned]]),
    )


def seen_from(source: NDArray[np.int32], target: NDArray[np.int32], direction: Direction) -> NDArray[np.int32]:
    """The ends that edges lead from, as they are seen in a direction; from both ends, both."""
    return source if direction == "out" else target if direction == "in" else np.concatenate([source, target])


def seen(
    source: NDArray[np.int32], target: NDArray[np.int32], edges: NDArray[np.int64], direction: Direction
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Edges from `source` to `target`, as `build_adjacency` takes them to see them in a direction."""
    if direction == "both":
        return merge_directions(source, target, edges)
    return (target, source, edges) if direction == "in" else (source, target, edges)
