"""Every Arrow type that an answer can have comes out of both doors as it is, whole, sliced and with nulls."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import gquery
from tests.integrations.doors import needs_native, opened

UTC = dt.UTC


class Fixed:
    """Stands for a graph: whatever is asked, the answer is this table."""

    expected_rows = None

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self.schema = table.schema

    def query(self, text: str, parameters: Mapping[str, Any] | None = None) -> Fixed:
        return self

    def reader(self) -> pa.RecordBatchReader:
        return self.table.to_reader(max_chunksize=3 if len(self.table) < 100 else 300)

    def cancel(self) -> None:
        pass


STRUCT = pa.struct([('a"b', pa.int64()), ("c", pa.list_(pa.string()))])
DECIMALS = pa.list_(pa.struct([("d", pa.decimal128(20, 10))]))
VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "booleans": (pa.bool_(), [True, None, False]),
    "int8": (pa.int8(), [-128, None, 127]),
    "int64": (pa.int64(), [-(2**63), None, 2**63 - 1]),
    "uint64": (pa.uint64(), [0, None, 2**64 - 1]),
    "float32": (pa.float32(), [0.5, None, -0.0]),
    "float64": (pa.float64(), [1e308, None, float("inf")]),
    "texts": (pa.string(), ["", None, "a\0b 'ü\" \\ 😀 " + "x" * 40]),
    "large texts": (pa.large_string(), ["", None, "abc"]),
    "bytes": (pa.binary(), [b"", None, b"\x00\xff'\\x41\""]),
    "decimal 4": (pa.decimal128(4, 2), [Decimal("-12.34"), None, Decimal("0.01")]),
    "decimal 9": (pa.decimal128(9, 2), [Decimal("1234567.89"), None, Decimal("-0.01")]),
    "decimal 18": (pa.decimal128(18, 0), [Decimal(10**18 - 1), None, Decimal(-(10**18) + 1)]),
    "decimal 38": (pa.decimal128(38, 20), [Decimal("12345678901234.56789012345678901234"), None, Decimal("-1E-20")]),
    "dates": (pa.date32(), [dt.date(1, 1, 1), None, dt.date(9999, 12, 31)]),
    "times": (pa.time64("us"), [dt.time(0), None, dt.time(23, 59, 59, 999_999)]),
    "timestamps": (pa.timestamp("us"), [dt.datetime(1, 1, 1), None, dt.datetime(2024, 2, 29, 1, 2, 3, 456_789)]),
    "seconds": (pa.timestamp("s"), [dt.datetime(1969, 1, 1), None, dt.datetime(2024, 2, 29, 1, 2, 3)]),
    "durations": (pa.duration("us"), [dt.timedelta(days=-400, microseconds=1), None, dt.timedelta(0)]),
    "lists": (pa.list_(pa.int64()), [[1, None], None, []]),
    "large lists": (pa.large_list(pa.string()), [["a", None], None, []]),
    "structs": (STRUCT, [{'a"b': None, "c": ["x"]}, None, {'a"b': 1, "c": []}]),
    "nested decimals": (DECIMALS, [[{"d": Decimal("0.123456789")}], None, [None]]),
    "nested bytes": (pa.list_(pa.binary()), [[b"\x00'\\"], None, [None]]),
    "dictionaries": (pa.dictionary(pa.int32(), pa.string()), ["a", None, "b"]),
    "nulls": (pa.null(), [None, None, None]),
}  # fmt: skip


def read(door: str, table: pa.Table) -> list[tuple[Any, ...]]:
    con = opened(door)
    gquery.attach(con, Fixed(table), "g")
    try:
        return con.execute("FROM gquery('g', 'RETURN 1')").fetchall()
    finally:
        con.close()


@pytest.fixture(params=[pytest.param("native", marks=needs_native), "macro"])
def door(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("kind", list(VALUES))
def test_types(door: str, kind: str) -> None:
    arrow, values = VALUES[kind]
    many = values * 1000
    table = pa.table({"a": pa.array(many, arrow), "b": range(len(many))})
    assert read(door, table) == list(zip(many, range(len(many)), strict=True))
    assert read(door, table.slice(1, 7)) == list(zip(many[1:8], range(1, 8), strict=True))


def test_zoned_times_and_nanoseconds(door: str) -> None:
    moment = 1_700_000_000_000_000_001
    table = pa.table(
        {
            "zoned": pa.array([moment // 1000], pa.timestamp("us", "Europe/Berlin")),
            "exact": pa.array([moment], pa.timestamp("ns")),
            "coarse": pa.array([moment], pa.timestamp("ns", "UTC")),  # DuckDB has no zoned nanoseconds: they are cut
        }
    )
    con = opened(door)
    gquery.attach(con, Fixed(table), "g")
    asked = "SELECT epoch_us(zoned), epoch_ns(exact), epoch_us(coarse) FROM gquery('g', 'RETURN 1')"
    assert con.execute(asked).fetchall() == [(moment // 1000, moment, moment // 1000)]


def union() -> pa.Array:
    tags = pa.array([0, 1, 1, 0, 1], pa.int8())
    members = [pa.array([1, None, None, None, None]), pa.array([None, "a", None, None, "z"])]
    return pa.UnionArray.from_sparse(tags, members, ["integer", "string"])


def test_values_of_several_types(door: str) -> None:
    structs = pa.StructArray.from_arrays([union()], ["p"], mask=pa.array([False] * 4 + [True]))
    table = pa.table({"u": union(), "s": structs, "l": pa.ListArray.from_arrays(pa.array([0, 2, 2, 3, 4, 5]), union())})
    rows = [(1, {"p": 1}, [1, "a"]), ("a", {"p": "a"}, []), (None, {"p": None}, [None]), (None, {"p": None}, [None]),
            ("z", None, ["z"])]  # fmt: skip
    assert read(door, table) == rows
    assert read(door, table.slice(1, 3)) == rows[1:4]


def test_values_of_several_types_keep_their_types(door: str) -> None:
    """Those that JSON has no words for, too; a null is of no type."""
    kinds = ["int64", "decimal 38", "bytes", "timestamps", "texts", "lists"]
    members, tags = [], []
    for tag, kind in enumerate(kinds):
        tags += [tag] * 3
        type_, values = VALUES[kind]
        members.append(pa.array([None] * 3 * tag + values + [None] * 3 * (len(kinds) - tag - 1), type_))
    mixed = pa.UnionArray.from_sparse(pa.array(tags, pa.int8()), members, kinds)
    con = opened(door)
    gquery.attach(con, Fixed(pa.table({"u": mixed, "n": range(len(tags))})), "g")
    asked = "SELECT u, u IS NULL, union_tag(u)::VARCHAR FROM gquery('g', 'RETURN 1') ORDER BY n"
    flat = [(kind, value) for kind in kinds for value in VALUES[kind][1]]
    expected = [(value, value is None, None if value is None else kind) for kind, value in flat]
    assert con.execute(asked).fetchall() == expected


def test_a_count_wider_than_was_told() -> None:
    """The columns are told before the query runs; what then does not fit is an error, never another number."""
    answer = Fixed(pa.table({"c": pa.array([Decimal(2**64)], pa.decimal128(38, 0))}))
    answer.schema = pa.schema([("c", pa.int64())])
    for door in ("macro", "native"):
        con = opened(door)
        gquery.attach(con, answer, "g")
        with pytest.raises(duckdb.Error, match="does not fit"):
            con.execute("FROM gquery('g', 'RETURN 1')").fetchall()


def test_random_tables(door: str) -> None:
    """Random values of random types, at random offsets: what comes out is what DuckDB makes of the same Arrow table."""
    dice = random.Random(20_24)
    for _ in range(12):
        kinds = dice.sample([kind for kind in VALUES if kind != "nulls"], 4)
        length = dice.choice([1, 5, 2047, 2048, 2049, 5000])
        columns = {kind: pa.array(dice.choices(VALUES[kind][1], k=length), VALUES[kind][0]) for kind in kinds}
        table = pa.table(columns).slice(dice.randrange(length))
        con = duckdb.connect()
        con.register("expected", table)
        assert read(door, table) == con.execute("FROM expected").fetchall(), kinds


def test_elements_keep_their_types_over_several_labels(door: str) -> None:
    tables = {"P": {"id": [1], "x": [5]}, "Q": {"id": ["a"], "x": ["t"]}}
    con = opened(door)
    gquery.attach(con, gquery.from_arrow(tables, {("P", "E", "Q"): {"source": [1], "target": ["a"]}}), "g")
    assert con.execute("SELECT x FROM gquery('g', 'MATCH (a) RETURN a.x AS x') ORDER BY x::VARCHAR").fetchall() == [
        (5,),
        ("t",),
    ]
    found = con.execute("SELECT a.properties.x FROM gquery('g', 'MATCH (a:P) RETURN a')").fetchall()
    assert found == [(5,)]
