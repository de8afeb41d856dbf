"""Random graphs like a given one, each from a stream of its own: the null models."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gquery.executor.census.graph import Arcs
from gquery.executor.census.links import copy_of, links_of, painted
from gquery.executor.census.null import Null
from gquery.executor.cpu.random_graphs.chance import stream
from gquery.executor.cpu.random_graphs.links import no_places, place_all, unfold
from gquery.executor.cpu.random_graphs.scattering import join_stubs, scatter
from gquery.executor.cpu.random_graphs.switching import switch
from gquery.stopping import Check

_AT_ONCE = 1 << 20  # attempts between two looks at the clock


class Shuffler:
    """Makes random graphs, one after the other; for one thread."""

    def __init__(self, arcs: Arcs, colours: NDArray[np.int32], directed: bool, null: Null) -> None:
        self._null = null
        self._original = links_of(arcs, colours, directed, null.model == "mutual")
        self._links = copy_of(self._original)
        self._places = no_places(self._links)
        self._painted = painted(colours)
        self._arcs = Arcs(*(side.copy() for side in arcs))
        self.changed = 0
        self.left_out = 0

    def make(self, number: int, check: Check) -> Arcs:
        """The arcs of a random graph, to be read until the next one is made. `changed`: switches that were made;
        `left_out`: links that could not be placed. Both add up."""
        for name in ("tails", "heads", "types", "groups"):
            np.copyto(getattr(self._links, name), getattr(self._original, name))
        chance = stream(self._null.seed, number)
        if self._null.switched:
            return self._switched(chance, check)
        self._places.arcs.fill(-1)
        kept = len(self._links.tails)
        if self._null.model == "stubs":
            kept = join_stubs(self._links, self._places, chance)
        else:
            scatter(self._links, self._places, chance, self._painted)
        self.left_out += len(self._links.tails) - kept
        return Arcs(*(side[:kept] for side in (self._links.tails, self._links.heads, self._links.types)))

    def _switched(self, chance: NDArray[np.uint64], check: Check) -> Arcs:
        place_all(self._links, self._places)
        attempts = self._null.attempts(len(self._links.tails))
        for begin in range(0, attempts, _AT_ONCE):
            check()
            self.changed += switch(self._links, self._places, chance, min(_AT_ONCE, attempts - begin))
        unfold(self._links, self._arcs)
        return self._arcs
