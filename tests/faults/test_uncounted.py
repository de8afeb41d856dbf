"""Matches that stand for more than can be gone through, than a word holds, or a float: runs end, and rows are right."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import suppress

import pytest

import gquery
from tests.conftest import patience

KERNELS = pytest.mark.parametrize("device", ["cpu", "emulated", "gpu"], indirect=True)
TIMEOUT, SOON = 1.0, 2.0  # seconds


def overlapping(edges: int) -> gquery.Graph:
    """Two vertices, and so many edges of each of three types from one to the other."""
    ends = {"source": [1] * edges, "target": [2] * edges}
    return gquery.from_arrow({"V": {"id": [1, 2]}}, {("V", name, "V"): ends for name in "XYZ"})


def choosing(times: int) -> str:
    """Edges that are to be different, of types that overlap in part: the ways to choose them are tried one by one."""
    return f"MATCH {', '.join(['(a)-[:X|Y]->(b), (a)-[:Y|Z]->(b)'] * times)} RETURN count(*)"


@pytest.mark.parametrize("threads", [1, 2])
def test_choices_of_edges_are_exact_and_end_by_timeout(threads: int) -> None:
    graph = overlapping(12).with_settings(threads=threads)
    assert graph.query(choosing(1)).scalar() == 24 * 24 - 12
    began = time.monotonic()
    with pytest.raises(gquery.QueryTimeout):  # 24^10 ways
        graph.query(choosing(5), timeout=TIMEOUT).to_arrow()
    assert time.monotonic() - began < TIMEOUT + SOON * patience()


@KERNELS
def test_choices_of_edges_end_on_every_backend(device: str) -> None:
    """By the timeout, or where kernels cannot be stopped by a refusal."""
    graph = overlapping(12)
    assert graph.query(choosing(1), device=device).scalar() == 24 * 24 - 12
    assert graph.query("MATCH (a)" + "-[:X]->(b)<-[:X]-(a)" * 3 + " RETURN count(*)").scalar() == 665_280
    for answer in ("count(*)", "a.id, b.id LIMIT 1"):
        began = time.monotonic()
        with suppress(gquery.QueryTimeout, gquery.UnsupportedError):
            found = graph.query(choosing(5).replace("count(*)", answer), timeout=TIMEOUT).rows()
            assert found == [(1, 2)]
        assert time.monotonic() - began < TIMEOUT + SOON * patience()


@KERNELS
def test_long_runs_of_parallel_edges_end(device: str) -> None:
    """What two runs have in common is looked for edge by edge."""
    graph = overlapping(300_000)
    began = time.monotonic()
    with suppress(gquery.QueryTimeout, gquery.UnsupportedError):
        assert graph.query(choosing(1), timeout=TIMEOUT, device=device).scalar() == 600_000**2 - 300_000
    assert time.monotonic() - began < TIMEOUT + SOON * patience()


def test_ctrl_c_while_choices_of_edges_are_tried() -> None:
    main = threading.main_thread().ident
    assert main is not None
    result = overlapping(12).query(choosing(5))
    timer = threading.Timer(1.0, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        result.to_arrow()
    assert time.monotonic() - began < 1.0 + SOON * patience()
    timer.join()


@KERNELS
def test_more_matches_than_a_word_holds(device: str) -> None:
    """Sums are kept modulo 2^64: a row that stands for 2^64 matches is not lost, nor is it one."""
    ends = {"source": [1, 1, 2, 2], "target": [1, 2, 1, 2]}
    graph = gquery.from_arrow({"V": {"id": [1, 2]}}, {("V", "X", "V"): ends}).with_settings(device=device)
    doubling = "MATCH REPEATABLE ELEMENTS (a)" + "-[:X]->()" * 64
    assert graph.query(f"{doubling} RETURN count(*)").scalar() == 2**65
    assert graph.query(f"{doubling} RETURN a.id AS i SKIP 2 LIMIT 2").rows() in ([(1,)] * 2, [(2,)] * 2)
    with pytest.raises(gquery.QueryTimeout):  # before, two rows were sorted
        graph.query(f"{doubling} RETURN a.id AS i ORDER BY i LIMIT 3", timeout=TIMEOUT).rows()
    with pytest.raises(gquery.ExecutionError, match=r"2\^127"):
        graph.query(f"{doubling}{'-[:X]->()' * 64} RETURN count(*) + 0 AS n").rows()


def test_more_matches_than_floats_hold() -> None:
    """What is beyond all floats, times nothing, is nothing."""
    everybody = range(10)
    edges = {
        "X": {"source": [one for one in everybody for _ in everybody], "target": [*everybody] * 10},
        "Y": {"source": [3, 1, 4, 5, 6, 6], "target": [1, 2, 6, 6, 7, 8]},
        "Z": {"source": [7, 8, 2], "target": [2, 2, 3]},
    }
    graph = gquery.from_arrow({"V": {"id": everybody}}, {("V", name, "V"): ends for name, ends in edges.items()})
    endless = "-[:X]->()" * 330 + ", (a)-[:Y]->()-[:Y]->()-[:Z]->()-[:Z]->()"
    assert sorted(graph.query(f"MATCH REPEATABLE ELEMENTS (a){endless} RETURN DISTINCT a.id").rows()) == [(4,), (5,)]
