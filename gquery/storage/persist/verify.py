"""What is said of the edges of one type, compared with the edges.

A saved graph holds its edges three times (by edge, by source, by target) and what was counted of them. Plans rely on
all of it: that a row has one neighbour at most, that no edge leads to a table, that no two edges are alike. So before
anything of a type is used, all of it is read once and has to agree. Entries are looked at in blocks that stay in the
caches: a second takes some forty million.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gquery.records import record
from gquery.stopping import Check
from gquery.storage.adjacency import Adjacency
from gquery.storage.counted.counting import between, count_pairs, degree_sums
from gquery.storage.counted.counts import DegreeSums, TypeCounts
from gquery.storage.numbering import Numbering, Segment

_BLOCK = 1 << 17  # entries looked at together


@record(frozen=True, slots=True)
class EdgesById:
    """The edges of one type, by id: int32[m] ends, and the segments of their ids, ascending."""

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    segments: Sequence[Segment]

    def positions(self, edges: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Where in `source` and `target` the edges are; None when one of them is of another type."""
        if len(self.segments) == 1:
            begin, stop, *_ = self.segments[0]
            return edges - begin if begin <= edges.min() and edges.max() < stop else None
        begins, stops = (np.array([segment[side] for segment in self.segments], np.int64) for side in (0, 1))
        segment = np.searchsorted(begins, edges, side="right") - 1
        if segment.min(initial=0) < 0 or np.any(edges >= stops[segment]):
            return None
        before = np.concatenate([[0], np.cumsum(stops - begins)[:-1]])
        return edges + (before - begins)[segment]


@dataclass(slots=True)
class _Seen:
    """What the rows of one adjacency show. pairs: entries by (own table, neighbour's table)."""

    simple: bool = True
    pairs: Counter[tuple[int, int]] = field(default_factory=Counter)
    loops: list[NDArray[np.int32]] = field(default_factory=list)


def disagreement(
    edges: EdgesById,
    out: Adjacency,
    into: Adjacency,
    numbers: Numbering,
    recorded: TypeCounts,
    check: Check,
) -> str | None:
    """What does not agree, None when all does. The ends are vertices of the graph.

    numbers: which table each vertex is of. check: called often, raises what is to end this."""
    seen = _look(out, edges.source, edges.target, edges, numbers, check)
    back = _look(into, edges.target, edges.source, edges, numbers, check)
    if seen is None or back is None:
        return "has other edges than the edge table"
    if not seen.simple == back.simple == out.simple == into.simple == recorded.simple:
        return "has parallel edges, or has none, against what was saved"
    loops = np.concatenate([np.zeros(0, np.int32), *seen.loops])
    if sorted(recorded.between) != sorted(between(seen.pairs, numbers.tables_of(loops))):
        return "has other numbers of edges than the statistics"
    if sorted(recorded.degrees) != sorted(_degrees(out, into, loops, numbers)):
        return "has other degrees than the statistics"
    if recorded.simple_both and not (seen.simple and _is_one_way(out, into, check)):
        return "has edges in both directions, against what was saved"
    return None


def _look(
    adjacency: Adjacency,
    own: NDArray[np.int32],
    other: NDArray[np.int32],
    edges: EdgesById,
    numbers: Numbering,
    check: Check,
) -> _Seen | None:
    """Reads all rows. None unless they hold every edge once, ascending by neighbour and then by edge."""
    offsets, seen = adjacency.offsets, _Seen()
    if offsets[0] != 0 or offsets[-1] != len(own) or len(adjacency.neighbours) != len(own):
        return None
    if np.any(offsets[1:] < offsets[:-1]):
        return None
    last: int = -1
    last_edge: int = -1
    for rows, begin, end in _blocks(adjacency):
        check()
        ids, neighbours = adjacency.edges[begin:end], adjacency.neighbours[begin:end]
        positions = edges.positions(ids)
        if positions is None or np.any(own.take(positions) != rows) or np.any(other.take(positions) != neighbours):
            return None
        keys = rows.astype(np.int64) << 32
        keys |= neighbours
        steps = np.diff(keys, prepend=last)
        if steps.min() <= 0:
            again = steps == 0
            if np.any(steps < 0) or np.any(np.diff(ids, prepend=last_edge)[again] <= 0):
                return None
            seen.simple = False
        last, last_edge = int(keys[-1]), int(ids[-1])
        seen.pairs.update(_pairs(rows, neighbours, numbers))
        seen.loops.append(rows[rows == neighbours])
    return seen


def _blocks(adjacency: Adjacency) -> Iterator[tuple[NDArray[np.int32], int, int]]:
    """The entries in order: the vertex whose row each is in, and [begin, end) of them."""
    offsets = adjacency.offsets
    for begin in range(0, len(adjacency.neighbours), _BLOCK):
        end = min(begin + _BLOCK, len(adjacency.neighbours))
        first = int(np.searchsorted(offsets, begin, side="right")) - 1
        stop = int(np.searchsorted(offsets, end, side="left"))
        bounds = np.clip(offsets[first : stop + 1], begin, end)
        vertices = np.arange(adjacency.first + first, adjacency.first + stop, dtype=np.int32)
        yield np.repeat(vertices, bounds[1:] - bounds[:-1]), begin, end


def _pairs(rows: NDArray[np.int32], neighbours: NDArray[np.int32], numbers: Numbering) -> dict[tuple[int, int], int]:
    """Entries by (own table, neighbour's table); most often there is one such pair."""
    bounds = [int(each(values)) for values in (rows, neighbours) for each in (np.min, np.max)]
    first, last, lowest, highest = numbers.segments_of(bounds).tolist()
    if (first, lowest) == (last, highest):
        return {(int(numbers.tables[first]), int(numbers.tables[lowest])): len(rows)}
    return count_pairs(numbers.tables_of(rows), numbers.tables_of(neighbours))


def _degrees(out: Adjacency, into: Adjacency, loops: NDArray[np.int32], numbers: Numbering) -> Iterator[DegreeSums]:
    first = min(out.first, into.first)
    end = max(out.first + out.rows, into.first + into.rows)
    placed: list[NDArray[np.int64]] = []
    for adjacency in (out, into):
        degrees = np.zeros(end - first, np.int64)
        degrees[adjacency.first - first :][: adjacency.rows] = np.diff(adjacency.offsets)
        placed.append(degrees)
    loop = np.bincount(loops - first, minlength=end - first)
    return degree_sums(placed[0], placed[1], loop, first, numbers)


def _is_one_way(out: Adjacency, into: Adjacency, check: Check) -> bool:
    """Whether no two vertices have edges in both directions between them. The rows of a vertex in both adjacencies are
    ascending, so sorting the two together is one merge."""
    end = max(out.first + out.rows, into.first + into.rows)
    begin = min(out.first, into.first)
    while begin < end:
        check()
        stop = min(end, begin + _rows_of_a_block(out, into))
        keys = [_keys(adjacency, begin, stop) for adjacency in (out, into)]
        keys[1] = keys[1][keys[1] >> 32 != keys[1] & 0xFFFFFFFF]  # a loop is one edge, seen from both ends
        together = np.concatenate(keys)
        together.sort(kind="stable")
        if np.any(together[1:] == together[:-1]):
            return False
        begin = stop
    return True


def _rows_of_a_block(out: Adjacency, into: Adjacency) -> int:
    entries = len(out.neighbours) + len(into.neighbours)
    return max(1, _BLOCK * max(out.rows, into.rows) // max(1, entries))


def _keys(adjacency: Adjacency, begin: int, stop: int) -> NDArray[np.int64]:
    """vertex * 2^32 + neighbour for the entries of the vertices [begin, stop)."""
    low, high = np.clip([begin - adjacency.first, stop - adjacency.first], 0, adjacency.rows)
    offsets = adjacency.offsets[low : high + 1]
    keys = np.repeat(np.arange(low, high, dtype=np.int64) + adjacency.first << 32, np.diff(offsets))
    keys |= adjacency.neighbours[offsets[0] : offsets[-1]]
    return keys
