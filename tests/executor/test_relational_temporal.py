"""Dates and times: zones, offsets, nanoseconds, and texts that are compared with them."""

from __future__ import annotations

import datetime as dt
import io
import json
import os
import subprocess
import sys
import zoneinfo
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import gquery
from gquery.errors import BindError, ExecutionError
from tests.executor.relational_graph import value_of

ZURICH = zoneinfo.ZoneInfo("Europe/Zurich")
WINTER = dt.datetime(2024, 1, 14, 23, 30, tzinfo=dt.UTC)
SUMMER = dt.datetime(2024, 7, 1, 12, 0, 0, 5, tzinfo=dt.UTC)


def _graph() -> gquery.Graph:
    """Three P: in winter, without times, in summer. `east`, `named`, `west` are in zones, `naive`, `nano` in none."""
    instants = [WINTER, None, SUMMER]
    naive = [None if each is None else each.replace(tzinfo=None) for each in instants]
    columns = {
        "id": [1, 2, 3],
        "east": pa.array(instants, pa.timestamp("us", "+01:00")),
        "named": pa.array(instants, pa.timestamp("us", "Europe/Zurich")),
        "west": pa.array(instants, pa.timestamp("us", "-05:30")),
        "naive": pa.array(naive, pa.timestamp("us")),
        "nano": pa.array([1705275000_000000123, None, -1]).cast(pa.timestamp("ns")),
        "zoned_nano": pa.array([1705275000_000000123, None, 1]).cast(pa.timestamp("ns", "Europe/Zurich")),
        "day": [dt.date(2024, 1, 15), None, dt.date(2024, 7, 1)],
        "clock": [dt.time(10), None, dt.time(23, 59)],
        "text": ["2024-01-15", "b", "c"],
    }
    return gquery.from_arrow(vertices={"P": columns}, edges={})


GRAPH = _graph()


def _ids(condition: str, **parameters: Any) -> list[int]:
    return [row[0] for row in GRAPH.query(f"MATCH (a:P) WHERE {condition} RETURN a.id", parameters).rows()]


FIELDS: list[tuple[str, Any, Any]] = [
    ("a.east.hour", 0, 13), ("a.named.hour", 0, 14), ("a.west.hour", 18, 6), ("a.naive.hour", 23, 12),
    ("a.east.day", 15, 1), ("a.west.minute", 0, 30), ("a.named.dayOfWeek", 1, 1), ("a.zoned_nano.hour", 0, 1),
    ("date(a.east)", dt.date(2024, 1, 15), dt.date(2024, 7, 1)), ("a.clock.hour", 10, 23),
    ("date(a.west)", dt.date(2024, 1, 14), dt.date(2024, 7, 1)), ("datetime(a.named).hour", 0, 14),
    ("date(a.naive)", dt.date(2024, 1, 14), dt.date(2024, 7, 1)), ("datetime(a.day).hour", 0, 0),
    ("toString(a.east)", "2024-01-15T00:30:00+01:00", "2024-07-01T13:00:00.000005+01:00"),
    ("toString(a.named)", "2024-01-15T00:30:00+01:00[Europe/Zurich]",
     "2024-07-01T14:00:00.000005+02:00[Europe/Zurich]"),
    ("head([a.named]).hour", 0, 14), ("coalesce(a.named, a.named).hour", 0, 14),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "winter", "summer"), FIELDS, ids=[case[0] for case in FIELDS])
def test_a_zone_is_the_columns_own(expression: str, winter: Any, summer: Any) -> None:
    rows = GRAPH.query(f"MATCH (a:P) RETURN {expression} AS value").rows()
    assert [row[0] for row in rows] == [winter, None, summer]


def test_a_zone_stays_with_its_values() -> None:
    (row,) = GRAPH.query("MATCH (a:P) RETURN min(a.named) AS least, max(a.east) AS most").rows()
    assert row["least"].tzinfo == ZURICH
    assert row["least"].hour == 0
    assert row["most"].utcoffset() == dt.timedelta(hours=1)
    rows = GRAPH.query("MATCH (a:P), (b:P) WHERE a.east = b.naive AND a.named = b.west RETURN a.id, b.id").rows()
    assert [tuple(row) for row in rows] == [(1, 1), (3, 3)]


def test_an_offset_in_the_text_stays() -> None:
    value = value_of("datetime('2020-01-01T10:00:00+02:00')")
    assert value == dt.datetime(2020, 1, 1, 8, tzinfo=dt.UTC)
    assert value.utcoffset() == dt.timedelta(hours=2)
    assert value_of("datetime('2020-01-01T10:00:00+02:00').hour") == 10
    assert value_of("toString(datetime('2020-01-01T10:00:00-05:30'))") == "2020-01-01T10:00:00-05:30"
    assert value_of("toString(datetime('2020-01-01T10:00:00Z'))") == "2020-01-01T10:00:00Z"
    assert value_of("date(datetime('2020-01-01T23:00:00-05:00'))") == dt.date(2020, 1, 1)
    assert value_of("datetime('2020-01-01T10:00+02:00') = datetime('2020-01-01T08:00Z')") is True
    assert value_of("datetime('2020-01-01T10:00+02:00') = datetime('2020-01-01T08:00')") is True
    assert value_of("datetime('2020-01-01T10:00+02:00') < datetime('2020-01-01T08:01Z')") is True


def test_an_offset_of_a_parameter_is_seen_anew_each_time() -> None:
    graph = gquery.from_arrow(vertices={"P": {"id": [1]}}, edges={})
    for offset, hours in (("+02:00", 2), ("-05:00", -5), ("Z", 0)):
        text = f"2020-01-01T10:00{offset}"
        (row,) = graph.query("RETURN datetime($p).hour AS h, datetime($p) AS d", {"p": text}).rows()
        assert row["h"] == 10
        assert row["d"].utcoffset() == dt.timedelta(hours=hours)
    assert graph.query("RETURN datetime($p) AS d", {"p": "2020-01-01T10:00"}).scalar() == dt.datetime(
        2020, 1, 1, 10, tzinfo=dt.UTC
    )
    for zone in (ZURICH, dt.timezone(dt.timedelta(hours=-3)), dt.UTC):
        moment = dt.datetime(2020, 7, 1, 10, tzinfo=zone)
        assert graph.query("RETURN $p.hour AS h", {"p": moment}).scalar() == 10
        assert graph.query("RETURN $p AS d", {"p": moment}).scalar().utcoffset() == moment.utcoffset()


def test_an_offset_of_seconds_is_refused() -> None:
    odd = dt.datetime(2024, 1, 1, tzinfo=dt.timezone(dt.timedelta(seconds=20)))
    with pytest.raises(gquery.UnsupportedError, match="no points in time at an offset from UTC with seconds"):
        GRAPH.query("RETURN $d", {"d": odd})


def test_an_offset_of_a_computed_text_is_refused() -> None:
    for text in ("2020-01-01T10:00:00+02:00", "2020-01-01 10:00-00:30", "2020-01-01 10:00 Europe/Zurich"):
        with pytest.raises(ExecutionError, match=r"cannot keep its offset|is no point in time"):
            value_of("datetime($p + '')", {"p": text})
    for text in ("2020-01-01T10:00:00Z", "2020-01-01T10:00:00", "2020-01-01T10:00+00:00", "2020-01-01 10:00+00"):
        assert value_of("datetime($p + '')", {"p": text}) == dt.datetime(2020, 1, 1, 10, tzinfo=dt.UTC)


def test_nanoseconds_are_microseconds_in_python_and_exact_in_arrow() -> None:
    result = GRAPH.query("MATCH (a:P) RETURN a.nano AS n, a.zoned_nano AS z, [a.nano] AS l, {x: a.nano} AS m, a AS a")
    first = result.rows()[0]
    assert type(first["n"]) is dt.datetime
    assert first["n"] == first["l"][0] == first["m"]["x"] == first["a"]["nano"] == dt.datetime(2024, 1, 14, 23, 30)
    assert first["z"] == WINTER
    assert first["z"].tzinfo == ZURICH
    assert result.to_arrow()["n"].cast(pa.int64()).to_pylist() == [1705275000_000000123, None, -1]
    assert _ids("a.nano = '2024-01-14T23:30:00.000000123'") == [1]
    assert _ids("a.nano = '2024-01-14T23:30:00'") == []
    clocks = pa.array([1, None]).cast(pa.time64("ns"))
    rows = gquery.from_arrow(vertices={"P": {"id": [1, 2], "t": clocks}}, edges={}).query("MATCH (a) RETURN a.t").rows()
    assert [row[0] for row in rows] == [dt.time(0), None]


@pytest.mark.parametrize("wanted", ["a.far", "a.zoned", "a.ancient", "a.day", "[a.far]", "{k: a.day}", "a"])
def test_years_beyond_pythons_are_an_error_of_ours(wanted: str) -> None:
    most = {"far": pa.timestamp("us"), "zoned": pa.timestamp("us", "+01:00")}
    columns = {name: pa.array([2**62], arrow) for name, arrow in most.items()}
    columns |= {"ancient": pa.array([-(2**62)], pa.timestamp("us")), "day": pa.array([5_000_000], pa.date32())}
    far = gquery.from_arrow(vertices={"A": pa.table({"id": [1], **columns})}, edges={})
    with pytest.raises(gquery.ExecutionError, match=r"outside of Python's years, 1 to 9999[\s\S]*to_arrow\(\)"):
        far.query(f"MATCH (a) RETURN {wanted}").rows()
    assert far.query(f"MATCH (a) RETURN {wanted}").to_arrow().num_rows == 1
    assert far.query("MATCH (a) RETURN toString(a.day)").rows() == [("+15659-07-15",)]


UNITS = {
    "nano": pa.array([1_700_000_000_123_456_789, None, -1], pa.timestamp("ns")),
    "zoned_nano": pa.array([1_700_000_000_123_456_789, 7, -1], pa.timestamp("ns", "+01:00")),
    "micro": pa.array([1_700_000_000_123_456, None, 0], pa.timestamp("us")),
    "zoned": pa.array([1_700_000_000_123_457, 5, None], pa.timestamp("us", "Europe/Zurich")),
    "second": pa.array([1_700_000_001, None, 5], pa.timestamp("s")),
    "far": pa.array([253_402_300_799_000_000, None, 0], pa.timestamp("us")),  # beyond what nanoseconds reach
    "clock_nano": pa.array([36_000_000_000_001, None, 5], pa.time64("ns")),
    "clock": pa.array([36_000_000_000, 7, None], pa.time64("us")),
    "length": pa.array([(14, 3, 4_500_000_000), None, (-1, 0, 90 * 60 * 10**9)], pa.month_day_nano_interval()),
    "short": pa.array([4_500_000, None, 0], pa.duration("us")),
}
FINE = gquery.from_arrow(vertices={"P": pa.table({"id": [1, 2, 3], **UNITS})}, edges={})
POINTS, CLOCKS = ("nano", "zoned_nano", "micro", "zoned", "second", "far"), ("clock_nano", "clock")


def _order(column: str, row: int) -> int | None:
    """What a point in time or a time of the day compares by, in nanoseconds."""
    value = UNITS[column].cast(pa.int64())[row].as_py()
    return None if value is None else value * {"s": 10**9, "us": 1000, "ns": 1}[UNITS[column].type.unit]


@pytest.mark.parametrize("one", [*POINTS, *CLOCKS])
@pytest.mark.parametrize("how", ["RETURN a.{0} {2} b.{1}", "WHERE a.{0} {2} b.{1} RETURN true"])
def test_units_and_zones_beside_each_other(one: str, how: str) -> None:
    """They are compared exactly, in the years that only one of them reaches too."""
    signs = {"=": int.__eq__, "<>": int.__ne__, "<": int.__lt__, ">=": int.__ge__}
    for other in POINTS if one in POINTS else CLOCKS:
        for sign, holds in signs.items():
            text = f"MATCH (a {{id: $x}}) MATCH (b {{id: $y}}) {how.format(one, other, sign)}"
            for x, y in ((0, 0), (0, 2), (2, 2), (1, 0)):
                left, right = _order(one, x), _order(other, y)
                found = None if left is None or right is None else holds(left, right)
                expected = [(found,)] if "WHERE" not in how or found else []
                assert FINE.query(text, {"x": x + 1, "y": y + 1}).rows() == expected, (other, sign, x, y)


@pytest.mark.parametrize(("one", "other"), [("nano", "zoned_nano"), ("zoned_nano", "zoned"), ("zoned", "nano"),
                                            ("micro", "zoned_nano"), ("micro", "nano")])  # fmt: skip
@pytest.mark.parametrize("how", ["coalesce(a.{0}, a.{1})", "CASE WHEN a.{0} IS NOT NULL THEN a.{0} ELSE a.{1} END",
                                 "head([a.{0}, a.{1}])", "head([a.{0}] + a.{1})"])  # fmt: skip
def test_units_and_zones_in_one_value(one: str, other: str, how: str) -> None:
    found = FINE.query(f"MATCH (a) RETURN {how.format(one, other)} AS x").to_arrow()["x"].cast(pa.int64()).to_pylist()
    first = [_order(one, row) for row in range(3)]
    second = [_order(other, row) for row in range(3)]
    if "+" in how:  # a list and null are null
        assert found == [None if right is None else left for left, right in zip(first, second, strict=True)]
    else:
        kept = zip(first, second, strict=True) if "head" not in how else ((each, None) for each in first)
        assert found == [left if left is not None else right for left, right in kept]


@pytest.mark.filterwarnings("ignore::gquery.QueryWarning")
@pytest.mark.parametrize("condition", ["a.nano IN [a.zoned, a.zoned_nano]", "a.clock_nano IN [a.clock, $time]",
                                       "a.zoned_nano IN $points", "CASE a.nano WHEN a.micro THEN false ELSE true END",
                                       "NOT a.clock IN [a.nano, a.zoned]", "a.zoned_nano < $text"])  # fmt: skip
def test_lists_of_units_and_zones(condition: str) -> None:
    """Nothing that only DuckDB would refuse."""
    given = {"time": dt.time(10), "points": [dt.datetime(2024, 1, 1)], "text": "2024-01-15T00:00:00.123456789+05:00"}
    wanted = {name: value for name, value in given.items() if f"${name}" in condition}
    assert FINE.query(f"MATCH (a) RETURN {condition} AS x", wanted).to_arrow().num_rows == 3


@pytest.mark.parametrize("how", ["coalesce(a.far, a.nano)", "CASE WHEN true THEN a.far ELSE a.nano END",
                                 "[a.nano, a.far]", "collect(a.nano) + collect(a.far)"])  # fmt: skip
def test_years_that_nanoseconds_do_not_reach_are_named(how: str) -> None:
    with pytest.raises(gquery.ExecutionError, match="beside nanoseconds there are points in time from 1677 to 2262"):
        FINE.query(f"MATCH (a) RETURN {how} AS x").rows()


def test_nanoseconds_do_not_round_up() -> None:
    """Neither by an offset nor where a field or the date is asked for."""
    columns = {
        "there": pa.array([1_704_063_599_999_999_999], pa.timestamp("ns", "+01:00")),
        "here": pa.array([1_704_067_199_999_999_999], pa.timestamp("ns")),
        "before": pa.array([-1], pa.timestamp("ns")),
        "clock": pa.array([36_059_999_999_999], pa.time64("ns")),
    }
    graph = gquery.from_arrow(vertices={"P": pa.table({"id": [1], **columns})}, edges={})
    assert graph.query("MATCH (a) RETURN a.there.year, toString(a.there), date(a.there)").rows() == [
        (2023, "2023-12-31T23:59:59.999999999+01:00", dt.date(2023, 12, 31))
    ]
    rows = graph.query("MATCH (a) RETURN a.here.year, date(a.here), date(a.before), a.before.second, a.clock.minute")
    assert rows.rows() == [(2023, dt.date(2023, 12, 31), dt.date(1969, 12, 31), 59, 0)]


@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo"])
@pytest.mark.parametrize("unit", ["us", "ms"])
def test_parts_of_seconds_of_years_that_nanoseconds_do_not_reach(unit: str, zone: str | None) -> None:
    far = [dt.datetime(1500, 1, 1, 12, 0, 0, 7000), dt.datetime(9999, 12, 31, 12, 0, 0, 999000)]
    table = pa.table({"id": [1, 2], "t": pa.array(far, pa.timestamp(unit, zone))})
    graph = gquery.from_arrow(vertices={"P": table}, edges={})
    rows = graph.query("MATCH (a) RETURN a.t.millisecond, a.t.microsecond, a.t.nanosecond ORDER BY a.id").rows()
    assert rows == [(7, 7000, 7_000_000), (999, 999_000, 999_000_000)]


def test_durations_between_vertices() -> None:
    assert FINE.query("MATCH (a), (b) WHERE a.length = b.length RETURN a.id ORDER BY a.id").rows() == [(1,), (3,)]
    assert FINE.query("MATCH (a), (b) WHERE a.short < b.length RETURN a.id, b.id").rows() == [(1, 1), (3, 1)]


def test_durations_as_text_are_iso_8601() -> None:
    """In Python and Arrow they are intervals; whatever has none has text."""
    texts = ["P1Y2M3DT4.5S", None, "P-1MT1H30M"]
    assert [row[0] for row in FINE.query("MATCH (a) RETURN toString(a.length)").rows()] == texts
    result = FINE.query("MATCH (a) RETURN a.length AS x, [a.length] AS l, a")
    assert result.to_polars()["x"].to_list() == texts
    written = {}
    for name in ("csv", "json", "parquet"):
        sink = io.BytesIO()
        result.write_to(sink, name)
        written[name] = sink.getvalue()
    assert parquet.read_table(io.BytesIO(written["parquet"]))["l"].to_pylist() == [[text] for text in texts]
    assert written["csv"].splitlines()[1].startswith(b'"P1Y2M3DT4.5S","[""P1Y2M3DT4.5S""]"')
    last = json.loads(written["json"].splitlines()[2])
    assert (last["x"], last["l"], last["a"]["properties"]["length"]) == ("P-1MT1H30M", ["P-1MT1H30M"], "P-1MT1H30M")


def test_the_machines_own_zone_is_nobodys() -> None:
    code = (
        "import datetime as dt, gquery, pyarrow as pa\n"
        "moment = dt.datetime(2024, 1, 14, 23, 30)\n"
        "zoned = pa.array([moment], pa.timestamp('us')).cast(pa.timestamp('us', 'Asia/Tokyo'))\n"
        "columns = {'id': [1], 'naive': [moment], 'zoned': zoned, 'day': [dt.date(2024, 1, 15)]}\n"
        "g = gquery.from_arrow(vertices={'P': columns}, edges={})\n"
        "text = 'MATCH (a) WHERE a.naive = a.zoned RETURN a.naive = a.zoned, date(a.zoned) = a.day, '\n"
        "text += 'toString(a.zoned)'\n"
        "print(*g.query(text).rows()[0])\n"
    )
    there = os.environ | {"TZ": "America/New_York"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=there)
    assert done.stdout.strip() == "True True 2024-01-15T08:30:00+09:00[Asia/Tokyo]", done.stderr


def test_nanoseconds_need_no_pandas() -> None:
    code = (
        "import sys\n"
        "class NoPandas:\n"
        "    def find_spec(name, path, target=None):\n"
        "        if name == 'pandas': raise ImportError\n"
        "sys.meta_path.insert(0, NoPandas)\n"
        "import gquery, pyarrow as pa\n"
        "times = pa.array([123456789]).cast(pa.timestamp('ns'))\n"
        "g = gquery.from_arrow(vertices={'P': {'id': [1], 't': times}}, edges={})\n"
        "print(g.query('MATCH (a) RETURN a.t').rows()[0][0].microsecond)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "123456"


@pytest.mark.parametrize("shown", ["{}", "[{}, 5]", "{{key: {}}}", "CASE WHEN a.t IS NOT NULL THEN {{key: {}}} END"])
def test_nanoseconds_beside_other_types_are_microseconds_in_python(shown: str) -> None:
    tables = {
        "P": {"id": [1, 2], "t": pa.array([123456789, None]).cast(pa.timestamp("ns"))},
        "Q": {"id": [3, 4], "t": ["x", None]},
    }
    graph = gquery.from_arrow(vertices=tables, edges={})
    rows = graph.query(f"MATCH (a) RETURN {shown.format('a.t')} AS x ORDER BY a.id").rows()
    values = [x.get("key") if isinstance(x, dict) else x[0] if isinstance(x, list) else x for (x,) in rows]
    assert values == [dt.datetime(1970, 1, 1, 0, 0, 0, 123456), None, "x", None]
    assert type(values[0]) is dt.datetime


TEXTS: list[tuple[str, list[int]]] = [
    ("a.day > '2024-01-15'", [3]), ("a.day >= '2024-01-15'", [1, 3]), ("'2024-01-15' = a.day", [1]),
    ("a.day <> '2024-01-15'", [3]), ("a.day IN ['2024-01-15', '2023-01-01']", [1]),
    ("a.day IN ['2024-01-15', null]", [1]),
    ("'2024-01-15' IN [a.day]", [1]), ("'2024-01-01' < a.day < '2024-02-01'", [1]), ("a.clock < '12:00'", [1]),
    ("a.clock = '23:59:00'", [3]), ("a.naive = '2024-01-14T23:30'", [1]), ("a.naive = '2024-01-15T00:30+01:00'", [1]),
    ("a.naive >= '2024-07-01'", [3]), ("a.named = '2024-01-15 00:30'", [1]), ("a.named < '2024-01-15'", []),
    ("a.west < '2024-01-15'", [1]), ("a.named = '2024-01-14T23:30Z'", [1]),
    ("a.named IN ['2024-01-15T00:30', '2024-07-01T12:00:00.000005Z']", [1, 3]), ("a.east > '2024-01-15'", [1, 3]),
    ("CASE a.day WHEN '2024-07-01' THEN true END", [3]), ("NOT a.day = '2024-07-01'", [1]),
    ("a.text = '2024-01-15'", [1]),
    ("[a.day] = ['2024-01-15']", [1]),
    ("a.naive = '2024-01-14T23:30:00.000000001'", []), ("a.naive < '2024-01-14T23:30:00.000000001'", [1]),
    ("a.clock = '23:59:00.000000001'", []), ("a.nano > '1500-01-01'", [1, 3]),
    ("a.named = '2024-01-14T23:30:00.000000001Z'", []),
    ("a.day = date('2024-01-15')", [1]), ("date('2024-07-01') = '2024-07-01' AND a.id = 1", [1]),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "expected"), TEXTS, ids=[case[0] for case in TEXTS])
def test_texts_beside_times_are_read(condition: str, expected: list[int]) -> None:
    assert _ids(condition) == expected


def test_parameters_beside_times_are_read() -> None:
    assert _ids("a.day = $p", p="2024-01-15") == [1]
    assert _ids("a.day IN $p", p=["2024-01-15", None, "2024-07-01"]) == [1, 3]
    assert _ids("a.day IN $p", p=np.array(["2024-01-15", "2024-07-01"])) == [1, 3]
    assert _ids("a.day IN $p", p=pa.array(["2024-07-01", None])) == [3]
    assert _ids("a.named IN $p", p=["2024-01-15T00:30"]) == [1]
    assert _ids("a.naive IN $p", p=["2024-01-15T00:30+01:00"]) == [1]
    assert _ids("a.day > $p.since", p={"since": "2024-06-01"}) == [3]
    assert _ids("a.day = $p", p=None) == []
    for pattern in ("(a:P {day: '2024-07-01'})", "(a:P {day: $day})", "(a:P $map)"):
        given = {"day": "2024-07-01", "map": {"day": "2024-07-01"}}
        assert [row[0] for row in GRAPH.query(f"MATCH {pattern} RETURN a.id", given).rows()] == [3]


def test_a_text_that_has_a_name_is_read_nowhere() -> None:
    """Neither behind WITH nor in its own conditions, whether it was written or given."""
    for text in ("$t", "'2024-01-15'", "$m.t"):
        for rest in ("WHERE t <> d RETURN count(*)", "RETURN sum(CASE WHEN t <> d THEN 1 END)"):
            given = {"t": "2024-01-15", "m": {"t": "2024-01-15"}}
            asked = f"UNWIND [date('2024-01-15')] AS d WITH {text} AS t, d {rest}"
            assert GRAPH.query(asked, given).scalar() == 1, asked


WRONG = [
    ("a.day = 'yesterday'", "'yesterday' is no date", "'2024-01-15'"), ("a.day = '2024-02-30'", "date", "'2024"),
    ("a.day = '2024-01-15T10:00'", "no date", "'2024"), ("a.naive > '15.01.2024'", "no point in time", "T10:00"),
    ("a.clock = 'noon'", "no time of the day", "'10:00:00'"), ("a.day IN ['2024-01-15', 'x']", "'x' is no", "2024"),
    ("a.day IN $list", "'n/a' is no date", "2024"), ("a.day < $text", "'n/a' is no date", "2024"),
    ("a.day = ''", "'' is no date", "2024"), ("a.naive = '2024-01-15T25:00'", "no point in time", "T10:00"),
    ("a.naive > '2024-01-15T10:00+25:00'", "no point in time", "T10"), ("a.clock < '24:00'", "no time", "10:00:00"),
    ("a.naive = '1500-01-01T00:00:00.000000001'", "no point in time", "T10"),
    ("a.named IN $mixed", "some of these texts have an offset", "offset"),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "message", "hint"), WRONG, ids=[case[0] for case in WRONG])
def test_texts_that_are_no_times_are_errors(condition: str, message: str, hint: str) -> None:
    given = {"text": "n/a", "list": ["2024-01-15", "n/a"], "mixed": ["2024-01-15T00:30", "2024-01-15T00:30Z"]}
    with pytest.raises(BindError, match=message) as raised:
        GRAPH.query(f"MATCH (a:P) WHERE {condition} RETURN a.id", given)
    assert raised.value.span is not None
    assert hint in (raised.value.hint or "")


def test_a_text_is_judged_anew_when_a_query_is_asked_again() -> None:
    assert _ids("a.day = $again", again="2024-01-15") == [1]
    with pytest.raises(BindError, match="'n/a' is no date"):
        _ids("a.day = $again", again="n/a")
    assert _ids("a.day = $again", again="2024-07-01") == [3]


@pytest.mark.filterwarnings("ignore::gquery.QueryWarning")
def test_a_date_is_no_point_in_time() -> None:
    assert value_of("date('2020-01-01') = datetime('2020-01-01T00:00:00')") is False
    assert value_of("date('2020-01-01') <> datetime('2020-01-01T00:00:00')") is True
    assert value_of("date('2020-01-01') < datetime('2020-01-02T00:00:00')") is None
    assert _ids("a.day < datetime('2024-12-31T00:00:00')") == []
    assert _ids("datetime(a.day) < datetime('2024-12-31T00:00:00')") == [1, 3]
