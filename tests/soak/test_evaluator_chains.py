"""The judge of chains of clauses, judged by hand: what each clause hands on to the next."""

from __future__ import annotations

import pytest

import gquery
from tests.evaluator.answers import Undecided
from tests.soak.check import plainly
from tests.soak.tables import EdgeTable, Tables, VertexTable, to_evaluator, to_gquery
from tests.soak.test_evaluator import answered

AGES = {"Ann": 34, "Bob": 27, "Cid": 41, "Dee": None, "Eve": 30}
KNOWS = ("Ann Bob", "Ann Bob", "Bob Cid", "Cid Ann", "Dee Dee", "Bob Eve")  # since 1, 2, ...
PEOPLE = tuple((name, {"name": name, "age": age}) for name, age in AGES.items())
EDGES = tuple((*pair.split(), {"since": since}) for since, pair in enumerate(KNOWS, 1))
# Ann knows Bob twice, Dee herself, and Eve nobody; nobody has told Dee's age.
TOWN = Tables(
    (VertexTable(("Person",), "text", {"name": "text", "age": "int"}, "UTC", PEOPLE),),
    (EdgeTable(0, "KNOWS", 0, {"since": "int"}, EDGES),),
)

CASES = {
    "WITH carries vertices on, and the next pattern begins at them": (
        "MATCH (a {name: 'Ann'})-->(b) WITH DISTINCT b MATCH (b)-->(c) RETURN c.name ORDER BY c.name",
        [("Cid",), ("Eve",)],
    ),
    "rows are not merged without DISTINCT": (
        "MATCH (a {name: 'Ann'})-->(b) WITH b MATCH (b)-->(c {name: 'Eve'}) RETURN b.name, c.name",
        [("Bob", "Eve"), ("Bob", "Eve")],
    ),
    "names change places": (
        "MATCH (a {name: 'Bob'})-->(b {name: 'Cid'}) WITH a AS b, b AS a MATCH (a)-->(c) RETURN a.name, b.name, c.name",
        [("Cid", "Bob", "Ann")],
    ),
    "a name that WITH leaves out is free again": (
        "MATCH (a {name: 'Cid'})-->(b) WITH b MATCH (a)-->(b) RETURN a.name, b.name",
        [("Cid", "Ann")],
    ),
    "a mode holds in its clause alone": (
        "MATCH (a)-[r {since: 5}]->(b) MATCH (c)-[s {since: 5}]->(d) RETURN r = s",
        [(True,)],
    ),
    "an edge that is bound is that edge, and not one beside it": (
        "MATCH (a)-[r {since: 1}]->(b) WITH a, r MATCH (a)-[r]->(c) RETURN r.since, c.name",
        [(1, "Bob")],
    ),
    "a bound edge is used in its clause": (
        "MATCH (a)-[r {since: 1}]->(b) WITH a, b, r MATCH (a)-[r]->(b), (a)-[s]->(b) RETURN s.since",
        [(2,)],
    ),
    "patterns between two vertices that are bound": (
        "MATCH (a {name: 'Ann'}), (b) WITH a, b MATCH (a)-[r]-(b) RETURN b.name, r.since ORDER BY r.since",
        [("Bob", 1), ("Bob", 2), ("Cid", 4)],
    ),
    "groups by what has no aggregate; nulls are one group": (
        "MATCH (a) WITH a.age > 30 AS old, count(*) AS n RETURN old, n ORDER BY n, old",
        [(None, 1), (False, 2), (True, 2)],
    ),
    "an aggregate of no rows is one row, with a key it is none": (
        "MATCH (a:Person {name: 'Zoe'}) WITH count(*) AS n OPTIONAL MATCH (a {age: n}) RETURN n, a",
        [(0, None)],
    ),
    "no rows, no groups": ("MATCH (a:Person {name: 'Zoe'}) WITH a.age AS age, count(*) AS n RETURN n", []),
    "groups of vertices": (
        "MATCH (a)-[r]->() WITH a, count(r) AS n WHERE n > 1 RETURN a.name, n ORDER BY a.name",
        [("Ann", 2), ("Bob", 2)],
    ),
    "WHERE of WITH sees the names before and the aliases": (
        "MATCH (a)-->(b) WITH a.name AS name WHERE b.age > 40 AND name < 'C' RETURN name",
        [("Bob",)],
    ),
    "so does a pattern in it": (
        "MATCH (a) WITH a.name AS name WHERE NOT (a)-->() RETURN name",
        [("Eve",)],
    ),
    "after DISTINCT a name from before is a new one": (
        "MATCH (a) WITH DISTINCT a.name AS name WHERE name > 'D' AND EXISTS { (a)-->() } RETURN name ORDER BY name",
        [("Dee",), ("Eve",)],
    ),
    "WHERE comes after LIMIT": (
        "MATCH (a) WITH a ORDER BY a.name LIMIT 2 WHERE a.name <> 'Ann' RETURN a.name",
        [("Bob",)],
    ),
    "ORDER BY puts null last": (
        "MATCH (a) WITH a.name AS name, a.age AS age ORDER BY age DESC SKIP 1 LIMIT 1 RETURN name, age",
        [("Cid", 41)],
    ),
    "ORDER BY speaks of what was there before": (
        "MATCH (a) WITH a.name AS name ORDER BY a.age LIMIT 1 RETURN name",
        [("Bob",)],
    ),
    "OPTIONAL MATCH gives nulls": (
        "MATCH (a) WHERE a.name > 'C' OPTIONAL MATCH (a)-[r]->(b) RETURN a.name, r.since, b.name ORDER BY a.name",
        [("Cid", 4, "Ann"), ("Dee", 5, "Dee"), ("Eve", None, None)],
    ),
    "OPTIONAL MATCH first": ("OPTIONAL MATCH p = (a {name: 'Zoe'})-[r]->(b) RETURN a, r, b, p", [(None,) * 4]),
    "null has no match": (
        "MATCH (e {name: 'Eve'}) OPTIONAL MATCH (e)-->(b) WITH b MATCH (b)-->(c) RETURN c",
        [],
    ),
    "null alone has no match": ("OPTIONAL MATCH (a {name: 'Zoe'}) WITH a MATCH (a) RETURN a", []),
    "null has no optional match": (
        "MATCH (e {name: 'Eve'}) OPTIONAL MATCH (e)-->(b) OPTIONAL MATCH (b)<--(c) RETURN e.name, b, c",
        [("Eve", None, None)],
    ),
    "a null edge has no match": (
        "MATCH (e {name: 'Eve'}) OPTIONAL MATCH (e)-[r]->() WITH e, r OPTIONAL MATCH (x)-[r]->(y) RETURN r, x, y",
        [(None, None, None)],
    ),
    "a condition of an OPTIONAL MATCH is its own": (
        "MATCH (a {name: 'Bob'}) OPTIONAL MATCH (a)-->(b) WHERE b.age > 50 RETURN a.name, b",
        [("Bob", None)],
    ),
    "nulls are counted by count(*) alone": (
        "MATCH (a) OPTIONAL MATCH (a)-[r]->() WITH a, count(*) AS n, count(r) AS m WHERE m = 0 RETURN a.name, n",
        [("Eve", 1)],
    ),
    "what is asked of null is null": (
        "OPTIONAL MATCH (a {name: 'Zoe'})-[r]->() RETURN a.age, id(a), labels(a), type(r), a:Person, a = a",
        [(None,) * 6],
    ),
    "no pattern holds of null": (
        "OPTIONAL MATCH (a {name: 'Zoe'}) WITH a WHERE NOT (a)-->() RETURN a",
        [(None,)],
    ),
    "EXISTS after WITH": (
        "MATCH (a)-->(b) WITH DISTINCT b WHERE EXISTS { (b)-->(c) WHERE c.age < b.age } RETURN b.name ORDER BY b.name",
        [("Ann",), ("Cid",)],
    ),
    "values are compared with later ones": (
        "MATCH (a) WITH max(a.age) AS most MATCH (b) WHERE b.age = most RETURN b.name, most",
        [("Cid", 41)],
    ),
    "values are compared inside of brackets": (
        "MATCH (a {name: 'Bob'}) WITH a.age + 3 AS age MATCH ({age: age})<-[r]-(c WHERE c.age < age) RETURN c.name",
        [("Bob",)],
    ),
    "a clause that shares no name gives the product": (
        "MATCH (a {name: 'Ann'})-->() WITH a MATCH (b) WHERE b.age > 30 RETURN a.name, b.name ORDER BY b.name",
        [("Ann", "Ann"), ("Ann", "Ann"), ("Ann", "Cid"), ("Ann", "Cid")],
    ),
    "a value may take the name of a vertex": (
        "MATCH (a {name: 'Ann'}) WITH a.age AS a MATCH (b {age: a}) RETURN a, b.name",
        [(34, "Ann")],
    ),
    "DISTINCT edges": ("MATCH (a)-[r]-(b {name: 'Bob'}) WITH DISTINCT r RETURN count(*)", [(4,)]),
    "DISTINCT takes 1 and 1.0 for one": ("WITH 1 AS x WITH DISTINCT x = 1.0 AS same RETURN same", [(True,)]),
    "what is collected holds no nulls": (
        "MATCH (a) WITH collect(a.age) AS ages MATCH (b) WHERE b.age IN ages RETURN size(ages), count(b)",
        [(4, 4)],
    ),
    "MATCH after OPTIONAL MATCH": (
        "MATCH (a {name: 'Eve'}) OPTIONAL MATCH (a)-->(b) MATCH (c)-->(a) RETURN b, c.name",
        [(None, "Bob")],
    ),
    "DIFFERENT NODES minds vertices that are bound": (
        "MATCH (a {name: 'Ann'}), (b {name: 'Cid'}) WITH a, b MATCH DIFFERENT NODES (a)-->(c)-->(b) RETURN c.name",
        [("Bob",), ("Bob",)],
    ),
    "INDUCED minds the edges between vertices that are bound": (
        "MATCH (a {name: 'Ann'}), (b {name: 'Cid'}) WITH a, b MATCH INDUCED (a)-->(c)-->(b) RETURN c.name",
        [],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "rows"), CASES.values(), ids=CASES)
def test_chains(text: str, rows: list[tuple[object, ...]]) -> None:
    assert answered(to_evaluator(TOWN), text) == rows


@pytest.mark.parametrize(("text", "rows"), CASES.values(), ids=CASES)
def test_gquery(text: str, rows: list[tuple[object, ...]], device: str) -> None:
    """All of them are of values alone, so that both say the same."""
    ask = plainly(to_gquery(TOWN).with_settings(device=device))
    try:
        assert sorted(ask(text, {}), key=repr) == sorted(rows, key=repr)
    except (gquery.BindError, gquery.UnsupportedError) as error:
        pytest.skip(f"not supported yet: {error.message}")


def test_a_cut_between_rows_of_one_rank_is_not_decided() -> None:
    with pytest.raises(Undecided):
        answered(to_evaluator(TOWN), "MATCH (a) WITH a ORDER BY a.age > 30 LIMIT 1 RETURN a")
    assert answered(to_evaluator(TOWN), "MATCH (a) WITH a.age > 30 AS old ORDER BY old LIMIT 1 RETURN old") == [
        (False,)
    ]
