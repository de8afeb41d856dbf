"""Patterns that begin at what the values of rows name: an id or property of theirs, looked up for all rows at once.

Random chains of such clauses are held against the evaluator in `tests/soak`.
"""

from __future__ import annotations

import datetime
import warnings
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

import gquery
from gquery.storage import indexes

DAYS = [datetime.date(2020, 1, 1), None, datetime.date(2020, 1, 3)]
CASES: list[tuple[str, dict[str, Any], list[tuple[Any, ...]]]] = [
    ("UNWIND $v AS x MATCH (a:P {id: x}) RETURN x, a.name", {"v": [3, 1, 3, 9, None]}, [(1, "b"), (3, "d"), (3, "d")]),
    ("UNWIND $v AS x MATCH (a {id: x}) RETURN x, labels(a)[0]", {"v": [1, "1", True, "x", None, "q"]},
     [(1, "P"), ("1", "Q"), ("q", "Q")]),
    ("UNWIND $v AS x MATCH (a) WHERE x = id(a) RETURN x, labels(a)[0]", {"v": ["q", 2, 2**62]},
     [(2, "P"), ("q", "Q")]),
    ("UNWIND $v AS x MATCH (a:P) WHERE a.small = x RETURN x, a.id", {"v": [5, 300, -1]}, [(5, 0), (5, 2)]),
    ("UNWIND $v AS x MATCH (a:P) WHERE a.name = x RETURN x, a.id", {"v": ["b", "b", "no"]}, [("b", 1), ("b", 1)]),
    ("UNWIND $v AS x MATCH (a:P) WHERE a.kind = x RETURN x, a.id", {"v": ["k", "m"]}, [("k", 0), ("k", 3), ("m", 1)]),
    ("UNWIND $v AS x MATCH (a:Q) WHERE a.born = x RETURN a.id", {"v": [DAYS[2], datetime.date(1999, 1, 1)]}, [("r",)]),
    ("UNWIND $v AS p MATCH (a:P {id: p[0]})-[:E]->(b:P {id: p[1]}) RETURN a.id, b.id",
     {"v": [[0, 1], [1, 0], [2, 3], [7, 1]]}, [(0, 1), (2, 3)]),
    ("UNWIND $v AS m MATCH (a:P {id: m.one}) OPTIONAL MATCH (b:P {id: m.two}) RETURN a.id, b.id",
     {"v": [{"one": 0, "two": 1}, {"one": 1, "two": 8}, {"one": 8, "two": 1}]}, [(0, 1), (1, None)]),
    ("MATCH (p:P) WITH p.boss AS b, p.id AS i MATCH (q:P {id: b}) RETURN i, q.id", {}, [(0, 1), (1, 2), (3, 2)]),
    ("MATCH (p:P) WITH p MATCH (q:P) WHERE q.id = p.boss + 1 RETURN p.id, q.id", {}, [(0, 2), (1, 3), (3, 3)]),
    ("UNWIND [0, 1, 9] AS x OPTIONAL MATCH (a:P {id: x})-[:E]->(b) RETURN x, b.id", {}, [(0, 1), (1, None), (9, None)]),
    ("UNWIND ['k', 'm', 'n'] AS x OPTIONAL MATCH (a:P {kind: x})-[:E]->(b) RETURN x, b.id", {},
     [("k", 1), ("m", None), ("n", None)]),
    ("UNWIND [0, 1, 9] AS x WITH x WHERE EXISTS { (:P {id: x})-[:E]->() } RETURN x", {}, [(0,)]),
    ("UNWIND [0, 1, 9] AS x WITH x WHERE NOT EXISTS { (:P {id: x})-[:E]->() } RETURN x", {}, [(1,), (9,)]),
    ("UNWIND [0, 1, 1, 9] AS x MATCH (a:P {id: x}) RETURN count(*)", {}, [(3,)]),
    ("UNWIND $v AS x MATCH (a:P) WHERE a.id = x RETURN a.id", {"v": [1.0, 2.5]}, [(1,)]),
    ("UNWIND $v AS x MATCH (a:P) WHERE a.share = x RETURN a.id", {"v": [1, 2]}, [(0,)]),
]  # fmt: skip


@cache
def graph() -> gquery.Graph:
    people = pa.table({
        "id": [0, 1, 2, 3],
        "name": ["a", "b", "c", "d"],
        "small": pa.array([5, None, 5, 7], pa.int8()),
        "kind": pa.array(["k", "m", None, "k"]).dictionary_encode(),
        "boss": [1, 2, None, 2],
        "share": [1.0, 0.5, None, 0.25],
    })  # fmt: skip
    others = pa.table({"id": ["1", "q", "r"], "born": DAYS})
    edges = {("P", "E", "P"): pa.table({"source": [0, 2], "target": [1, 3]})}
    return gquery.from_arrow(vertices={"P": people, "Q": others}, edges=edges)


def _rows(text: str, given: dict[str, Any], device: str) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gquery.QueryWarning)
        return sorted(graph().query(text, given, device=device).rows(), key=repr)


@pytest.mark.parametrize("indexed", [False, True])
def test_rows_have_what_their_values_name(device: str, indexed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FEWEST", "ENOUGH", "_PROBE") if indexed else ():
        monkeypatch.setattr(indexes, name, 0)
    for text, given, expected in CASES:
        assert _rows(text, given, device) == sorted(expected, key=repr), f"{text} {given}"


@pytest.mark.parametrize(("text", "joined"), [
    ("UNWIND $v AS x MATCH (a:P {id: x})-[:E]->(b) RETURN b", "joined by a.id = x"),
    ("UNWIND $v AS x MATCH (a:P {id: x}), (b:P {id: x + 1}) RETURN a, b", "joined by a.id = x, b.id = x + 1"),
    ("UNWIND $v AS x MATCH (a:P {id: x}) WHERE a.small > x RETURN a", "joined by a.id = x, conditions"),
    ("MATCH (p:P) WITH p.kind AS k MATCH (q:P {kind: k}) RETURN q", "joined by q.kind = k"),
    ("MATCH (p:P) WITH p, p.kind AS k MATCH (p)-[:E]->(q:P {kind: k}) RETURN q", "joined by p, conditions"),
    ("MATCH (p:P) WITH p, p.boss AS k MATCH (p)-[:E]->(q:P {id: k}) RETURN q", "joined by p, q.id = k"),
    ("MATCH (p:P) WITH p.share AS s MATCH (q:P {share: s}) RETURN q", "joined by conditions"),
    ("UNWIND $v AS x MATCH (a:P) WHERE a.id < x RETURN a", "joined by conditions"),
])  # fmt: skip
def test_explain_says_by_what_rows_are_joined(text: str, joined: str) -> None:
    """By what vertices hardly share; by anything else where it is the only way to them, and nothing else begins."""
    (heading,) = (line for line in graph().explain(text, {"v": [1, 2]}).splitlines() if ", joined by" in line)
    assert f", {joined}" in heading, heading
    assert ("looked up for each row" in graph().explain(text, {"v": [1, 2]})) == ("=" in joined)
