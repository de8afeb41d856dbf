"""1e8 matches of five vertices: left on the device, and as Arrow on the host."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa

import gquery
from benchmarks.gpu.timing import Stopwatch

_VERTICES, _EDGES, _SEED = 60_000, 384_000, 1
_TEXT = "MATCH REPEATABLE ELEMENTS (a)-->(b)-->(c)-->(d)-->(e) RETURN id(a), id(b), id(c), id(d), id(e)"


def random_graph() -> gquery.Graph:
    """Edges between vertices drawn at random, each once."""
    random = np.random.default_rng(_SEED)
    sources, targets = random.integers(0, _VERTICES, (2, _EDGES))
    pairs = np.unique((sources * _VERTICES + targets)[sources != targets])
    ends = pa.table({"source": pairs // _VERTICES, "target": pairs % _VERTICES})
    return gquery.from_arrow({"V": pa.table({"id": np.arange(_VERTICES)})}, {("V", "E", "V"): ends})


def rows(watch: Stopwatch, runs: int) -> Iterator[str]:
    graph = random_graph()
    yield "| rows | where to | ms | of which launches, ms |"
    yield "|---:|---|---:|---:|"
    for name, read in (("columns on the device", _on_device), ("Arrow, batches read one by one", _batches),
                       ("an Arrow table", _table)):  # fmt: skip
        taken = watch.measure(partial(read, graph), runs)
        yield f"| {taken.answer:,} | {name} | {taken.whole:,.1f} | {taken.device:,.1f} |"


def _on_device(graph: gquery.Graph, run: int) -> int:
    columns = graph.query(f"{_TEXT} // {run}", device="gpu").to_cupy()
    return len(columns["id(a)"])


def _batches(graph: gquery.Graph, run: int) -> int:
    return sum(batch.num_rows for batch in graph.query(f"{_TEXT} // {run}", device="gpu").batches())


def _table(graph: gquery.Graph, run: int) -> int:
    return graph.query(f"{_TEXT} // {run}", device="gpu").to_arrow().num_rows
