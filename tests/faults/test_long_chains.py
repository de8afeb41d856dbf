"""Chains of many clauses, each of which reads the rows of the one before: Python's stack does not limit them."""

from __future__ import annotations

import threading
import time

import pytest

import gquery
from tests.conftest import patience

GRAPH = gquery.from_arrow({"P": {"id": [1, 2, 3]}}, {("P", "K", "P"): {"source": [1, 2], "target": [2, 3]}})
LONG = 250
CHAINS = {
    "UNWIND": " ".join(f"UNWIND [{place}] AS x{place}" for place in range(LONG)) + f" RETURN x{LONG - 1} + 1",
    "WITH": "WITH 0 AS x " + "WITH x + 1 AS x LIMIT 5 " * LONG + "RETURN x",
    "MATCH": " ".join(f"MATCH (a{place} {{id: 1}}) WITH * LIMIT 1" for place in range(LONG // 2)) + f" RETURN {LONG}",
    "CALL": "WITH 0 AS x "
    + "CALL (x) { RETURN x + 1 AS y } WITH y AS x LIMIT 5 " * (LONG // 2)
    + f"RETURN x + {LONG // 2}",
}


@pytest.mark.parametrize("name", CHAINS)
def test_chains_of_many_clauses(name: str) -> None:
    assert GRAPH.query(CHAINS[name]).rows() == [(LONG,)]


ENDLESS = "UNWIND range(1, 1000000) AS x " + "WITH x ORDER BY x LIMIT 900000 " * 40 + "UNWIND range(1, 1000) AS y "


def test_a_long_chain_ends_by_timeout() -> None:
    began = time.monotonic()
    with pytest.raises(gquery.QueryTimeout):
        GRAPH.query(f"{ENDLESS} RETURN sum(x * y)", timeout=1.0).rows()
    assert time.monotonic() - began < 1.0 + 2.0 * patience()


def test_a_long_chain_that_is_not_read_on_leaves_no_thread() -> None:
    before = threading.active_count()
    text = "UNWIND range(1, 1000000) AS x " + "UNWIND [x] AS x0 WITH x0 AS x " * 40 + "RETURN x"
    reader = GRAPH.query(text).reader()
    assert reader.read_next_batch().num_rows > 0
    assert any(thread.name.startswith("gquery-apart") for thread in threading.enumerate())
    reader.close()
    del reader
    deadline = time.monotonic() + 5 * patience()
    while any(thread.name.startswith("gquery-apart") for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert threading.active_count() <= before + 1  # the one that stops statements lingers


def test_errors_come_out_as_they_are() -> None:
    text = "UNWIND [1, 0] AS x " + "WITH x ORDER BY x " * 40 + "RETURN 1 / x"
    with pytest.raises(gquery.ExecutionError, match="division by zero"):
        GRAPH.query(text).rows()
    text = "UNWIND [1, 0] AS x WITH 1 / x AS x " + "WITH x ORDER BY x LIMIT 3 " * 40 + "RETURN x"
    with pytest.raises(gquery.ExecutionError, match="division by zero"):
        GRAPH.query(text).rows()
