"""Sums inside neighbourhoods on a card, where these are large, or more than its room holds at once."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.executor.devices import BACKENDS
from gquery.executor.gpu import device as device_of_card
from gquery.executor.gpu import tape
from gquery.executor.gpu.program import inside, writing
from tests.conftest import SUITE, missing
from tests.differential.test_neighbourhoods import MODULO, WAYS
from tests.emulated.device import COMPILER, EmulatedDevice, emulated

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler for the kernels of the GPU")

PLACES = ["emulated"] if missing("gpu") and os.environ.get("GQUERY_REQUIRE_GPU") != "1" else ["emulated", "gpu"]
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
    return graph, {name: graph.query(text_of(name), device="cpu").scalar() for name in PATTERNS}


def text_of(name: str) -> str:
    return f"MATCH DIFFERENT NODES {PATTERNS[name]} RETURN count(*) AS n"


@pytest.fixture
def gone_inside(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The card is an emulated one, and sums go inside neighbourhoods; the levels at which they did."""
    monkeypatch.setitem(BACKENDS, "gpu", emulated)
    for patch in WAYS["inside"]:
        monkeypatch.setattr(*patch)
    seen: list[int] = []
    before = inside.Neighbourhoods.sums

    def sums(self: inside.Neighbourhoods, level: int, block: Any, dealing: Any) -> Any:
        seen.append(level)
        return before(self, level, block, dealing)

    monkeypatch.setattr(inside.Neighbourhoods, "sums", sums)
    return seen


@pytest.mark.parametrize("modulo", [False, True])
@pytest.mark.parametrize("place", PLACES)
def test_what_takes_longer_than_a_launch(place: str, modulo: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Warps stop amid a task, and go on with the next launch."""
    monkeypatch.setitem(BACKENDS, "gpu", SUITE[place])
    monkeypatch.setattr(EmulatedDevice, "apart", 3)
    monkeypatch.setattr(device_of_card, "_BUDGET_APART", 3_000)
    for patch in [*WAYS["inside"], *(MODULO if modulo else [])]:
        monkeypatch.setattr(*patch)
    random, stopped = np.random.default_rng(8), []
    ends = np.array([pair for pair in combinations(range(22), 2) if random.random() < 0.8])
    table = pa.table({"source": ends[:, 0], "target": ends[:, 1]})
    graph = gquery.from_arrow({"V": pa.table({"id": np.arange(22)})}, {("V", "E", "V"): table})
    launches = tape.Run.launches

    def counted(self: tape.Run) -> Iterator[None]:
        stopped.append(0)
        for each in launches(self):
            stopped[-1] += 1
            yield each

    monkeypatch.setattr(tape.Run, "launches", counted)
    cliques = clique(6), clique(7)
    for text in (*cliques, *map(text_of, PATTERNS)):
        wanted = graph.query(text, device="cpu").scalar()
        stopped.clear()
        assert graph.query(text, device="gpu").scalar() == wanted, text
        # On a card a lane does what is little alone, and is done with it before the clock is looked at.
        assert max(stopped) > 3 or (place == "gpu" and text not in cliques), text


def clique(size: int) -> str:
    edges = ", ".join(f"(v{one})-[]-(v{other})" for one, other in combinations(range(size), 2))
    return f"MATCH DIFFERENT NODES {edges} RETURN count(*)"


@pytest.mark.parametrize("room", ["all at once", "few roots at once", "few words at once"])
@pytest.mark.parametrize("size", SIZES)
def test_large_neighbourhoods(size: str, room: str, gone_inside: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    if room == "few roots at once":
        monkeypatch.setattr(writing, "_LARGEST_BLOCK", 256)
    if room == "few words at once":
        monkeypatch.setattr(inside, "_BITSETS", 1 << 22 if size == "more words than are at hand" else 1 << 17)
    graph, counts = graph_with_counts(size)
    for name, count in counts.items():
        assert graph.query(text_of(name), device="gpu").scalar() == count, name
    assert gone_inside


@pytest.mark.parametrize("vertices", [225, 226])
def test_the_largest_neighbourhood_that_a_lane_tallies(vertices: int, gone_inside: list[int]) -> None:
    """Its numbers of members are just few enough for the planes that they are kept in; the next is a warp's."""
    ends = np.array(list(combinations(range(vertices), 2)))
    table = pa.table({"source": ends[:, 0], "target": ends[:, 1]})
    graph = gquery.from_arrow({"V": pa.table({"id": np.arange(vertices)})}, {("V", "E", "V"): table})
    assert graph.query(text_of("wheels"), device="gpu").scalar() == math.perm(vertices, 5)
    assert gone_inside


def test_what_is_folded_asks_for_no_rows_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows need not be among those that are written as bitsets: where edges have directions it was an error."""
    monkeypatch.setitem(BACKENDS, "gpu", emulated)
    text = "MATCH DIFFERENT NODES (b)-->(e), (d)-->(e), (b)-->(c), (a)-->(b), (c)-->(e), (b)-->(d) RETURN count(*)"
    for seed in (12, 23, 33, 48, 49):
        random = np.random.default_rng(seed)
        ends = np.unique(np.sort(random.integers(0, 20, (random.integers(15, 60), 2))), axis=0)
        ends = ends[ends[:, 0] < ends[:, 1]]
        table = pa.table({"source": ends[:, 0], "target": ends[:, 1]})
        graph = gquery.from_arrow({"V": pa.table({"id": np.arange(20)})}, {("V", "E", "V"): table})
        wanted = graph.query(text, device="cpu").scalar()
        with monkeypatch.context() as patched:
            for patch in WAYS["inside, inclusion and exclusion"]:
                patched.setattr(*patch)
            assert gquery.Graph(graph.snapshot).query(text, device="gpu").scalar() == wanted, seed
