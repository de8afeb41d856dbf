"""A simple coloured graph, as it is counted in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.census.layout import Layout
from gquery.records import record


class Arcs(NamedTuple):
    """tails, heads, types int32[m]: each once; for undirected graphs a pair once, in either direction."""

    tails: NDArray[np.int32]
    heads: NDArray[np.int32]
    types: NDArray[np.int32]


@record(frozen=True, slots=True)
class Coloured:
    """A simple graph: arcs, each once, no loops, an undirected pair once; colours int32[n]. Vertices are best numbered
    by falling degree: sets are enumerated from the first of their vertices, and what is beside few is cheap."""

    arcs: Arcs
    colours: NDArray[np.int32]
    layout: Layout
