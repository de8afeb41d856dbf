"""What a search begins with, where it is not all first candidates in turn: columns int32[width, count] of positions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gquery.executor.gpu.program.table import Table


def positions_of(table: Table, pool: NDArray[np.int32]) -> NDArray[np.int32]:
    """The positions of those partial matches of a pool that are of candidates."""
    if not 1 <= len(pool) <= table.last + 1:
        raise ValueError(f"a pool of {len(pool)} levels for a program that lists {table.program.listed}")
    vertices = [each.fetched() for each in table.sets[: len(pool)]]
    inside = np.logical_and.reduce([np.isin(*each) for each in zip(pool, vertices, strict=True)])
    kept = pool[:, inside]
    if table.program.space == "candidates":
        kept = np.stack([np.searchsorted(*each) for each in zip(vertices, kept, strict=True)])
    return np.ascontiguousarray(kept, np.int32)


def shuffled(table: Table) -> NDArray[np.int32]:
    """All candidates of the first level, in the same order on every device. In their own order there may be stretches
    that take as long as all others."""
    roots, random = table.sets[0], np.random.default_rng(0)
    positions = np.arange(len(roots), dtype=np.int32) if table.program.space == "candidates" else roots.fetched()
    return random.permutation(positions)[None]
