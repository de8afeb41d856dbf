"""The networks of the reference, and small coloured ones."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gquery.executor.census.graph import Arcs, Coloured
from gquery.executor.census.layout import layout_of

NAMES = ("social", "elec", "ecoli_alon", "ecoli", "yeast", "celegans", "celegans_ma")


def folder(shared: Path) -> Path:
    """Of the reference."""
    return shared / "motif" / "reference"


def rows(path: Path) -> Iterator[dict[str, str]]:
    """Of a file of comma-separated values."""
    with path.open(newline="", encoding="utf-8") as lines:
        yield from csv.DictReader(lines)


def arcs_of(pairs: NDArray[np.int64], types: NDArray[np.int64] | None = None) -> Arcs:
    """From int[m, 2]."""
    tails, heads = (np.ascontiguousarray(side, np.int32) for side in pairs.reshape(-1, 2).T)
    return Arcs(tails, heads, np.zeros(len(tails), np.int32) if types is None else types.astype(np.int32))


def network(shared: Path, name: str, size: int, directed: bool) -> Coloured:
    """One of the reference, its vertices numbered by falling degree."""
    ids: dict[str, int] = {}
    ends = [
        [ids.setdefault(row[side], len(ids)) for side in ("source", "target")]
        for row in rows(folder(shared) / f"{name}.csv")
    ]
    pairs = np.array(ends)
    order = np.argsort(-np.bincount(pairs.ravel()), kind="stable")
    pairs = np.argsort(order)[pairs]
    if not directed:
        pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    return Coloured(arcs_of(pairs), np.zeros(len(ids), np.int32), layout_of(size, 1, 1, directed))


def small(seed: int, size: int, directed: bool, vertices: int = 9, *, colours: int = 1, types: int = 1) -> Coloured:
    """A random one."""
    random = np.random.default_rng(seed)
    arcs = random.integers(vertices, size=(2 * vertices, 2))
    arcs = arcs[arcs[:, 0] != arcs[:, 1]]
    if not directed:
        arcs = np.sort(arcs, axis=1)
    kinds = random.integers(types, size=len(arcs))
    rows = np.unique(np.column_stack([arcs, kinds]), axis=0)
    painted = random.integers(colours, size=vertices).astype(np.int32)
    painted[:colours] = np.arange(colours)
    return Coloured(arcs_of(rows[:, :2], rows[:, 2]), painted, layout_of(size, types, colours, directed))
