"""A tenth of the edges of a graph of LiveJournal's size at once, beside the mean times that GAMMA has published for its
LiveJournal: 50 queries of six vertices of a kind, one RTX 3090.

Comparable are the size of the graph, its 30 uniform labels, the size of the batch, and how queries are made. Not
comparable are the graph itself (an R-MAT), the number of queries, and the machine.
"""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa

from benchmarks.continuous.livejournal import ends_of, graph_of, walked
from gquery.errors import QueryTimeout
from gquery.settings import Device
from gquery.storage.changes.batch import Batch, NewEdges
from gquery.store import Store

LABELS = 30
PUBLISHED = {"dense": 0.611, "sparse": 0.715, "tree": 2.05}  # seconds, LiveJournal
_TIMEOUT = 60.0


def run(scale: float, count: int, device: Device) -> None:
    random = np.random.default_rng(7)
    ends = ends_of(scale, random)
    part = ends.shape[1] // 10
    store = Store(graph_of(ends[:, part:], scale, LABELS))
    queries = [(kind, walked(store.graph, kind, random)) for kind in PUBLISHED for _ in range(count)]
    print(f"{store.graph.vertex_count:,} vertices, {store.graph.edge_count:,} edges, {part:,} come", flush=True)
    watches = [
        (
            kind,
            store.watch(
                f"MATCH {query.pattern()} RETURN count(*) AS n",
                emit="counts",
                mode="different nodes",
                timeout=_TIMEOUT,
                device=device,
            ),
        )
        for kind, query in queries
    ]
    nothing = pa.table({"x": pa.nulls(part)}).select([])
    began = time.perf_counter()
    store.commit([Batch(edges=(NewEdges("E", ends[0, :part], ends[1, :part], nothing),))])
    print(f"a version of the store: {time.perf_counter() - began:.2f} s", flush=True)
    found: dict[str, list[float]] = {kind: [] for kind in PUBLISHED}
    for kind, watch in watches:
        began = time.perf_counter()
        try:
            change = watch.next()
        except QueryTimeout:
            print(f"{kind}: not in {_TIMEOUT} s", flush=True)
            continue
        found[kind].append(time.perf_counter() - began)
        assert change is not None
        print(f"{kind}: {change.added['n'][0].as_py():,} in {found[kind][-1]:.3f} s", flush=True)
    print("| kind | queries | mean, s | most, s | GAMMA's mean, s |\n|---|---:|---:|---:|---:|")
    for kind, times in found.items():
        mean, most = (f"{of(times):.3f}" if times else "" for of in (np.mean, max))
        print(f"| {kind} | {len(times)} of {count} | {mean} | {most} | {PUBLISHED[kind]} |")
