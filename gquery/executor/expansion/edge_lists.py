"""Over parallel edges one vertex embedding stands for several matches: here they are told apart and listed.

Every query edge that the answer speaks of has a run of equal neighbours in its row, one entry for each data edge. The
choices grow query edge by query edge, a piece of bounded size at a time and the deepest first; a choice where two query
edges of one clause would be the same data edge ends there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import Masks
from gquery.executor.cpu.candidates.addresses import lists_of
from gquery.executor.cpu.kernels.edge_choices import find_runs, take_runs
from gquery.executor.cpu.machine.native import address
from gquery.executor.lowering.adjacency import adjacency_of
from gquery.executor.lowering.program import Choice
from gquery.executor.lowering.reading import Reading
from gquery.storage.adjacency import Adjacency

Column = NDArray[np.int64]


class EdgeLists:
    """The ways to choose the data edges of some query edges."""

    def __init__(self, choices: Sequence[Choice], masks: Masks, reading: Reading) -> None:
        self.choices = choices
        self.masks = [None if choice.rows.edge is None else masks.edges[choice.rows.edge] for choice in choices]
        self.control = reading.control
        self.adjacencies = [
            adjacency_of(choice.rows.relation, choice.rows.direction, reading.snapshot, reading.control.memory)
            for choice in choices
        ]

    def chosen(
        self, levels: Sequence[NDArray[np.int32]], size: int
    ) -> Iterator[tuple[Column | None, dict[int, Column]]]:
        """For embeddings given as vertices by level: index of the embedding, None where it is each of them once, and
        the data edges by query edge, at most `size` choices at once, but for that."""
        ends = [(levels[choice.rows.level], levels[choice.to]) for choice in self.choices]
        runs = [_runs(adjacency, *pair) for adjacency, pair in zip(self.adjacencies, ends, strict=True)]
        if all(bool((lengths == 1).all()) for _, lengths in runs):
            found = self._single([begins for begins, _ in runs])
        else:
            rows = np.flatnonzero(self._possible(ends, [lengths for _, lengths in runs]))
            found = self._grown(rows, [], runs, size)
        for grown, edges in found:
            yield grown, {choice.edge: column for choice, column in zip(self.choices, edges, strict=True)}

    def _single(self, begins: list[Column]) -> Iterator[tuple[Column | None, list[Column]]]:
        """The full choices where each run has one entry, which begins there."""
        edges: list[Column] = []
        kept = np.ones(len(begins[0]), np.bool_)
        for number, (adjacency, entries) in enumerate(zip(self.adjacencies, begins, strict=True)):
            edges.append(adjacency.edges.take(entries))
            kept &= self._apart(number, slice(None), edges[-1], edges)
        if kept.all():
            yield None, edges
        elif kept.any():
            yield np.flatnonzero(kept), [column[kept] for column in edges]

    def _grown(
        self, rows: Column, edges: list[Column], runs: list[tuple[Column, Column]], size: int
    ) -> Iterator[tuple[Column, list[Column]]]:
        """The full choices that begin with `edges`, a column for each query edge so far."""
        number = len(edges)
        if number == len(self.choices):
            yield rows, edges
            return
        for at, taken in _taken(self.adjacencies[number], rows, *runs[number], size):
            self.control.check()
            kept = self._apart(number, at, taken, edges)
            if not kept.all():
                at, taken = at[kept], taken[kept]
            if len(at):
                yield from self._grown(rows[at], [*(column[at] for column in edges), taken], runs, size)

    def _apart(self, number: int, at: Column | slice, taken: Column, edges: list[Column]) -> NDArray[np.bool_]:
        """Which data edges, taken for a query edge at some rows, are others than its rows have, and pass its tests."""
        mask = self.masks[number]
        kept = np.ones(len(taken), np.bool_) if mask is None else mask.has(taken)
        for other in self.choices[number].collides:
            if other < number:
                kept &= edges[other][at] != taken
        return kept

    def _possible(
        self, ends: list[tuple[NDArray[np.int32], NDArray[np.int32]]], lengths: list[Column]
    ) -> NDArray[np.bool_]:
        """False for embeddings where more choices that collide with each other lie in one run than it has edges: trying
        all ways would find that out too, but late."""
        possible = np.ones(len(lengths[0]), np.bool_)
        for number, choice in enumerate(self.choices):
            most = len(choice.collides) if choice.clique else 0
            if np.all(lengths[number] > most):
                continue
            inside = np.ones(len(possible), np.int64)
            for other in choice.collides if choice.clique else ():
                inside += self._lies_in(other, number, ends)
            possible &= lengths[number] >= inside
        return possible

    def _lies_in(
        self, one: int, other: int, ends: list[tuple[NDArray[np.int32], NDArray[np.int32]]]
    ) -> NDArray[np.bool_]:
        """For which embeddings the edges of one choice are among those of another."""
        inner, outer = self.choices[one].rows, self.choices[other].rows
        (source, target), (outer_source, outer_target) = ends[one], ends[other]
        same: NDArray[np.bool_] = (source == outer_source) & (target == outer_target)
        turned: NDArray[np.bool_] = (source == outer_target) & (target == outer_source)
        if not set(inner.relation.types) <= set(outer.relation.types):
            return np.zeros(len(source), np.bool_)
        if outer.direction == "both":
            return same | turned
        if inner.direction == "both":
            return np.zeros(len(source), np.bool_)
        return same if inner.direction == outer.direction else turned


def _runs(adjacency: Adjacency, source: NDArray[np.int32], target: NDArray[np.int32]) -> tuple[Column, Column]:
    """Where the entries of each target begin in the row of its source, and how many there are."""
    begins, lengths = np.zeros(len(source), np.int64), np.zeros(len(source), np.int64)
    if adjacency.entries:
        source, target = np.ascontiguousarray(source), np.ascontiguousarray(target)
        find_runs(lists_of(adjacency), address(source), address(target), begins, lengths)
    return begins, lengths


def _taken(
    adjacency: Adjacency, rows: Column, begins: Column, lengths: Column, size: int
) -> Iterator[tuple[Column, Column]]:
    """The data edges of the runs of some rows with the place of each row, at most `size` of them at once."""
    state = np.zeros(2, np.int64)
    total = int(lengths[rows].sum())
    for begin in range(0, total, size):
        at, taken = np.empty((2, min(size, total - begin)), np.int64)
        take_runs(rows, begins, lengths, address(adjacency.edges), state, at, taken)
        yield at, taken
