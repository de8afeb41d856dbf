"""Projection, grouping, ordering and elements over match streams made by hand."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

import gquery
from gquery.errors import BindError, ExecutionError
from gquery.executor.progress import Control
from gquery.executor.relational.tail import Tail
from gquery.planner.ir.segments import SortItem
from gquery.session import Prepared
from tests.executor.relational_graph import ask, batch_of, snapshot, tail_of

EVERYONE = {"a": [0, 1, 2, 3, 4]}
PERSON = "MATCH (a:Person) "


def test_bare_properties_need_no_statement() -> None:
    tail = tail_of(PERSON + "RETURN a.name, a.age, id(a), labels(a), a.town SKIP 1 LIMIT 2")
    assert tail.describe() == "Gather a.name, a.age, id(a), labels(a), a.town, skip 1, limit 2"
    assert tail.variables == ("a",)
    assert tail.schema.types == [pa.string(), pa.int8(), pa.int64(), pa.list_(pa.string()), pa.string()]
    assert ask(PERSON + "RETURN a.name, a.age, id(a), labels(a), a.town SKIP 1 LIMIT 2", EVERYONE) == [
        ("Bob", 40, 2, ["Person"], "y"), ("Cid", None, 3, ["Person"], "x"),
    ]  # fmt: skip


def test_properties_that_are_only_returned_wait() -> None:
    tail = tail_of(PERSON + "RETURN a.name, a.tags, a.age + 1 AS more ORDER BY a.age DESC LIMIT 2")
    assert tail.describe() == (
        "Arrow, from 131,072 rows on DuckDB\n"
        '  SELECT m."a" AS c0, (m."a.age" + 1::BIGINT) AS c1\n'
        "  FROM matches AS m\n"
        '  ORDER BY m."a.age" DESC NULLS FIRST\n'
        "  LIMIT 2"
    )
    rows = ask(PERSON + "RETURN a.name, a.tags, a.age + 1 AS more ORDER BY a.age DESC, a.name LIMIT 2", EVERYONE)
    assert rows == [("Cid", None, None), ("Bob", [], 41)]


def test_edges() -> None:
    rows = ask(
        "MATCH (a:Person)-[e]->(b) RETURN type(e), id(e), b.name", {"a": [0, 1, 3], "e": [0, 5, 3], "b": [1, 6, 0]}
    )
    assert rows == [("KNOWS", 0, "Bob"), ("IN", 5, "Oslo"), ("KNOWS", 3, "Ann")]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("a.age, a.name", ["nobody", "Ann", "Bob", "Eve", "Cid"]),
        ("a.age DESC, a.name", ["Cid", "Bob", "Eve", "Ann", "nobody"]),
        ("a.height", ["Ann", "Cid", "Eve", "Bob", "nobody"]),
        ("a.age % 20, a.name DESC", ["nobody", "Eve", "Bob", "Ann", "Cid"]),
        ("size(a.tags) DESC, name", ["Cid", "Ann", "Eve", "nobody", "Bob"]),
        ("a DESC", ["Eve", "nobody", "Cid", "Bob", "Ann"]),
    ],
)
def test_order(order: str, expected: list[str]) -> None:
    """Nulls come last, and first when descending; NaN is the greatest number."""
    rows = ask(PERSON + f"RETURN coalesce(a.name, 'nobody') AS name ORDER BY {order}", EVERYONE)
    assert [row[0] for row in rows] == expected


@pytest.mark.parametrize("direction", ["", "ASC ", "DESC "])
@pytest.mark.parametrize("limit", ["", " LIMIT 2"])
@pytest.mark.parametrize("distinct", ["", "DISTINCT "])
def test_where_nulls_are_wanted(direction: str, limit: str, distinct: str) -> None:
    graph = gquery.from_arrow({"A": {"id": range(1, 6), "v": [3, None, 1, None, 2]}}, {})
    values = [3, 2, 1] if direction == "DESC " else [1, 2, 3]
    nulls = [None] if distinct else [None, None]
    wanted = {"NULLS FIRST": [*nulls, *values], "NULLS LAST": [*values, *nulls]}
    for written, expected in wanted.items():
        order = f"ORDER BY v {direction}{written}{limit}"
        expected = expected[:2] if limit else expected
        assert graph.query(f"MATCH (a:A) RETURN {distinct}a.v AS v {order}").rows() == [(each,) for each in expected]
        collected = graph.query(f"MATCH (a:A) WITH {distinct}a.v AS v {order} RETURN collect(coalesce(v, 0))")
        assert collected.scalar() == [each or 0 for each in expected]
        weighed = f"MATCH (a:A) WITH {distinct}a.v AS v WHERE v IS NULL OR v > 0 RETURN v, count(*) AS n {order}"
        assert [row[0] for row in graph.query(weighed).rows()] == [*dict.fromkeys(wanted[written])][: 2 if limit else 9]


def test_grouping_is_implicit() -> None:
    rows = ask(PERSON + "RETURN a.age AS age, count(*) AS n, collect(a.name) AS names, a.age + count(*) AS both "
               "ORDER BY n DESC, age", EVERYONE)  # fmt: skip
    assert rows == [(40, 2, ["Bob", "Eve"], 42), (20, 1, [], 21), (30, 1, ["Ann"], 31), (None, 1, ["Cid"], None)]


def test_aggregates() -> None:
    rows = ask(PERSON + "RETURN count(*), count(a.age), count(DISTINCT a.age), sum(a.age), avg(a.age), min(a.name), "
               "max(a.age), collect(DISTINCT a.town), stdev(a.age), stdevp(a.age)", EVERYONE)  # fmt: skip
    assert rows[0][:7] == (5, 4, 3, 130, 32.5, "Ann", 40)
    assert sorted(rows[0][7]) == ["x", "y"]
    assert rows[0][8:] == (pytest.approx(9.574, abs=1e-3), pytest.approx(8.292, abs=1e-3))


def test_aggregates_of_nothing() -> None:
    text = PERSON + "RETURN count(*), sum(a.age), sum(a.height), avg(a.age), max(a.age), collect(a.name), collect(a)"
    assert ask(text, {"a": []}) == [(0, 0, 0.0, None, None, [], [])]
    assert ask(PERSON + "RETURN a.age, count(*)", {"a": []}) == []
    assert ask(PERSON + "RETURN 1 AS one, $p AS p, count(*)", {"a": []}, {"p": "x"}) == []


def test_a_sum_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(ExecutionError, match="out of range"):
        ask(PERSON + "RETURN sum(9223372036854775807)", EVERYONE)


def test_distinct() -> None:
    assert sorted(row[0] or 0 for row in ask(PERSON + "RETURN DISTINCT a.age", EVERYONE)) == [0, 20, 30, 40]
    assert ask(PERSON + "RETURN DISTINCT a.age AS age ORDER BY age DESC LIMIT 2", EVERYONE) == [(None,), (40,)]
    assert len(ask(PERSON + "RETURN DISTINCT a", {"a": [1, 1, 2]})) == 2
    assert ask(PERSON + "RETURN DISTINCT 1 AS one, $p AS p", EVERYONE, {"p": 2}) == [(1, 2)]


def test_parameters_in_grouping_keys() -> None:
    rows = ask(PERSON + "RETURN a.age + $p AS key, count(*) AS n ORDER BY key", EVERYONE, {"p": 1})
    assert rows == [(21, 1), (31, 1), (41, 2), (None, 1)]


KEYS = [1, 1.5, "x", True, datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12), datetime.time(1), [1, None]]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_parameters_as_grouping_keys_and_in_order_by(key: object) -> None:
    text = PERSON + "RETURN $p AS key, count(*) AS n, max(a.age) AS oldest ORDER BY $p, key"
    assert ask(text, EVERYONE, {"p": key}) == [(key, 5, 40)]
    assert ask(text, {"a": []}, {"p": key}) == []
    assert ask(PERSON + "RETURN DISTINCT $p AS key", EVERYONE, {"p": key}) == [(key,)]
    assert ask(PERSON + "RETURN DISTINCT $p AS key", {"a": []}, {"p": key}) == []
    assert len(ask(PERSON + "RETURN a.age AS age ORDER BY $p, age DESC", EVERYONE, {"p": key})) == 5


@pytest.mark.parametrize("key", ["1", "2", "'x'", "true", "null", "date('2024-02-29')", "1.5", "[1]"])
def test_constants_order_nothing(key: str) -> None:
    rows = ask(PERSON + f"RETURN a.age AS age, a.name AS name ORDER BY {key}, name DESC LIMIT 2", EVERYONE)
    assert rows == [(20, None), (40, "Eve")]


@pytest.mark.parametrize("returned", ["1 AS one, count(*)", "$p AS p, count(a) AS n", "true, 2 * count(*)"])
def test_counts_beside_a_constant(returned: str) -> None:
    """The constant is a grouping key as any other: without a match there is no group."""
    graph = gquery.from_arrow({"A": {"id": [1, 2], "x": [1, 2]}}, {})
    matched, other = "MATCH (a:A) WHERE a.x > 0", "MATCH (a:A) WHERE a.x > 2"
    assert len(graph.query(f"{matched} RETURN {returned}", {"p": "text"}).rows()) == 1
    assert graph.query(f"{other} RETURN {returned}", {"p": "text"}).rows() == []
    assert graph.query(f"{other} RETURN count(*)").rows() == [(0,)]


def test_a_random_key_is_drawn_for_each_match() -> None:
    graph = gquery.from_arrow({"A": {"id": list(range(20))}}, {})
    assert len(graph.query("MATCH (a:A) RETURN rand() AS key, count(*)").rows()) > 1
    assert len(graph.query("MATCH (a:A) RETURN DISTINCT rand() AS key").rows()) > 1


def test_residual_predicates() -> None:
    pairs = {"a": [0, 1, 1, 2], "b": [1, 0, 4, 1]}
    text = "MATCH (a:Person), (b:Person) WHERE a.age >= b.age RETURN a.name, b.name"
    assert ask(text, pairs) == [("Bob", "Ann"), ("Bob", "Eve")]
    assert ask("MATCH (a:Person), (b:Person) WHERE a <> b AND a.age < b.age RETURN count(*)", pairs) == [(1,)]


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ("SKIP 1", 4), ("LIMIT 3", 3), ("SKIP 3 LIMIT 5", 2), ("LIMIT 0", 0), ("SKIP 9", 0), ("LIMIT $n", 2),
        ("SKIP $n", 3), ("LIMIT 1 + 1", 2), ("LIMIT toInteger('4')", 4),
    ],
)  # fmt: skip
@pytest.mark.parametrize("item", ["a.name", "a.age + 1"])
def test_skip_and_limit(bounds: str, expected: int, item: str) -> None:
    assert len(ask(PERSON + f"RETURN {item} AS x {bounds}", EVERYONE, {"n": 2})) == expected


@pytest.mark.parametrize("bound", ["LIMIT -1", "SKIP $n", "LIMIT 1 - 2"])
def test_negative_bounds_are_mistakes(bound: str) -> None:
    with pytest.raises(BindError, match="needs a whole number that is not negative, not -") as raised:
        tail_of(PERSON + f"RETURN a.name {bound}", {"n": -3})
    assert raised.value.span is not None


def test_a_bound_that_is_no_number() -> None:
    with pytest.raises(BindError, match="whole number"):
        tail_of(PERSON + "RETURN a.name LIMIT $n", {"n": "many"})


def test_names_that_differ_in_case_only() -> None:
    rows = ask("MATCH (a:Person), (A:Person) RETURN a.name AS x, A.name AS X ORDER BY a.name, A.name", {
        "a": [1, 0], "A": [0, 2]})  # fmt: skip
    assert rows == [("Ann", "Cid"), ("Bob", "Ann")]


def test_a_name_that_looks_like_a_property() -> None:
    text = 'MATCH (`a.age`:Person), (a:Person) RETURN a.age AS `x"y`, `a.age`.name ORDER BY a.age'
    assert ask(text, {"a.age": [0, 1], "a": [1, 0]}) == [(30, "Bob"), (40, "Ann")]


def test_no_variables_keep_the_number_of_rows() -> None:
    tail = tail_of("MATCH (a:Person) RETURN 1 AS one")
    assert tail.variables == ()
    assert ask("MATCH (a:Person) RETURN 1 AS one", EVERYONE) == [(1,)] * 5
    assert ask("MATCH (a:Person) RETURN count(*)", EVERYONE) == [(5,)]


# --- elements ----------------------------------------------------------------------------------------------------

ANN: dict[str, Any] = {
    "name": "Ann", "age": 30, "height": 1.5, "tags": ["a", "b"], "town": "x", "born": datetime.date(1990, 5, 17)
}  # fmt: skip


def test_whole_nodes_and_relationships() -> None:
    (row,) = ask("MATCH (a:Person)-[e:KNOWS]->(b:Person) RETURN a, e, b", {"a": [0], "e": [1], "b": [2]})
    assert (row[0].id, row[0].labels, row[0].properties) == (1, ("Person",), ANN)
    assert (row[1].type, row[1].start, row[1].end, row[1].properties) == ("KNOWS", 1, 3, {"since": 2010})
    assert "age" not in row[2].properties


def test_nodes_of_several_tables_show_what_they_have() -> None:
    rows = ask("MATCH (a)-[e]->(b) RETURN b, b.name, id(b), e", {"a": [0, 0], "e": [4, 0], "b": [5, 1]})
    assert rows[0][0].properties == {"name": "Rome", "age": "ancient"}
    assert rows[0][0].labels == ("City",)
    assert (rows[1][0].id, rows[1][0].properties["age"]) == (2, 40)
    assert [row[1:3] for row in rows] == [("Rome", "rome"), ("Bob", 2)]
    assert rows[0][3].properties == {}


def test_relationships_without_any_property() -> None:
    tail = tail_of("MATCH (a)-[e:IN]->(b:City) RETURN e")
    assert tail.schema.field("e").type.field("properties").type == pa.null()
    (row,) = ask("MATCH (a)-[e:IN]->(b:City) RETURN e", {"a": [0], "e": [4], "b": [5]})
    assert repr(row[0]) == "[:IN]"


def test_nodes_in_collect_lists_maps_and_case() -> None:
    matches = {"a": [0, 0, 3], "b": [1, 2, 0]}
    rows = ask(
        "MATCH (a:Person), (b:Person) RETURN a, collect(b) AS friends, head(collect(b)) AS one ORDER BY a", matches
    )
    assert [[friend.properties.get("name") for friend in row[1]] for row in rows] == [["Bob", "Cid"], ["Ann"]]
    assert rows[1][2].properties == ANN
    rows = ask(
        "MATCH (a:Person) RETURN {n: a, list: [a, null]} AS m, CASE WHEN a.age > 25 THEN a END AS c", {"a": [0, 3]}
    )
    assert rows[0][0]["n"].properties == ANN
    assert rows[0][0]["list"][0].id == 1
    assert rows[0][0]["list"][1] is None
    assert rows[0][1].id == 1
    assert rows[1][1] is None


def test_equality_of_nodes_is_identity() -> None:
    rows = ask("MATCH (a:Person), (b:Person) RETURN a = b, a <> b, a IN [b], a < b", {"a": [0, 1], "b": [1, 1]})
    assert rows == [(False, True, False, None), (True, False, True, None)]


def test_null_ids_become_null_elements() -> None:
    rows = ask("MATCH (a:Person) RETURN a, a.name, a.age + 1, id(a), labels(a)", {"a": [None, 1]})
    assert rows[0] == (None,) * 5
    assert rows[1][1:4] == ("Bob", 41, 2)


def test_a_property_of_a_grouped_node() -> None:
    """In SQL a column of its own; to a user it belongs to the node."""
    tail = tail_of(PERSON + "RETURN DISTINCT a")
    key = tail_of(PERSON + "RETURN a.age").projection.items[0].expression
    projection = replace(tail.projection, order_by=(SortItem(key, descending=False),))
    sorted_tail = Tail(replace(tail.project, projection=projection), snapshot(), {})
    batches = sorted_tail.run(iter([batch_of(sorted_tail, {"a": [1, 0, 1, 3]})]), Control())
    assert [row["a"]["id"] for batch in batches for row in batch.to_pylist()] == [4, 1, 2]


PATH = "MATCH p = (a:Person)-[e:KNOWS]->(b)-[f:KNOWS]->(c) "
PATHS = {"a": [0, 3], "e": [0, 3], "b": [1, 0], "f": [2, 1], "c": [2, 2]}


def test_paths() -> None:
    rows = ask(PATH + "RETURN p", PATHS)
    assert [node.properties["name"] for node in rows[0][0].nodes] == ["Ann", "Bob", "Cid"]
    assert [edge.properties.get("since") for edge in rows[1][0].relationships] == [2005, 2010]


def test_functions_of_paths() -> None:
    rows = ask(PATH + "RETURN length(p), nodes(p)[1] = b, relationships(p) = [e, f], size(nodes(p))", PATHS)
    assert rows == [(2, True, True, 3)] * 2
    rows = ask(PATH + "RETURN c.name, collect(p) AS paths, collect(nodes(p)[0]) AS starts", PATHS)
    assert [len(path) for path in rows[0]["paths"]] == [2, 2]
    assert len(rows[0]["starts"]) == 2
    assert len(ask(PATH + "RETURN DISTINCT p", {name: ids * 2 for name, ids in PATHS.items()})) == 2


def test_a_path_of_one_node() -> None:
    ((path,),) = ask("MATCH p = (a:Person) RETURN p", {"a": [0]})
    assert (len(path.nodes), len(path.relationships)) == (1, 0)


def test_another_projection_over_no_matches() -> None:
    tail = tail_of(PERSON + "RETURN count(*) + 1 AS n")
    constant = tail_of("RETURN 5 + 1 AS n").projection.items
    (batch,) = tail.replaced(constant).run(iter([pa.record_batch({" row": pa.array([0], pa.int8())})]), Control())
    assert batch.to_pylist() == [{"n": 6}]


def test_tails_are_made_once_unless_they_ask_parameters() -> None:
    graph = gquery.Graph(snapshot())
    text = (
        PERSON + "WITH a, a.age + 1 AS more ORDER BY more LIMIT 3 RETURN a.name, more + $plus AS n ORDER BY n, a.name"
    )
    chains = [
        Prepared(graph.snapshot, text, {"plus": plus}, graph.settings, graph._remembered).chain for plus in (1, 2)
    ]
    first, second = ({number: id(tail) for number, tail in chain.tails.items()} for chain in chains)
    assert [first[number] == second[number] for number in sorted(first)] == [True, False]
    answers = [graph.query(text, {"plus": plus}).rows() for plus in (1, 2, 1)]
    assert answers[0] == answers[2] == [(name, n - 1) for name, n in answers[1]]
    limited = PERSON + "RETURN a.name ORDER BY a.name LIMIT $n"
    assert [len(graph.query(limited, {"n": n}).rows()) for n in (1, 3, 2)] == [1, 3, 2]
