"""A store of tables: what is inserted, deleted and set, and what is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from threading import Event, Thread
from typing import Any

import pyarrow as pa
import pytest

import gquery
from gquery.errors import LoadError

KNOWS = ("Person", "KNOWS", "Person")


@pytest.fixture
def store() -> gquery.Store:
    return gquery.Store(
        gquery.from_arrow(
            vertices={
                "Person": {"id": [1, 2, 3], "name": ["Ann", "Bob", "Cid"], "age": [30, None, 50]},
                "Message:Post": {"id": ["p1", "p2"]},
                "Message:Comment": {"id": ["c1", "p2"]},
            },
            edges={
                KNOWS: {"source": [1, 1, 2], "target": [2, 2, 3], "since": [2001, 2002, 2003]},
                ("Person", "LIKES", "Post"): {"source": [1, 3], "target": ["p1", "p2"]},
            },
        )
    )


def people(store: gquery.Store) -> list[tuple[Any, ...]]:
    return store.graph.query("MATCH (p:Person) RETURN p.id, p.name, p.age ORDER BY p.id").rows()


def known(store: gquery.Store) -> list[tuple[Any, ...]]:
    return store.graph.query("MATCH (a)-[k:KNOWS]->(b) RETURN id(a), id(b), k.since ORDER BY k.since, id(a)").rows()


def test_insert(store: gquery.Store) -> None:
    before = store.graph
    inserted = store.apply(
        insert={
            "Person": pa.table({"id": [4], "name": ["Dot"], "city": ["Ulm"]}),
            KNOWS: {"source": [4, 1], "target": [4, 4]},
            ("Person", "OWNS", "Car"): {"source": [4], "target": ["x"]},
            "Car": [{"id": "x"}],
        }
    )
    assert inserted == store.version == 1
    assert people(store) == [(1, "Ann", 30), (2, "Bob", None), (3, "Cid", 50), (4, "Dot", None)]
    assert store.graph.query("MATCH (p {city: 'Ulm'})-[:OWNS]->(c:Car) RETURN p.id, c.id").rows() == [(4, "x")]
    assert known(store) == [(1, 2, 2001), (1, 2, 2002), (2, 3, 2003), (1, 4, None), (4, 4, None)]
    assert (before.vertex_count, before.edge_count) == (7, 5)
    assert (store.graph.vertex_count, store.graph.edge_count) == (9, 8)


def test_delete(store: gquery.Store) -> None:
    store.apply(delete={KNOWS: {"source": [1], "target": [2], "since": [2002]}})
    assert known(store) == [(1, 2, 2001), (2, 3, 2003)]
    store.apply(delete={"Person": {"id": [3]}})  # and its edges
    assert known(store) == [(1, 2, 2001)]
    assert store.graph.query("MATCH ()-[r]->() RETURN count(*) AS n").scalar() == 2
    store.apply(insert={"Person": {"id": [3], "name": ["Cleo"]}, KNOWS: {"source": [3], "target": [1]}})
    assert people(store) == [(1, "Ann", 30), (2, "Bob", None), (3, "Cleo", None)]
    store.apply(delete={KNOWS: {"source": [3], "target": [1], "since": pa.nulls(1)}})
    assert known(store) == [(1, 2, 2001)]
    store.compact()
    assert people(store) == [(1, "Ann", 30), (2, "Bob", None), (3, "Cleo", None)]
    assert known(store) == [(1, 2, 2001)]
    assert store.version == 4
    assert store.graph.snapshot.vertex_count == 7


def test_set(store: gquery.Store) -> None:
    store.apply(
        set={"Person": {"id": [1, 3], "age": [None, 51]}, KNOWS: {"source": [1], "target": [2], "since": ["long"]}}
    )
    assert people(store) == [(1, "Ann", None), (2, "Bob", None), (3, "Cid", 51)]
    assert {since for *_, since in known(store)} == {"long", 2003}
    store.apply(set={"Person": {"id": [2], "age": [2.5], "nick": ["B"]}})
    assert people(store) == [(1, "Ann", None), (2, "Bob", 2.5), (3, "Cid", 51)]
    assert store.graph.query("MATCH (p) WHERE p.nick = 'B' RETURN p.id, p.age").rows() == [(2, 2.5)]


def test_ids_that_are_written_otherwise(store: gquery.Store) -> None:
    store.apply(insert={"Person": {"id": ["5"], "name": ["Eve"]}, KNOWS: {"source": ["5"], "target": ["1"]}})
    assert (5, 1, None) in known(store)
    store.apply(insert={"Person": {"id": ["six"]}, KNOWS: {"source": ["six"], "target": [1]}})
    assert ("six", 1, None) in known(store)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"insert": {"Person": {"id": [9, 1]}}}, "there is a `Person` with this id .row 2."),
        ({"insert": {"Person": {"name": ["Eve"]}}}, "`Person` vertices that are there have in `id`"),
        ({"insert": {"Person": {"id": [9, 9]}}}, "the id occurs twice"),
        ({"insert": {"Person": {"id": [9]}, KNOWS: {"a": [9], "b": [10]}}}, "no `Person` has this id"),
        ({"insert": {("Persn", "KNOWS", "Person"): {"a": [1], "b": [1]}}}, "no `Persn` has this id"),
        ({"insert": {("Person", "LIKES", "Message"): {"a": [1], "b": ["p2"]}}}, "stands for several vertices"),
        ({"insert": {("Person", "LIKES", "Message:Post"): {"a": [1], "b": ["c1"]}}}, "no `Message:Post` has this id"),
        ({"delete": {"Person": {"id": [9]}}}, "no `Person` has this id"),
        ({"delete": {KNOWS: {"a": [2], "b": [1]}}}, "there is no such edge"),
        ({"delete": {KNOWS: {"a": [1], "b": [2], "since": [1999]}}}, "there is no such edge"),
        ({"delete": {("Person", "KNOW", "Person"): {"a": [2], "b": [1]}}}, "no edges of type `KNOW`"),
        ({"set": {"Person": {"id": [1, 1], "age": [1, 2]}}}, "the vertex occurs twice"),
        ({"set": {KNOWS: {"a": [1, 1], "b": [2, 2], "since": [1, 2]}}}, "the edge occurs twice"),
        ({"delete": {"Person": {"id": [1]}}, "set": {"Person": {"id": [1], "age": [1]}}}, "no `Person` has this id"),
        ({"delete": {"Person": {"id": [1]}}, "insert": {KNOWS: {"a": [1], "b": [2]}}}, "no `Person` has this id"),
        ({"set": {"Person": [1]}}, "is no table"),
        ({"set": [1]}, "`set` is a list, not a dict"),
        ({"insert": {("Person", "Post"): {"a": [1], "b": [1]}}}, "is not .source label, type, target label."),
    ],
)  # fmt: skip
def test_what_is_refused_changes_nothing(store: gquery.Store, changes: Mapping[str, Any], message: str) -> None:
    before = people(store), known(store)
    with pytest.raises(LoadError, match=message):
        store.apply(**changes)
    assert (people(store), known(store), store.version) == (*before, 0)


def test_writers_wait_for_each_other(store: gquery.Store) -> None:
    def insert(first: int) -> None:
        for number in range(first, first + 20):
            store.apply(insert={"Person": {"id": [number]}, KNOWS: {"source": [number], "target": [1]}})

    told: list[int] = []
    end = store.on_commit(lambda commit: told.append(commit.version))
    threads = [Thread(target=insert, args=(100 * number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    end()
    assert told == [*range(1, 81)]
    assert store.version == 80
    assert store.graph.query("MATCH (:Person)-[:KNOWS]->(p {id: 1}) RETURN count(*) AS n").scalar() == 80


def test_a_store_that_is_closed_only_reads(store: gquery.Store) -> None:
    """That of a folder did; one in memory went on, and a watch that was begun then waited for ever."""
    store.apply(delete={"Person": {"id": [1]}})
    begun = store.watch("MATCH (p:Person) RETURN p.id AS id")
    store.close()
    with pytest.raises(gquery.LoadError, match="the store is closed"):
        store.apply(delete={"Person": {"id": [2]}})
    with pytest.raises(gquery.LoadError, match="the store is closed"):
        store.execute("CREATE (:Person)")
    assert store.execute("MATCH (p:Person) RETURN count(*)").scalar() == 2
    assert list(begun) == list(store.watch("MATCH (p:Person) RETURN p.id AS id")) == []


def test_every_answer_is_that_of_one_version(store: gquery.Store) -> None:
    """A person comes and goes together with an edge."""
    count = (
        "MATCH (p:Person) WITH count(*) AS people MATCH (:Person)-[k:KNOWS]->() "
        "WITH people, count(k) AS known RETURN people - known AS n"
    )
    ended, answers, wrong = Event(), Counter[int](), list[object]()

    def read() -> None:
        try:
            while not ended.is_set():
                graph = store.graph
                told = graph.query(count).scalar()
                assert told == graph.query(count).scalar()
                answers[told] += 1
        except BaseException as error:
            wrong.append(error)

    readers = [Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for number in range(100, 160):
        store.apply(insert={"Person": {"id": [number]}, KNOWS: {"source": [number], "target": [1]}})
        if number % 3:
            store.apply(delete={"Person": {"id": [number]}})
        if number % 20 == 0:
            store.compact()
    ended.set()
    for reader in readers:
        reader.join()
    assert not wrong
    assert set(answers) == {0}


@pytest.mark.parametrize("kind", [int, str])
def test_an_id_that_two_vertices_had_is_that_of_the_one_left(kind: type) -> None:
    """Also where both are rows of one table, as compaction makes them."""
    vertices = {"P": {"id": [kind(1), kind(3)], "x": [1, 3]}, "Q": {"id": [kind(3), kind(9)], "x": [7, 8]}}
    store = gquery.Store(gquery.from_arrow(vertices=vertices, edges={}))
    store.execute("MATCH (q:Q {x: 7}) SET q:P REMOVE q:Q")
    store.compact()
    store.execute("MATCH (p:P {x: 3}) DELETE p")
    with pytest.raises(LoadError, match="there is a `P` with this id"):
        store.apply(insert={"P": {"id": [kind(3)], "x": [5]}})
    store.apply(set={"P": {"id": [kind(3)], "x": [9]}})
    assert store.graph.query("MATCH (p:P {x: 9}) RETURN count(*)").scalar() == 1


@pytest.mark.parametrize("kind", [int, str])
@pytest.mark.parametrize("compacts", [False, True])
def test_an_id_that_two_vertices_have_names_neither(kind: type, compacts: bool) -> None:
    vertices = {"P": {"id": [kind(1), kind(3)], "x": [1, 3]}, "Q": {"id": [kind(3), kind(9)], "x": [7, 8]}}
    store = gquery.Store(gquery.from_arrow(vertices=vertices, edges={}))
    store.execute("MATCH (q:Q {x: 7}) SET q:P REMOVE q:Q")
    if compacts:
        store.compact()
    ends = {"source": [kind(1)], "target": [kind(3)]}
    changes: Sequence[Mapping[str, Any]] = [
        {"delete": {"P": {"id": [kind(3)]}}},
        {"set": {"P": {"id": [kind(3)], "x": [9]}}},
        {"insert": {("P", "K", "P"): ends}},
    ]
    for change in changes:
        with pytest.raises(LoadError, match="the id stands for several vertices"):
            store.apply(**change)


def test_a_vertex_that_goes_leaves_its_id_to_another_in_the_same_batch() -> None:
    """Which has more labels, and is named by some of them."""
    vertices = {"P:A": {"id": [3], "x": [1]}, "P:B": {"id": [3], "x": [2]}}
    store = gquery.Store(gquery.from_arrow(vertices=vertices, edges={}))
    store.apply(delete={"P:A": {"id": [3]}}, set={"P": {"id": [3], "x": [9]}})
    assert store.graph.query("MATCH (p) RETURN labels(p), p.x").rows() == [(["P", "B"], 9)]


ORDERS: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "ids": ({"insert": {"A:B": {"id": [9]}, "A": {"id": [9]}}}, "with this id"),
    "vertices": ({"set": {"A": {"id": [1], "x": [1]}, "B:A": {"id": [1], "x": [2]}}}, "has a `x` for this vertex"),
    "edges": (
        {
            "set": {
                ("A", "K", "A"): {"source": [1], "target": [2], "x": [1]},
                ("B", "K", "A"): {"source": [1], "target": [2], "x": [2]},
            }
        },
        "has a `x` for this edge",
    ),
}


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("what", ORDERS)
def test_the_order_of_tables_means_nothing(what: str, backwards: bool) -> None:
    """Of two values the last table's was there, and of two ids the second was refused in one order alone."""
    change, message = ORDERS[what]
    ((argument, tables),) = change.items()
    ordered = dict(reversed(tables.items()) if backwards else tables.items())
    vertices = {"A:B": {"id": [1, 2], "x": [0, 0]}}
    edges = {("A:B", "K", "A:B"): {"source": [1], "target": [2], "x": [0]}}
    store = gquery.Store(gquery.from_arrow(vertices=vertices, edges=edges))
    with pytest.raises(LoadError, match=message):
        store.apply(**{argument: ordered})
    assert store.graph.query("MATCH (a)-[k]->(b) RETURN a.x, k.x, b.x").rows() == [(0, 0, 0)]


def test_tables_that_give_one_element_other_properties() -> None:
    store = gquery.Store(gquery.from_arrow(vertices={"A:B": {"id": [1, 2]}}, edges={}))
    store.apply(set={"A": {"id": [1, 2], "x": [1, 2]}, "B": {"id": [2], "y": [3]}})
    assert store.graph.query("MATCH (n) RETURN n.x, n.y ORDER BY n.id").rows() == [(1, None), (2, 3)]


@pytest.mark.parametrize("ends", [None, ("Person", "KNOWS", "Person")])
def test_a_column_of_which_no_value_is_known_yet(store: gquery.Store, ends: Any) -> None:
    """As in a table that is loaded, it is a property, which was unknown to a strict query."""
    key, rows = ("Person", {"id": [4]}) if ends is None else (ends, {"source": [3], "target": [1]})
    query = "MATCH (x:Person) RETURN x.yet" if ends is None else "MATCH (:Person)-[x:KNOWS]->() RETURN x.yet"
    store.apply(insert={key: {**rows, "yet": [None]}})
    assert store.graph.query(query).rows() == [(None,)] * 4
    store.compact()
    assert store.graph.query(query).rows() == [(None,)] * 4
    rows = {"id": [5]} if ends is None else {"source": [3], "target": [2]}
    store.apply(insert={key: {**rows, "yet": ["now"]}})
    assert sorted(store.graph.query(query).rows(), key=str) == [("now",), *[(None,)] * 4]


FINE: Mapping[str, pa.Array] = {  # two values that are one to Python, or that it has not
    "time": pa.array([1, 2], pa.time64("ns")),
    "point": pa.array([1, 2], pa.timestamp("ns", "UTC")),
    "date": pa.array([-10_000_000, 5], pa.date32()),
    "times": pa.array([[1], [2]], pa.list_(pa.time64("ns"))),
    "dates": pa.array([[-10_000_000], [5]], pa.list_(pa.date32())),
    "truths": pa.array([[True], [False]]),
}


@pytest.mark.parametrize("name", FINE)
def test_edges_are_told_apart_by_times_that_python_does_not_have(name: str) -> None:
    """Edges with other nanoseconds went too."""
    edges = pa.table({"source": [1, 1], "target": [2, 2], "n": [0, 1], "when": FINE[name]})
    store = gquery.Store(gquery.from_arrow(vertices={"P": {"id": [1, 2]}}, edges={("P", "K", "P"): edges}))
    store.apply(delete={("P", "K", "P"): edges.slice(0, 1).select(["source", "target", "when"])})
    assert store.graph.query("MATCH ()-[k]->() RETURN k.n").rows() == [(1,)]
    with pytest.raises(LoadError, match="there is no such edge"):
        store.apply(delete={("P", "K", "P"): {"source": [1], "target": [2], "when": [[0]]}})


@pytest.mark.parametrize("name", FINE)
def test_merge_makes_one_node_of_each_value(name: str) -> None:
    """It made one of two times in lists, whose nanoseconds differ."""
    store = gquery.Store(gquery.from_arrow(vertices={"P": pa.table({"id": [1, 2], "when": FINE[name]})}, edges={}))
    result = store.execute("MATCH (p:P) MERGE (:Q {when: p.when})")
    assert result.changes is not None
    assert result.changes.nodes_created == 2
    result = store.execute("MATCH (p:P {id: 1}) MATCH (q:Q) SET q.when = p.when")
    assert result.changes is not None
    assert result.changes.properties_set == 1
