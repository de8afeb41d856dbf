"""Long counts on one card, and on all of this machine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

import cupy

import gquery
from benchmarks.counting.suites import loaded
from gquery.executor.backend import Backend
from gquery.executor.devices import BACKENDS
from gquery.executor.gpu.device import card
from gquery.executor.gpu.engine import GpuBackend
from gquery.settings import Settings

_PATTERNS = {"cliques of six": (6, 0), "cliques of seven": (7, 0), "less an edge": (7, 1), "less two edges": (7, 2)}


def rows(data: Path) -> Iterator[str]:
    """Cliques of blogcatalog, some less edges: seconds from text to count, the second time that each is asked."""
    graph = loaded(data / "bench" / "blogcatalog" / "data.graph.gz", os.cpu_count() or 1)
    several = cupy.cuda.runtime.getDeviceCount()
    yield f"| pattern | count | one card, s | {several} cards, s | times as fast |"
    yield "|---|---:|---:|---:|---:|"
    for name, (size, missing) in _PATTERNS.items():
        edges = list(combinations(range(size), 2))[missing:]
        text = f"MATCH DIFFERENT NODES {', '.join(f'(v{one})-[]-(v{other})' for one, other in edges)} RETURN count(*)"
        (count, alone), (again, shared) = (_measured(graph, text, backend) for backend in (_first, _all))
        if again != count:
            raise SystemExit(f"{name}: {count:,} on one card, {again:,} on {several}")
        yield f"| {name} | {count:,} | {alone:.2f} | {shared:.2f} | {alone / shared:.2f} |"


def _first(settings: Settings) -> Backend:
    return GpuBackend(card())


_all = BACKENDS["gpu"]


def _measured(graph: gquery.Graph, text: str, backend: Callable[[Settings], Backend]) -> tuple[int, float]:
    BACKENDS["gpu"] = backend
    try:
        for run in range(2):
            began = time.perf_counter()
            count = graph.query(f"{text} // {run}", device="gpu").scalar()
        return count, time.perf_counter() - began
    finally:
        BACKENDS["gpu"] = _all
