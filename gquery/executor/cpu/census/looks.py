"""What a census costs, before it is made."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gquery.executor.census.graph import Arcs


def looks_of_census(arcs: Arcs, vertices: int, size: int) -> float:
    """How many neighbours `walk.advance` looks at: for each set those of all vertices beside it. As if no two of a set
    had a neighbour in common, and no pair had arcs both ways. Each vertex that sets have more than three makes as much
    of it as the third: of small dense graphs that is too much."""
    ends = np.concatenate([arcs.tails, arcs.heads]), np.concatenate([arcs.heads, arcs.tails])

    def of_neighbours(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(ends[0], numbers[ends[1]], vertices).astype(np.float64)

    degrees = np.bincount(ends[0], minlength=vertices).astype(np.float64)
    second = of_neighbours(degrees)  # what is looked at for one vertex of a set
    if size == 3:
        return float(second.sum())
    of_two = float(degrees @ second)
    if size == 4 or not of_two:
        return of_two
    of_three = float((degrees * (degrees - 1) / 2) @ second + (degrees - 1) @ of_neighbours(second))
    return of_three * (of_three / of_two) ** (size - 5)
