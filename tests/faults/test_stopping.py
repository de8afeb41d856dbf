"""Queries that would run for years stop when told to, and leave the session as it was."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

import gquery
from gquery.executor.relational.database.watch import NAME
from tests.conftest import patience
from tests.faults.graphs import LONG_COUNT, MANY_ROWS, VERTICES, dense_graph
from tests.helpers import interrupted_at_start, known_threads, no_helper_left

pytestmark = pytest.mark.alone

ROOT = Path(__file__).resolve().parents[2]
SOON = 2.0  # seconds


@pytest.fixture(scope="module")
def graph() -> gquery.Graph:
    """Asked once before any test, so that compiling kernels is not taken for slow stopping."""
    graph = dense_graph()
    graph.query(f"{MANY_ROWS} LIMIT 1").rows()
    with pytest.raises(gquery.QueryTimeout):
        graph.query(LONG_COUNT, timeout=0.1).scalar()
    return graph


def running() -> set[threading.Thread]:
    """The threads, but for the one of the process that watches over statements and ends by itself."""
    return {thread for thread in known_threads() if thread.name != NAME}


@pytest.fixture(autouse=True)
def usable_and_clean(graph: gquery.Graph) -> Iterator[None]:
    """After every test the session answers, and the threads that there were before are all there are."""
    before = running()
    with no_helper_left():
        yield
    assert graph.query("MATCH (a:V) RETURN count(*) AS n").scalar() == VERTICES
    deadline = time.monotonic() + SOON * patience()
    while (left := running() - before) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not left


def count(result: gquery.Result) -> object:
    return result.scalar()


def drain(result: gquery.Result) -> None:
    """Reads all rows and keeps none."""
    for _ in result.reader():
        pass


ENDLESS = pytest.mark.parametrize(("text", "consume"), [(LONG_COUNT, count), (MANY_ROWS, drain)], ids=["count", "rows"])


@ENDLESS
def test_cancel_from_another_thread(
    graph: gquery.Graph, text: str, consume: Callable[[gquery.Result], object], device: str
) -> None:
    result = graph.query(text, device=device)
    timer = threading.Timer(0.3, result.cancel)
    timer.start()
    started = time.monotonic()
    with pytest.raises(gquery.QueryCancelled):
        consume(result)
    assert time.monotonic() - started < 0.3 + SOON * patience()
    timer.join()


@ENDLESS
def test_timeout(graph: gquery.Graph, text: str, consume: Callable[[gquery.Result], object], device: str) -> None:
    started = time.monotonic()
    with pytest.raises(gquery.QueryTimeout):
        consume(graph.query(text, timeout=0.3, device=device))
    assert time.monotonic() - started < 0.3 + SOON * patience()


def test_timeout_of_the_session(graph: gquery.Graph) -> None:
    with pytest.raises(gquery.QueryTimeout):
        graph.with_settings(timeout=0.2).query(LONG_COUNT).scalar()


def test_timeout_in_the_relational_tail(graph: gquery.Graph) -> None:
    """Sorting and grouping need all rows first; they too are stopped."""
    with pytest.raises(gquery.QueryTimeout):
        graph.query(MANY_ROWS + " ORDER BY a + b + c DESC", timeout=0.5).to_arrow()


def test_a_result_can_be_asked_again_after_a_cancel(graph: gquery.Graph) -> None:
    result = graph.query(f"{MANY_ROWS} LIMIT 3")
    result.cancel()
    with pytest.raises(gquery.QueryCancelled):  # a cancel before the run begins is not lost
        result.rows()
    assert len(result.rows()) == 3


@pytest.mark.parametrize("text", [LONG_COUNT, MANY_ROWS], ids=["count", "rows"])
def test_ctrl_c(text: str) -> None:
    """A child process is interrupted in the middle of the enumeration and ends by KeyboardInterrupt."""
    program = (
        "from tests.faults.graphs import *\n"
        "graph = dense_graph()\n"
        "graph.query(MANY_ROWS + ' LIMIT 1').rows()\n"
        "try:\n"
        f"    print('ready', flush=True)\n"
        f"    for batch in graph.query({text!r}).reader(): pass\n"
        "except (KeyboardInterrupt, gquery.QueryCancelled) as stop:\n"
        "    print(type(stop).__name__)\n"
        "    print(graph.query('MATCH (a) RETURN count(*) AS n').scalar(), flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            time.sleep(1.0)
            child.send_signal(signal.SIGINT)
            started = time.monotonic()
            output, _ = child.communicate(timeout=60)
        finally:
            child.kill()
    assert output.splitlines() in (["KeyboardInterrupt", str(VERTICES)], ["QueryCancelled", str(VERTICES)])
    assert time.monotonic() - started < SOON * patience()


def test_limit_over_endless_matches(graph: gquery.Graph, device: str) -> None:
    started = time.monotonic()
    rows = graph.query(f"{MANY_ROWS} LIMIT 10", device=device).rows()
    assert time.monotonic() - started < SOON * patience()
    assert len(set(map(tuple, rows))) == 10


def test_a_reader_that_is_dropped_stops_its_query(graph: gquery.Graph, device: str) -> None:
    """Nobody reads on: the workers end (the fixture looks for threads that are left)."""
    reader = graph.query(MANY_ROWS, device=device).reader()
    assert reader.read_next_batch().num_rows > 0
    del reader


def test_memory_limit(graph: gquery.Graph) -> None:
    """A list of more values than the limit holds cannot be made; matching itself goes on within any limit."""
    with pytest.raises(gquery.MemoryLimitError):
        graph.query(
            "MATCH (a)-[:X]->(b)-[:X]->(c) RETURN collect(id(a) * 1000000 + id(b) * 1000 + id(c)) AS all",
            memory_limit="50MB",
        ).to_arrow()


@pytest.mark.parametrize("limit", ["1MB", "10MB"])
def test_streaming_within_little_memory(graph: gquery.Graph, limit: str) -> None:
    """Rows are handed over as they are found: the limit does not bound how many there are."""
    reader = graph.query(MANY_ROWS, memory_limit=limit, timeout=60.0).reader()
    seen = 0
    while seen < 1_000_000:
        seen += reader.read_next_batch().num_rows
    reader.close()


def test_several_queries_at_once(graph: gquery.Graph) -> None:
    """One snapshot, several threads; cancelling one leaves the others alone."""
    doomed = graph.query(LONG_COUNT)
    outcome: list[object] = []

    def run_doomed() -> None:
        try:
            outcome.append(doomed.scalar())
        except gquery.QueryCancelled as error:
            outcome.append(error)

    thread = threading.Thread(target=run_doomed)
    thread.start()
    expected = graph.query("MATCH (a)-[:X]->(b)-[:X]->(a) RETURN count(*) AS n").scalar()
    counts = [graph.query("MATCH (a)-[:X]->(b)-[:X]->(a) RETURN count(*) AS n").scalar() for _ in range(3)]
    doomed.cancel()
    thread.join(SOON * patience())
    assert not thread.is_alive()
    assert counts == [expected] * 3
    assert isinstance(outcome[0], gquery.QueryCancelled)


def test_ctrl_c_as_workers_are_started(graph: gquery.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted_at_start(monkeypatch, 0)
    with pytest.raises(KeyboardInterrupt):
        graph.query(MANY_ROWS).to_arrow()


def test_a_run_that_is_dropped_ends_amid_a_match_of_a_billion_rows() -> None:
    """Another thread made all rows that its matches stand for, long after nobody asked for more."""
    graph = gquery.from_arrow(vertices={"P": {"id": range(100_000)}}, edges={}).with_settings(threads=2)
    for _ in range(2):  # the first may wait for a kernel
        with closing(graph.query("MATCH (a), (b) RETURN id(a)").batches()) as batches:
            next(batches)
            began = time.monotonic()
        ended = time.monotonic() - began
    assert ended < SOON * patience()
    began = time.monotonic()
    with pytest.raises(gquery.QueryTimeout):
        graph.query("MATCH (a), (b) RETURN id(a)", timeout=0.5).to_arrow()
    assert time.monotonic() - began < SOON * patience()
