"""What nodes and relationships have that are computed: items of lists, of paths, ends. Lists of elements and values."""

from __future__ import annotations

import _thread
import datetime
import threading
from typing import Any

import pytest

import gquery

DAY = datetime.date(2024, 1, 2)
GRAPH = gquery.from_arrow(
    vertices={
        "N": {"id": [1, 2], "name": ["x", "y"], "num": [1, None]},
        "M": {"id": [7], "name": ["z"], "at": [DAY], "num": ["text"]},
    },
    edges={
        ("N", "R", "N"): {"source": [1], "target": [2], "w": [2]},
        ("N", "S", "M"): {"source": [2], "target": [7], "w": [None]},
    },
)
COLLECTED = "MATCH (n) WITH n ORDER BY n.name WITH collect(n) AS l "
PATH = "MATCH p = (:N)-[:R]->()-[:S]->() "

CASES: list[tuple[str, list[tuple[Any, ...]]]] = [
    (COLLECTED + "RETURN head(l).name, last(l).at, l[1].num, l[2].num, l[0].at", [("x", DAY, None, "text", None)]),
    (COLLECTED + "RETURN [x IN l | x.name] AS n, [x IN l WHERE x.at IS NOT NULL | x.at] AS a",
     [(["x", "y", "z"], [DAY])]),
    (COLLECTED + "RETURN id(l[2]) AS i, labels(l[2]) AS l, [x IN l | id(x)] AS ids", [(7, ["M"], [1, 2, 7])]),
    (COLLECTED + "RETURN l[0]:N AS a, l[0]:!N AS b, [x IN l WHERE x:(M|(N&!N)) | x.name] AS c, l[2]:% AS d",
     [(True, False, ["z"], True)]),
    (COLLECTED + "RETURN keys(l[0]) AS k, keys(l[2]) AS m, l[2][$key] AS v, [x IN l | x[$key]] AS w",
     [(["id", "name", "num"], ["id", "name", "num", "at"], "z", ["x", "y", "z"])]),
    (COLLECTED + "RETURN properties(l[0]) AS p, [x IN l | x {.name}] AS m",
     [({"id": 1, "name": "x", "num": 1, "at": None}, [{"name": "x"}, {"name": "y"}, {"name": "z"}])]),
    ("MATCH (n:N) RETURN head(collect(n)).name AS x, count(*)", [("x", 2)]),
    ("MATCH (n:N) RETURN max([n][0].name) AS x, collect(DISTINCT [n][0].name) AS y", [("y", ["x", "y"])]),
    ("MATCH (n) RETURN [n][0].name AS x, count(*) ORDER BY x DESC LIMIT 2", [("z", 1), ("y", 1)]),
    ("MATCH (n) WITH n ORDER BY [n][0].name DESC RETURN collect(n.name)", [(["z", "y", "x"],)]),
    (PATH + "RETURN nodes(p)[1].name AS a, [r IN relationships(p) | type(r)] AS b", [("y", ["R", "S"])]),
    (PATH + "WHERE all(x IN nodes(p) WHERE x.name >= 'x') RETURN [r IN relationships(p) | r.w] AS w", [([2, None],)]),
    (PATH + "WHERE any(x IN nodes(p) WHERE x.name = 'q') RETURN p", []),
    (PATH + "RETURN startNode(head(relationships(p))).name AS a, [r IN relationships(p) | endNode(r).name] AS b",
     [("x", ["y", "z"])]),
    ("MATCH (a) RETURN startNode(null) AS s, endNode(null).name AS e LIMIT 1", [(None, None)]),
    ("MATCH ()-[r]->() RETURN startNode(r).name AS a, labels(endNode(r)) AS l", [("x", ["N"]), ("y", ["M"])]),
    ("MATCH ()-[r]->() WITH collect(r) AS l RETURN l[0].w, type(l[1]), id(l[1]), l[0]:R", [(2, "S", 1, True)]),
    ("MATCH (n) WHERE head([n]).name = 'y' RETURN n.name", [("y",)]),
    ("MATCH (a), (b) WHERE [a, b][0].name < [b][0].name RETURN count(*)", [(3,)]),
    ("MATCH (a) MATCH (b)-[r]->(a) WHERE startNode(r).name = 'x' RETURN a.name", [("y",)]),
    ("MATCH (n:N) WHERE EXISTS { (n)-[r]->() WHERE endNode(r).name = 'z' } RETURN n.name", [("y",)]),
    ("MATCH (n:N) CALL (n) { WITH [n] AS l RETURN l[0].name AS y } RETURN y", [("x",), ("y",)]),
    ("OPTIONAL MATCH (n:N {name: 'q'}) WITH [n] AS l RETURN l[0].name, labels(l[0]), properties(l[0]), keys(l[0])",
     [(None,) * 4]),
    ("MATCH (n:N) RETURN reduce(s = '', x IN [n, n] | s + x.name) AS x", [("xx",), ("yy",)]),
    (COLLECTED + "RETURN [x IN l | elementId(x)] AS i, elementId(l[2]) AS e", [([":N/1", ":N/2", ":M/7"], ":M/7")]),
    ("MATCH (n)-[r]->() WHERE elementId(r) <> 'R/0' RETURN elementId(r), elementId(n)", [("S/1", ":N/2")]),
    ("OPTIONAL MATCH (n:N {name: 'q'}) RETURN elementId(n), elementId(null), nullIf(n, n)", [(None, None, None)]),
    ("MATCH (n:N) WITH nullIf(n, n) AS x, nullIf(n, null) AS y RETURN x, y.name", [(None, "x"), (None, "y")]),
    # elements and values together
    ("MATCH (n:M) WITH [n, 1, {name: 'm'}, null] AS l RETURN l[0].name, l[2].name, l[3].name", [("z", "m", None)]),
    ("MATCH (n:N) WHERE n.num IS NULL RETURN coalesce(n.num, n).name AS x", [("y",)]),
    ("MATCH (n:N) UNWIND [n, 1, 'a'] AS x "
     "RETURN x = n AS a, x = 1 AS b, x < 2 AS c, x < n AS d, count(*) ORDER BY a, b, c",
     [(False, False, None, None, 2), (False, True, True, None, 2), (True, False, None, None, 2)]),
    ("MATCH (n:N) WITH collect(n) + [1, 1.0] AS l UNWIND l AS x RETURN count(DISTINCT x), count(x)", [(3, 4)]),
    ("CALL { MATCH (n:N) RETURN n AS x UNION MATCH (n) RETURN id(n) = 1 AS x } RETURN count(*)", [(4,)]),
    ("MATCH (n:M) RETURN [n, 1] = [n, 1.0] AS a, [n] = [1] AS b, n IN [1, n] AS c, {a: n} = {a: 1} AS d",
     [(True, False, True, False)]),
    ("MATCH (n:M) WITH CASE WHEN n.at IS NULL THEN 1 ELSE n END AS x RETURN labels(x), x.name", [(["M"], "z")]),
    ("MATCH (n:M) WITH [n, 1] AS l RETURN l[0]:M, l[0]:(N|!M)", [(True, False)]),
    ("MATCH ()-[r:S]->() WITH ['a', r] AS l RETURN l[1]:S", [(True,)]),
    # null has no labels that are known, also where it is all that there can be
    ("UNWIND [null] AS x RETURN x:M, x:!M, null:M", [(None, None, None)]),
    ("MATCH (n:M)-[r*0..0]-(n) RETURN [x IN r WHERE x:S]", [([],)]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "rows"), CASES, ids=[case[0] for case in CASES])
def test_answers(text: str, rows: list[tuple[Any, ...]], device: str) -> None:
    assert [tuple(row) for row in GRAPH.query(text, {"key": "name"}, device=device).rows()] == rows


def test_the_order_of_everything() -> None:
    text = "MATCH p = (n:N)-[r:S]->(m) UNWIND [1, p, 'a', r, [n], m, {a: n}, null, true] AS x RETURN x ORDER BY x"
    found = [row[0] for row in GRAPH.query(text).rows()]
    kinds = [dict, gquery.Node, gquery.Relationship, list, gquery.Path, str, bool, int, type(None)]
    assert [type(value) for value in found] == kinds
    assert found[0]["a"].id == found[3][0].id == 2
    assert found[1].id == 7


def test_doors() -> None:
    result = GRAPH.query("MATCH (n:M)<-[r]-() UNWIND [n, r, 5, 'a'] AS x RETURN x")
    names = [field.name for field in result.to_arrow()["x"].type]
    assert names == ["node", "relationship", "string", "integer"]
    con = gquery.connect()
    gquery.attach(con, GRAPH, "g")
    found = con.execute("SELECT x FROM gquery('g', 'MATCH (n:M) UNWIND [n, 5] AS x RETURN x')").fetchall()
    assert found[1] == (5,)
    assert found[0][0]["properties"]["name"] == "z"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MATCH (n:M) WITH [n, 1] AS l RETURN labels(l[1])", r"labels\(\) cannot take INTEGER"),
        ("MATCH (n:M) WITH [n, 1] AS l RETURN l[1]:M", r"labels\(\) cannot take INTEGER"),
        ("MATCH (n:M) WITH [n, 1] AS l RETURN [x IN l | x.name]", "a value of type INTEGER has no `name`"),
    ],
)
def test_values_that_are_no_elements(text: str, message: str) -> None:
    with pytest.raises(gquery.ExecutionError, match=message):
        GRAPH.query(text).rows()


def test_properties_that_no_such_element_has() -> None:
    for text in ("WITH collect(n) AS l RETURN l[0].nam", "RETURN [x IN [n] | x.nam]"):
        with pytest.raises(gquery.BindError, match="has no property `nam`"):
            GRAPH.query(f"MATCH (n:N) {text}")


def test_many_rows_and_several_queries_at_once() -> None:
    count = 50_000
    graph = gquery.from_arrow(
        {"V": {"id": list(range(count)), "name": [f"v{number}" for number in range(count)]}},
        {("V", "E", "V"): {"source": list(range(count)), "target": [(7 * n + 1) % count for n in range(count)]}},
    )
    text = "MATCH (a)-[e]->(b) WHERE $least <= a.id RETURN sum(size([x IN [a, b] | x.name][1])) AS n"
    expected = sum(len(f"v{(7 * number + 1) % count}") for number in range(100, count))
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(graph.query(text, {"least": 100}).scalar())) for _ in "123"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 3


def test_a_timeout_and_a_limit_hold() -> None:
    text = "UNWIND range(1, 3000) AS i UNWIND range(1, 1000) AS j MATCH (n:M) RETURN sum(size([n, i][0].name)) AS n"
    with pytest.raises(gquery.QueryTimeout):
        GRAPH.query(text, timeout=0.2).rows()
    assert GRAPH.query("MATCH (n) RETURN head(collect(n)).name AS x", memory_limit="64MB").scalar() == "x"


def test_ctrl_c_inside_of_a_function_comes_out_as_itself() -> None:
    text = "UNWIND range(1, 3000) AS i UNWIND range(1, 1000) AS j MATCH (n:M) RETURN sum(size([n, i][0].name)) AS n"
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        GRAPH.query(text).rows()
    timer.join()
    assert GRAPH.query("MATCH (n:M) RETURN [n][0].name").scalar() == "z"


def test_explain_shows_what_is_looked_up() -> None:
    plan = GRAPH.explain("MATCH (n) RETURN head(collect(n)).name AS x, labels(last(collect(n))) AS l")
    assert '" .name"(' in plan
    assert '" labels"(' in plan
