"""`strict=False`: labels, types and properties that the graph does not have are no element's, and a warning says so."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import gquery

GRAPH = gquery.from_arrow(
    vertices={"P": {"id": [1, 2, 3], "name": ["Ann", "Bob", "Cid"]}, "C": {"id": [1], "size": [3]}},
    edges={("P", "K", "P"): {"source": [1, 1], "target": [2, 3], "since": [2010, 2020]}},
)
LENIENT = GRAPH.with_settings(strict=False)

CASES: list[tuple[str, list[tuple[Any, ...]], int]] = [
    ("MATCH (a:X) RETURN count(*)", [(0,)], 1),
    ("MATCH (a:X|P) RETURN a.name ORDER BY a.name LIMIT 1", [("Ann",)], 1),
    ("MATCH (a:!X) RETURN count(a.name), count(*)", [(3, 4)], 1),
    ("MATCH (a:X) RETURN a.name, a.size", [], 1),
    ("MATCH (a)-[:Y]->(b) RETURN a", [], 1),
    ("MATCH (a)-[r:Y|K]->(b) RETURN a.name, r.no ORDER BY r.none, a.nil, r.since", [("Ann", None)] * 2, 4),
    ("MATCH (a)-[r:!Y]->(b) RETURN count(*)", [(2,)], 1),
    ("MATCH (a:P {no: 1}) RETURN count(*)", [(0,)], 1),
    ("MATCH (a)-[r:K {no: $one}]->() RETURN count(*)", [(0,)], 1),
    ("MATCH (a:P) WHERE a.no IS NULL RETURN count(*)", [(3,)], 1),
    ("MATCH (a:P) WHERE a.no = 1 OR a:X OR a.name = 'Ann' RETURN a.name, a:X AS x", [("Ann", False)], 3),
    ("MATCH (a:P) WHERE NOT a.no = 1 RETURN a", [], 1),
    ("MATCH (a:P), (b:P) WHERE a.no < b.no RETURN count(*)", [(0,)], 2),
    ("MATCH ()-[r]->() RETURN DISTINCT r:Y AS y, r:K AS k", [(False, True)], 1),
    ("MATCH (a:P) RETURN a.no, count(*), count(a.no), collect(a.no), max(a.no)", [(None, 3, 0, [], None)], 4),
    ("MATCH (a:P) RETURN sum(a.no), avg(a.no)", [(0, None)], 2),
    ("MATCH (a:P {id: 1}) RETURN a.no + 1, toUpper(a.no), a.no.year, a.no[0], a['no']", [(None,) * 5], 5),
    ("MATCH (a:P {id: 1}) RETURN a {.name, .no}", [({"name": "Ann", "no": None},)], 1),
    ("MATCH (a:P) RETURN DISTINCT a.no", [(None,)], 1),
    ("MATCH (a:P) RETURN a.no AS no, count(*) AS n ORDER BY a.no + count(*)", [(None, 3)], 2),
    ("MATCH (a:P) WITH a.no AS n, a WHERE n IS NULL RETURN count(*)", [(3,)], 1),
    ("OPTIONAL MATCH (a:X)-[r:Y]->() RETURN a, r, a.name, type(r), labels(a), keys(r)", [(None,) * 6], 2),
    ("MATCH (a:P) OPTIONAL MATCH (a)-[r:Y]->(b) RETURN count(*), count(b)", [(3, 0)], 1),
    ("MATCH (a:P) WHERE NOT (a)-[:Y]->() RETURN count(*)", [(3,)], 1),
    ("MATCH (a:P) WHERE EXISTS { (a)-->(b:X) } RETURN count(*)", [(0,)], 1),
    ("MATCH (a:P {id: 1}) RETURN COUNT { (a)-[:Y]->() } AS n, [(a)-->(b) | b.no] AS l", [(0, [None, None])], 2),
    ("MATCH p = (a:X)-[:Y]->() RETURN p", [], 2),
    ("MATCH DIFFERENT NODES (a:X)-[:Y]->(b)-[:K]->(c)-[:Y]->(a) RETURN count(*)", [(0,)], 3),
    ("MATCH INDUCED (a:P)-[:Y]->(b) RETURN count(*)", [(0,)], 1),
    ("UNWIND [1, 2] AS x MATCH (a:X) RETURN a.no, x", [], 2),
    ("MATCH (a:P) RETURN 1 AS x UNION MATCH (b:X) RETURN b.no AS x", [(1,)], 2),
]  # fmt: skip


@pytest.mark.parametrize(("text", "rows", "warned"), CASES, ids=[case[0] for case in CASES])
def test_answers_and_warnings(text: str, rows: list[tuple[Any, ...]], warned: int, device: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gquery.QueryWarning)
        result = LENIENT.query(text, {"one": 1}, device=device)
    assert [tuple(row) for row in result.rows()] == rows
    assert len(result.warnings) == warned
    with pytest.raises(gquery.BindError, match="has no"):
        GRAPH.query(text, {"one": 1})


def test_what_is_said() -> None:
    said = []
    for text in ("MATCH (a:Q) RETURN 1", "MATCH ()-[:L]-() RETURN 1", "MATCH (a:P) RETURN a.nam"):
        with pytest.warns(gquery.QueryWarning) as caught:
            GRAPH.query(text, strict=False)
        said += [str(each.message) for each in caught]
    assert said == [
        "Warning: the graph has no label `Q`: no node has it\n"
        "  1 | MATCH (a:Q) RETURN 1\n"
        "    |          ^\n"
        "hint: its labels are `P`, `C`",
        "Warning: the graph has no relationship type `L`: no relationship has it\n"
        "  1 | MATCH ()-[:L]-() RETURN 1\n"
        "    |            ^\n"
        "hint: its relationship types are `K`",
        "Warning: `a` (:P) has no property `nam`: always null\n"
        "  1 | MATCH (a:P) RETURN a.nam\n"
        "    |                      ^^^\n"
        "hint: did you mean `name`?",
    ]


def test_other_errors_stay() -> None:
    for text in ("MATCH (a:P) RETURN b", "MATCH (a:P) RETURN nosuch(a)", "MATCH (a:P) RETURN a.name + $x"):
        with pytest.raises(gquery.BindError):
            LENIENT.query(text)


def test_the_same_text_either_way() -> None:
    text = "MATCH (a:P) RETURN a.no LIMIT 1"
    for _ in range(2):
        with pytest.warns(gquery.QueryWarning, match="always null"):
            assert GRAPH.query(text, strict=False).rows() == [(None,)]
        with pytest.raises(gquery.BindError, match="no property `no`"):
            GRAPH.query(text)
        with pytest.raises(gquery.BindError, match="no property `no`"):
            LENIENT.query(text, strict=True)


def test_doors() -> None:
    con = gquery.connect()
    gquery.attach(con, LENIENT, "lenient")
    with pytest.warns(gquery.QueryWarning, match="no label `X`"):
        assert con.execute("SELECT * FROM gquery('lenient', 'MATCH (a:X) RETURN count(*) AS n')").fetchall() == [(0,)]
    with pytest.raises(gquery.BindError, match="strict is on or off"):
        GRAPH.with_settings(strict="perhaps")
