"""Properties and ids that are of several types over several labels: every element keeps its own."""

from __future__ import annotations

import datetime
import functools
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import gquery
from gquery.executor.relational.unions import DURATION_PARTS, cast, is_known
from gquery.terminal.output.tables import type_name


@functools.cache
def graph() -> gquery.Graph:
    """P has ids and `x` that are integers, Q both as texts, R floats; `n` is a number everywhere, of three types."""
    return gquery.from_arrow(
        vertices={
            "P": pa.table({"id": [1, 2], "x": [5, None], "n": [1, 2]}),
            "Q": pa.table({"id": ["1", "b"], "x": ["5", "y"], "n": [1.0, 2.5]}),
            "R": pa.table({"id": [1, 7], "x": [5.0, 2.5], "n": pa.array([Decimal("1.00"), None], pa.decimal128(5, 2))}),
        },
        edges={("P", "E", "Q"): {"source": [1, 2], "target": ["1", "b"]}},
    )


def ask(text: str, **parameters: Any) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in graph().query(text, parameters).rows()]


def kinds(rows: list[tuple[Any, ...]]) -> list[Any]:
    return sorted((type(value).__name__, value) for (value,) in rows if value is not None)


X = [("float", 2.5), ("float", 5.0), ("int", 5), ("str", "5"), ("str", "y")]


def test_values_keep_their_types() -> None:
    assert kinds(ask("MATCH (a) RETURN a.x")) == X
    assert kinds(ask("MATCH (a) RETURN a.x ORDER BY id(a)")) == X
    assert kinds([(row[0].properties.get("x"),) for row in ask("MATCH (a) RETURN a")]) == X
    assert kinds([(value,) for value in ask("MATCH (a) RETURN collect(a.x)")[0][0]]) == X
    ids = [1, 1, 2, 7, "1", "b"]
    assert kinds(ask("MATCH (a) RETURN id(a)")) == [(type(value).__name__, value) for value in ids]
    ((e, p),) = ask("MATCH p = (a {id: 1})-[e]->(b) RETURN e, p")
    assert (e.start, e.end, p.nodes[0].id, p.nodes[1].id) == (1, "1", 1, "1")
    assert repr(p).endswith("-[:E]->(:Q {id: '1', x: '5', n: 1.0})>")


@pytest.mark.parametrize(
    ("condition", "given", "expected"),
    [
        ("id(a) = 1", None, [5, 5.0]), ("id(a) = '1'", None, ["5"]), ("id(a) = $v", 1.0, [5, 5.0]),
        ("id(a) IN [1, 'b']", None, [5, 5.0, "y"]), ("id(a) IN $v", ["1", 7], [2.5, "5"]),
        ("id(a) IN $v", [1], [5, 5.0]),
        ("a.x = 5", None, [5, 5.0]), ("a.x = '5'", None, ["5"]), ("a.x = $v", 5.0, [5, 5.0]),
        ("a.x <> 5", None, [2.5, "5", "y"]),
        ("a.x > 2.5", None, [5, 5.0]), ("a.x > '5'", None, ["y"]), ("a.x IN [2.5, 'y', null]", None, [2.5, "y"]),
        ("a.x IN $v", [5, "y", None], [5, 5.0, "y"]), ("a.x = true", None, []), ("a.x < true", None, []),
        ("a.x = $v", None, []), ("a.x IS NOT NULL", None, [2.5, 5, 5.0, "5", "y"]),
        ("toString(a.x) = '5'", None, [5, "5"]),
        ("toInteger(a.x) = 5", None, [5, 5.0, "5"]), ("coalesce(a.x, 9) = 5", None, [5, 5.0]),
        ("CASE a.x WHEN 5 THEN true WHEN 'y' THEN true ELSE false END", None, [5, 5.0, "y"]),
        ("a.n = 1", None, [5, 5.0, "5"]), ("a.n + 1 = 2", None, [5, 5.0, "5"]), ("a.n >= 2.5", None, ["y"]),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::gquery.errors.QueryWarning")
def test_conditions(condition: str, given: Any, expected: list[Any]) -> None:
    found = ask(f"MATCH (a) WHERE {condition} RETURN a.x", v=given)
    assert kinds(found) == sorted((type(value).__name__, value) for value in expected)
    # The same where it is computed for every row.
    rows = ask(f"MATCH (a) RETURN a.x, {condition}", v=given)
    assert kinds([(value,) for value, holds in rows if holds is True]) == kinds(found)


def test_between_vertices() -> None:
    same = [(1, 1)] * 4 + [(2, 2), (7, 7), ("1", "1"), ("b", "b")]
    assert sorted(ask("MATCH (a), (b) WHERE id(a) = id(b) RETURN id(a), id(b)"), key=str) == sorted(same, key=str)
    assert ask("MATCH (a:P), (b:R) WHERE id(a) = id(b) RETURN count(*)") == [(1,)]
    assert ask("MATCH (a:P|Q), (b:R|Q) WHERE id(a) = id(b) RETURN count(*)") == [(3,)]
    assert ask("MATCH (a), (b) WHERE a.x = b.x RETURN count(*)") == [(7,)]
    assert ask("MATCH (a), (b) WHERE a.x <> b.x RETURN count(*)") == [(18,)]
    assert ask("MATCH (a), (b) WHERE a.x < b.x RETURN count(*)") == [(3,)]
    assert ask("MATCH (a), (b) WHERE a.n < b.n RETURN count(*)") == [(7,)]
    assert ask("MATCH (a) WHERE EXISTS { MATCH (b:Q) WHERE b.x = a.x } RETURN count(*)") == [(2,)]


def test_groups_and_order() -> None:
    assert ask("MATCH (a) RETURN DISTINCT a.x ORDER BY a.x") == [("5",), ("y",), (2.5,), (5,), (None,)]
    assert [row[0] for row in ask("MATCH (a) RETURN a.x ORDER BY a.x DESC")] == [None, 5, 5, 2.5, "y", "5"]
    assert sorted(ask("MATCH (a) RETURN a.x, count(*)"), key=str) == [("5", 1), ("y", 1), (2.5, 1), (5, 2), (None, 1)]
    aggregates = "count(DISTINCT a.x), min(a.x), max(a.x), collect(DISTINCT a.x)"
    assert ask(f"MATCH (a) RETURN {aggregates}") == [(4, "5", 5, ["5", "y", 2.5, 5])]
    assert ask("MATCH (a) RETURN sum(a.n), avg(a.n), count(a.n)") == [(7.5, 1.5, 5)]
    assert ask("MATCH (a) WHERE a.x = 0 RETURN min(a.x), collect(DISTINCT a.x)") == [(None, [])]


@pytest.mark.parametrize("expression", ["a.x + 1", "sum(a.x)", "-a.x", "a.x * a.n", "toUpper(a.x)"])
def test_what_takes_one_type_says_so(expression: str) -> None:
    with pytest.raises(gquery.BindError, match=r"STRING or INTEGER or FLOAT[\s\S]*by a label, or make them of one"):
        graph().query(f"MATCH (a) RETURN {expression}")


def test_text_tests_are_null_of_what_is_no_text() -> None:
    found = ask("MATCH (a) RETURN a.x STARTS WITH '5', count(*)")
    assert sorted(found, key=str) == [(False, 1), (None, 4), (True, 1)]
    assert ask("MATCH (a) WHERE NOT a.x CONTAINS '5' RETURN a.x") == [("y",)]


def test_lists_of_several_types() -> None:
    assert ask("RETURN [1, 'a', 2.5, null], ([1] + 'a')[1]") == [([1, "a", 2.5, None], "a")]
    assert ask("RETURN [1, 'a'] = [1, 'a'], [1, 'a'] = [1, 'b'], 'a' IN [1, 'a']") == [(True, False, True)]
    given = [1, "a", 2**53 + 1, 0.5]
    assert ask("RETURN $x, 'a' IN $x, size($x), $x[0]", x=given) == [(given, True, 4, 1)]
    assert ask("RETURN [1, 'a'] < [1, 'b'], [1, null] = [1, 'a'], head([true, 'a'])") == [(True, None, True)]


def test_forms(tmp_path: Path) -> None:
    result = graph().query("MATCH (a) RETURN a.x AS x, a.n AS n ORDER BY labels(a)[0], id(a)")
    values = [(5, 1), (None, 2), ("5", 1.0), ("y", 2.5), (5.0, Decimal("1.00")), (2.5, None)]
    assert [tuple(row) for row in result] == values
    names = ["string or integer or float", "integer or decimal or float"]
    assert [type_name(kind) for kind in result.schema.types] == names
    assert [tuple(row) for row in result.to_pandas().itertuples(index=False)][2:5] == values[2:5]
    polars = result.to_polars()
    assert polars["x"].to_list() == ["5", None, "5", "y", "5.0", "2.5"]
    assert polars["n"].to_list() == [1.0, 2.0, 1.0, 2.5, 1.0, None]
    result.write(tmp_path / "x.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    assert [line["x"] for line in lines] == [5, None, "5", "y", 5.0, 2.5]
    result.write(tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text().splitlines()[4] == '"y","2.5"'
    result.write(tmp_path / "x.parquet")
    con = gquery.connect()
    gquery.attach(con, graph(), "g")
    rows = con.execute("SELECT x, n FROM gquery('g', 'MATCH (a:P|Q) RETURN a.x AS x, a.n AS n')").fetchall()
    assert rows == [(5, 1), (None, 2), ("5", 1.0), ("y", 2.5)]
    assert len(con.execute("FROM gquery('g', 'MATCH (a)-[e]->(b) RETURN a, e, collect(b.x) AS l')").fetchall()) == 2


def test_an_integer_that_no_float_is_does_not_change_in_silence() -> None:
    large = gquery.from_arrow(vertices={"A": {"id": [1], "x": [2**53 + 1]}, "B": {"id": [2], "x": [0.5]}}, edges={})
    result = large.query("MATCH (a) RETURN a.x AS x")
    assert sorted(row["x"] for row in result) == [0.5, 2**53 + 1]
    with pytest.raises(gquery.ExecutionError, match="an integer that no float is"):
        result.to_polars()


def times(first: str, second: str) -> gquery.Graph:
    """A and B have a point in time `z` and a list `o`, in another zone and of other items each; C has none."""
    noon = datetime.datetime(2024, 3, 31, 12, tzinfo=datetime.UTC)
    early, late = noon, noon + datetime.timedelta(hours=1)
    lists = (pa.array([[1.5], None], pa.list_(pa.float64())), pa.array([[noon.date()], []], pa.list_(pa.date32())))
    return gquery.from_arrow(
        vertices={
            "A": pa.table({"id": [1, 2], "z": pa.array([late, early], pa.timestamp("us", first)), "o": lists[0]}),
            "B": pa.table({"id": [3, 4], "z": pa.array([early, None], pa.timestamp("ms", second)), "o": lists[1]}),
            "C": pa.table({"id": [5]}),
        },
        edges={("A", "E", "B"): {"source": [1, 2], "target": [3, 4]}},
    )


@pytest.mark.parametrize("zones", [("+01:00", "-09:30"), ("-09:30", "+01:00"), ("UTC", "Europe/Berlin")])
def test_points_in_time_are_instants_in_whatever_zone(zones: tuple[str, str]) -> None:
    def rows(text: str, **parameters: Any) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in times(*zones).query(text, parameters).rows()]

    assert [row[0] for row in rows("MATCH (a) RETURN a.id, a.z ORDER BY a.z DESC, a.id")] == [4, 5, 1, 2, 3]
    assert sorted(row[0] for row in rows("MATCH (a) RETURN count(*), a.z")) == [1, 2, 2]
    assert len(rows("MATCH (a) RETURN DISTINCT a.z")) == 3
    ((count, least, most, found),) = rows(
        "MATCH (a) RETURN count(DISTINCT a.z), min(a.z), max(a.z), collect(DISTINCT a.z)"
    )
    assert (count, len(found), most - least) == (2, 2, datetime.timedelta(hours=1))
    pairs = "MATCH (a), (b) WHERE a.z {} b.z RETURN a.id, b.id"
    assert sorted(rows(pairs.format("="))) == [(1, 1), (2, 2), (2, 3), (3, 2), (3, 3)]
    assert sorted(rows(pairs.format("<"))) == [(2, 1), (3, 1)]
    assert sorted(rows(pairs.format("<>"))) == [(1, 2), (1, 3), (2, 1), (3, 1)]
    given = datetime.datetime(2024, 3, 31, 22, tzinfo=datetime.timezone(datetime.timedelta(hours=10)))
    assert rows("MATCH (a) RETURN a.id, a.z = $p, a.z > $p, a.z IN [$p] ORDER BY a.id", p=given) == [
        (1, False, True, False), (2, True, False, True), (3, True, False, True), (4, None, None, None),
        (5, None, None, None),
    ]  # fmt: skip
    assert sorted(rows("MATCH (a) WHERE a.z <= $p RETURN a.id", p=given)) == [(2,), (3,)]


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("a.o IS NULL", [2, 5]), ("a.o IS NOT NULL", [1, 3, 4]), ("a.o = a.o", [1, 3, 4]), ("a.o < 3", []),
        ("a.o <> [1.5]", [3, 4]), ("a.o = [1.5]", [1]), ("a.o = $p", [3]), ("a.o < [2]", [1, 4]),
        ("head(a.o) = 1.5", [1]), ("size(a.o) = 0", [4]), ("1.5 IN a.o", [1]), ("a.o IN [[], [1.5]]", [1, 4]),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::gquery.errors.QueryWarning")
def test_lists_of_other_items_in_other_tables(condition: str, found: list[int]) -> None:
    ask = times("UTC", "+01:00").query
    given = {"p": [datetime.date(2024, 3, 31)]}
    assert sorted(row["id"] for row in ask(f"MATCH (a) WHERE {condition} RETURN a.id AS id", given)) == found
    rows = ask(f"MATCH (a) RETURN a.id AS id, {condition} AS holds", given).rows()
    assert sorted(row["id"] for row in rows if row["holds"]) == found
    assert len(ask("MATCH (a {o: $p}) RETURN a.id", given).rows()) == 1


def test_large_lists_and_maps_of_other_items() -> None:
    large = pa.large_list(pa.large_list(pa.int64()))
    several = gquery.from_arrow(
        vertices={
            "A": pa.table({"id": [1, 2], "o": pa.array([[[1], []], None], large)}),
            "B": pa.table({"id": [3, 4], "o": pa.array([[0.5, None], [1.5, 2.5]], pa.list_(pa.float64(), 2))}),
        },
        edges={},
    )
    assert several.query("MATCH (a) WHERE a.o IS NOT NULL RETURN a.id ORDER BY a.id").rows() == [(1,), (3,), (4,)]
    assert several.query("MATCH (a) WHERE a.o[0] = 0.5 RETURN a.o").rows() == [([0.5, None],)]
    assert several.query("MATCH (a) WHERE a.o = $p RETURN a.id", {"p": [[1], []]}).rows() == [(1,)]
    assert several.query("MATCH (a) RETURN max(a.o)").rows() == [([1.5, 2.5],)]


@pytest.mark.filterwarnings("ignore::gquery.errors.QueryWarning")
def test_nulls_of_several_types_between_vertices() -> None:
    """Also where there are no vertices at all to compare."""
    null = pa.array([None], pa.int64())
    several = gquery.from_arrow(
        vertices={
            "A": pa.table({"id": [1], "x": null, "d": pa.array([None], pa.decimal128(24, 6)), "f": [0.5]}),
            "B": pa.table({"id": [2], "x": pa.array([None], pa.timestamp("us")), "t": [datetime.date(2024, 2, 29)]}),
            "C": pa.table({"id": pa.array([], pa.int64()), "d": pa.array([], pa.decimal128(10, 2))}),
        },
        edges={("A", "E", "B"): {"source": [1], "target": [2]}},
    )
    for condition in ("a.x = b.x", "a.x <> b.x", "a.x = b.t", "a.d >= b.f", "a.d = b.f", "coalesce(a.d, -3.0) < b.d"):
        assert several.query(f"MATCH (a), (b) WHERE {condition} RETURN a.id, b.id").rows() == []
        assert several.query(f"MATCH (a:C), (b) WHERE {condition.replace('x', 'd')} RETURN a.id").rows() == []


def test_points_in_time_keep_their_nanoseconds_beside_others() -> None:
    seconds = 1_711_886_400
    clock = 3600 * 10**6
    several = gquery.from_arrow(
        vertices={
            "A": pa.table({"id": [1], "z": pa.array([seconds * 10**9 + 1], pa.timestamp("ns", "+01:00")),
                           "t": pa.array([clock], pa.time64("us"))}),
            "B": pa.table({"id": [2], "z": pa.array([seconds * 10**6], pa.timestamp("us", "UTC")),
                           "t": pa.array([clock * 1000 + 1], pa.time64("ns"))}),
        },
        edges={},
    )  # fmt: skip
    assert several.query("MATCH (a) RETURN a.id ORDER BY a.z").rows() == [(2,), (1,)]
    assert several.query("MATCH (a) RETURN a.id ORDER BY a.t").rows() == [(1,), (2,)]
    assert several.query("MATCH (a) RETURN count(DISTINCT a.z), count(DISTINCT a.t)").rows() == [(2, 2)]
    assert several.query("MATCH (a), (b) WHERE a.z < b.z RETURN a.id, b.id").rows() == [(2, 1)]
    assert several.query("MATCH (a), (b) WHERE a.t < b.t RETURN a.id, b.id").rows() == [(1, 2)]


@functools.cache
def fine_and_coarse() -> gquery.Graph:
    """Times know nanoseconds in B, microseconds in A, where one is of a year without nanoseconds."""
    moment, clock = 1_700_000_000_000_000, 3600 * 10**6  # 2023-11-14T22:13:20
    far = -14_831_769_600_000_000  # 1500-01-01
    return gquery.from_arrow(
        vertices={
            "A": pa.table({"id": [1, 2], "t": pa.array([moment, far], pa.timestamp("us")),
                           "z": pa.array([moment, None], pa.timestamp("us", "UTC")),
                           "c": pa.array([clock, None], pa.time64("us"))}),
            "B": pa.table({"id": [3, 4], "t": pa.array([moment * 1000 + 1, None], pa.timestamp("ns")),
                           "z": pa.array([moment * 1000 + 1, None], pa.timestamp("ns", "Asia/Tokyo")),
                           "c": pa.array([clock * 1000 + 1, None], pa.time64("ns"))}),
        },
        edges={},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a.t + duration('P1D')",
         ["2023-11-15T22:13:20", "1500-01-02T00:00:00", "2023-11-15T22:13:20.000000001", None]),
        ("duration('P1D') + a.z",
         ["2023-11-15T22:13:20Z", None, "2023-11-16T07:13:20.000000001+09:00[Asia/Tokyo]", None]),
        ("(a.t - duration('PT0.000001S')).microsecond", ["999999", "999999", "999999", None]),
        ("a.t - a.t", ["PT0S", "PT0S", "PT0S", None]), ("a.t < a.t + duration('PT1S')", ["true"] * 3 + [None]),
        ("a.c - duration('PT1H')", ["00:00:00", None, "00:00:00.000000001", None]),
        ("a.c + duration('PT1H')", ["02:00:00", None, "02:00:00.000000001", None]),
        ("date(a.t)", ["2023-11-14", "1500-01-01", "2023-11-14", None]),
        ("date(a.z)", ["2023-11-14", None, "2023-11-15", None]),
        ("localdatetime(a.t)", ["2023-11-14T22:13:20", "1500-01-01T00:00:00", "2023-11-14T22:13:20.000000001", None]),
        ("datetime(a.z) = a.z", ["true", None, "true", None]),
        ("localtime(a.c)", ["01:00:00", None, "01:00:00.000000001", None]),
        ("duration.between(a.t, a.t)", ["PT0S", "PT0S", "PT0S", None]),
        ("duration.between(localdatetime('2023-11-14T22:00'), a.t).nanosecondsOfSecond", ["0", "0", "1", None]),
        ("localdatetime.truncate('month', a.t)",
         ["2023-11-01T00:00:00", "1500-01-01T00:00:00", "2023-11-01T00:00:00", None]),
        ("[a.t, null][0] + duration('P1D')",
         ["2023-11-15T22:13:20", "1500-01-02T00:00:00", "2023-11-15T22:13:20.000000001", None]),
        ("CASE WHEN a.t IS NOT NULL AND a.id <> 2 THEN localdatetime({date: a.t, hour: 1}) END",
         ["2023-11-14T01:00:00", None, "2023-11-14T01:00:00", None]),
    ],
)  # fmt: skip
def test_times_of_several_units_are_calculated_with(expression: str, expected: list[str | None]) -> None:
    text = f"MATCH (a) RETURN toString({expression}) AS x ORDER BY a.id"
    assert [x for (x,) in fine_and_coarse().query(text).rows()] == expected


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("a.t = '2023-11-14T22:13:20'", [1]), ("a.t = '2023-11-14T22:13:20.000000001'", [3]),
        ("a.t IN ['2023-11-14T22:13:20', '1500-01-01']", [1, 2]), ("a.t > $p", [3]), ("a.c <= '01:00'", [1]),
        ("a.z = '2023-11-14T22:13:20Z'", [1]), ("a.z = '2023-11-14T22:13:20'", [1]), ("a.t < '1700-01-01'", [2]),
    ],
)  # fmt: skip
def test_texts_beside_times_of_several_units_are_read(condition: str, found: list[int]) -> None:
    text = f"MATCH (a) WHERE {condition} RETURN a.id ORDER BY a.id"
    result = fine_and_coarse().query(text, {"p": "2023-11-14T22:13:20"})
    assert [x for (x,) in result.rows()] == found
    assert not result.warnings


def test_maps_of_values_of_several_types() -> None:
    """Arrow would abort the process where the nulls of a map went to a union in it."""
    maps = [{"k": 5}, {"k": None}, {"k": "5"}, {"k": "y"}, {"k": 5.0}, {"k": 2.5}]
    found = ask("MATCH (a) RETURN {k: a.x} AS m, [{k: a.x}] AS l, {e: a, k: [a.x]} AS n ORDER BY labels(a)[0], id(a)")
    assert [row[0] for row in found] == [row[1][0] for row in found] == maps
    assert [row[2]["k"][0] for row in found] == [each["k"] for each in maps]
    cases = ask("MATCH (a) RETURN CASE WHEN a.x > 2.5 THEN {k: a.x} END AS m")
    assert sorted(row[0]["k"] for row in cases if row[0]) == [5, 5.0]


@pytest.mark.parametrize("given", [0.5, datetime.date(1, 1, 1), [1, "a"]])
def test_no_rows_of_several_types(given: Any) -> None:
    for items in ("coalesce([[1], [2]], $p) AS x, count(*) AS n", "coalesce('b', $p) AS x", "a.x, collect(a.x), [a.x]"):
        assert graph().query(f"MATCH (a {{id: 99}}) RETURN {items}", {"p": given}).rows() == []


def test_no_durations_of_several_types() -> None:
    """Of no rows, which Arrow gives the buffer of another type: what followed the graph ended in a ValueError."""
    members = [pa.field("text", pa.string()), pa.field("duration", pa.month_day_nano_interval())]
    none = pa.nulls(0, pa.sparse_union(members)).field(1)
    assert len(cast(none, DURATION_PARTS)) == 0


def test_slices_keep_their_types() -> None:
    tags = pa.array([0, 0, 1, 0, 1], pa.int8())
    union = pa.UnionArray.from_sparse(tags, [pa.array([1, 2, None, 4, None]), pa.array([*"abcde"])], ["n", "t"])
    wanted = pa.sparse_union([pa.field("n", pa.float64()), pa.field("t", pa.string())])
    assert cast(union.slice(1), wanted).to_pylist() == [2.0, "c", 4.0, "e"]
    assert is_known(union.slice(1)).to_pylist() == [True, True, True, True]
    assert is_known(pa.nulls(2, union.type)).to_pylist() == [False, False]


def _times() -> gquery.Graph:
    """A date here and a local time there, at the same midnight; zoned times of two zones in tables of their own."""
    midnight = datetime.datetime(2024, 2, 29)
    zones = {zone: pa.array([midnight], pa.timestamp("us", zone)) for zone in ("UTC", "Europe/Berlin")}
    return gquery.from_arrow(
        vertices={
            "A": {"id": [1], "x": [midnight.date()]},
            "B": {"id": [2], "x": [midnight]},
            "C": pa.table({"id": [3], "z": zones["UTC"]}),
            "D": pa.table({"id": [4], "z": zones["Europe/Berlin"]}),
        },
        edges={},
    )


def test_points_in_time_come_before_dates() -> None:
    rows = _times().query("MATCH (a:A|B) RETURN a.x AS x ORDER BY x").rows()
    assert [type(row["x"]) for row in rows] == [datetime.datetime, datetime.date]


def test_a_field_of_a_time_that_a_table_does_not_have() -> None:
    query = "MATCH (a) WHERE a.z.hour < 12 OR a.z.hour IN [] RETURN a.id ORDER BY a.id"
    assert _times().query(query).rows() == [(3,), (4,)]


def test_unions_that_are_fed_in_parts() -> None:
    """range() makes DuckDB take a few rows at a time: slices of a union of maps, which it does not read."""
    tables = {"A": pa.table({"id": [1], "o": [{"k": 1}]}), "B": {"id": list(range(2, 12)), "o": [2.5] * 10}}
    mixed = gquery.from_arrow(vertices=tables, edges={}).with_settings(memory_limit="64MB")
    rows = mixed.query("MATCH (a) RETURN range($x, 2) AS r, a.o AS o, count(*) AS n", {"x": 1}).rows()
    assert sorted(row["n"] for row in rows) == [1, 10]


def test_elements_among_others_are_asked_what_they_have() -> None:
    pairs = "MATCH (a:P {id: 1})-[r]->() UNWIND"
    assert ask(f"{pairs} [a, r, {{z: null}}] AS x RETURN keys(x)") == [(["id", "x", "n"],), ([],), (["z"],)]
    assert ask(f"{pairs} [a, {{z: 2}}] AS x UNWIND ['n', 'z'] AS k RETURN x[k]") == [(1,), (None,), (None,), (2,)]
    for function, kind in (("labels", "RELATIONSHIP"), ("type", "NODE")):
        with pytest.raises(gquery.ExecutionError, match=rf"{function}\(\) cannot take {kind}"):
            ask(f"{pairs} [a, r] AS x RETURN {function}(x)")


def test_maps_of_several_keys_have_their_own() -> None:
    maps: list[dict[str, Any]] = [{"a": None}, {"b": 2}]
    assert ask("UNWIND $maps AS m RETURN keys(m), properties(m)", maps=maps) == [(["a"], maps[0]), (["b"], maps[1])]
    assert ask("UNWIND $maps AS m UNWIND keys(m) AS k RETURN k, m[k]", maps=maps) == [("a", None), ("b", 2)]
    for function in ("keys", "properties"):
        with pytest.raises(gquery.ExecutionError, match=rf"{function}\(\) cannot take INTEGER"):
            ask(f"UNWIND [{{a: 1}}, {{b: 1}}, 3] AS m RETURN {function}(m)")
    with pytest.raises(gquery.BindError, match="cannot tell the keys"):
        ask("UNWIND $maps AS m RETURN m {.*}", maps=maps)


def test_numbers_in_texts_have_no_underscores() -> None:
    texts = ["1_000", "_1", "1_", "1.5_0", "1e3"]
    assert ask("UNWIND $texts AS t RETURN toInteger(t), toFloat(t)", texts=texts) == [(None, None)] * 4 + [
        (1000, 1000.0)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "UNWIND [{0}, {1}] AS x RETURN DISTINCT x",
        "UNWIND [true, false] AS b RETURN DISTINCT CASE WHEN b THEN {0} ELSE {1} END AS x",
        "UNWIND [{0}, null] AS d RETURN DISTINCT coalesce(d, {1}) AS x",
        "RETURN {0} AS x UNION RETURN {1} AS x",
        "UNWIND $given AS x RETURN DISTINCT x",
    ],
)
def test_a_date_beside_a_point_in_time_stays_one(text: str) -> None:
    """Each was midnight, and one value where it was distinct."""
    midnight = datetime.datetime(2024, 2, 29)
    text = text.format("date('2024-02-29')", "localdatetime('2024-02-29T00:00')")
    found = graph().query(text, {"given": [midnight.date(), midnight]}).rows()
    assert sorted(type(x).__name__ for (x,) in found) == ["date", "datetime"]


def test_maps_whose_keys_differ_in_case_only_are_answered_whole_and_not_looked_into() -> None:
    stored = pa.array([{"a": 1, "A": 2}], pa.struct([("a", pa.int64()), ("A", pa.int64())]))
    held = gquery.from_arrow({"P": pa.table({"id": [1], "v": stored})}, {})
    assert held.query("MATCH (a) RETURN a.v").rows() == [({"a": 1, "A": 2},)]
    for asked in ("a.v.A", "a.v = a.v", "a.v IN [a.v]", "a.v[$key]", "[a.v] < [a.v]"):
        with pytest.raises(gquery.UnsupportedError, match="differ in case only"):
            held.query(f"MATCH (a) RETURN {asked}", {"key": "A"})
