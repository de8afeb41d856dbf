"""Tapes with all lanes of a block: what lanes do together, some before others."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import gquery
from gquery.executor.devices import BACKENDS
from gquery.executor.gpu.engine import GpuBackend
from gquery.executor.gpu.program import pushing
from gquery.planner.search import costs
from tests.differential.test_neighbourhoods import WAYS
from tests.emulated.device import COMPILER, LaneDevice
from tests.executor.test_gathered import numbered
from tests.executor.test_gpu_orders import CLIQUES, PUSHED, TWO_KINDS, skewed, written

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler for the kernels of the GPU")

LISTED = {
    "all that is tried": "MATCH REPEATABLE ELEMENTS (a)-[]->(b)-[]->(c) RETURN id(a), id(b), id(c)",
    "what passes": "MATCH DIFFERENT NODES (a)-[]->(b)-[]-(c)-[]->(d) RETURN id(a), id(d)",
    "what is given": "MATCH (a) RETURN id(a)",
}


def rows(graph: gquery.Graph, text: str) -> list[tuple[object, ...]]:
    return sorted(map(tuple, gquery.Graph(graph.snapshot).query(text, device="gpu")))


@pytest.mark.parametrize("roots", ["all at once", "few at once"])
@pytest.mark.parametrize("one_of", [1, 12, 10**9], ids=["all are noted", "some are noted", "no room to note"])
@pytest.mark.parametrize("text", [*map(written, PUSHED.values()), TWO_KINDS], ids=[*PUSHED, "two kinds of ways"])
def test_pushed_sums(text: str, one_of: int, roots: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counters that have been reached are noted, or all are gone through."""
    monkeypatch.setattr(pushing, "_MANY", one_of)
    if roots == "few at once":
        monkeypatch.setattr(pushing, "_COUNTERS", 1 << 12)
    graph = skewed(Random("lanes"))
    expected = sorted(map(tuple, graph.query(text, device="cpu")))
    for owner, name, value in WAYS["pushed"]:
        monkeypatch.setattr(owner, name, value)
    monkeypatch.setattr(costs, "CARD", costs.CardCosts(patience=1.0, excluding=1.0))
    for seed in range(2):
        monkeypatch.setitem(BACKENDS, "gpu", lambda _, seed=seed: GpuBackend(LaneDevice(seed)))
        assert rows(graph, text) == expected


@pytest.mark.parametrize("text", [*LISTED.values(), written(CLIQUES["triangles"])], ids=[*LISTED, "triangles"])
def test_rows(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = skewed(Random("lanes"))
    expected = sorted(map(tuple, graph.query(text, device="cpu")))
    monkeypatch.setitem(BACKENDS, "gpu", lambda _: GpuBackend(LaneDevice(1)))
    assert rows(graph, text) == expected


@pytest.mark.parametrize("returned", ["id(a), b.n0, a.n1, c.n2, c.n3, a.n8, id(c), b.n9", "id(b)", "c.n4"])
def test_numbers_of_all_widths(returned: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """More columns than a tile has room for at once."""
    graph = numbered(np.random.default_rng(1), counts_up=False)
    text = f"MATCH REPEATABLE ELEMENTS (a)-[]->(b)-[]->(c) RETURN {returned}"
    expected = sorted(map(tuple, graph.query(text, device="cpu")))
    monkeypatch.setitem(BACKENDS, "gpu", lambda _: GpuBackend(LaneDevice(1)))
    assert rows(graph, text) == expected
