"""Look-ups by an index give what scanning gives: over ids and properties of every type, and what they lead to."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import cache
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import gquery
from gquery import session
from gquery.planner.search.costs import CPU
from gquery.storage import indexes

DAY = datetime.date(2020, 2, 29)
VALUES: tuple[Any, ...] = (
    1, 7, 0, -3, 2**63 - 1, 2**70, 1.0, 7.5, float("nan"), float("inf"), -0.0, "1", "b", "", "é", "1.0", True, None,
    Decimal("1.00"), Decimal("7.5"), DAY, datetime.datetime(2020, 2, 29),
)  # fmt: skip
LISTS: tuple[list[Any], ...] = ([], [1, 7], [1, 1.0, "1", None], [None], ["b", ""], [True, 0], [float("nan"), 7.5],
    [DAY, "2020-02-29"], [2**70, -3], [Decimal(1), 2**63 - 1], [[1], 1])  # fmt: skip
PROPERTIES = ("id(a)", "a.id", "a.x", "a.n", "a.born", "a.code")


@cache
def graph() -> gquery.Graph:
    """Ids, `x` and `n` of several types over four labels; values that come twice, and nulls."""
    chance = Random("look-ups")
    whole = [*range(-5, 30), 2**63 - 1]
    tables = {
        "P": pa.table({"id": whole, "x": [value % 9 if value % 4 else None for value in whole],
                       "n": [value / 2 for value in range(36)]}),
        "Q": pa.table({"id": ["1", "b", "é", "c", "7"], "x": ["5", "b", None, "", "b"],
                       "born": pa.array([DAY, None, DAY, datetime.date(1999, 1, 1), None])}),
        "R": pa.table({"id": [100, 101], "x": [7.0, float("nan")],
                       "n": pa.array([Decimal("1.00"), None], pa.decimal128(5, 2))}),
        "S": pa.table({"id": pa.array([200, 201, 202]), "x": [True, None, False],
                       "code": pa.array(["1", "b", "1"]).dictionary_encode()}),
    }  # fmt: skip
    ids = {label: table["id"].to_pylist() for label, table in tables.items()}
    edges = {
        (one, "E", other): {
            "source": chance.choices(ids[one], k=40),
            "target": chance.choices(ids[other], k=40),
        }
        for one in ids
        for other in ids
    }
    return gquery.from_arrow(vertices=tables, edges=edges)


@pytest.fixture
def indexed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that can be is looked up in an index, and followed from there."""
    changed = replace(CPU, filters_weighed=-1.0, filter_reached=1e-3)
    monkeypatch.setattr(session, "CPU", changed)
    for name in ("FEWEST", "ENOUGH", "_PROBE"):
        monkeypatch.setattr(indexes, name, 0)


def ask(text: str, device: str, **given: Any) -> Any:
    try:
        return sorted(map(repr, gquery.Graph(graph().snapshot).query(text, given, device=device).rows()))
    except gquery.GQueryError as error:
        return type(error), error.message


def _texts() -> list[tuple[str, dict[str, Any]]]:
    chance = Random("texts")
    texts: list[tuple[str, dict[str, Any]]] = []
    for name in PROPERTIES:
        for value in VALUES:
            texts += [(f"MATCH (a) WHERE {name} = $v RETURN id(a), a.x", {"v": value})]
        for values in LISTS:
            texts += [(f"MATCH (a) WHERE {name} IN $v RETURN id(a), a.x", {"v": values})]
    shapes = (
        "MATCH (a:P)-[:E]->(b) WHERE {} RETURN id(a), id(b)",
        "MATCH (a)-[:E]->(b)-[:E]-(c:Q) WHERE {} RETURN DISTINCT id(c)",
        "MATCH (a)-[:E]->(b) WHERE {} AND a.x = 5 OPTIONAL MATCH (b)-[:E]->(c:R) RETURN id(a), id(b), id(c)",
        "MATCH (a:P)-[:E]-(b:P)-[:E]-(a) WHERE {} AND b.id IN [1, 2, 3, 4] RETURN id(b), count(*)",
        "MATCH (a)-[:E]->(b) WHERE {} AND NOT EXISTS {{ (b)-[:E]->(:S) }} RETURN id(b)",
        "OPTIONAL MATCH (a:P)<-[:E]-(b) WHERE {} RETURN a.id, count(b)",
        "MATCH (a)-[:E]->(b)-[:E]->(c) WHERE {} RETURN count(*)",
    )
    for shape in shapes:
        for _ in range(4):
            condition = f"{chance.choice(PROPERTIES)} {chance.choice(('= $v', 'IN [$v, 3]'))}"
            texts += [(shape.format(condition), {"v": chance.choice((1, 7, "b", "1", 2, None))})]
    return texts


@pytest.mark.filterwarnings("ignore::gquery.errors.QueryWarning")
def test_an_index_finds_what_a_scan_finds(device: str, request: pytest.FixtureRequest) -> None:
    expected = [ask(text, device, **given) for text, given in _texts()]
    request.getfixturevalue("indexed")
    found = [ask(text, device, **given) for text, given in _texts()]
    for (text, given), before, after in zip(_texts(), expected, found, strict=True):
        assert before == after, f"{text} {given}"
    assert sum(isinstance(answer, list) and len(answer) > 0 for answer in found) > 60


def test_explain_says_so(indexed: None) -> None:
    plan = graph().explain("MATCH (a:P)-[:E]->(b) WHERE a.id = $v AND a.x > 2 RETURN id(b)", {"v": 3})
    assert "(a:P): a.id = $v, looked up" in plan
    assert "(a:P): a.x > 2" in plan
    assert "(b): where (a)-[:E]->(b) leads" in plan


@pytest.mark.parametrize(
    ("condition", "fits"),
    [
        ("a <> b", lambda a, b: a != b),
        ("a <> b AND a.id < b.id", lambda a, b: a < b),
        ("a <> b AND (a.id + b.id) % 2 = 0", lambda a, b: a != b and (a + b) % 2 == 0),
    ],
)
def test_what_is_looked_up_alone_may_have_to_differ(
    device: str, condition: str, fits: Callable[[int, int], bool]
) -> None:
    values = [1, 3, 3, 5, 3, 1, 3]
    asked = gquery.from_arrow(vertices={"P": {"id": list(range(7)), "x": values}}, edges={})
    text = f"MATCH (a:P {{x: 3}}), (b:P) WHERE b.x IN [1, 3] AND {condition} RETURN a.id, b.id"
    pairs = [(a, b) for a in range(7) for b in range(7) if values[a] == 3 and values[b] in (1, 3) and fits(a, b)]
    assert sorted(asked.query(text, device=device).rows()) == pairs
    assert ("Look up, and match with nothing" in asked.explain(text)) == ("<" not in condition.removeprefix("a <> b"))


@pytest.mark.parametrize("condition", ["a.id <> 3", "a.id = a.x", "a.x = toInteger('3')", "a.x + 1 = 3"])
def test_what_names_no_values_is_scanned(indexed: None, condition: str) -> None:
    assert "looked up" not in graph().explain(f"MATCH (a:P) WHERE {condition} RETURN a.id")
