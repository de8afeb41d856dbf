"""Stopping through DuckDB: Ctrl-C, con.interrupt(), timeouts, closed connections, threads, forks, the end of Python."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import pytest

import gquery
from tests.conftest import patience
from tests.integrations.ctrl_c import STATEMENTS
from tests.integrations.ctrl_c import graph as large_graph
from tests.integrations.doors import needs_native, small_graph

ROUNDS = 50 if os.environ.get("GQUERY_SLOW") else 6
HERE = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def large() -> gquery.Graph:
    return large_graph()


@pytest.mark.parametrize("door", [pytest.param("native", marks=needs_native), "macro"])
def test_ctrl_c_is_keyboard_interrupt(door: str) -> None:
    """At random moments of binding, planning, matching, streaming and DuckDB's own work; nothing is printed."""
    command = [sys.executable, "-m", "tests.integrations.ctrl_c", door, str(ROUNDS), "7"]
    ran = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=300 + 10 * ROUNDS)
    right, _slowest = ran.stdout.split()[-2:]
    assert int(right) == ROUNDS, ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr
    assert "Exception ignored" not in ran.stderr


@pytest.mark.alone
@needs_native
@pytest.mark.parametrize("kind", ["matching", "streaming", "DuckDB alone", "sorting"])
def test_interrupt_from_another_thread(large: gquery.Graph, kind: str) -> None:
    with gquery.connect() as con:
        gquery.attach(con, large, "g")
        threading.Timer(0.3, con.interrupt).start()
        begun = time.monotonic()
        with pytest.raises(duckdb.InterruptException):
            con.execute(STATEMENTS[kind]).fetchall()
        assert time.monotonic() - begun < 5 * patience()
        assert con.execute("FROM gquery('g', 'RETURN 1 AS x')").fetchall() == [(1,)]


@needs_native
def test_interrupt_while_binding() -> None:
    class Slow:
        def query(self, text: str, parameters: object = None) -> None:
            while True:
                time.sleep(0.001)

    with gquery.connect() as con:
        gquery.attach(con, Slow(), "slow")  # type: ignore[arg-type]
        gquery.attach(con, small_graph(), "g")
        threading.Timer(0.2, con.interrupt).start()
        with pytest.raises(duckdb.InterruptException):
            con.execute("FROM gquery('slow', 'x')")
        assert con.execute("FROM gquery('g', 'RETURN 1 AS x')").fetchall() == [(1,)]


@needs_native
def test_words_are_no_interruption() -> None:
    with gquery.connect() as con:
        gquery.attach(con, small_graph(), "g")
        with pytest.raises(duckdb.InvalidInputException, match="interrupted"):
            con.execute("FROM gquery('g', 'MATCH (a) RETURN date(a.name + ''interrupted'') AS x')").fetchall()


@pytest.mark.alone
@pytest.mark.parametrize("door", [pytest.param("native", marks=needs_native), "macro"])
def test_timeouts_hold(large: gquery.Graph, door: str) -> None:
    con = gquery.connect() if door == "native" else duckdb.connect()
    gquery.attach(con, large.with_settings(timeout=0.3), "g")
    begun = time.monotonic()
    with pytest.raises(duckdb.Error, match="timeout"):
        con.execute(STATEMENTS["streaming"]).fetchall()
    assert time.monotonic() - begun < 5 * patience()
    con.close()


@needs_native
def test_closed_and_dropped_while_scans_run(large: gquery.Graph) -> None:
    """Cursors read on threads of their own while graphs are replaced and the connection is closed."""
    con = gquery.connect()
    gquery.attach(con, large, "g")
    gquery.attach(con, small_graph(), "h")
    wrong: list[BaseException] = []

    def read(cursor: duckdb.DuckDBPyConnection) -> None:
        try:
            result = cursor.execute("SELECT x FROM gquery('g', 'MATCH (a:V)-[:E]->(b) RETURN a.i + b.i AS x')")
            assert sum(map(len, iter(lambda: result.fetchmany(10_000), []))) == large.edge_count
        except (duckdb.Error, gquery.GQueryError):
            pass
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=read, args=(con.cursor(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    gquery.attach(con, small_graph(), "g")
    with contextlib.suppress(duckdb.Error):  # DuckDB refuses while a cursor is being opened
        con.close()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert not wrong


def run(script: str) -> subprocess.CompletedProcess[str]:
    prelude = (
        "import os, sys, threading, time, duckdb, gquery\n"
        "from tests.integrations.ctrl_c import HALF_READ, STATEMENTS, graph\n"
        "con = gquery.connect(); gquery.attach(con, graph(), 'g')\n"
    )
    command = [sys.executable, "-c", prelude + script]
    return subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=300)


@needs_native
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process() -> None:
    ran = run(
        'con.execute("SET threads = 1")\n'
        "print(con.execute(\"FROM gquery('g', 'RETURN 1 AS x')\").fetchall(), flush=True)\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    print(con.execute(\"FROM gquery('g', 'RETURN 2 AS x')\").fetchall(), flush=True)\n"
        "    os._exit(0)\n"
        "print(os.waitpid(child, 0)[1])\n"
        "print(con.execute(\"FROM gquery('g', 'RETURN 3 AS x')\").fetchall())\n"
    )
    assert ran.stdout.split("\n")[:4] == ["[(1,)]", "[(2,)]", "0", "[(3,)]"], ran.stderr
    assert "Exception ignored" not in ran.stderr


@needs_native
def test_python_ends_with_a_result_half_read() -> None:
    ran = run("print(len(con.execute(HALF_READ).fetchmany(5)), flush=True)\n")
    assert ran.stdout.strip() == "5"
    assert ran.returncode == 0, ran.stderr


def test_a_handler_of_the_user_s_is_asked(large: gquery.Graph) -> None:
    """A handler that does not raise lets the statement go on."""
    script = (
        "import signal; pressed = []\n"
        "signal.signal(signal.SIGINT, lambda *_: pressed.append(1))\n"
        "import duckdb, gquery; from tests.integrations.ctrl_c import Press, graph\n"
        "con = duckdb.connect(); gquery.attach(con, graph(), 'g'); Press(0.1).start()\n"
        "while not pressed:\n"
        "    rows = con.execute(\"SELECT count(*) FROM gquery('g', 'MATCH (a:V) RETURN a.i')\").fetchall()\n"
        "print(rows)\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], cwd=HERE, capture_output=True, text=True, timeout=300)
    assert ran.stdout.strip() == "[(20000,)]", ran.stderr
