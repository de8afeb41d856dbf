"""Edges by their ends: those between two vertices, all of some vertices, those with the properties of a row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import comparable, ranges, to_arrow
from gquery.storage.adjacency import Adjacency
from gquery.storage.edges import AdjacencyKey, Edges
from gquery.storage.graph import Snapshot
from gquery.storage.schema import Direction
from gquery.storage.sorting import distinct

Ids = NDArray[np.int64]

_DIRECTIONS: tuple[Direction, ...] = ("out", "in")
_FEW = 16  # rows that are bisected one by one in less time than one step of all takes


def edges_between(snapshot: Snapshot, type_: str, source: Ids, target: Ids) -> tuple[Ids, Ids]:
    """For each edge of a type from `source[i]` to `target[i]`, i and the edge."""
    adjacency = snapshot.adjacency([type_], "out")
    begins, ends = entries_of(adjacency, source, target)
    edges = adjacency.edges[ranges(begins, ends)]
    return np.repeat(np.arange(len(source)), ends - begins), edges


def edges_at(edges: Edges, vertices: NDArray[np.integer[Any]], types: Iterable[str]) -> Ids:
    """All edges of some types from and to some vertices, ascending."""
    if not len(vertices):
        return np.zeros(0, np.int64)
    found = [np.zeros(0, np.int64)]
    for type_ in types:
        for direction in _DIRECTIONS:
            adjacency = edges.kept(AdjacencyKey((type_,), direction))
            begins, ends = adjacency.bounds(vertices)
            found.append(adjacency.edges[ranges(begins, ends)])
    return distinct(np.concatenate(found))


def entries_of(adjacency: Adjacency, source: Ids, target: Ids) -> tuple[Ids, Ids]:
    """Where the entries of each target are in the row of its source."""
    first, end = adjacency.bounds(source)
    return _bisected(adjacency, first, end, target), _bisected(adjacency, first, end, target + 1)


def has_entries(adjacency: Adjacency, source: Ids, target: Ids) -> NDArray[np.bool_]:
    """Whether each target is in the row of its source."""
    first, end = adjacency.bounds(source)
    low = _bisected(adjacency, first, end, target)
    found: NDArray[np.bool_] = low < end
    found[found] = adjacency.neighbours[low[found]] == target[found]
    return found


def _bisected(adjacency: Adjacency, low: Ids, high: Ids, target: Ids) -> Ids:
    """The first entry of [low, high) whose neighbour is the target or behind it: bisected for in all rows at once, or
    in few one by one."""
    if len(target) <= _FEW:
        rows = zip(low.tolist(), high.tolist(), target.tolist(), strict=True)
        neighbours = adjacency.neighbours
        return np.array([begin + neighbours[begin:end].searchsorted(each) for begin, end, each in rows], np.int64)
    low, length = low.copy(), high - low
    while length.any():
        half = length >> 1
        ahead = low + half
        before = (length > 0) & (adjacency.neighbours.take(ahead, mode="clip") < target)
        low[before] = ahead[before] + 1
        length = np.where(before, length - half - 1, half)
    return low


def with_values(snapshot: Snapshot, rows: Ids, edges: Ids, wanted: pa.Table) -> NDArray[np.bool_]:
    """Which edges have all the properties that their rows of a table have; null is none."""
    same = np.ones(len(edges), np.bool_)
    for name in wanted.column_names:
        for table, where, places in snapshot.edges.numbers.parts(edges):
            stored = snapshot.edge_tables[table].columns.get(name)
            values = [None] * len(places) if stored is None else comparable(stored.take(to_arrow(places)))
            asked = comparable(wanted[name].take(to_arrow(rows[where])))
            same[where] &= [value == other for value, other in zip(values, asked, strict=True)]
    return same
