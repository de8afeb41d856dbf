"""Sums inside neighbourhoods on a card, where these are large, or more than its room holds at once."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.executor.devices import BACKENDS
from gquery.executor.gpu.program import inside, writing
from tests.differential.test_neighbourhoods import WAYS
from tests.emulated.device import COMPILER, emulated

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler for the kernels of the GPU")

PATTERNS = {
    "cliques": "(a)-[]-(b)-[]-(c)-[]-(a), (a)-[]-(d), (b)-[]-(d), (c)-[]-(d)",
    "wheels": "(h)-[]-(a)-[]-(b)-[]-(c)-[]-(d)-[]-(a), (h)-[]-(b), (h)-[]-(c), (h)-[]-(d)",
    "bridges": "(h)-[]-(a)-[]-(b)-[]-(c)-[]-(d)-[]-(a)-[]-(e)-[]-(c), (h)-[]-(b), (h)-[]-(c), (h)-[]-(d), (h)-[]-(e)",
    "fans": "(h)-[]-(a)-[]-(b)-[]-(c), (h)-[]-(b), (h)-[]-(c), (h)-[]-(d)-[]-(b)",
}


def hub_graph(vertices: int, edges: int, seed: int) -> gquery.Graph:
    """Random edges, and a hub that is joined to all."""
    random = np.random.default_rng(seed)
    ends = np.unique(np.sort(random.integers(1, vertices, (edges, 2))), axis=0)
    ends = np.concatenate([ends[ends[:, 0] < ends[:, 1]], [(0, other) for other in range(1, vertices)]])
    table = pa.table({"source": ends[:, 0], "target": ends[:, 1]})
    return gquery.from_arrow(vertices={"V": pa.table({"id": np.arange(vertices)})}, edges={("V", "E", "V"): table})


SIZES = {"many words": (700, 9_000), "more words than are at hand": (4_300, 30_000)}


@cache
def graph_with_counts(size: str) -> tuple[gquery.Graph, dict[str, int]]:
    """A graph, and how often each pattern is in it by the CPU."""
    graph = hub_graph(*SIZES[size], seed=5)
    return graph, {name: graph.query(text(name), device="cpu").scalar() for name in PATTERNS}


def text(name: str) -> str:
    return f"MATCH DIFFERENT NODES {PATTERNS[name]} RETURN count(*) AS n"


@pytest.fixture
def gone_inside(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The card is an emulated one, and sums go inside neighbourhoods; the levels at which they did."""
    monkeypatch.setitem(BACKENDS, "gpu", emulated)
    for patch in WAYS["inside"]:
        monkeypatch.setattr(*patch)
    seen: list[int] = []
    before = inside.Neighbourhoods.sums

    def sums(self: inside.Neighbourhoods, level: int, block: Any) -> Any:
        seen.append(level)
        return before(self, level, block)

    monkeypatch.setattr(inside.Neighbourhoods, "sums", sums)
    return seen


@pytest.mark.parametrize("room", ["all at once", "few roots at once", "few words at once"])
@pytest.mark.parametrize("size", SIZES)
def test_large_neighbourhoods(size: str, room: str, gone_inside: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    if room == "few roots at once":
        monkeypatch.setattr(writing, "_LARGEST_BLOCK", 256)
    if room == "few words at once":
        monkeypatch.setattr(inside, "_BITSETS", 1 << 22 if size == "more words than are at hand" else 1 << 17)
    graph, counts = graph_with_counts(size)
    for name, count in counts.items():
        assert graph.query(text(name), device="gpu").scalar() == count, name
    assert gone_inside
