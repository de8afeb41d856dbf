"""Folds of a program: what is summed for all candidates of a level in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.candidates.candidate_set import CandidateSet
from gquery.executor.cpu.candidates.sets import CandidateSets
from gquery.executor.cpu.kernels.sums.branch import NO_FACTORS, SIDE_BY_SIDE, Branch, Factors, Fold
from gquery.executor.cpu.machine.heap import scattered_zeros
from gquery.executor.cpu.search import packed
from gquery.executor.lowering.exact import SAFE
from gquery.executor.lowering.program import Program, Rows
from gquery.records import replace
from gquery.storage.adjacency import Adjacency

CAPS = {None: packed.PLAIN, "optional": packed.OPTIONAL, "exists": packed.EXISTS, "absent": packed.NONE}
_SPREAD = 8  # positions from the first to the last of a root, for each, from which on most are left out
_SCATTERED = 1 << 9  # positions for each that is written: one page of 8-byte sums


class Folding:
    """Folds with room for their sums. sets: the candidates of each level; edges_to: the rows that lead to a level, in
    positions. factors: what a level's candidates are multiplied by, by level; is_whole: whether nothing is left to
    search."""

    def __init__(
        self,
        program: Program,
        candidates: CandidateSets,
        sets: Sequence[CandidateSet],
        edges_to: Callable[[int, Rows], Adjacency],
    ) -> None:
        self.factors: dict[int, Factors] = {}
        self.is_whole = program.strategy == "fold" and program.listed == 0
        self._program = program
        self._candidates = candidates
        self._memory = candidates.control.memory
        self._sets = sets
        self._edges_to = edges_to
        self._children = program.children()
        self._bounded = self.is_whole and self._bound() < SAFE  # no sum can be too large for 64 bits

    def folds(self) -> tuple[Fold, ...]:
        """A fold for each level with folded branches, the deepest first: they are needed above."""
        folds = []
        for number in range(len(self._sets) - 1, -1, -1):
            branches = [child for child in self._children[number] if self._program.levels[child].folded]
            if branches:
                positions = self._sets[number].vertices
                if self._program.space == "candidates":
                    positions = np.arange(len(positions), dtype=np.int32)
                parts = tuple(map(self._branch, branches))
                described = self._program.levels[number].described
                if self.is_whole and number == 0:
                    for part in parts:  # nobody asks for the sum of another root
                        positions = part.summed(positions)
                    self.factors[number] = self._root_factors(described, positions)
                else:
                    self.factors[number] = self._new_factors(described, positions)
                folds.append(Fold(positions, self.factors[number], parts))
        return tuple(folds)

    def _bound(self) -> float:
        """More than the matches of a program of which everything is folded, by the largest degrees."""
        sums = [1.0] * len(self._sets)
        for number in range(len(self._sets) - 1, 0, -1):
            level = self._program.levels[number]
            sums[level.parent] *= max(1, self._candidates.largest_row(level.backward[0])) * sums[number]
        return sums[0] * len(self._sets[0].vertices)

    def _branch(self, number: int) -> Branch:
        level, child_set = self._program.levels[number], self._sets[number]
        (rows,) = level.backward
        words = self._candidates.mask(rows, child_set) if self._program.space == "vertices" else 0
        child = self.factors.get(number, NO_FACTORS)
        return Branch(self._edges_to(number, rows), words, child, level.minus, CAPS[level.cap])

    def _root_factors(self, described: str, positions: NDArray[np.int32]) -> Factors:
        """Few positions far from each other have their sums side by side: nobody looks one up."""
        few = len(positions)
        if few and int(positions[-1] - positions[0]) < _SPREAD * few:
            return self._new_factors(described, positions)
        return replace(self._new_factors(described, np.arange(few, dtype=np.int32)), base=SIDE_BY_SIDE)

    def _new_factors(self, described: str, positions: NDArray[np.int32]) -> Factors:
        base, size = 0, 0
        if len(positions):
            base = int(positions[0])
            size = int(positions[-1]) - base + 1
        self._memory.reserve((8 if self._bounded else 16) * size, f"the sums at {described}")
        new: Callable[[int, type[Any]], NDArray[Any]] = np.zeros
        if size == len(positions):
            new = np.empty  # each position is written before it is read
        elif size >= _SCATTERED * (1 + len(positions)):
            new = partial(scattered_zeros, written=positions - base)
        sizes = np.zeros(0) if self._bounded else new(size, np.float64)
        return Factors(base, new(size, np.uint64), sizes)
