"""What statements that write do, by hand: rows, counts, what is left afterwards."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import gquery
from gquery.stopping import Check, unchecked
from gquery.storage.changes.batch import Batch
from gquery.storage.graph import Snapshot


def store() -> gquery.Store:
    """Ann knows Bob twice and Cid once, Bob knows Cid."""
    people = {"id": [1, 2, 3], "name": ["Ann", "Bob", "Cid"]}
    knows = {"source": [1, 1, 1, 2], "target": [2, 2, 3, 3]}
    return gquery.Store(gquery.from_arrow(vertices={"Person": people}, edges={("Person", "KNOWS", "Person"): knows}))


CASES: dict[str, tuple[str, str, Sequence[tuple[Any, ...]]]] = {
    "rows that change one node count up": (
        "MATCH ()-[:KNOWS]->(b) SET b.known = coalesce(b.known, 0) + 1",
        "MATCH (n) RETURN n.name, n.known ORDER BY n.name",
        [("Ann", None), ("Bob", 2), ("Cid", 2)],
    ),
    "an item of SET sees those before it": (
        "MATCH (a {id: 1}) SET a.x = 1, a.y = a.x + 1, a:Old, a.z = size(labels(a))",
        "MATCH (a {id: 1}) RETURN a.x, a.y, a.z",
        [(1, 2, 2)],
    ),
    "what another element does not have stays": (
        "MATCH (a {id: 1})-[k]->(b {id: 3}) SET a.x = 1, k.y = 2 SET k += a, a += properties(k) SET k += b",
        "MATCH (a {id: 1})-[k]->({id: 3}) RETURN a.x, a.y, k.x, k.y, k.name",
        [(1, 2, 1, 2, "Cid")],
    ),
    "what is removed beside a value of another type does not come back": (
        "CREATE (c:C {x: true, y: 5})-[k:K {x: true, y: 5}]->(c) SET c = {x: 'a'}, k = {x: 'a'}"
        " CREATE (d:C {x: 'b', y: 7})-[:K {x: 'b', y: 7}]->(d)",
        "MATCH (c:C)-[k:K]->(c) RETURN c.x, c.y, k.x, k.y ORDER BY c.x",
        [("a", None, "a", None), ("b", 7, "b", 7)],
    ),
    "a blank is a key like others": (  # which was taken for the mark of an empty map, its value for another's
        "UNWIND [{` `: 1, q: 2}, {` `: 3}, {}] AS m CREATE (a:A) SET a += m",
        "MATCH (a:A) RETURN a.` `, a.q ORDER BY a.` `",
        [(1, 2), (3, None), (None, None)],
    ),
    "a match does not see what its own clause makes": (
        "MATCH (a:Person) CREATE (:Person {name: a.name + '2'})",
        "MATCH (a:Person) RETURN count(*)",
        [(6,)],
    ),
    "MERGE takes what an earlier row has made": (
        "UNWIND ['x', 'y', 'x'] AS k MERGE (n:Key {k: k}) ON CREATE SET n.c = 1 ON MATCH SET n.c = n.c + 1",
        "MATCH (n:Key) RETURN n.k, n.c ORDER BY n.k",
        [("x", 2), ("y", 1)],
    ),
    "MERGE takes what is equal, whatever its type": (
        "UNWIND [1, 1.0, true, '1', [1], [1]] AS k MERGE (n:Key {k: k})",
        "MATCH (n:Key) RETURN count(*)",
        [(4,)],
    ),
    "MERGE finds NaN nowhere, and -0.0 where 0.0 is": (
        "UNWIND [0.0 / 0.0, 0.0 / 0.0, 0.0, -0.0] AS k MERGE (n:Key {k: k})",
        "MATCH (n:Key) RETURN count(*)",
        [(3,)],
    ),
    "an id is shown of new labels too, whether ids count up or not": (
        "CREATE (:Person:X), (:Y), (:Person:X)",
        "MATCH (x:X) RETURN x.id, x.id = id(x) ORDER BY x.id",
        [(4, True), (6, True)],
    ),
    "ids are shown by labels that are given later: the property is the id, where there is one": (
        "CREATE ({id: 77, name: 'x'}), ({name: 'y'}), ({id: 't', name: 'z'}), (:City {id: 80, name: 'c'})"
        " WITH 1 AS one MATCH (n) SET n:Person WITH n WHERE n.name = 'y' SET n.id = 90",
        "MATCH (n:Person) WHERE id(n) = n.id RETURN n.name, n.id, labels(n) ORDER BY n.name",
        [
            ("Ann", 1, ["Person"]),
            ("Bob", 2, ["Person"]),
            ("Cid", 3, ["Person"]),
            ("c", 80, ["City", "Person"]),
            ("x", 77, ["Person"]),
            ("y", 90, ["Person"]),
            ("z", "t", ["Person"]),
        ],
    ),
    "labels and an id in one clause": (
        "CREATE (a {id: 7}), (b), (c {id: 8}), (d {id: 9}) SET a:Person, a.id = 5, b.id = 'b', b:Person"
        " SET c:Person, c.id = null, d = {x: 1}, d:Person",
        "MATCH (n:Person) WHERE id(n) = n.id RETURN collect(n.id), count(n.x)",
        [([1, 2, 3, 5, "b", 6, 7], 1)],
    ),
    "who shows its id goes on to, with labels of others who do not": (
        "CREATE (:City {name: 'Oslo'}) WITH 1 AS one MATCH (n {id: 1}) SET n:City REMOVE n:Person SET n.id = 50"
        " CREATE (:City {id: 60}) WITH 1 AS one MATCH (n:City {id: 60}) SET n.id = 61",
        "MATCH (n:City) RETURN n.name, n.id, n.id = id(n) ORDER BY n.id",
        [("Ann", 50, True), (None, 61, True), ("Oslo", None, None)],
    ),
    "labels that are taken leave ids shown, and those without any know each other's": (
        "MATCH (n {id: 1}) REMOVE n:Person CREATE ({id: 77}), () WITH 1 AS one MERGE (n {id: 77}) SET n.found = true",
        "MATCH (n) WHERE size(labels(n)) = 0 RETURN n.id, id(n), n.found ORDER BY n.id",
        [(1, 1, None), (77, 77, True), (78, 78, None)],
    ),
    "who has no id to show is left without one beside those that keep theirs": (
        "CREATE (:City {name: 'Oslo'}), ({id: 'x', name: 'x'}) WITH 1 AS x MATCH (n) SET n.id = n.id",
        "MATCH (n) RETURN n.name, n.id ORDER BY n.name",
        [("Ann", 1), ("Bob", 2), ("Cid", 3), ("Oslo", None), ("x", "x")],
    ),
    "a free number is behind ids that are given": (
        "CREATE (:Person {id: 5}), (:Person {name: 'x'}) WITH 1 AS n MATCH (a {id: 1}) SET a.id = 9"
        " CREATE (:Person {name: 'x'})",
        "MATCH (n {name: 'x'}) RETURN n.id ORDER BY n.id",
        [(6,), (10,)],
    ),
    "rows that are alike are as many as they are": (
        "MATCH ()-[:KNOWS]->()--() CREATE (:X)",
        "MATCH (x:X) RETURN count(*)",
        [(6,)],
    ),
    "MERGE that sets what it looks for looks again for each row": (
        "UNWIND [1, 2, 3] AS row MERGE (n:Key {k: 1}) ON MATCH SET n.k = 2",
        "MATCH (n:Key) RETURN n.k ORDER BY n.k",
        [(1,), (2,)],
    ),
    "MERGE without a direction takes what is there the other way round": (
        "MATCH (a:Person), (b:Person) WHERE a.id <> b.id MERGE (a)-[:MET]-(b)",
        "MATCH (a)-[:MET]->(b) RETURN count(*)",
        [(3,)],
    ),
    "MERGE of a path makes all of it": (
        "MATCH (a:Person) MERGE (a)-[:IN]->(:Town {name: 'T'})",
        "MATCH (t:Town) RETURN count(*)",
        [(3,)],
    ),
    "a path between bound nodes may be made of what other rows have made": (
        """UNWIND [[1, 2, 3], [3, 1, 2], [2, 3, 1]] AS row
           MATCH (a {id: row[0]}), (b {id: row[1]}), (c {id: row[2]})
           MERGE (a)-[:NEXT]->(b)-[:NEXT]->(c)""",
        "MATCH ()-[r:NEXT]->() RETURN count(r) <= 5",
        [(True,)],
    ),
    "rows of maps with other keys": (
        """UNWIND [{id: 3, age: 7}, {id: 4, name: 'Dee', tags: ['a']}] AS row
           MERGE (n:Person {id: row.id}) SET n += row""",
        "MATCH (n:Person) WHERE n.id > 2 RETURN n.id, n.name, n.age, n.tags ORDER BY n.id",
        [(3, "Cid", 7, None), (4, "Dee", None, ["a"])],
    ),
    "all properties of another": (
        "MATCH (a {id: 1})-[r:KNOWS]->({id: 3}) CREATE (c:Copy) SET c = a, r.name = c.name REMOVE c.id",
        "MATCH (c:Copy), ()-[r:KNOWS {name: 'Ann'}]->() RETURN c.name, c.id, r.name",
        [("Ann", None, "Ann")],
    ),
    "values of several types": (
        "UNWIND [1, 'a', 2.5, null, date('2024-02-29')] AS v CREATE (:Any {v: v})",
        "MATCH (n:Any) RETURN count(*), count(n.v)",
        [(5, 4)],
    ),
    "a property of another type, and back": (
        "MATCH (a {id: 1}) SET a.name = 5 WITH a SET a.name = a.name + 1",
        "MATCH (n:Person) RETURN n.name ORDER BY n.id",
        [(6,), ("Bob",), ("Cid",)],
    ),
    "another type for one property, and none for another that others keep": (
        "CREATE (:Odd {i: 1}) CREATE (:Odd {i: 2}) WITH * MATCH (o:Odd) SET o.n = o.i, o.list = [] "
        "WITH o WHERE o.i = 2 SET o.n = null, o.list = ['a']",
        "MATCH (o:Odd) RETURN o.n, o.list ORDER BY o.i",
        [(1, []), (None, ["a"])],
    ),
    "labels take a node to others": (
        "MATCH (a:Person) WHERE a.id < 3 SET a:Old:Wise REMOVE a:Person",
        "MATCH (a:Old&Wise)-[r]-(b) RETURN a.name, count(r) ORDER BY a.name",
        [("Ann", 3), ("Bob", 3)],
    ),
    "FOREACH leaves the rows": (
        "MATCH (a:Person) FOREACH (i IN range(1, a.id) | CREATE (a)-[:HAS]->(:Item {i: i})) WITH a SET a.done = true",
        "MATCH (a:Person) RETURN a.done, COUNT { (a)-[:HAS]->() } AS n ORDER BY n",
        [(True, 1), (True, 2), (True, 3)],
    ),
    "FOREACH within FOREACH": (
        "FOREACH (i IN [1, 2] | FOREACH (j IN [i, 10 * i] | CREATE (:Item {i: j})))",
        "MATCH (n:Item) RETURN n.i ORDER BY n.i",
        [(1,), (2,), (10,), (20,)],
    ),
    "a node goes with its relationships, those of one clause with another": (
        "MATCH (a {id: 2}) OPTIONAL MATCH (a)-[r]-() DELETE r DELETE a",
        "MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN n.name, count(r) ORDER BY n.name",
        [("Ann", 1), ("Cid", 0)],
    ),
    "nodes of a list and of a path": (
        "MATCH p = ({id: 1})-[:KNOWS]->({id: 3}) WITH collect(p) AS ps, nodes(p) AS ns DETACH DELETE ns[0]",
        "MATCH (n) RETURN n.name ORDER BY n.name",
        [("Bob",), ("Cid",)],
    ),
    "what is deleted is not matched, also where it is bound": (
        "MATCH (a {id: 1})-->(b) DETACH DELETE a WITH a, b MATCH (a)-->(c) CREATE (:Wrong)",
        "MATCH (n:Person) RETURN count(*)",
        [(2,)],
    ),
    "names that the statement writes are no errors where it reads": (
        "MATCH (n:Person) WHERE n.fresh IS NULL OPTIONAL MATCH (n)-[:NEW]->(m:Fresh) SET n.fresh = 1 "
        "CREATE (n)-[:NEW]->(:Fresh)",
        "MATCH (n)-[:NEW]->(:Fresh) RETURN sum(n.fresh)",
        [(3,)],
    ),
    "WITH between clauses cuts rows": (
        "MATCH (n) WITH n ORDER BY n.id LIMIT 1 SET n.first = true WITH count(*) AS c CREATE (:Rows {c: c})",
        "MATCH (n {first: true}), (r:Rows) RETURN n.name, r.c",
        [("Ann", 1)],
    ),
    "a subquery in a value": (
        "MATCH (n:Person) SET n.degree = COUNT { (n)--() }",
        "MATCH (n) RETURN n.degree ORDER BY n.id",
        [(3,), (3,), (2,)],
    ),
    "a subquery that aggregates in a value": (
        "MATCH (n:Person) SET n.degree = COLLECT { MATCH (n)--() RETURN count(*) }[0]",
        "MATCH (n) RETURN n.degree ORDER BY n.id",
        [(3,), (3,), (2,)],
    ),
    "CALL sees for each row what those before have made": (
        "MATCH (n:Person) WITH n ORDER BY n.id CALL (n) { MATCH (m:Person) SET n.last = coalesce(n.last, 0) + m.id }"
        " CALL (n) { OPTIONAL MATCH (k:Key) WITH n, count(k) AS c CREATE (:Key {k: n.id * 10 + c}) RETURN c }"
        " SET n.c = c",
        "MATCH (n:Person), (k:Key) WHERE k.k / 10 = n.id RETURN n.last, n.c, k.k ORDER BY n.id",
        [(6, 0, 10), (6, 1, 21), (6, 2, 32)],
    ),
    "what CALL sees stays in sight behind its WITHs": (
        "MATCH (n:Person) CALL (n) { MATCH (n)--() WITH count(*) AS c WITH c + 1 AS d MATCH (n)"
        " CREATE (:Key {k: d, n: n.id}) }",
        "MATCH (k:Key) RETURN k.n, k.k ORDER BY k.n",
        [(1, 4), (2, 4), (3, 3)],
    ),
    "CALL that only writes": (
        "MATCH (n:Person) CALL { WITH n MERGE (p:Parity {odd: n.id % 2}) SET n.called = true }",
        "MATCH (n:Person {called: true}), (p:Parity) RETURN count(DISTINCT n), count(DISTINCT p)",
        [(3, 2)],
    ),
    "CALL makes nothing of no rows": (
        "MATCH (n {id: 9}) CALL (n) { MATCH (m) WITH count(m) AS c CREATE (:Key {k: c}) RETURN c } RETURN c",
        "MATCH (n) RETURN count(*)",
        [(3,)],
    ),
    "UNION in CALL": (
        "MATCH (n {id: 1}) CALL (n) { CREATE (k:Key {k: 1}) RETURN k UNION ALL CREATE (k:Key {k: 'b'}) RETURN k }"
        " SET k.of = n.id",
        "MATCH (k:Key) RETURN k.k, k.of ORDER BY k.k",
        [("b", 1), (1, 1)],
    ),
    "many rows of one match": (
        "UNWIND range(1, 1000) AS i MERGE (n:Number {i: i % 7}) CREATE (n)-[:OF]->(:Part {i: i})",
        "MATCH (n:Number)-[:OF]->() RETURN count(DISTINCT n), count(*)",
        [(7, 1000)],
    ),
}


@pytest.mark.parametrize(("statement", "query", "rows"), CASES.values(), ids=list(CASES))
def test_what_is_left(statement: str, query: str, rows: Sequence[tuple[Any, ...]]) -> None:
    written = store()
    written.execute(statement)
    assert written.graph.query(query).rows() == rows


def test_nodes_without_labels_have_the_ids_that_they_are_given() -> None:
    """They got the next free ones, and were shown these."""
    pairs = gquery.from_arrow(vertices={"": {"id": [1, 2]}}, edges={})
    written = gquery.Store(pairs)
    written.execute("CREATE ({id: 9}), ({id: 'a'}), ()")
    assert written.graph.query("MATCH (n) RETURN n.id, id(n)").rows() == [(1, 1), (2, 2), (9, 9), ("a", "a"), (10, 10)]
    with pytest.raises(gquery.ExecutionError, match="with the id 2 already"):
        written.execute("CREATE ({id: 2})")


def test_ids_that_labels_show_are_kept(tmp_path: Path) -> None:
    store().graph.save(tmp_path / "people.gq")
    with gquery.Store.open(tmp_path / "people.gq") as written:
        written.execute("CREATE ({id: 7}), () WITH 1 AS one MATCH (n) SET n:Person")
    with gquery.Store.open(tmp_path / "people.gq") as again:
        for graph in (again.graph, gquery.open(tmp_path / "people.gq")):
            assert graph.query("MATCH (n:Person) WHERE n.id = id(n) RETURN collect(n.id)").scalar() == [1, 2, 3, 7, 5]


def test_ids_that_labels_bring_together_are_asked_for_once(tmp_path: Path) -> None:
    """An id tells vertices of a table apart, so that rows with it are not looked through for equal ones."""
    people, link = {"id": [1, 2], "x": [1, 2]}, {"source": [1, 2], "target": [2, 1]}
    both = gquery.from_arrow({"A": people, "B": people}, {("A", "K", "A"): link, ("B", "K", "B"): link})
    both.save(tmp_path / "both.gq")
    with gquery.Store.open(tmp_path / "both.gq") as written:
        written.execute("MATCH (n:A) REMOVE n:A SET n:B")
        written.execute("CREATE (:B {id: 3, x: 3})")
        graphs = [written.graph, gquery.open(tmp_path / "both.gq")]
        written.compact()
    graphs.append(gquery.open(tmp_path / "both.gq"))
    for graph in graphs:
        assert graph.query("MATCH (n:B) WHERE (n)-[:K]->() RETURN DISTINCT n.id").rows() == [(1,), (2,)]
        found = graph.query("MATCH (n:B)-[:K]->(m) RETURN id(n), count(*), sum(m.x)").rows()
        assert sorted(found) == [(1, 2, 4), (2, 2, 2)]


FAILING = {
    "a node with relationships": ("MATCH (n {id: 1}) SET n.x = 1 DELETE n", "still have 3 relationships"),
    "a property of what is deleted": ("MATCH (n {id: 1}) DETACH DELETE n RETURN n.name", "was deleted"),
    "a property of a relationship that is deleted": ("MATCH ()-[r]->() SET r.x = 1 DELETE r RETURN r.x", "was deleted"),
    "what is deleted as a whole": ("MATCH (n {id: 1}) DETACH DELETE n RETURN n", "was deleted"),
    "SET of what is deleted": ("MATCH (n {id: 1}) DETACH DELETE n SET n.x = 1", "deleted before"),
    "CREATE at what is deleted": ("MATCH (n {id: 1}) DETACH DELETE n CREATE (n)-[:X]->()", "deleted before"),
    "a relationship of null": ("OPTIONAL MATCH (n {id: 9}) CREATE (n)-[:X]->()", "`n` is null"),
    "MERGE of null": ("UNWIND [1, null] AS x MERGE (:X {x: x})", "`x`, which is null"),
    "an id twice": ("CREATE (:Person {id: 3})", "with the id 3 already"),
    "an id as a text": ("CREATE (:Person {id: '3'})", "with the id '3' already, as a number"),
    "an id twice in one clause": ("CREATE (:Person {id: 7}), (:Person {id: 7})", "with the id 7 already"),
    "an id of more labels in one clause": ("CREATE (:Person {id: 7}), (:Person:X {id: 7})", "with the id 7 already"),
    "an id as another type in one clause": ("CREATE (:Person {id: 7}), (:Person {id: '7'})", "with the id '7' already"),
    "an id of another": ("MATCH (n {id: 1}) SET n.id = 2", "with the id 2 already"),
    "an id for two": (
        "CREATE (:Person:X {id: 7}) WITH 1 AS x MATCH (n) WHERE n.id > 2 SET n.id = 9",
        "with the id 9 already",
    ),
    "an id of who has more labels": ("MATCH (n {id: 1}) SET n:Old CREATE (:Person {id: 1})", "with the id 1 already"),
    "an id of who gets the labels": (
        "CREATE (n {id: 7}) SET n:Person CREATE (:Person {id: 7})",
        "with the id 7 already",
    ),
    "what is no id of who gets the labels": ("CREATE (n {id: 1.5}) SET n:Person", "whole number or a text, not double"),
    "an id that is taken away": ("MATCH (n {id: 1}) SET n = {name: 'x'}", "which it keeps"),
    "an error behind what was written": ("CREATE (:X) WITH 1 AS one RETURN one % 0", "zero"),
    "an error at the end of many": ("UNWIND range(0, 5) AS i CREATE (:X {y: 10 / (5 - i)})", "zero"),
}


@pytest.mark.parametrize(("statement", "message"), FAILING.values(), ids=list(FAILING))
def test_an_error_leaves_the_store_as_it_was(statement: str, message: str) -> None:
    written = store()
    before = written.graph
    with pytest.raises(gquery.ExecutionError, match=message):
        written.execute(statement)
    assert written.graph is before
    assert written.version == 0


def test_the_answer_and_the_counts() -> None:
    written = store()
    result = written.execute(
        "MATCH (a {id: 1}) CREATE p = (a)-[r:MET {on: 1}]->(b:Town {name: 'T'}) RETURN p, r, b.name"
    )
    ((path, link, name),) = result.rows()
    assert [node.properties["name"] for node in path.nodes] == ["Ann", "T"]
    assert (link.type, link.properties, name) == ("MET", {"on": 1}, "T")
    assert str(result.changes) == "1 node created, 1 relationship created, 2 properties set, 1 label added"
    assert result.to_arrow() is result.to_arrow()
    assert written.version == 1


def test_the_rows_of_queries_within() -> None:
    written = store()
    text = "UNWIND [1, 2, 3] AS i {} CALL (i) {{ WITH i WHERE i <> 2 CREATE (k:Key {{k: i}}) RETURN k }} RETURN i, k.k"
    assert written.execute(text.format("")).rows() == [(1, 1), (3, 3)]
    assert written.execute(text.format("OPTIONAL")).rows() == [(1, 1), (2, None), (3, 3)]
    both = "CREATE (k:Key {{k: 1}}) RETURN k.k AS x UNION {} MATCH (p:Person) SET p.x = 1 RETURN p.x AS x"
    assert written.execute(both.format("")).rows() == [(1,)]
    result = written.execute(both.format("ALL"))
    assert result.rows() == [(1,)] * 4
    assert result.changes.nodes_created == 1


def test_a_profile_of_what_writes() -> None:
    written = store()
    result = written.execute("PROFILE MATCH (p:Person) MERGE (k:Key {k: p.id % 2}) RETURN k.k")
    lines = result.to_arrow()["plan"].to_pylist()
    assert any("MERGE, for all rows at once" in line for line in lines)
    assert any(line.startswith("Total") for line in lines)
    assert result.changes.nodes_created == 2
    assert written.graph.query("MATCH (k:Key) RETURN count(*)").scalar() == 2


def test_without_return_there_are_no_columns() -> None:
    result = store().execute("MATCH (n) SET n.x = 1")
    assert result.columns == ()
    assert result.rows() == []
    assert result.changes
    assert result.changes.properties_set == 3


def test_what_cancels_out_has_not_changed() -> None:
    result = store().execute("CREATE (n:X {y: 1}) WITH n DELETE n")
    assert not result.changes
    assert str(result.changes) == "nothing changed"


def test_what_only_reads_is_a_query() -> None:
    written = store()
    result = written.execute("MATCH (n) RETURN count(*)")
    assert result.scalar() == 3
    assert result.changes is None
    assert written.version == 0


def test_readers_keep_their_graph() -> None:
    written = store()
    before = written.graph
    written.execute("MATCH (n) DETACH DELETE n")
    assert before.query("MATCH (n)-->() RETURN count(*)").scalar() == 4
    assert written.graph.query("MATCH (n) RETURN count(*)").scalar() == 0


def test_parameters() -> None:
    written = store()
    rows = [{"id": 3, "name": "Cy"}, {"id": 8, "age": 1.5}]
    written.execute("UNWIND $rows AS row MERGE (n:Person {id: row.id}) SET n += row", {"rows": rows})
    written.execute("CREATE (:Item $properties)", {"properties": {"a": 1, "b": [1, 2], "c": None}})
    assert written.graph.query("MATCH (n {id: 8}) RETURN n.age").scalar() == 1.5
    assert written.graph.query("MATCH (i:Item) RETURN properties(i)").scalar() == {"a": 1, "b": [1, 2]}


@pytest.mark.parametrize("largest", [2**63 - 1, 2**63 - 2])
def test_no_numbers_are_left_for_ids(largest: int) -> None:
    written = store()
    written.execute("CREATE (:Person {id: $id})", {"id": largest})
    with pytest.raises(gquery.ExecutionError, match="no larger numbers are left to be ids"):
        written.execute("UNWIND [1, 2] AS i CREATE (:City)")
    written.execute("CREATE (:Person {id: 4})")
    assert written.version == 2


def test_a_timeout_leaves_the_store_as_it_was() -> None:
    written = store()
    before = written.graph
    with pytest.raises(gquery.QueryTimeout):
        written.execute("UNWIND range(1, 10000) AS i UNWIND range(1, 10000) AS j CREATE (:X {i: i + j})", timeout=0.05)
    assert written.graph is before


@pytest.mark.parametrize("text", ["MATCH (a) DETACH DELETE a", "MATCH (a) CREATE (a)-[:Z]->(:X {i: 1})"])
def test_a_timeout_holds_while_changes_are_made(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once all rows were read nobody looked at the clock, and a statement that took too long was one that was done."""

    def late(snapshot: Snapshot, batch: Batch, check: Check = unchecked) -> Snapshot:
        time.sleep(0.4)
        check()
        raise AssertionError("the time was over")

    monkeypatch.setattr("gquery.store.statement.applied", late)
    written = store()
    with pytest.raises(gquery.QueryTimeout):
        written.execute(text, timeout=0.3)
    assert written.version == 0


def test_a_timeout_holds_where_all_rows_change_one_node() -> None:
    """Telling their turns took time with the square of the rows."""
    written = store()
    begun = time.monotonic()
    with pytest.raises(gquery.QueryTimeout):
        written.execute("UNWIND range(1, 200000) AS i MATCH (a {id: 1}) SET a.x = coalesce(a.x, 0) + 1", timeout=0.5)
    assert time.monotonic() - begun < 5
    assert written.version == 0


def test_a_memory_limit_holds_for_the_rows() -> None:
    written = store()
    with pytest.raises(gquery.MemoryLimitError):
        written.execute("UNWIND range(1, 1000000) AS i CREATE (:X {i: i})", memory_limit="1MB")
    assert written.version == 0


def test_writers_wait_for_each_other() -> None:
    written = store()

    def write() -> None:
        for _ in range(10):
            written.execute("MATCH (n {id: 1}) SET n.count = coalesce(n.count, 0) + 1")

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert written.graph.query("MATCH (n {id: 1}) RETURN n.count").scalar() == 40


def test_standing_patterns_see_statements() -> None:
    written = store()
    watch = written.watch("MATCH (a)-[:KNOWS]->(b) RETURN a.id, b.id")
    written.execute("MATCH (a {id: 3}), (b) WHERE b.id < 3 CREATE (a)-[:KNOWS]->(b)")
    change = next(iter(watch))
    assert change.added.num_rows == 2


@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        ("UNWIND [null, {x: 1}, {x: 'b'}] AS m CREATE (n) SET n += m RETURN n.x", [(None,), (1,), ("b",)]),
        ("UNWIND [null, {x: 1}, {x: 'b'}] AS m CREATE (n) SET n = m RETURN n.x", [(None,), (1,), ("b",)]),
        ("UNWIND [null, {x: 1}, {x: 'b'}] AS m CREATE (n) WITH n, m DELETE n RETURN m.x", [(None,), (1,), ("b",)]),
        (
            "UNWIND [1, 3, 9] AS k OPTIONAL MATCH (b {id: k}) WITH CASE WHEN b.id > 0 THEN {b: b, x: b.x} END AS m "
            "CREATE (n:N) SET n.x = m.b.x RETURN n.x",
            [(1,), ("a",), (None,)],
        ),
    ],
)
def test_maps_that_are_null_beside_values_of_several_types(statement: str, rows: list[tuple[object]]) -> None:
    """Arrow ended the process."""
    graph = gquery.from_arrow({"P": {"id": [1, 2], "x": [1, 2]}, "Q": {"id": [3], "x": ["a"]}}, {})
    assert Counter(gquery.Store(graph).execute(statement, strict=False).rows()) == Counter(rows)
