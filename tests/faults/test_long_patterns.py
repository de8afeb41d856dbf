"""Patterns of hundreds of vertices: whatever a run does for each of them, in Python or in kernels, a timeout and a
cancel end it."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import cache
from typing import Any

import pytest

import gquery
from gquery.executor.cpu.search.pack import _Packer
from gquery.executor.lowering.lower import _Lowering
from gquery.planner.search.sums.factorise import Factoriser
from tests.conftest import patience
from tests.fuzz.worker import small_graph
from tests.planner.shapes import pattern, shape

pytestmark = pytest.mark.usefixtures("unverified")

TIMEOUT, SOON = 1.0, 2.0  # seconds: each for planning and for running

LONG = {
    "path": "MATCH (a)" + "--()" * 150 + " RETURN count(*)",
    "tree": f"MATCH {pattern(shape('tree', 400)[1])} RETURN count(*)",
}

KNOWS = "MATCH (a)" + "-[:KNOWS]->()" * 40 + " RETURN count(*)"


@cache
def graph() -> gquery.Graph:
    """Asked once, so that compiling is not taken for slow stopping."""
    graph = small_graph()
    for text in ("MATCH (a)--()--()--()--() RETURN count(*)", KNOWS):
        graph.query(text).rows()
    return graph


@pytest.mark.parametrize("name", LONG)
def test_a_timeout_ends_long_patterns(name: str) -> None:
    graph()
    began = time.monotonic()
    with suppress(gquery.QueryTimeout):
        graph().query(LONG[name], timeout=TIMEOUT, memory_limit="100MB").to_arrow()
    assert time.monotonic() - began < 2 * TIMEOUT + SOON * patience()


@pytest.mark.parametrize(
    ("holder", "method"),
    [(Factoriser, "_misses"), (_Lowering, "_rows"), (_Packer, "_place")],
    ids=["trees", "lowering", "packing"],
)
def test_a_cancel_is_heard_between_vertices(holder: Any, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is done for each vertex of a pattern is not done for all of them before the control is looked at."""
    result = small_graph().query(KNOWS)
    before, calls = getattr(holder, method), []

    def cancelling(*arguments: object) -> object:
        calls.append(result.cancel())
        return before(*arguments)

    monkeypatch.setattr(holder, method, cancelling)
    with pytest.raises(gquery.QueryCancelled):
        result.to_arrow()
    assert len(calls) < 5
