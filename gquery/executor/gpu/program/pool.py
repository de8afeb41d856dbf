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
    if table.program.space == "candidates":
        positions = np.arange(len(roots), dtype=np.int32)
    else:
        positions = _ranks(table) if table.ranked else roots.fetched()
    return random.permutation(positions)[None]


def _ranks(table: Table) -> NDArray[np.int32]:
    """The ranks of the candidates of the first level: on the device they are there once the tape has begun."""
    roots = table.candidates.common(table.program.levels[0].candidates)
    assert table.ranked is not None
    device, ordered = table.tape.device, table.ranked.vertices
    inside = np.zeros(roots.universe, np.bool_)
    inside[roots.fetched()] = True
    return np.flatnonzero(inside[device.read(device.address(ordered), len(ordered), np.int32)]).astype(np.int32)
