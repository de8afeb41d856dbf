"""Values of SQL as query parameters through both doors: the right value, or a refusal by name."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from gquery.integrations.duckdb.parameters import leaf
from tests.integrations.doors import answer_or_error, connection, graph

__all__ = ["connection", "graph"]

UTC = datetime.UTC

RIGHT: list[tuple[str, Any]] = [
    ("5::TINYINT", 5),
    ("(-9223372036854775808)::BIGINT", -(2**63)),
    ("9223372036854775807::HUGEINT", 2**63 - 1),
    ("9223372036854775807::UBIGINT", 2**63 - 1),
    ("1.5::DOUBLE", 1.5),
    ("1e308::DOUBLE", 1e308),
    ("0.1::FLOAT", 0.10000000149011612),
    ("true", True),
    ("NULL", None),
    ("'it''s \"ü\" \\ 😀'", 'it\'s "ü" \\ 😀'),
    ("''", ""),
    ("'a'::ENUM('a', 'b')", "a"),
    ("'6ba7b810-9dad-11d1-80b4-00c04fd430c8'::UUID", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
    ("DATE '2024-02-29'", datetime.date(2024, 2, 29)),
    ("TIME '10:20:30.5'", datetime.time(10, 20, 30, 500_000)),
    ("TIMESTAMP '2024-02-29 10:20:30.123456'", datetime.datetime(2024, 2, 29, 10, 20, 30, 123456)),
    ("TIMESTAMP_S '2024-02-29 10:20:30'", datetime.datetime(2024, 2, 29, 10, 20, 30)),
    ("'\\x00a\\xFF\\x5C'::BLOB", b"\x00a\xff\\"),
    ("[1, NULL, 3]", [1, None, 3]),
    ("[1, NULL, 3]::INTEGER[3]", [1, None, 3]),
    ("[[1, 2], [3, NULL]]::INTEGER[2][2]", [[1, 2], [3, None]]),
    ("{'a': ['x', 'y, ''z', NULL]::VARCHAR[3]}", {"a": ["x", "y, 'z", None]}),
    ("array_value('\\xFF'::BLOB)", [b"\xff"]),
    ("{'a': [1, 2], 'b': {'c': 'x'}}", {"a": [1, 2], "b": {"c": "x"}}),
    ("MAP {'a': 1}", {"a": 1}),
]

REFUSED = {
    "'a' || chr(0) || 'b'": None,  # the macro door brings it, the native one refuses it by name
    "'101'::BIT": "BIT",
    "union_value(a := 1)": "UNION",
    "TIMESTAMP 'infinity'": "TIMESTAMP",
    "TIMESTAMP '290000-01-01 00:00:00'": "TIMESTAMP",
    "DATE '0044-03-15 (BC)'": "DATE",
    "TIMESTAMP_NS '2024-02-29 00:00:00.123456789'": "nanoseconds",
    "170141183460469231731687303715884105727::HUGEINT": "64 bits",
    "json('{\"a\": 1}')": "JSON",
    "{'k': 1}::VARIANT": "VARIANT|109|value of type",
}


@pytest.mark.parametrize(("sql", "value"), RIGHT)
def test_right_values(connection: duckdb.DuckDBPyConnection, sql: str, value: Any) -> None:
    asked = f"FROM gquery('social', 'RETURN $x AS x', params := {{'x': {sql}, 'other': 1}})"
    found = connection.execute(asked).fetchall()
    assert found == [(value,)]
    assert type(found[0][0]) is type(value)


@pytest.mark.parametrize("sql", list(REFUSED))
def test_refusals(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    asked = f"FROM gquery('social', 'RETURN $x AS x', params := {{'x': {sql}}})"
    found, error = answer_or_error(connection, asked)
    if found is not None:
        assert REFUSED[sql] is None
        assert found == [("a\0b",)]
    else:
        assert any(word in error for word in (REFUSED[sql] or "NUL").split("|")), error
    assert connection.execute("FROM gquery('social', 'RETURN 1 AS x')").fetchall() == [(1,)]


def test_an_interval_keeps_its_parts(connection: duckdb.DuckDBPyConnection) -> None:
    """Days and time were made one, and those with months were refused."""
    interval = "INTERVAL '14 months -3 days 1.5 seconds'"
    asked = f"FROM gquery('social', 'RETURN toString($x) AS x', params := {{'x': {interval}}})"
    assert connection.execute(asked).fetchall() == [("P1Y2M-3DT1.5S",)]


def test_nul_in_json_text(connection: duckdb.DuckDBPyConnection) -> None:
    asked = """FROM gquery('social', 'RETURN $x AS x', params := '{"x": "a\\u0000b"}')"""
    assert connection.execute(asked).fetchall() == [("a\0b",)]


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("INTERVAL", "2 days 01:02:03.5", pa.MonthDayNano([0, 2, 3_723_500_000_000])),
        ("INTERVAL", "1 year -2 months -1 days 00:00:01", pa.MonthDayNano([10, -1, 10**9])),
        ("INTERVAL", "-1 days -00:00:01", pa.MonthDayNano([0, -1, -(10**9)])),
        ("INTERVAL", "-26:00:00", pa.MonthDayNano([0, 0, -26 * 3600 * 10**9])),
        ("INTERVAL", "00:00:00", pa.MonthDayNano([0, 0, 0])),
        ("DECIMAL", "1.23456789012345678901234567890", Decimal("1.23456789012345678901234567890")),
        ("TIMESTAMP WITH TIME ZONE", "2024-01-01 10:00:00+00", datetime.datetime(2024, 1, 1, 10, tzinfo=UTC)),
        ("TIMESTAMP WITH TIME ZONE", "2024-01-01 10:00:00.5+00", datetime.datetime(2024, 1, 1, 10, 0, 0, 500_000, UTC)),
        ("TIMESTAMP_NS", "2024-01-01 10:00:00.123456", datetime.datetime(2024, 1, 1, 10, 0, 0, 123456)),
        ("TIMESTAMP_NS", "2024-01-01 10:00:00.123456000", datetime.datetime(2024, 1, 1, 10, 0, 0, 123456)),
        ("DOUBLE", "-inf", float("-inf")),
        ("FLOAT", "0.1", 0.10000000149011612),
        ("NULL", "NULL", None),
    ],
)  # fmt: skip
def test_leaves(kind: str, text: str, value: object) -> None:
    assert leaf(kind, text) == value
