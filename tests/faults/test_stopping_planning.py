"""Whatever is asked, and in whatever phase before matching: a timeout, a cancel and Ctrl-C end it soon."""

from __future__ import annotations

import gc
import signal
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import gquery
from gquery.grammar.parser import _Reader
from gquery.planner.binding import matches as binding
from gquery.planner.passes.constraints import _Finder
from gquery.planner.search.orders import Orders
from gquery.planner.search.sums.factorise import Factoriser
from tests.conftest import patience
from tests.planner.shapes import pattern, shape
from tests.planner.town import town

pytestmark = [pytest.mark.alone, pytest.mark.usefixtures("unverified")]

TIMEOUT, SOON = 0.3, 2.0  # seconds
MANY = range(10_000)


@cache
def graph() -> gquery.Graph:
    """Asked once, so that reading the grammar and compiling are not taken for slow stopping."""
    graph = town()
    graph.query("MATCH (a:Person) RETURN count(*)").rows()
    return graph


def nested(opening: str, closing: str, depth: int = 190) -> str:
    return opening * depth + "1" + closing * depth


ADVERSARIAL = {
    "string of 10 MB": "RETURN '" + "x" * 10_000_000 + "' AS x",
    "string never closed": "RETURN '" + "x\\n" * 2_000_000,
    "comment never closed": "RETURN /*" + "*" * 5_000_000,
    "digits": "RETURN " + "1" * 2_000_000,
    "digits and a letter": "RETURN " + "1" * 2_000_000 + "x",
    "fraction": "RETURN 1." + "1" * 2_000_000 + " AS x",
    "exponent": "RETURN 1e" + "1" * 2_000_000,
    "long label": "MATCH (a:" + "x" * 1_000_000 + ") RETURN a",
    "long variable": "RETURN " + "x" * 1_000_000,
    "long property": "MATCH (a:Person) RETURN a." + "y" * 1_000_000,
    "long function": "RETURN " + "f" * 1_000_000 + "(1)",
    "brackets": "RETURN " + "(" * 5_000,
    "functions": f"RETURN {nested('abs(', ')')} AS x",
    "cases": f"RETURN {nested('CASE WHEN true THEN ', ' END', 60)} AS x",
    "properties of properties": "MATCH (a:Person) RETURN a" + ".b" * 10_000,
    "or": "MATCH (a:Person) WHERE " + " OR ".join(f"a.age = {n}" for n in MANY) + " RETURN count(*)",
    "xor": "MATCH (a:Person) WHERE " + " XOR ".join(f"a.age = {n}" for n in MANY) + " RETURN count(*)",
    "in": f"MATCH (a:Person) WHERE a.age IN [{', '.join(map(str, range(49_000)))}] RETURN count(*)",
    "in, never closed": f"MATCH (a:Person) WHERE a.age IN [{', '.join(map(str, range(49_000)))} RETURN count(*)",
    "columns": "MATCH (a:Person) RETURN " + ", ".join(f"a.age + {n}" for n in MANY),
    "groups": "MATCH (a:Person) RETURN " + ", ".join(f"a.age + {n}" for n in MANY) + ", count(*)",
    "case": f"MATCH (a:Person) RETURN CASE a.age {' '.join(f'WHEN {n} THEN {n}' for n in MANY)} END",
    "labels": f"MATCH (a:{'|'.join(['Person', 'City'] * 5_000)}) RETURN count(*)",
    "map": f"RETURN {{{', '.join(f'k{n}: {n}' for n in MANY)}}} AS m",
    "patterns": "MATCH " + ", ".join(f"(v{n}:Person)" for n in MANY) + " RETURN count(*)",
    "a thousand patterns": "MATCH " + ", ".join(f"(v{n}:Person)" for n in range(1_000)) + " RETURN count(*)",
    "path": "MATCH " + "-[:KNOWS]->".join(["()"] * 1_000) + " RETURN count(*)",
    "path of parallel edges": "MATCH " + "-[:CALLED]-".join(["()"] * 1_000) + " RETURN count(*)",
    "induced path": "MATCH INDUCED " + "-[:KNOWS]-".join(["()"] * 1_000) + " RETURN count(*)",
    "star": f"MATCH DIFFERENT NODES {pattern(shape('star', 900)[1], '', ':KNOWS', '>')} RETURN count(*)",
    "tree": f"MATCH DIFFERENT NODES {pattern(shape('tree', 999)[1], '', ':KNOWS')} RETURN count(*)",
    "clique": f"MATCH INDUCED {pattern(shape('clique', 44)[1], '', ':KNOWS')} RETURN count(*)",
    "pieces": f"MATCH {pattern(shape('pieces', 480)[1], '', ':KNOWS')} RETURN count(*)",
    "conditions": "MATCH (a:Person) WHERE " + " AND ".join(["(a)-[:KNOWS]->(:Person)"] * 900) + " RETURN count(*)",
    "optional": "MATCH (a:Person) "
    + " ".join(f"OPTIONAL MATCH (a)-[:KNOWS]->(b{n})" for n in range(400))
    + " RETURN count(*)",
}  # fmt: skip


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_timeout_before_matching(name: str) -> None:
    """Planned, refused or late, but not for long; and what an error says is short."""
    graph()
    began = time.monotonic()
    said = ""
    try:
        graph().query("EXPLAIN " + ADVERSARIAL[name], timeout=TIMEOUT).to_arrow()
    except gquery.GQueryError as error:
        said = str(error)
    assert time.monotonic() - began < SOON * patience()
    assert len(said) < 2_000


@pytest.mark.parametrize(
    ("holder", "method"),
    [(_Reader, "_word"), (binding, "_place"), (_Finder, "_keep_apart"), (Orders, "few"), (Factoriser, "tree")],
    ids=["parsing", "binding", "constraints", "orders", "trees"],
)
def test_the_clock_is_looked_at_in_every_phase(holder: Any, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever phase is slow, it is what the timeout ends."""
    before = getattr(holder, method)

    def slow(*arguments: object) -> object:
        time.sleep(0.06)
        return before(*arguments)

    monkeypatch.setattr(holder, method, slow)
    text = "MATCH (a:Person)-[:KNOWS]->(b)-[:KNOWS]->(c)-[:KNOWS]->(d) WHERE a.age = 3 AND b.age = 4 RETURN count(*)"
    with pytest.raises(gquery.QueryTimeout, match=r"its timeout of 0\.05 s"):
        town().query("EXPLAIN " + text, timeout=0.05).to_arrow()


@pytest.mark.parametrize("make", [lambda n: {"a": n}, lambda n: [n, 2], str], ids=["maps", "lists", "texts"])
def test_parameters_are_copied_and_told_apart_under_the_clock(make: Callable[[int], object]) -> None:
    graph()
    items = [make(number) for number in range(1_500_000)]
    began = time.monotonic()
    with pytest.raises(gquery.QueryTimeout):
        graph().query("RETURN size($items)", {"items": items}, timeout=TIMEOUT)
    assert time.monotonic() - began < TIMEOUT + 0.3 * patience()


def test_a_result_read_late_is_not_late() -> None:
    result = graph().query("MATCH (a:Person) RETURN count(*)", timeout=0.5)
    time.sleep(0.6)
    assert result.scalar() == 400


def test_ctrl_c_while_planning() -> None:
    """Planning is Python, which looks for signals itself; no single call of a library takes long."""
    graph()
    main = threading.main_thread().ident
    assert main is not None
    timer = threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    began = time.monotonic()
    gc.disable()  # what pytest's plugins do while garbage is collected would swallow it
    try:
        with pytest.raises(KeyboardInterrupt):
            town().explain(ADVERSARIAL["induced path"])
    finally:
        gc.enable()
    assert time.monotonic() - began < SOON * patience()
    timer.join()
