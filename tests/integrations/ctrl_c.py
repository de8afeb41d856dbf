"""Presses Ctrl-C at random moments of long statements, `rounds` times; prints what was not KeyboardInterrupt.

Run in a process of its own: `python -m tests.integrations.ctrl_c native 50 1`, the last word being a seed. The last
line is how many presses came out right and the slowest of them in seconds.
"""

from __future__ import annotations

import faulthandler
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable

import duckdb
import numpy as np

import gquery

N = 20_000
HALF_READ = "FROM gquery('g', 'MATCH (a:V)-[:E]->(b)-[:E]->(c) RETURN a.i + c.i AS x')"
SLOW = "MATCH (a:V)-[:E]->(b)-[:E]->(c)-[:E]->(d)-[:E]->(e) RETURN {} AS x"
STATEMENTS = {
    "matching": f"SELECT count(*) FROM gquery('g', '{SLOW.format('count(DISTINCT a.i + e.i)')}')",
    "streaming": f"SELECT sum(x) FROM gquery('g', '{SLOW.format('a.i + e.i')}')",
    "DuckDB alone": "SELECT sum(x * i % 7) FROM gquery('g', 'MATCH (a:V) RETURN a.i AS x'), range(100_000_000) t(i)",
    "sorting": f"FROM gquery('g', '{SLOW.format('a.i + e.i')} ORDER BY x LIMIT 3')",
    "planning": f"FROM gquery('g', 'MATCH (a:V)-[:E]->{'()-[:E]->' * 50}(b:V) WHERE a.i < 0 RETURN a.i AS x')",
    "one after another": "SELECT * FROM gquery('g', 'MATCH (a:V) WHERE a.i < 5 RETURN a.i AS x')",
}


def graph() -> gquery.Graph:
    seeded = np.random.default_rng(1)
    vertices = {"id": np.arange(N), "i": np.arange(N)}
    edges = {"source": seeded.integers(0, N, N * 20), "target": seeded.integers(0, N, N * 20)}
    return gquery.from_arrow({"V": vertices}, {("V", "E", "V"): edges})


def readings(con: duckdb.DuckDBPyConnection) -> dict[str, Callable[[str], object]]:
    return {
        "sql": lambda sql: con.sql(sql).fetchall(),
        "execute": lambda sql: con.execute(sql).fetchall(),
        "arrow": lambda sql: con.sql(sql).to_arrow_table(),
        "pandas": lambda sql: con.execute(sql).fetchdf(),
    }


class Press:
    """Presses Ctrl-C once, some seconds from now."""

    def __init__(self, delay: float) -> None:
        self.at = 0.0
        self.start = threading.Timer(delay, self._press).start

    def _press(self) -> None:
        self.at = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)


def main(door: str, rounds: int, seed: int) -> None:
    dice = random.Random(seed)
    con = gquery.connect() if door == "native" else duckdb.connect()
    gquery.attach(con, graph(), "g")
    con.sql("SELECT * FROM gquery('g', 'MATCH (a:V)-[:E]->(b) RETURN a.i LIMIT 1')").fetchall()
    right, slowest = 0, 0.0
    for _ in range(rounds):
        kind, how, delay = dice.choice(list(STATEMENTS)), dice.choice(list(readings(con))), dice.random() * 0.5
        came: BaseException | None = None
        faulthandler.dump_traceback_later(100, exit=True)
        press = Press(delay)
        try:
            press.start()
            while True:
                readings(con)[how](STATEMENTS[kind])
        except BaseException as error:
            came = error
        took = time.monotonic() - press.at
        alive = con.execute("SELECT count(*) FROM gquery('g', 'MATCH (a:V) RETURN a.i')").fetchall() == [(N,)]
        if isinstance(came, KeyboardInterrupt) and alive and sys.gettrace() is None:
            right, slowest = right + 1, max(slowest, took)
        if not isinstance(came, KeyboardInterrupt) or took > 0.3:
            print(f"{kind}, {how}, after {delay:.3f} s: {came!r:.200} took {took:.2f} s", flush=True)
    print(right, round(slowest, 3))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
