"""Statements of ten thousand parts, which DuckDB plans for seconds without hearing anything, end soon all the same."""

from __future__ import annotations

import gc
import glob
import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache

import pytest

import gquery
from tests.conftest import patience

pytestmark = [pytest.mark.alone, pytest.mark.usefixtures("unverified")]

TIMEOUT, SOON = 1.0, 2.0  # seconds
MANY = range(9_500)

PROJECTED = {
    "columns": ", ".join(f"a.x + {n} AS c{n}" for n in MANY),
    "groups": ", ".join(f"a.x + {n} AS c{n}" for n in MANY) + ", count(*)",
    "order": "a.x ORDER BY " + ", ".join(f"a.x % {n + 2}" for n in MANY),
    "or": f"count({' OR '.join(f'a.x = {n}' for n in MANY)})",
    "xor": f"count({' XOR '.join(f'a.x + 1 = {n}' for n in MANY)})",
    "texts": f"count({' OR '.join(f'a.s STARTS WITH {chr(39)}{n}{chr(39)}' for n in MANY)})",
    "conditions of a case": f"CASE {' '.join(f'WHEN a.x = {n} THEN {n + 1}' for n in MANY)} END AS c",
    "in lists": f"count([a.x] IN [{', '.join(f'[a.x + {n}]' for n in MANY)}])",
    "list": f"size([{', '.join(f'a.x + {n}' for n in MANY)}]) AS s",
    "map": f"count({{{', '.join(f'k{n}: a.x' for n in MANY)}}})",
}
FILTERED = {
    "or": " OR ".join(f"a.x = {n}" for n in MANY),
    "computed": " OR ".join(f"a.x + 1 = {n}" for n in MANY),
}
TEXTS = {name: f"MATCH (a:P) RETURN {text}" for name, text in PROJECTED.items()}
TEXTS |= {f"where, {name}": f"MATCH (a:P) WHERE {text} RETURN count(*)" for name, text in FILTERED.items()}


@cache
def graph() -> gquery.Graph:
    """Asked once, so that what is made once is not taken for slow stopping."""
    numbers = list(range(3_000))
    people = {"id": numbers, "x": numbers, "s": list(map(str, numbers))}
    graph = gquery.from_arrow({"P": people}, {("P", "K", "P"): {"source": [0], "target": [1]}})
    graph.query("MATCH (a:P) WHERE a.x + 1 IN [a.x, 3] RETURN a.x + 1 AS x, count(*) ORDER BY x").rows()
    return graph


def left_behind() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "gquery-begun"]


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    for thread in left_behind():
        thread.join(20)
    assert not left_behind()


@pytest.mark.parametrize("name", TEXTS)
def test_a_timeout_ends_it(name: str) -> None:
    """With an answer, or late, but not for long."""
    graph()
    began = time.monotonic()
    with suppress(gquery.QueryTimeout):
        graph().query(TEXTS[name], timeout=TIMEOUT).to_arrow()
    assert time.monotonic() - began < SOON * patience()
    assert graph().query("MATCH (a:P) RETURN sum(a.x)").scalar() == 4_498_500


def test_a_cancel_ends_it() -> None:
    result = graph().query(TEXTS["xor"])
    timer = threading.Timer(0.2, result.cancel)
    timer.start()
    began = time.monotonic()
    with pytest.raises(gquery.QueryCancelled):
        result.to_arrow()
    assert time.monotonic() - began < 0.5 * patience()


def test_ctrl_c_ends_it() -> None:
    result = graph().query(TEXTS["xor"])
    timer = threading.Timer(0.2, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    timer.start()
    began = time.monotonic()
    gc.disable()  # what pytest's plugins do while garbage is collected would swallow it
    try:
        with pytest.raises(KeyboardInterrupt):
            result.to_arrow()
    finally:
        gc.enable()
    assert time.monotonic() - began < 0.5 * patience()
    timer.join()


def test_what_it_held_is_given_back() -> None:
    """Under a memory limit it has a database and a folder of its own, which its thread closes."""
    folders = os.path.join(tempfile.gettempdir(), "gquery-*")
    before = set(glob.glob(folders))
    result = graph().query(TEXTS["xor"], memory_limit="100MB")
    timer = threading.Timer(0.2, result.cancel)
    timer.start()
    with pytest.raises(gquery.QueryCancelled):
        result.to_arrow()
    for thread in left_behind():
        thread.join(20)
    assert set(glob.glob(folders)) <= before


def test_answers_of_long_statements() -> None:
    """What is begun in a thread says the same, its errors too."""
    few = range(1_500)
    terms = " OR ".join(f"a.x + 0 = {n}" for n in few)
    assert graph().query(f"MATCH (a:P) RETURN sum(CASE WHEN {terms} THEN 1 ELSE 0 END)").scalar() == 1_500
    assert graph().query(f"MATCH (a:P) WHERE {terms} RETURN count(*)").scalar() == 1_500
    with pytest.raises(gquery.ExecutionError, match="zero"):
        graph().query(f"MATCH (a:P) RETURN count({terms} OR 1 / (a.x - 2000) = 3)").rows()


def test_planning_counts() -> None:
    """The timeout is one for planning and running together."""
    began = time.monotonic()
    result = graph().query(TEXTS["columns"])
    assert result.progress.elapsed >= (time.monotonic() - began) * 0.8
