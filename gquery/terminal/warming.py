"""Compiles the kernels that queries need most before anybody waits for them: side by side, each group in a process of
its own, since Numba compiles one function of a process at a time."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gquery.errors import ExecutionError
from gquery.executor.cpu.machine import kernel_cache
from gquery.executor.devices import has_cupy

_CHAIN, _TREE = (
    "MATCH REPEATABLE ELEMENTS (a)-[:ONE]->(b)-[:ONE]->(c)-[:ONE]->(a) RETURN count(*)",
    "MATCH REPEATABLE ELEMENTS (a)-[:TWO]->(b)-[:TWO]->(c)-[:TWO]->(a) RETURN count(*)",
)
_LIST = """
MATCH (a)-[:ONE]->(b)-[:ONE]->(c) WHERE a.x > 9 RETURN a.x AS one, c.x AS other UNION ALL
MATCH (a)-[r:TWO]->()-[:TWO]->(c) RETURN id(r) AS one, c.x AS other UNION ALL
MATCH (a)-[:ONE]->(c) WHERE a.x > 9 RETURN a.x AS one, c.x AS other
"""
_FOLD = """
MATCH REPEATABLE ELEMENTS (a)-[:ONE]->(b)-[:ONE]->(c) WHERE a.x > 9 AND b.x < 7 RETURN count(*) AS n UNION ALL
MATCH REPEATABLE ELEMENTS (a)-[:ONE]->(b)-[:ONE]->(c)-[:ONE]->(d) RETURN count(*) AS n UNION ALL
MATCH (a)-[:MANY]->(b), (a)-[:ONE]->(c) RETURN count(*) AS n UNION ALL MATCH (a)-[:ONE]->(a) RETURN count(*) AS n
UNION ALL MATCH (a)-[:MANY]-()-[:MANY]-(b) WITH a.kind AS one, b.kind AS other, count(*) AS n RETURN n
"""
_PATHS = """
MATCH (a {x: 1})-[:ONE*]->(b) WITH DISTINCT b LIMIT 9 MATCH (c {x: 2}) MATCH one = ANY SHORTEST (b)-[:ONE]->+(c)
MATCH every = ALL SHORTEST (b)-[:ONE]->+(c) RETURN length(one), every
"""
_TRIANGLE = "MATCH DIFFERENT NODES (a)-[:MANY]-(b)-[:MANY]-(c)-[:MANY]-(a)"
_INSIDE = f"{_TRIANGLE}, (a)-[:MANY]-(d), (b)-[:MANY]-(d), (c)-[:MANY]-(d) RETURN count(*)"
_PUSHED = "MATCH DIFFERENT NODES (a)-[:MANY]-(b)-[:MANY]-(c)-[:MANY]-(d)-[:MANY]-(a) RETURN count(*)"
_RING = "-[:MANY]-".join(f"(v{number} {{kind: {number % 6}}})" for number in range(8))
_CANDIDATES = f"MATCH {_RING}-[:MANY]-(v0) RETURN count(*)"
_CHORDS = ", ".join(f"(v{one})-[:MANY]-(v{(one + apart) % 8})" for apart in (3, 4) for one in range(4))
_ADAPTIVE = f"MATCH {_RING}-[:MANY]-(v0), {_CHORDS} RETURN count(*)"
_CHANGES, _MOTIFS, _CARD = "changes", "motifs", "card"  # no queries
# Those that take longest first, but for what is asked more rarely.
GROUPS = _CHAIN, _TREE, _LIST, _PATHS, _INSIDE, _PUSHED, _ADAPTIVE, _CANDIDATES, _FOLD, _CHANGES, _MOTIFS
_POLL = 0.05  # seconds
PATIENCE = 1.0  # seconds that work must last for kernels to be compiled beside it

# Three neighbours each; edges of type TWO come twice. Edges of type MANY are so many that other plans pay.
_ASK = """
import os, sys, gquery
if sys.argv[2] == "behind" and hasattr(os, "nice"):
    os.nice(10)
ids = list(range(500))
ends = {"source": [i for i in ids for _ in range(3)], "target": [(i + k) % 500 for i in ids for k in (1, 2, 3)]}
edges = {("V", "ONE", "V"): ends, ("V", "TWO", "V"): {side: list * 2 for side, list in ends.items()}}
many = [(i, j) for i in range(200) for j in range(i) if (i * i + j * j) % 5 < 2]
edges["V", "MANY", "V"] = {"source": [i for i, _ in many], "target": [j for _, j in many]}
vertices = {"V": {"id": ids, "x": ids, "kind": [i % 6 for i in ids]}}
graph = gquery.from_arrow(vertices=vertices, edges=edges).with_settings(device="cpu")
if sys.argv[1] == "card":
    from contextlib import suppress
    from gquery.executor.gpu.census.launching import kernels_of_card
    with suppress(Exception):  # a query for the card says what is wrong with it
        kernels_of_card()
elif sys.argv[1] == "motifs":
    for model in ("degrees", "stubs", "erdos-renyi"):
        gquery.motifs(graph, 3, random=1, model=model)
elif sys.argv[1] == "changes":
    store = gquery.Store(graph)
    watch = store.watch("MATCH (a)-[:ONE]->(b)-[:ONE]->(c)<-[:ONE]-(a) RETURN count(*)", emit="counts")
    for target in (10, 20, 30):
        store.apply(insert={("V", "ONE", "V"): {"source": [0], "target": [target]}})
        watch.next()
else:
    graph.query(sys.argv[1]).to_arrow()
"""


def warm(told: Callable[[int, int], None]) -> None:
    """Compiles what is not compiled yet, on all cores. told: how many groups of how many are done, whenever one is. All
    processes end with this one's interrupt. Raises ExecutionError with what a process has said, and where kernels
    cannot be kept."""
    _warm(told, threading.Event(), "first")
    if not kernel_cache.has_all():
        folder = kernel_cache.folder().parent
        raise ExecutionError(f"the kernels cannot be kept in {folder}", hint="NUMBA_CACHE_DIR names another folder")


@contextmanager
def warming_beside() -> Iterator[None]:
    """Compiles what is not compiled yet while something else goes on for long, in processes that let it go first. What
    is not done when that ends is left to the queries."""
    end = threading.Event()

    def work() -> None:
        if not kernel_cache.has_all() and not end.wait(PATIENCE):
            with suppress(ExecutionError, OSError):  # a query says what is wrong
                _warm(lambda done, groups: None, end, "behind")

    thread = threading.Thread(target=work, name="gquery-warming")
    with suppress(RuntimeError):  # there is none to be had, as where there are few processes
        thread.start()
    try:
        yield
    finally:
        end.set()
        if thread.is_alive():
            thread.join()


def _warm(told: Callable[[int, int], None], end: threading.Event, rank: str) -> None:
    """Until `end` is set. rank: "behind" for processes that let others go first."""
    waiting, done = [*GROUPS, *([_CARD] if has_cupy() else ())], 0
    groups = len(waiting)
    running: list[subprocess.Popen[str]] = []
    try:
        while waiting or running:
            while waiting and len(running) < (os.cpu_count() or 1):
                running.append(_process(waiting.pop(0), rank))
            if end.wait(_POLL):
                return
            for process in [each for each in running if each.poll() is not None]:
                running.remove(process)
                _, said = process.communicate()
                if process.returncode:
                    last = (said.strip().splitlines() or [f"a process ended with {process.returncode}"])[-1]
                    raise ExecutionError(f"the kernels cannot be compiled: {last}")
                done += 1
                told(done, groups)
    finally:
        for process in running:
            process.kill()
            process.communicate()
    kernel_cache.note_all()


def _process(question: str, rank: str) -> subprocess.Popen[str]:
    package = str(Path(__file__).parents[2])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-c", _ASK, question, rank]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
