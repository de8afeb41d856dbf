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
from gquery.executor.gpu.device import card, other_cards
from gquery.executor.gpu.several import SharingBackend
from gquery.settings import Settings

_CLIQUES = (5, 6, 7)


def rows(data: Path) -> Iterator[str]:
    """Cliques of blogcatalog: seconds from text to count, the second time that each is asked."""
    graph = loaded(data / "bench" / "blogcatalog" / "data.graph.gz", os.cpu_count() or 1)
    several = cupy.cuda.runtime.getDeviceCount()
    yield f"| vertices of a clique | count | one card, s | {several} cards, s | times as fast |"
    yield "|---:|---:|---:|---:|---:|"
    for size in _CLIQUES:
        edges = ", ".join(f"(v{one})-[]-(v{other})" for one, other in combinations(range(size), 2))
        text = f"MATCH DIFFERENT NODES {edges} RETURN count(*)"
        one = BACKENDS["gpu"]
        (count, alone), (again, shared) = (_measured(graph, text, backend) for backend in (one, _sharing))
        BACKENDS["gpu"] = one
        if again != count:
            raise SystemExit(f"{size}-cliques: {count:,} on one card, {again:,} on {several}")
        yield f"| {size} | {count:,} | {alone:.2f} | {shared:.2f} | {alone / shared:.2f} |"


def _sharing(settings: Settings) -> Backend:
    return SharingBackend(card(), other_cards())


def _measured(graph: gquery.Graph, text: str, backend: Callable[[Settings], Backend]) -> tuple[int, float]:
    BACKENDS["gpu"] = backend
    for run in range(2):
        began = time.perf_counter()
        count = graph.query(f"{text} // {run}", device="gpu").scalar()
    return count, time.perf_counter() - began
