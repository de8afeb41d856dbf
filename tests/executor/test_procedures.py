"""Procedures: what the schema says, as rows."""

from __future__ import annotations

from typing import Any

import pytest

import gquery

SCHEMA = [("node", ["A"], "id", "INTEGER"), ("node", ["A"], "on", "DATE"), ("node", ["B", "C"], "id", "STRING"),
          ("relationship", ["K"], "w", "LIST OF FLOAT")]  # fmt: skip


@pytest.fixture(scope="module")
def graph() -> gquery.Graph:
    dates = gquery.from_arrow({"D": {"id": [1], "on": ["2024-01-01"]}}, {}).query("RETURN date('2024-01-01') AS d")
    day = dates.scalar()
    return gquery.from_arrow(
        vertices={"A": {"id": [1, 2], "on": [day, day]}, ("B", "C"): {"id": ["x"]}},
        edges={("A", "K", "A"): {"source": [1], "target": [2], "w": [[1.5]]}},
    )


CASES: list[tuple[str, list[tuple[Any, ...]]]] = [
    ("CALL gquery.labels()", [("A", 2), ("B", 1), ("C", 1)]),
    ("CALL GQuery.Types() YIELD type, relationships AS n RETURN type, n", [("K", 1)]),
    ("CALL gquery.schema() YIELD element, labels, property, type RETURN element, labels, property, type", SCHEMA),
    ("CALL gquery.labels() YIELD label AS l WHERE l > 'A' RETURN l", [("B",), ("C",)]),
    ("MATCH (a:A) CALL gquery.types() YIELD type RETURN id(a), type", [(1, "K"), (2, "K")]),
    ("UNWIND ['A', 'D'] AS l OPTIONAL CALL (l) { CALL gquery.labels() YIELD label WHERE label = l RETURN label } "
     "RETURN l, label", [("A", "A"), ("D", None)]),
    ("CALL gquery.labels() YIELD label RETURN label UNION CALL gquery.types() YIELD type RETURN type AS label",
     [("A",), ("B",), ("C",), ("K",)]),
    ("RETURN COUNT { CALL gquery.labels() YIELD label } AS n, EXISTS { CALL gquery.types() } AS e", [(3, True)]),
    ("MATCH (row:A) CALL gquery.types() YIELD type RETURN id(row), type", [(1, "K"), (2, "K")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_rows(graph: gquery.Graph, text: str, expected: list[tuple[Any, ...]]) -> None:
    assert sorted(graph.query(text).rows(), key=repr) == sorted(expected, key=repr)


def test_a_procedure_alone_has_its_columns_in_their_order(graph: gquery.Graph) -> None:
    assert graph.query("CALL gquery.types()").columns == ("type", "relationships")
    assert graph.query("CALL gquery.types() YIELD type AS t, relationships AS n WHERE n > 0").columns == ("t", "n")
    assert graph.query("CALL gquery.types() YIELD type AS t, relationships AS n RETURN *").columns == ("n", "t")


def test_of_a_graph_without_anything() -> None:
    empty = gquery.from_arrow({"A": {"id": []}}, {})
    assert empty.query("CALL gquery.types()").rows() == []
    assert empty.query("CALL gquery.labels()").rows() == [("A", 0)]
