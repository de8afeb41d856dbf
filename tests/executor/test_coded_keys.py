"""Groups whose keys are properties of few values are told apart by numbers."""

from __future__ import annotations

import datetime
import random
from collections import defaultdict
from typing import Any

import pyarrow as pa
import pytest

import gquery
from gquery.executor.relational import computing
from gquery.executor.relational.codes import property_codes, waiting
from gquery.executor.relational.codes.keys import with_codes
from gquery.executor.relational.inputs import Inputs

PEOPLE, KNOWS = 300, 3_000
HINT = "Group many rows by numbers that stand for"
DAYS = [None, *(datetime.date(2020, 1, day) for day in (1, 2, 3))]
PROPERTIES: dict[str, tuple[list[Any], pa.DataType]] = {
    "town": ([None, "Oslo", "Rom", "Roma", "", "Ærø"], pa.string()),
    "age": ([None, -1, 0, 7, 2**62], pa.int64()),
    "wed": ([None, True, False], pa.bool_()),
    "born": (DAYS, pa.date32()),
    "rank": ([None, 1, 2], pa.uint8()),
}


@pytest.fixture(scope="module")
def graph() -> gquery.Graph:
    chance = random.Random("coded keys")
    people: dict[str, Any] = {"id": range(PEOPLE)}
    people |= {name: pa.array(chance.choices(values, k=PEOPLE), type_) for name, (values, type_) in PROPERTIES.items()}
    people["town"] = people["town"].dictionary_encode()
    ends = {name: chance.choices(range(PEOPLE), k=KNOWS) for name in ("source", "target")}
    knows = ends | {"m": [chance.randrange(100) / 4 for _ in range(KNOWS)], "kind": chance.choices("xyz", k=KNOWS)}
    pets = {"id": range(1000, 1020), "town": [chance.choice(["Oslo", "Ulm"]) for _ in range(20)]}
    owns = {"source": chance.choices(range(PEOPLE), k=40), "target": chance.choices(range(1000, 1020), k=40)}
    tables = {("Person", "KNOWS", "Person"): pa.table(knows), ("Person", "OWNS", "Pet"): pa.table(owns)}
    return gquery.from_arrow({"Person": pa.table(people), "Pet": pa.table(pets)}, tables)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> list[frozenset[str]]:
    """Codes as soon as there are a few rows; and which columns had them, by run."""
    seen: list[frozenset[str]] = []

    def noted(*arguments: Any) -> Inputs:
        found = with_codes(*arguments)
        seen.append(frozenset(found.codes))
        return found

    monkeypatch.setattr(computing, "FEW", 5)
    monkeypatch.setattr(waiting, "_WORTH", 10**9)
    monkeypatch.setattr(computing, "with_codes", noted)
    return seen


def edges(graph: gquery.Graph) -> list[tuple[Any, ...]]:
    names = [f"{end}.{name}" for end in "ab" for name in PROPERTIES]
    return graph.query(f"MATCH (a:Person)-[k:KNOWS]->(b:Person) RETURN {', '.join(names)}, k.m, k.kind").rows()


@pytest.mark.parametrize("one", PROPERTIES)
@pytest.mark.parametrize("other", [None, *PROPERTIES])
def test_sums_are_those_of_the_rows(graph: gquery.Graph, one: str, other: str | None, always: list[Any]) -> None:
    places = [list(PROPERTIES).index(one), *([len(PROPERTIES) + list(PROPERTIES).index(other)] if other else [])]
    expected: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    for row in edges(graph):
        expected[tuple(row[place] for place in places)].append(row[-2])
    items = [f"a.{one} AS x", *([f"b.{other} AS y"] if other else [])]
    text = f"MATCH (a:Person)-[k:KNOWS]->(b:Person) RETURN {', '.join(items)}, sum(k.m), count(*), max(k.m)"
    found = graph.query(text).rows()
    assert len(found) == len(expected)
    for *key, total, count, most in found:
        values = expected[tuple(key)]
        assert (total, count, most) == (sum(values), len(values), max(values)), key
    assert always == [frozenset({f"a.{one}", *([f"b.{other}"] if other else [])})]


@pytest.mark.parametrize("order", ["x", "x DESC", "x, y DESC", "n DESC, x"])
@pytest.mark.parametrize("one", PROPERTIES)
def test_order_is_that_of_the_values(
    graph: gquery.Graph, one: str, order: str, always: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"MATCH (a:Person)-[k:KNOWS]->(b) RETURN a.{one} AS x, k.kind AS y, sum(k.m) AS n ORDER BY {order}"
    found = graph.query(text).rows()
    assert len(always) == 1
    assert (f"a.{one}" in always[0]) == (one != "born" or order == "n DESC")  # codes of days have no order
    with monkeypatch.context() as patched:
        patched.setattr(computing, "FEW", 10**9)
        expected = graph.query(text).rows()
    if order.startswith("x") and order != "x, y DESC":
        assert [row[0] for row in found] == [row[0] for row in expected]
        assert sorted(map(repr, found)) == sorted(map(repr, expected))
    else:
        assert found == expected


READ_OTHERWISE = [
    "a.town AS x, count(a.town), sum(k.m)",
    "a.town AS x, a.town + 'o' AS y, sum(k.m)",
    "a.town AS x, sum(k.m) AS n ORDER BY toUpper(a.town)",
    "a.town AS x, sum(k.m), max(a.town)",
]


@pytest.mark.parametrize("items", READ_OTHERWISE)
def test_what_is_read_otherwise_has_no_codes(graph: gquery.Graph, items: str, always: list[Any]) -> None:
    text = f"MATCH (a:Person)-[k:KNOWS]->() RETURN {items}"
    assert HINT not in graph.explain(text)
    assert len(graph.query(text).rows()) == 6
    assert not always


def test_conditions_on_rows_and_groups(graph: gquery.Graph, always: list[Any]) -> None:
    text = (
        "MATCH (a:Person)-[k:KNOWS]->(b:Person) {} WITH a.town AS t, b.age AS g, sum(k.m) AS n WHERE {} "
        "RETURN t, g, n ORDER BY t, g"
    )
    sums: dict[tuple[Any, ...], float] = defaultdict(float)
    for row in edges(graph):
        sums[row[0], row[6]] += row[-2]
    by_sum = graph.query(text.format("", "n > 400")).rows()
    assert {row[:2]: row[2] for row in by_sum} == {key: n for key, n in sums.items() if n > 400}
    assert always == [{"a.town", "b.age"}]
    by_key = graph.query(text.format("", "t = 'Oslo'")).rows()
    assert {row[:2]: row[2] for row in by_key} == {key: n for key, n in sums.items() if key[0] == "Oslo"}


def test_keys_of_several_tables(graph: gquery.Graph, always: list[Any]) -> None:
    text = "MATCH (a:Person)-[k]->(b) RETURN b.town AS x, type(k) AS y, sum(a.age % 5) AS n, count(*) AS c"
    found = {row[:2]: row[3] for row in graph.query(text).rows()}
    assert always == [{"b.town"}]
    counted = graph.query("MATCH (a:Person)-[k]->(b) RETURN b.town, type(k)").rows()
    assert found == {key: counted.count(key) for key in set(counted)}


def test_few_rows_and_many_values_are_as_they_are(graph: gquery.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "MATCH (a:Person)-[k:KNOWS]->() RETURN a.town AS x, sum(k.m) AS n ORDER BY x"
    assert HINT in graph.explain(text)
    expected = graph.query(text).rows()
    with monkeypatch.context() as patched:
        patched.setattr(computing, "FEW", 5)
        patched.setattr(property_codes, "_MOST_VALUES", 2)
        patched.setattr(graph.snapshot, "cache", type(graph.snapshot.cache)())
        assert graph.query(text).rows() == expected


def test_optional_matches_give_null(graph: gquery.Graph, always: list[Any]) -> None:
    text = "MATCH (a:Person) OPTIONAL MATCH (a)-[:OWNS]->(p:Pet) RETURN p.town AS x, sum(a.id) AS n ORDER BY x"
    found = graph.query(text).rows()
    assert [row[0] for row in found] == ["Oslo", "Ulm", None]
    assert always


def test_another_table_stores_values_of_another_type(always: list[Any]) -> None:
    """Codes are numbers of all elements that have a property, also of those that no query asks for."""
    edges = {
        ("V", "E", "V"): pa.table({"source": [1, 2] * 10, "target": [2, 1] * 10, "w": [1, 2] * 10}),
        ("V", "F", "W"): pa.table({"source": [1], "target": [7], "w": [2.5]}),
    }
    mixed = gquery.from_arrow({"V": {"id": [1, 2], "s": [3, 4]}, "W": {"id": [7], "s": ["text"]}}, edges)
    text = "MATCH (a:V)-[p:E]->(b:V) RETURN a.s AS x, p.w AS y, sum(p.w) AS n, count(*) AS c ORDER BY x"
    assert mixed.query(text).rows() == [(3, 1, 10, 10), (4, 2, 20, 10)]
    text = "MATCH (a:V)-[p:E]->(b:V) RETURN p.w AS y, sum(b.s) AS n ORDER BY y"
    assert mixed.query(text).rows() == [(1, 40), (2, 30)]
    assert mixed.query("MATCH (a:V)-[p:E]->(b:V) RETURN a.s AS x, count(p.w) AS c ORDER BY x").rows() == [
        (3, 10),
        (4, 10),
    ]
