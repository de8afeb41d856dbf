"""R-MAT graphs (Chakrabarti, Zhan and Faloutsos, 2004): scale s has 2^s vertices and 16 edges for each of them.

An edge goes down s levels of quarters of the adjacency matrix, chosen with the shares 0.57, 0.19, 0.19 and 0.05 (those
of Graph500). Loops are left out, and of several edges between two vertices all but one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import cupy
import numpy as np
import pyarrow as pa

import gquery
from benchmarks.gpu.timing import Stopwatch

_EDGES = 16
_SHARES = (0.57, 0.19, 0.19)
_TIMEOUT = 60.0  # seconds for a query
_FIRST = 300.0  # for the one with which the graph goes to the card
PATTERNS = {
    "triangles": "MATCH DIFFERENT NODES (a)-[]-(b)-[]-(c)-[]-(a) RETURN count(*)",
    "4-cliques": "MATCH DIFFERENT NODES (a)-[]-(b)-[]-(c)-[]-(a), (a)-[]-(d), (b)-[]-(d), (c)-[]-(d) RETURN count(*)",
    "five vertices of five kinds": (
        "MATCH DIFFERENT NODES (a {kind: 0})-[]-(b {kind: 1})-[]-(c {kind: 2})-[]-(a), "
        "(c)-[]-(d {kind: 3})-[]-(e {kind: 4})-[]-(c) RETURN count(*)"
    ),
}


def edges(scale: int, seed: int) -> tuple[pa.Array, pa.Array]:
    """The ends of edges, the smaller vertex first."""
    random = cupy.random.default_rng(seed)
    ends = cupy.zeros(0, cupy.uint64)
    left = _EDGES << scale
    while left:
        count = min(left, 1 << 26)
        sources, targets = (cupy.zeros(count, cupy.uint64) for _ in range(2))
        for _ in range(scale):
            chosen = random.random(count, cupy.float32)
            down = chosen >= _SHARES[0] + _SHARES[1]
            right = ((chosen >= _SHARES[0]) & ~down) | (chosen >= sum(_SHARES))
            sources, targets = 2 * sources + down, 2 * targets + right
        low, high = cupy.minimum(sources, targets), cupy.maximum(sources, targets)
        ends = cupy.unique(cupy.concatenate([ends, (low << cupy.uint64(32) | high)[low != high]]))
        left -= count
    columns = (ends >> cupy.uint64(32), ends & cupy.uint64(0xFFFFFFFF))
    return tuple(pa.array(cupy.asnumpy(column.astype(cupy.int64))) for column in columns)  # type: ignore[return-value]


def graph(scale: int, seed: int) -> gquery.Graph:
    """Every vertex is of one of eight kinds, by a hash."""
    sources, targets = edges(scale, seed)
    vertices = np.arange(1 << scale)
    kinds = (vertices.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(61)
    people = pa.table({"id": vertices, "kind": kinds.astype(np.int64)})
    cupy.get_default_memory_pool().free_all_blocks()
    return gquery.from_arrow({"V": people}, {("V", "E", "V"): pa.table({"source": sources, "target": targets})})


def rows(scales: list[int], seed: int, watch: Stopwatch, runs: int) -> Iterator[str]:
    """A line for each scale and pattern. What has no count in time is not asked again."""
    head = "scale", "edges", "pattern", "count", "device, ms", "end to end, ms", "first time, s", "device memory, GB"
    yield f"| {' | '.join(head)} | made in, s |"
    yield "|---:|---:|---|---:|---:|---:|---:|---:|---:|"
    for scale in scales:
        began = time.perf_counter()
        made = graph(scale, seed)
        seconds = time.perf_counter() - began
        first = ""
        for name, text in PATTERNS.items():
            began = time.perf_counter()
            try:
                if not first:  # the graph goes to the card
                    _counted(made, text, -1, _FIRST)
                    first = f"{time.perf_counter() - began:.1f}"
                taken = watch.measure(partial(_counted, made, text), runs)
            except gquery.QueryTimeout:
                yield f"| {scale} | {made.edge_count:,} | {name} | - | - | - | - | - | {seconds:.0f} |"
                continue
            yield (
                f"| {scale} | {made.edge_count:,} | {name} | {taken.answer:,} | {taken.device:,.1f} "
                f"| {taken.whole:,.1f} | {first} | {taken.peak / 1e9:.1f} | {seconds:.0f} |"
            )
        del made
        cupy.get_default_memory_pool().free_all_blocks()


def _counted(graph: gquery.Graph, text: str, run: int, timeout: float = _TIMEOUT) -> int:
    count: int = graph.query(f"{text} // {run}", device="gpu", timeout=timeout).scalar()
    return count
