"""How far the process grows while queries run under a memory limit. Run by itself, a process for each limit, since what
a process has held once it may keep: `python -m tests.faults.memory_growth LIMIT`."""

from __future__ import annotations

import ctypes
import gc
import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

import gquery

VERTICES = 60_000
EDGES = 300_000
WIDE = 3_000  # characters of the long texts

_HOP = "MATCH (a:P)-[x:X]->(b:P)"
_TWO = "MATCH (a:P)-[:X]->(b:P)-[:X]->(c:P)"
QUERIES = {
    "rows": f"{_HOP} RETURN a.name, b.name, x.w",
    "rows of two hops": f"{_TWO} RETURN a.id, b.id, c.id LIMIT 1500000",
    "nodes": f"{_HOP} RETURN a, b LIMIT 150000",
    "paths": "MATCH p = (a:P)-[:X]->(b:P) RETURN p LIMIT 50000",
    "long texts": f"{_HOP} RETURN a.long AS x LIMIT 50000",
    "concatenation": f"{_HOP} RETURN a.name + ' knows ' + b.name AS x",
    "long concatenation": f"{_HOP} RETURN a.long + b.long AS x LIMIT 30000",
    "upper": "MATCH (a:P) RETURN toUpper(a.long) AS x",
    "range": f"{_HOP} RETURN range(1, 1000 + a.n % 10) AS x LIMIT 15000",
    "long ranges": "MATCH (a:P) RETURN size(range(1, 900000 + a.n % 10)) AS x LIMIT 100",
    "rows of long ranges": "MATCH (a:P) RETURN range(1, 400000 + a.n % 10) AS x LIMIT 40",
    "rows of a long constant": f"MATCH (a:P) RETURN a.id, '{'y' * 50_000}' AS x LIMIT 10000",
    "joined to a long constant": f"MATCH (a:P) RETURN size(a.name + '{'y' * 50_000}') AS x",
    "nodes, collected": "MATCH (a:P) WHERE a.n % 7 <> 3 RETURN collect(a) AS x",
    "a subquery's list": f"RETURN COLLECT {{ MATCH (a:P)-[:X]->(b) RETURN {' + '.join(['b.name'] * 7)} }} AS x",
    "a subquery's list beside rows": "MATCH (a:P) WHERE a.n < 400 "
    "RETURN a.id, COLLECT { MATCH (b:P) RETURN b.id } AS x",
    "a list beside a subquery's rows": "WITH range(1, 100000) AS x CALL { MATCH (b:P) WHERE b.n < 400 RETURN b } "
    "RETURN b.id, x",
    "predicate": "MATCH (a:P) WHERE a.n % 7 = 3 AND a.name + a.name > 'person 2' RETURN count(*)",
    "predicate, long": "MATCH (a:P) WHERE toUpper(a.long) CONTAINS 'XY' RETURN count(*)",
    "edge predicate": f"{_HOP} WHERE x.w + 1 > 500 RETURN count(*)",
    "comparison": f"{_TWO} WHERE a.name + '!' < c.name RETURN count(*)",
    "count": f"{_TWO} RETURN count(*)",
    "different nodes": "MATCH DIFFERENT NODES (a:P)-[:X]->(b)-[:X]->(c)-[:X]->(d) RETURN count(*)",
    "triangles": "MATCH (a:P)-[:X]->(b)-[:X]->(c)-[:X]->(a) RETURN count(*)",
    "sort": f"{_HOP} RETURN x.w AS w, a.id AS id ORDER BY w",
    "sort of texts": f"{_HOP} RETURN a.name + b.name AS x ORDER BY x",
    "sort of long texts": "MATCH (a:P) RETURN a.long + a.name AS x ORDER BY x",
    "sort, then match": "MATCH (a:P)-[x:X]->(b:P)-[:X]->(c:P) WITH a, x, c ORDER BY a.n + c.n "
    "MATCH (c)-[:X]->(d) RETURN a.id, x.w, d.id LIMIT 50000",
    "top": f"{_HOP} RETURN a.name + b.name AS x ORDER BY x LIMIT 10",
    "distinct": f"{_HOP} RETURN DISTINCT a.name + b.name AS x",
    "group": f"{_HOP} RETURN a.name AS x, count(*), max(b.name)",
    "group of texts": f"{_HOP} RETURN a.name + b.name AS x, count(*)",
    "collect": f"{_HOP} RETURN a.n % 100 AS k, collect(b.name) AS x",
    "collect all": f"{_HOP} RETURN size(collect(a.name + b.name)) AS x",
}


def graph() -> gquery.Graph:
    random = np.random.default_rng(3)
    numbers = np.arange(VERTICES)
    long = ["xyz"[number % 3] * WIDE for number in range(50)]
    people = pa.table(
        {
            "id": numbers,
            "n": numbers,
            "name": [f"person {number} of many" for number in numbers],
            "long": pa.array([long[number % 50] for number in numbers]).dictionary_encode(),
        }
    )
    ends = pa.table(
        {
            "source": random.integers(0, VERTICES, EDGES),
            "target": random.integers(0, VERTICES, EDGES),
            "w": random.integers(0, 1000, EDGES),
        }
    )
    return gquery.from_arrow({"P": people}, {("P", "X", "P"): ends})


def run(graph: gquery.Graph, text: str, limit: int) -> str:
    """Reads the answer and keeps nothing of it; how it ended."""
    try:
        for _ in graph.query(text, memory_limit=limit).reader():
            pass
    except gquery.MemoryLimitError as error:
        return error.message
    return "answered"


def resident(what: str) -> int:
    """Bytes: `VmRSS` now, `VmHWM` at most since the last reset."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) * 1024


def _give_back() -> None:
    """Free memory that allocators keep goes back to the system: what is taken from it would not be seen as growth."""
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)


def main(limit: int) -> None:
    """Prints for each query how it ended and by how many bytes the process grew. The same was asked of a graph like it
    before, so that plans are the same and whatever these need is compiled and loaded: that may be 100 MB. Arrow takes
    memory from the system's allocator, which gives it back: its own keeps what a query took."""
    pa.set_memory_pool(pa.system_memory_pool())
    asked, other = graph(), graph()
    for text in (f"{_HOP} RETURN a, x, b LIMIT 10", f"{_TWO}-[:X]->(a) RETURN count(*)"):
        run(asked, text, 2**30)  # what the graph makes on demand and keeps is the graph's
    found = {}
    for name, text in QUERIES.items():
        run(other, text, limit)
        gc.collect()
        _give_back()
        before = resident("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")
        ended = run(asked, text, limit)
        found[name] = {"ended": ended, "grew": resident("VmHWM") - before}
    print(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]))
