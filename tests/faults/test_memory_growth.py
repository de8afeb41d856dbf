"""A memory limit holds: the process grows by no more than the limit and a little, or the query is refused by name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import gquery
from tests.faults.memory_growth import QUERIES

ROOT = Path(__file__).resolve().parents[2]
BEYOND = 32 * 2**20  # bytes: what allocators keep, code that is loaded late
FLOOR = 32 * 2**20  # bytes that DuckDB needs to sort and group
_RELATIONAL = {
    "sort", "sort of texts", "sort of long texts", "sort, then match", "top", "distinct", "group", "group of texts",
    "collect", "collect all", "nodes, collected",
}  # fmt: skip
_MAY_NOT_FIT = {"sort of long texts", "collect all", "nodes, collected", "a subquery's list"}
_TOO_LITTLE = ("needs more memory than there is", "are left of the limit")


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="needs Linux to measure the growth")
@pytest.mark.parametrize("limit", [10_000_000, 100_000_000])
def test_growth(limit: int) -> None:
    command = [sys.executable, "-m", "tests.faults.memory_growth", str(limit)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert list(found) == list(QUERIES)
    for name, outcome in found.items():
        assert outcome["grew"] < limit + BEYOND, (name, outcome)
        if name in _RELATIONAL and limit < FLOOR:
            assert "at least 32 MiB" in outcome["ended"], (name, outcome)
        elif name in _MAY_NOT_FIT:
            assert any(part in outcome["ended"] for part in ("answered", *_TOO_LITTLE)), (name, outcome)
        else:
            assert outcome["ended"] == "answered", (name, outcome)


def test_the_refusal_says_what_works() -> None:
    graph = gquery.from_arrow({"P": {"id": [2, 1]}}, {})
    text = "MATCH (a) RETURN a.id AS id ORDER BY id"
    with pytest.raises(gquery.MemoryLimitError, match="32 MiB"):
        graph.query(text, memory_limit="31 MiB").rows()
    assert graph.query(text, memory_limit="32 MiB").rows() == [(1,), (2,)]
    assert graph.query("MATCH (a) RETURN a.id + 1 AS id", memory_limit="1 MB").rows() == [(3,), (2,)]
    assert graph.query("MATCH (a) RETURN count(*) + 1 AS n", memory_limit="1 MB").scalar() == 3


def test_pairs_that_are_counted_take_memory() -> None:
    count = 400
    edges = {
        "source": [number for number in range(count) for _ in range(2)],
        "target": [(number * times + 1) % count for number in range(count) for times in (1, 3)],
    }
    graph = gquery.from_arrow({"V": {"id": range(count)}}, {("V", "K", "V"): edges})
    with pytest.raises(gquery.MemoryLimitError, match="how many paths each pair has"):
        graph.query("MATCH SHORTEST 2 ACYCLIC (a)-[:K]->+(b) RETURN count(*)", memory_limit="8MB", timeout=20).rows()
