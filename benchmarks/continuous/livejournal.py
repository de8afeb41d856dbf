"""A graph of LiveJournal's size: an R-MAT (0.57, 0.19, 0.19, 0.05) without loops and parallel edges, of 4.9 million
vertices with uniform labels and about 43 million edges; and queries that are met in it by random walks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.query_files import QueryFile
from benchmarks.store import rmat
from gquery.session import Graph
from gquery.storage.adjacency import Adjacency
from gquery.storage.graph import Snapshot
from gquery.storage.schema import Direction
from gquery.storage.tables import EdgeTable, VertexTable

VERTICES, EDGES = 4_900_000, 43_000_000
DIRECTIONS: tuple[Direction, ...] = ("out", "in", "both")
_DRAWN = 1.12  # edges that are drawn for each that is left
_AGAIN = 0.15  # how often a walk goes back to where it began
Random = np.random.Generator


def ends_of(scale: float, random: Random) -> NDArray[np.int32]:
    """int32[2, edges]: ends of edges, the smaller one first, in random order."""
    vertices = int(VERTICES * scale)
    drawn = np.sort(rmat(vertices, int(EDGES * scale * _DRAWN), random), axis=0)
    keys = np.unique(drawn[0, drawn[0] != drawn[1]] << 32 | drawn[1, drawn[0] != drawn[1]])
    chosen = random.permutation(len(keys))[: int(EDGES * scale)]
    keys = keys[chosen]
    return np.stack([keys >> 32, keys & 0xFFFFFFFF]).astype(np.int32)


def graph_of(ends: NDArray[np.int32], scale: float, labels: int) -> Graph:
    """The vertices of each label are side by side: ends are spread all over."""
    bounds = np.linspace(0, int(VERTICES * scale), labels + 1).astype(np.int64)
    tables = [
        VertexTable.from_arrow((f"L{label}",), pa.chunked_array([ids]), pa.table({"id": ids}), "id")
        for label, ids in enumerate(np.arange(begin, end) for begin, end in pairwise(bounds.tolist()))
    ]
    nothing = pa.table({"x": pa.nulls(ends.shape[1])}).select([])
    snapshot = Snapshot(tables, [EdgeTable.from_arrow("E", ends[0], ends[1], nothing)])
    for direction in DIRECTIONS:
        snapshot.adjacency(["E"], direction)
    _ = snapshot.counts
    return Graph(snapshot)


def labels_of(graph: Graph, vertices: list[int]) -> tuple[str, ...]:
    return tuple(f"L{table}" for table in graph.snapshot.vertex_numbers.tables_of(np.array(vertices)).tolist())


def walked(graph: Graph, kind: str, random: Random, size: int = 6) -> QueryFile:
    """A query of a kind (`tree`, `sparse`, `dense`) with the labels of what a walk with restarts has met: the edges of
    the walk, those and one or two more, or all that there are, 9 at least."""
    adjacency = graph.snapshot.adjacency(["E"], "both")
    while True:
        met, tree = _walk(adjacency, random, size)
        if len(met) < size:
            continue
        pairs = [(a, b) for a in range(size) for b in range(a) if (b, a) not in tree and (a, b) not in tree]
        more = [pair for pair in pairs if met[pair[1]] in _row(adjacency, met[pair[0]])]
        if kind == "tree":
            more = []
        elif kind == "sparse" and more:
            more = more[: int(random.integers(1, 3))]
        elif kind == "sparse" or len(more) + len(tree) < 9:
            continue
        return QueryFile(labels_of(graph, met), (*tree, *more))


def _walk(adjacency: Adjacency, random: Random, size: int) -> tuple[list[int], list[tuple[int, int]]]:
    """Vertices, and the edges by which each was met first."""
    here = 0
    met = [int(random.integers(adjacency.rows))]
    tree: list[tuple[int, int]] = []
    for _ in range(20 * size):
        here = 0 if random.random() < _AGAIN else here
        row = _row(adjacency, met[here])
        if not len(row) or len(met) == size:
            break
        other = int(random.choice(row))
        if other not in met:
            tree.append((here, len(met)))
            met.append(other)
        here = met.index(other)
    return met, tree


def _row(adjacency: Adjacency, vertex: int) -> NDArray[np.int32]:
    (begin,), (end,) = adjacency.bounds(np.array([vertex]))
    return adjacency.neighbours[begin:end]
