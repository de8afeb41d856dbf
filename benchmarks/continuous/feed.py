"""Single edges on a large graph: how long each standing pattern takes to say what an edge has changed.

Edges that were held out of the graph come one by one, and go again. Microseconds of all changes, and of those that
changed the answer; and what the store takes for a version. *CPU*: of the process, which tells more where others work
beside it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pyarrow as pa

from benchmarks.continuous.livejournal import ends_of, graph_of
from gquery.storage.changes.batch import Batch, NewEdges
from gquery.store import Store

LABELS = 5
PATTERNS = {
    "triangle": "(a)-[:E]-(b)-[:E]-(c)-[:E]-(a)",
    "five labelled vertices": "(a:L0)-[:E]-(b:L1)-[:E]-(c:L2)-[:E]-(a), (c)-[:E]-(d:L3)-[:E]-(e:L4)",
}
Took = tuple[float, float]
"""Seconds, and those of the process's threads together."""

Result = TypeVar("Result")

_FIRST = 20  # edges that are not measured: plans are made


def run(scale: float, count: int, first: int) -> None:
    """first: of the graph's edges in a random order, the one that comes first."""
    random = np.random.default_rng(5)
    ends = np.roll(ends_of(scale, random), -first, axis=1)
    count = min(count + _FIRST, ends.shape[1] // 10)
    graph = graph_of(ends[:, count:], scale, LABELS)
    print(
        f"{graph.vertex_count:,} vertices, {graph.edge_count:,} edges, {count - _FIRST:,} that come and go", flush=True
    )
    store = Store(graph)
    watches = {
        name: store.watch(f"MATCH {pattern} RETURN count(*) AS n", emit="counts", mode="different nodes")
        for name, pattern in PATTERNS.items()
    }
    versions: list[Took] = []
    found: dict[str, list[tuple[Took, int]]] = {name: [] for name in PATTERNS}
    number = graph.snapshot.edge_count
    batches = [Batch(edges=(_new(*pair),)) for pair in ends[:, :count].T.tolist()]
    batches += [Batch(gone_edges=np.array([number + place])) for place in range(count)]
    for batch in batches:
        versions.append(_timed(lambda batch=batch: store.commit([batch]))[0])  # type: ignore[misc]
        for name, watch in watches.items():
            took, change = _timed(watch.next)
            assert change is not None
            found[name].append((took, change.added["n"][0].as_py() - change.removed["n"][0].as_py()))
    print("| | changes | median | 99 % | most | CPU, median | CPU, 99 % |\n|---|---:|---:|---:|---:|---:|---:|")
    _print("a version of the store", versions[_FIRST:])
    for name, each in found.items():
        assert sum(net for _, net in each) == 0, "what came has gone"
        _print(name, [took for took, _ in each[_FIRST:]])
        _print(f"{name}: where the answer changed", [took for took, net in each[_FIRST:] if net])


def _timed(work: Callable[[], Result]) -> tuple[Took, Result]:
    before, began = time.process_time(), time.perf_counter()
    result = work()
    took = time.perf_counter() - began
    return (took, time.process_time() - before), result


def _new(source: int, target: int) -> NewEdges:
    return NewEdges("E", np.array([source], np.int32), np.array([target], np.int32), pa.table({"x": [0]}).select([]))


def _print(name: str, took: list[Took]) -> None:
    if took:
        wall, spent = 1e6 * np.array(took).T
        told = [np.median(wall), *np.percentile(wall, [99, 100]), np.median(spent), np.percentile(spent, 99)]
        print(f"| {name} | {len(took):,} | " + " | ".join(f"{each:,.0f}" for each in told) + " |", flush=True)
