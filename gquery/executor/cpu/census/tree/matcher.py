"""Counts graph after graph along a tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gquery.executor.census.graph import Coloured
from gquery.executor.cpu.census.pairs import Pairs
from gquery.executor.cpu.census.tree.growing import Tree
from gquery.executor.cpu.census.tree.matching import count_sets, match_classes, new_match
from gquery.executor.cpu.census.walk import DEPTH, DONE, LOOKS, ROOT, ROOT_END
from gquery.executor.memory import PartOfBudget
from gquery.stopping import Check

_SLICE = 1 << 20  # looks at neighbours between two looks at the clock


class Matcher:
    """Counts the classes of a tree in graphs like one; for one thread."""

    def __init__(self, tree: Tree, graph: Coloured, check: Check, memory: PartOfBudget) -> None:
        """Raises MemoryLimitError."""
        self._tree, self._layout, self._vertices, self._check = tree, graph.layout, len(graph.colours), check
        self._match = new_match(graph.layout, self._vertices, int(tree.classes.max(initial=-1)) + 1)
        memory.reserve(sum(array.nbytes for array in self._match), "counting motifs")

    @property
    def looks(self) -> int:
        """Since the matcher was made."""
        return int(self._match.state[LOOKS])

    def count(self, pairs: Pairs) -> tuple[NDArray[np.int64], int]:
        """int64[classes], and how many connected sets there are of all classes."""
        match = self._match
        match.counts.fill(0)
        match.sets.fill(0)
        self._run(match_classes, pairs, self._tree)
        self._run(count_sets, pairs)
        return match.counts.copy(), int(match.sets[0])

    def count_within(self, pairs: Pairs, looks: float) -> bool:
        """Whether a graph is counted in so many looks. The matcher is of no use any more."""
        return self._run(match_classes, pairs, self._tree, most=looks)

    def _run(self, kernel: Callable[..., int], pairs: Pairs, *more: Any, most: float = np.inf) -> bool:
        self._match.state[[DEPTH, ROOT, ROOT_END]] = 0, 0, self._vertices
        while kernel(pairs, self._layout, *more, self._match, _SLICE) != DONE:
            self._check()
            if self.looks > most:
                return False
        return self.looks <= most
