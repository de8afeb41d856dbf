"""Groupings and orders that several threads of DuckDB's work on end when they have to: by Ctrl-C, or with Python."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pyarrow as pa
import pytest

import gquery
from gquery.executor.progress import Control
from gquery.executor.relational.database.apart import begun
from gquery.executor.relational.database.functions import Given
from gquery.executor.relational.database.running import stream
from tests.conftest import patience
from tests.helpers import no_helper_left

LONG = {
    "sums of many": "MATCH (a)-[p:E]->(b)-[q:E]->(c) RETURN a.id, c.id, sum(p.w * q.w) AS s ORDER BY s DESC LIMIT 5",
    "sums of few": "MATCH (a)-[p:E]->(b)-[q:E]->(c) RETURN a.t, c.t, sum(p.w) AS s",
    "an order": "MATCH (a)-[p:E]->(b)-[q:E]->(c) RETURN a.id AS x, c.id AS y, p.w AS w ORDER BY w, x, y",
}
GRAPH = """
    import numpy as np, pyarrow as pa, gquery

    random = np.random.default_rng(0)
    ends = {name: random.integers(0, 40_000, 600_000) for name in ("source", "target")}
    people = {"id": np.arange(40_000), "t": pa.array([f"t{number % 300}" for number in range(40_000)])}
    knows = {**ends, "w": random.integers(0, 9, 600_000)}
    graph = gquery.from_arrow({"V": people}, {("V", "E", "V"): knows}).with_settings(threads=2)
"""


@pytest.fixture(scope="module")
def graph() -> gquery.Graph:
    names: dict[str, object] = {}
    exec(textwrap.dedent(GRAPH), names)
    graph = names["graph"]
    assert isinstance(graph, gquery.Graph)
    graph.query("MATCH (a)-[p:E]->(b) RETURN a.t, sum(p.w)").rows()  # compiles
    return graph


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_is_heard(name: str, graph: gquery.Graph) -> None:
    chance = random.Random(name)
    for _ in range(3):
        sent: list[float] = []

        def interrupt(after: float, sent: list[float]) -> None:
            time.sleep(after)
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=interrupt, args=(chance.uniform(0.05, 0.4), sent))
        with no_helper_left():
            with pytest.raises(KeyboardInterrupt):  # noqa: PT012
                thread.start()
                graph.query(LONG[name]).to_arrow()
                thread.join()
            assert time.monotonic() - sent[0] < 0.5 * patience()
            thread.join()


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_comes_out_where_what_was_pulled_hears_of_it_first(threads: int) -> None:
    control = Control()
    schema = pa.schema([("x", pa.int64())])

    def pulled() -> Iterator[pa.RecordBatch]:
        while True:
            control.check()
            yield pa.record_batch([[1]], schema=schema)

    threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        list(stream("SELECT sum(x) FROM matches", Given(), schema, pulled(), control, threads=threads))


@pytest.mark.parametrize("name", LONG)
def test_python_ends_while_one_is_under_way(name: str) -> None:
    script = textwrap.dedent(GRAPH) + textwrap.dedent(
        f"""
        import threading, time

        graph.query("MATCH (a)-[p:E]->(b) RETURN a.t, sum(p.w)").rows()
        threading.Thread(target=lambda: graph.query({LONG[name]!r}).to_arrow(), daemon=True).start()
        time.sleep(0.3)
        """
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("has_begun", [True, False])
def test_ctrl_c_as_a_statement_begins(has_begun: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its connection was closed while the thread that had just begun was using it."""
    start, closed, ran = threading.Thread.start, list[int](), list[int]()

    def interrupted(thread: threading.Thread) -> None:
        if has_begun:
            start(thread)
        raise KeyboardInterrupt

    def call() -> None:
        time.sleep(0.5)
        ran.append(1)

    with monkeypatch.context() as patch, ExitStack() as held:
        held.callback(lambda: closed.append(len(ran)))
        patch.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            begun(call, "SELECT 1", Control(), held, threads=2)
    late = time.monotonic() + 20
    while not closed and time.monotonic() < late:
        time.sleep(0.01)
    assert closed == ran + [0] * (not has_begun) == ([1] if has_begun else [0])
