"""Predicates and values over the columns of one element."""

from __future__ import annotations

import datetime
import operator
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.executor.lowering.reading import Reading
from gquery.executor.progress import Control
from gquery.executor.relational.database import running
from gquery.executor.relational.scanning import scan
from gquery.grammar.parser import parse
from gquery.planner.binding.clauses import bind
from gquery.planner.ir.expr import Expression
from gquery.values.parameters import snapshot_of
from tests.executor.relational_graph import snapshot

PERSON, CITY = 0, 1
KNOWS, IN = 0, 1
NOON = datetime.datetime(2012, 1, 1, 12)


def reading(parameters: dict[str, Any] | None = None) -> Reading:
    return Reading(snapshot(), parameters or {}, Control())


def predicates_of(element: str, condition: str, parameters: dict[str, Any]) -> tuple[Expression, ...]:
    pattern = f"({element})" if element.startswith("a") else f"()-[{element}]->()"
    query = bind(parse(f"MATCH {pattern} WHERE {condition} RETURN 1 AS x"), snapshot().schema, parameters, "induced")
    graph = query.segments[0].graph
    own = graph.vertices[0].predicates if element.startswith("a") else graph.edges[0].predicates
    return own + graph.predicates


# Conditions on people, and which of the five pass.
CONDITIONS: list[tuple[str, list[int]]] = [
    ("a.age > 25", [0, 1, 4]), ("a.age >= 40", [1, 4]), ("a.age <> 40", [0, 3]), ("a.age = 1000", []),
    ("30 = a.age", [0]), ("a.name = 'Ann'", [0]), ("a.name < 'Bz'", [0, 1]), ("a.height > 1.6", [2, 4]),
    ("a.height <> 1.5", [1, 2, 4]), ("a.height > 1", [0, 2, 4]), ("a.height = a.height", [0, 2, 4]),
    ("a.age = 40.0", [1, 4]), ("a.age = 'x'", []), ("a.age < 'x'", []), ("NOT a.age = 40", [0, 3]),
    ("a.age > $low", [1, 4]), ("a.name IN $names", [0, 4]), ("a.age IN [20, 30]", [0, 3]), ("a.age IN $none", []),
    ("a.age = null", []), ("a.name IS NULL", [3]), ("a.town = 'x'", [0, 2]), ("a.town STARTS WITH 'y'", [1, 4]),
    ("'b' IN a.tags", [0, 3]), ("id(a) > 3", [3, 4]), ("id(a) IN $ids", [1]), ("size(labels(a)) = 1", [0, 1, 2, 3, 4]),
    ("a.age % 20 = 0 AND a.name IS NOT NULL", [1, 4]), ("a.age > 25 OR a.name IS NULL", [0, 1, 3, 4]),
    ("a.born.year = 1990", [0]), ("$yes", [0, 1, 2, 3, 4]), ("null", []), ("a.age IN $set", [0, 1, 4]),
    ("a.height IN $ids", [4]), ("a.age > $numpy", [1, 4]), ("a.age * 10 > 300", [1, 4]), ("a.age > $null", []),
    ("a.tags = []", [1]),
]  # fmt: skip
GIVEN = snapshot_of({
    "low": 30, "names": ["Ann", "Eve", None], "none": [], "ids": [2, 9], "yes": True, "null": None, "set": {30, 40},
    "numpy": np.int16(30),
})  # fmt: skip


@pytest.mark.parametrize(("condition", "expected"), CONDITIONS, ids=[text for text, _ in CONDITIONS])
def test_vertices(condition: str, expected: list[int]) -> None:
    keep = scan.select_vertices(reading(GIVEN), PERSON, predicates_of("a:Person", condition, GIVEN))
    assert keep.dtype == np.bool_
    assert np.flatnonzero(keep).tolist() == expected


def test_a_property_that_the_table_does_not_have_is_null() -> None:
    is_null = predicates_of("a", "a.height IS NULL AND a.height IS NULL", {})
    assert scan.select_vertices(reading(), CITY, is_null).tolist() == [True, True]
    tall = predicates_of("a", "a.height > 0", {})
    assert scan.select_vertices(reading(), CITY, tall).tolist() == [False, False]


def test_edges() -> None:
    recent = predicates_of("e:KNOWS", "e.since >= 2005", {})
    assert scan.select_edges(reading(), KNOWS, recent).tolist() == [False, True, False, True]
    either = predicates_of("e", "id(e) > 4 OR type(e) = 'KNOWS'", {})
    assert scan.select_edges(reading(), IN, either).tolist() == [False, True]


def test_comparisons_of_a_column_with_a_value_do_without_duckdb() -> None:
    plain = predicates_of("a:Person", "a.age > 25 AND a.name IN $names AND a.height < 1.8", GIVEN)
    with mock.patch.object(running, "evaluate", side_effect=AssertionError):
        assert np.flatnonzero(scan.select_vertices(reading(GIVEN), PERSON, plain)).tolist() == [0]


def value_of(text: str) -> Expression:
    bound = bind(parse(f"MATCH (a:Person)-[e:KNOWS]->() RETURN {text} AS x"), snapshot().schema, {}, "induced")
    return bound.segments[-1].projection.items[0].expression


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a.name", ["Eve", "Ann", None, "Ann"]), ("a.age * 2", [80, 60, 40, 60]), ("id(a)", [5, 1, 4, 1]),
        ("labels(a)", [["Person"]] * 4), ("a", [4, 0, 3, 0]), ("1 + 1", [2, 2, 2, 2]),
        ("toUpper(a.name) + '!'", ["EVE!", "ANN!", None, "ANN!"]),
    ],
)  # fmt: skip
def test_values_of_vertices(expression: str, expected: list[Any]) -> None:
    found = scan.vertex_values(reading(), value_of(expression), np.array([4, 0, 3, 0], np.int32))
    assert found.to_pylist() == expected
    assert len(scan.vertex_values(reading(), value_of(expression), np.array([], np.int32))) == 0


def test_values_of_edges() -> None:
    edges = np.array([3, 0], np.int64)
    assert scan.edge_values(reading(), value_of("e.since + 1"), edges).to_pylist() == [2006, 2001]
    assert scan.edge_values(reading(), value_of("type(e)"), edges).to_pylist() == ["KNOWS", "KNOWS"]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize(
    "asked", [NOON.replace(**part) for part in ({}, {"microsecond": 1_500}, {"year": 1}, {"year": 9999})]
)
def test_points_in_time_are_compared_as_they_are_stored(unit: str, asked: datetime.datetime) -> None:
    """Whatever the unit: what it cannot hold is not cut off to something else that it can."""
    times = [NOON, NOON.replace(hour=11), NOON.replace(hour=13), None]
    stored = pa.table({"id": range(4), "t": pa.array(times, pa.timestamp(unit))})
    graph = gquery.from_arrow(vertices={"A": stored}, edges={})
    signs = {"<": operator.lt, "<=": operator.le, "=": operator.eq, "<>": operator.ne, ">": operator.gt}
    for sign, test in signs.items():
        found = graph.query(f"MATCH (a) WHERE a.t {sign} $asked RETURN a.id", {"asked": asked}).rows()
        assert sorted(found) == [(place,) for place, time in enumerate(times) if time and test(time, asked)]
