"""What a change costs: single edges on a large graph, a tenth of a graph at once, and queries on what has changed.

    python -m benchmarks.store [--scale 1.0] [--edges 200] [--data ../shared/data/continuous]

The graph of single edges is an R-MAT (0.57, 0.19, 0.19, 0.05) with four labels; scale 1.0 is 4.9 million vertices and
43 million edges. Times are wall clock: the median, the 99th percentile and the least; on the disk: waited for.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
from numpy.typing import NDArray

import gquery
from gquery.session import Graph
from gquery.storage.graph import Snapshot
from gquery.storage.tables import EdgeTable, VertexTable

VERTICES, EDGES, LABELS = 4_900_000, 43_000_000, 4
_ROOM = 10  # seconds in which room for changes is made
ROOT = Path(__file__).resolve().parents[1]
QUERIES = {
    "two hops from a vertex": "MATCH (a:L0 {id: 17})-[:E]->(b)-[:E]->(c) RETURN count(*) AS n",
    "two hops from all": "MATCH (a:L0)-[:E]->(b:L1)-[:E]->(c:L2) RETURN count(*) AS n",
    "neighbours of all": "MATCH (a:L1)-[:E]->(b) RETURN a.id % 7 AS k, count(*) AS n",
}


def rmat(vertices: int, edges: int, random: np.random.Generator) -> NDArray[np.int64]:
    """int64[2, edges]: ends of edges, those of many edges anywhere."""
    ends = np.zeros((2, edges), np.int64)
    for _ in range(int(vertices - 1).bit_length()):
        part = random.random(edges, np.float32)
        ends = ends << 1 | np.stack([part > 0.76, ((part > 0.57) & (part <= 0.76)) | (part > 0.95)])
    found: NDArray[np.int64] = random.permutation(vertices)[ends % vertices]
    return found


def graph_of(scale: float) -> Graph:
    random = np.random.default_rng(1)
    vertices = int(VERTICES * scale)
    source, target = rmat(vertices, int(EDGES * scale), random).astype(np.int32)
    bounds = np.linspace(0, vertices, LABELS + 1).astype(np.int64)
    tables = [
        VertexTable.from_arrow((f"L{label}",), pa.chunked_array([ids]), pa.table({"id": ids}), "id")
        for label, ids in enumerate(np.arange(begin, end) for begin, end in pairwise(bounds.tolist()))
    ]
    nothing = pa.table({"x": pa.nulls(len(source))}).select([])
    return Graph(Snapshot(tables, [EdgeTable.from_arrow("E", source, target, nothing)]))


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - began)


def single_edges(store: gquery.Store, count: int, seed: int = 2) -> list[float]:
    """Milliseconds that each of some edges takes."""
    random, vertices = np.random.default_rng(seed), store.graph.vertex_count
    part = vertices / LABELS
    found = []
    for source, target in random.integers(0, vertices, (count, 2)).tolist():
        key = (f"L{int(source // part)}", "E", f"L{int(target // part)}")
        edge = {key: pa.table({"source": [source], "target": [target]})}
        found.append(timed(lambda edge=edge: store.apply(insert=edge)))  # type: ignore[misc]
    return found


def shown(name: str, times: list[float]) -> str:
    return f"| {name} | {statistics.median(times):.2f} | {np.percentile(times, 99):.2f} | {min(times):.2f} |"


def rows_in_memory(scale: float, edges: int, path: Path) -> Iterator[str]:
    """The graph is saved there in the end."""
    graph = graph_of(scale)
    for direction in ("out", "in"):
        graph.snapshot.adjacency(["E"], direction)
    _ = graph.snapshot.counts
    before = {name: [timed(lambda text=text: graph.query(text).to_arrow()) for _ in range(5)]  # type: ignore[misc]
              for name, text in QUERIES.items()}  # fmt: skip
    store = gquery.Store(graph)
    time.sleep(_ROOM)
    yield shown(f"the first edge, {_ROOM} seconds after the store was opened", single_edges(store, 1))
    yield shown("an edge in memory", single_edges(store, edges))
    for name, text in QUERIES.items():
        after = [timed(lambda text=text: store.graph.query(text).to_arrow()) for _ in range(5)]  # type: ignore[misc]
        least = min(before[name]), min(after), min(after) / min(before[name])
        yield f"| {name}: before, after, ratio | {' | '.join(f'{each:.2f}' for each in least)} |"
    graph.save(path)


def rows_on_disk(path: Path, edges: int) -> Iterator[str]:
    with gquery.Store.open(path) as durable:
        single_edges(durable, 1)
        yield shown("an edge on the disk", single_edges(durable, edges))
        compaction, times = threading.Thread(target=durable.compact), list[float]()
        began = time.perf_counter()
        compaction.start()
        while compaction.is_alive():
            times += single_edges(durable, 10, seed=len(times))
        yield shown("an edge on the disk while the graph is compacted", times)
        yield f"| that compaction, {len(times):,} edges meanwhile | {1e3 * (time.perf_counter() - began):.0f} | | |"


def rows_of_a_scale(scale: float, edges: int) -> Iterator[str]:
    """One store after the other: each takes most of the memory of a machine of 24 GiB."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.gq"
        yield from rows_in_memory(scale, edges, path)
        yield from rows_on_disk(path, edges)


def rows_of_a_tenth(data: Path) -> Iterator[str]:
    with tempfile.NamedTemporaryFile(suffix=".graph") as file:
        file.write(gzip.decompress((data / "github.graph.gz").read_bytes()))
        file.flush()
        graph = gquery.load(file.name)
    for direction in ("out", "in", "both"):
        graph.snapshot.adjacency(["EDGE"], direction)
    _ = graph.snapshot.counts
    for stream, argument in (("insert", "insert"), ("delete", "delete")):
        table = csv.read_csv(data / "streams" / f"github.{stream}.csv.gz")
        edges: dict[Any, Any] = {("", "EDGE", ""): pa.table({"source": table["u"], "target": table["v"]})}
        times = [timed(lambda: gquery.Store(graph).apply(**{argument: edges})) for _ in range(9)]  # noqa: B023
        yield shown(f"github, {stream} of {table.num_rows:,} edges at once", times)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--edges", type=int, default=200)
    options.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "continuous")
    given = options.parse_args()
    print("| milliseconds | median | 99% | least |\n|---|---|---|---|")
    for row in rows_of_a_tenth(given.data) if given.data.exists() else ():
        print(row, flush=True)
    for row in rows_of_a_scale(given.scale, given.edges):
        print(row, flush=True)


if __name__ == "__main__":
    main()
