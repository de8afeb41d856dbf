"""Behind every backend: partial matches become matches.

Positions become vertices; a partial match becomes as many rows as there are ways to finish it, and one for each choice
of data edges that the answer tells apart; and what was found once for all symmetric matches is turned into each of
them. All of it goes in pieces of bounded size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gquery.errors import ExecutionError
from gquery.executor.backend import Candidates, Masks, PartialMatches
from gquery.executor.lowering.exact import SAFE
from gquery.executor.lowering.program import Choice, Program
from gquery.executor.lowering.reading import Reading
from gquery.planner.ir.match_plan import MatchPlan
from gquery.records import record

if TYPE_CHECKING:
    from gquery.executor.expansion.edge_lists import EdgeLists

PIECE = 1 << 17  # rows made at once: what Python does for a batch is little beside it
_FEWEST = 1 << 8  # choices of edges made at once, where little memory makes batches smaller than that


@record(frozen=True, slots=True)
class Matches:
    """A batch of matches: internal vertex ids int32[count] by query vertex, internal edge ids int64[count] by query
    edge (only for the edges that the plan tells apart); weights int64[count]: how many matches each row stands for,
    None when each is one."""

    count: int
    vertices: dict[int, NDArray[np.int32]]
    edges: dict[int, NDArray[np.int64]]
    weights: NDArray[np.int64] | None = None

    def chosen(self, which: NDArray[np.bool_]) -> Matches:
        """Those of a batch of vertices that are chosen."""
        vertices = {vertex: column[which] for vertex, column in self.vertices.items()}
        return Matches(int(np.count_nonzero(which)), vertices, {})

    def first(self, count: int) -> Matches:
        """The first `count` of them."""
        return Matches(
            count,
            {vertex: column[:count] for vertex, column in self.vertices.items()},
            {edge: column[:count] for edge, column in self.edges.items()},
            None if self.weights is None else self.weights[:count],
        )


class Expansion:
    """The partial matches of one program, which lists something, as matches."""

    def __init__(
        self, plan: MatchPlan, program: Program, candidates: Candidates, masks: Masks, reading: Reading
    ) -> None:
        self.plan = plan
        self.order = plan.order[: program.listed]
        self._vertices: list[NDArray[np.int32]] | None = None  # by level and position, when positions are no vertices
        if program.space == "candidates":
            self._vertices = [candidates.vertices(level.candidates) for level in program.levels[: program.listed]]
        self._edges = _edge_lists(program.edges, masks, reading) if program.edges else None
        self._control = reading.control
        self._piece = reading.control.memory.rows(PIECE)

    def matches(self, partial: PartialMatches) -> Iterator[Matches]:
        """All that the partial matches stand for, which may be billions."""
        partial = _times(partial, self.plan.times)
        for repeated in [partial] if self.plan.weighted else _repeated(partial, self._piece):
            self._control.check()
            for batch in self._with_edges(repeated):
                yield from self._turned(batch)

    def _with_edges(self, partial: PartialMatches) -> Iterator[Matches]:
        levels: list[NDArray[np.int32]] = list(partial.positions[:, : partial.count])
        if self._vertices is not None:
            levels = [vertices[column] for vertices, column in zip(self._vertices, levels, strict=False)]
        vertices = dict(zip(self.order, levels, strict=False))
        weights = _weights(partial) if self.plan.weighted else None
        if self._edges is None:
            yield Matches(partial.count, vertices, {}, weights)
            return
        for rows, edges in self._edges.chosen(levels, min(self._piece, max(_FEWEST, partial.count))):
            if rows is None:
                yield Matches(partial.count, vertices, edges, weights)
                continue
            yield Matches(
                len(rows),
                {vertex: column[rows] for vertex, column in vertices.items()},
                edges,
                None if weights is None else weights[rows],
            )

    def _turned(self, batch: Matches) -> Iterator[Matches]:
        """The matches that those of the batch stand for: the same columns under other vertices. Small ones are
        joined."""
        permutations = self.plan.permutations
        if len(permutations) <= 1 or batch.count == 0:
            yield batch
            return
        together = max(1, self._piece // batch.count)
        for begin in range(0, len(permutations), together):
            turns = permutations[begin : begin + together]
            vertices = {}
            for vertex in batch.vertices:
                columns = [batch.vertices[turn[vertex]] for turn in turns]
                vertices[vertex] = columns[0] if len(turns) == 1 else np.concatenate(columns)
            weights = batch.weights if batch.weights is None else np.tile(batch.weights, len(turns))
            yield Matches(batch.count * len(turns), vertices, {}, weights)


def _edge_lists(choices: Sequence[Choice], masks: Masks, reading: Reading) -> EdgeLists:
    from gquery.executor.expansion.edge_lists import EdgeLists  # Numba takes half a second to import

    return EdgeLists(choices, masks, reading)


def _times(partial: PartialMatches, times: int) -> PartialMatches:
    """Each of them so many times."""
    if times == 1:
        return partial
    assert partial.sums is not None  # what changes places has been summed out
    assert partial.sizes is not None
    return PartialMatches(partial.positions, partial.count, partial.sums * np.uint64(times), partial.sizes * times)


def _weights(partial: PartialMatches) -> NDArray[np.int64]:
    if partial.sums is None or partial.sizes is None:
        return np.ones(partial.count, np.int64)
    expect_safe(partial.sizes)
    return partial.sums.astype(np.int64)


def expect_safe(sizes: NDArray[np.float64]) -> None:
    """Raises ExecutionError where more matches than a number of 64 bits can say stand for one row."""
    if np.any(sizes >= SAFE):
        raise ExecutionError("a group has more than 2^62 matches", hint="count(*) without groups is exact at any size")


def _ways(partial: PartialMatches) -> NDArray[np.uint64] | None:
    """The ways to finish each row. Sums are kept modulo 2^64: of those that are about that large it is enough to know
    that nobody goes through all of them."""
    if partial.sums is None or partial.sizes is None:
        return partial.sums
    return np.where(partial.sizes < SAFE, partial.sums, np.uint64(SAFE))


def _repeated(partial: PartialMatches, piece: int) -> Iterator[PartialMatches]:
    """Each row as often as there are ways to finish it: all of them once, and then those again for which there are
    others, in pieces of at most so many rows."""
    ways = _ways(partial)
    yield PartialMatches(partial.positions, partial.count)
    several = np.zeros(0, np.int64) if ways is None else np.flatnonzero(ways > 1)
    if ways is not None and len(several):
        for rows in _pieces(ways[several] - np.uint64(1), piece):
            yield PartialMatches(partial.positions[:, several[rows]], len(rows))


def _pieces(counts: NDArray[np.uint64], size: int) -> Iterator[NDArray[np.int64]]:
    """Each index of `counts` as often as it says, at most `size` of them at once."""
    ends = np.cumsum(counts.astype(np.float64))  # counts beyond 2^53 are never gone through
    begins, total = np.concatenate([[0.0], ends[:-1]]), int(ends[-1])
    for begin in range(0, total, size):
        end = min(begin + size, total)
        first, last = np.searchsorted(ends, [begin, end - 1], side="right").tolist()
        some = slice(first, last + 1)
        times = np.minimum(ends[some], end) - np.maximum(begins[some], begin)
        yield np.repeat(np.arange(first, last + 1), times.astype(np.int64))
