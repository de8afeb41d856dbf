"""Decimals stay decimals, and numbers of unlike types compare by what they are."""

from __future__ import annotations

import functools
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import gquery

TWO_53 = 2**53


@functools.cache
def graph() -> gquery.Graph:
    """`m` is an amount of money, `wide` too large for a float, `other` of another scale."""
    accounts = pa.table(
        {
            "id": [1, 2, 3],
            "m": pa.array([Decimal("10.50"), Decimal("0.10"), Decimal("0.20")], pa.decimal128(10, 2)),
            "wide": pa.array([Decimal(TWO_53), Decimal(TWO_53 + 1), None], pa.decimal128(18, 0)),
            "other": pa.array([Decimal("0.100"), Decimal("10.500"), Decimal("0.201")], pa.decimal128(12, 3)),
            "f": pa.array([0.1, float(TWO_53), float("nan")]),
            "i": pa.array([TWO_53 + 1, -(2**63), 10]),
        }
    )
    return gquery.from_arrow(vertices={"A": accounts}, edges={("A", "TO", "A"): {"source": [1], "target": [2]}})


def ask(text: str, **parameters: Any) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in graph().query(text, parameters).rows()]


def test_every_amount_is_found() -> None:
    cents = pa.array([Decimal(cent).scaleb(-2) for cent in range(1, 10_001)], pa.decimal128(5, 2))
    amounts = gquery.from_arrow(vertices={"P": pa.table({"id": range(1, 10_001), "dec": cents})}, edges={})
    for cent in (1, 57, 70, 113, 201, 929, 3_301, 10_000):
        text = f"{cent / 100:.2f}"
        for condition, given in (
            (f"p.dec = {text}", None), (f"p.dec IN [{text}]", None), (f"{text} = p.dec", None),
            ("p.dec = $x", float(text)), ("p.dec = $x", Decimal(text)), ("p.dec IN $x", [float(text)]),
            (f"NOT p.dec <> {text}", None), (f"p.dec + 0 = {text}", None),
            (f"p.dec >= {text} AND p.dec <= {text}", None),
        ):  # fmt: skip
            found = amounts.query(f"MATCH (p:P) WHERE {condition} RETURN p.id", {"x": given} if given else {})
            assert [tuple(row) for row in found.rows()] == [(cent,)], condition
        assert amounts.query(f"MATCH (p:P {{dec: {text}}}) RETURN p.id").scalar() == cent


def test_a_percentile_is_one_of_the_decimals() -> None:
    amounts = [Decimal("99999999999999.9999"), Decimal("0.1")]
    text = "UNWIND $l AS x RETURN percentileDisc(x, 1.0) AS most, percentileCont(x, 0.0) AS least"
    assert ask(text, l=amounts) == [(amounts[0], 0.1)]
    assert ask("MATCH (a) RETURN percentileDisc(a.wide, 1)") == [(TWO_53 + 1,)]


def test_decimals_of_all_digits_are_compared() -> None:
    least = Decimal("-9999999999999999999999999999.9999999999")
    pair = [{"x": least, "y": Decimal(10) ** 37}, {"x": -least, "y": Decimal(-1)}]
    shown = "r.x < r.y AS less, r.x > r.y AS more, r.x = r.y AS same"
    assert ask(f"UNWIND $rows AS r RETURN {shown}", rows=pair) == [(True, False, False), (False, True, False)]


def test_what_floats_would_merge_stays_apart() -> None:
    apart = [(TWO_53,), (TWO_53 + 1,), (None,)]
    assert sorted(ask("MATCH (a) RETURN DISTINCT a.wide"), key=str) == sorted(apart, key=str)
    assert ask("MATCH (a) RETURN a.wide ORDER BY a.wide") == apart
    assert ask("MATCH (a) RETURN a.wide ORDER BY a.wide DESC") == apart[::-1]
    assert sorted(ask("MATCH (a) WHERE a.wide > 0 RETURN a.wide, count(*)")) == [(TWO_53, 1), (TWO_53 + 1, 1)]
    assert ask("MATCH (a) RETURN count(DISTINCT a.wide), max(a.wide), min(a.wide)") == [(2, TWO_53 + 1, TWO_53)]
    assert ask("MATCH (a) RETURN collect(a.wide)") == [([TWO_53, TWO_53 + 1],)]


def test_sums_are_exact() -> None:
    total, least, most = Decimal("10.80"), Decimal("0.10"), Decimal("10.50")
    assert ask("MATCH (a) RETURN sum(a.m), min(a.m), max(a.m)") == [(total, least, most)]
    assert ask("MATCH (a) WHERE a.id > 9 RETURN sum(a.m), avg(a.m)") == [(Decimal("0.00"), None)]
    assert ask("MATCH (a) RETURN sum(DISTINCT a.m), avg(a.m)") == [(total, 3.6)]
    assert ask("MATCH (a), (b) RETURN avg(a.m)") == [(32.4 / 9,)]
    assert ask("MATCH (a), (b) RETURN sum(a.m)") == [(Decimal("32.40"),)]
    assert graph().query("MATCH (a) RETURN sum(a.m) AS s").schema.field("s").type == pa.decimal128(38, 2)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("a.m % 0.3", Decimal("0.00")), ("a.other % a.m", Decimal("0.100")), ("a.m % a.other", Decimal("0.000")),
        ("(a.wide + 0.1) % 7", Decimal("4.1")), ("a.wide % 0.7", Decimal("0.5")),
        ("a.m + 1", Decimal("11.50")), ("a.m - 0.1", Decimal("10.40")), ("a.m * a.m", Decimal("110.2500")),
        ("a.m * 1.19", Decimal("12.4950")),
        ("-3.0 * a.m", Decimal("-31.500")), ("a.m * (2.0 * 0.5)", 10.5), ("coalesce(a.m, 0.5) * 2", 21.0),
        ("-a.m", Decimal("-10.50")), ("abs(-a.m)", Decimal("10.50")),
        ("a.m % 3", Decimal("1.50")), ("a.m / 2", 5.25), ("a.m * a.f", 1.05), ("a.m + a.other", Decimal("10.600")),
        ("sign(a.m)", 1), ("toInteger(a.m)", 10), ("toFloat(a.m)", 10.5), ("toString(a.m)", "10.50"),
        ("sqrt(a.m)", 10.5**0.5), ("a.m ^ 2", 110.25), ("coalesce(a.m, 1)", Decimal("10.50")), ("[a.m, 1]", [10.5, 1]),
        ("a.m + ' EUR'", "10.50 EUR"), ("CASE WHEN a.m > 10.49 THEN a.m ELSE 0 END", Decimal("10.50")),
    ],
)  # fmt: skip
def test_arithmetic(expression: str, value: Any) -> None:
    ((found,),) = ask(f"MATCH (a {{id: 1}}) RETURN {expression}")
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("condition", "given", "found"),
    [
        ("a.i IN $p", [Decimal("0")], 1), ("a.i IN $p", [Decimal("0.1"), Decimal("0")], 1), ("a.i IN $p", [0.0], 1),
        ("a.i IN $p", [Decimal("0.1")], 0), ("a.i = $p", Decimal("0.00"), 1), ("a.f IN $p", [Decimal("0.50")], 1),
        ("a.f IN $p", [Decimal("0.5"), None, 7], 1), ("a.f IN $p", [Decimal("0.51")], 0),
        ("a.f = $p", Decimal("0.5"), 1),
    ],
)  # fmt: skip
def test_decimals_find_whole_numbers_and_floats(condition: str, given: Any, found: int) -> None:
    small = gquery.from_arrow(vertices={"A": pa.table({"id": [1], "i": [0], "f": [0.5]})}, edges={})
    assert len(small.query(f"MATCH (a) WHERE {condition} RETURN a.id", {"p": given}).rows()) == found
    assert small.query(f"MATCH (a) RETURN count(CASE WHEN {condition} THEN 1 END)", {"p": given}).scalar() == found


def test_texts_have_a_digit_before_the_point() -> None:
    parts = pa.table({"id": [1, 2], "d": pa.array([Decimal("0.57"), Decimal("-0.05")], pa.decimal128(2, 2))})
    small = gquery.from_arrow(vertices={"A": parts}, edges={})
    assert small.query("MATCH (a) RETURN toString(a.d), a.d + '!' ORDER BY id(a)").rows() == [
        ("0.57", "0.57!"), ("-0.05", "-0.05!")
    ]  # fmt: skip
    assert small.query("RETURN toString($d)", {"d": Decimal("0.57")}).scalar() == "0.57"


def test_remainders_are_exact() -> None:
    """Of unlike scales DuckDB takes them as floats."""
    left, right = Decimal("9007199254740993.1"), Decimal("0.57")
    for expression in ("$x % $y", "$x % 7", "9007199254740993 % $y", "$x % 0.07"):
        one, other = expression.split(" % ")
        values = [{"$x": left, "$y": right}.get(each) or Decimal(each) for each in (one, other)]
        assert graph().query(f"RETURN {expression}", {"x": left, "y": right}).scalar() == values[0] % values[1]


def test_overflow_is_an_error() -> None:
    nines = Decimal("9" * 38)
    wide = pa.table({"id": [1, 2], "d": pa.array([nines, nines], pa.decimal128(38, 0))})
    large = gquery.from_arrow(vertices={"A": wide}, edges={})
    assert large.query("MATCH (a {id: 1}) RETURN a.d").scalar() == int(nines)
    for expression in ("sum(a.d)", "a.d + 1", "a.d * 10", "a.d - -1"):
        with pytest.raises(gquery.ExecutionError, match=r"verflow|out of range"):
            large.query(f"MATCH (a) RETURN {expression}").rows()


def test_decimals_of_more_digits_than_there_are() -> None:
    wide = pa.table({"id": [1], "d": pa.array([Decimal("1" * 50)], pa.decimal256(60, 0))})
    with pytest.raises(gquery.LoadError, match="does not fit"):
        gquery.from_arrow(vertices={"A": wide}, edges={})
    with pytest.raises(gquery.BindError, match="more than 38 digits"):
        graph().query("MATCH (a) WHERE a.m = $x RETURN a", {"x": Decimal("1" * 39)})


@pytest.mark.parametrize(
    ("condition", "pairs"),
    [
        ("a.m = b.other", [(1, 2), (2, 1)]), ("a.m = b.f", [(2, 1)]), ("a.wide = b.i", [(2, 1)]),
        ("a.wide = b.f", [(1, 2)]), ("a.i = b.f", []), ("a.wide < b.i", [(1, 1)]),
        ("a.m < b.f", [(1, 2), (2, 2), (3, 2)]),
        ("a.i = b.i", [(1, 1), (2, 2), (3, 3)]), ("a.i < b.wide", [(2, 1), (2, 2), (3, 1), (3, 2)]),
        ("a.i > b.f AND a.id = 1", [(1, 1), (1, 2)]), ("a.f = b.f", [(1, 1), (2, 2)]),
        ("a.f <> b.f AND a.id = b.id", [(3, 3)]), ("a.m <> b.other AND a.id = b.id", [(1, 1), (2, 2), (3, 3)]),
    ],
)  # fmt: skip
def test_between_vertices(condition: str, pairs: list[tuple[int, int]]) -> None:
    assert sorted(ask(f"MATCH (a), (b) WHERE {condition} RETURN a.id, b.id")) == pairs
    assert ask(f"MATCH (a), (b) WHERE {condition} RETURN count(*)") == [(len(pairs),)]


def test_integers_and_floats_compare_exactly() -> None:
    i, f = "9007199254740993", "9007199254740992.0"
    truths = f"{i} = {f}, {i} > {f}, 1 = 1.0, {i} IN [{f}], CASE {i} WHEN {f} THEN 1 ELSE 2 END"
    assert ask(f"RETURN {truths}") == [(False, True, True, False, 2)]
    assert ask("MATCH (a) WHERE a.i = 9007199254740992.0 OR a.f = 9007199254740993 RETURN a.id") == []
    assert ask("MATCH (a) WHERE a.i > a.f RETURN a.id") == [(1,)]
    assert ask("MATCH (a) WHERE a.i IN $x OR a.f IN $x RETURN a.id", x=[2.0**53]) == [(2,)]
    either = "CASE WHEN true THEN a.i ELSE a.f END, coalesce(a.i, a.f)"
    assert ask(f"MATCH (a {{id: 1}}) RETURN {either}") == [(TWO_53 + 1,) * 2]
    assert ask("MATCH (a {id: 3}) RETURN coalesce(a.wide, 0.5), a.f = a.f, a.f IN [a.f]") == [(0.5, False, False)]


def test_forms(tmp_path: Path) -> None:
    result = graph().query("MATCH (a) RETURN a.m AS m, a.wide AS w ORDER BY a.id")
    assert result.to_arrow().schema.types == [pa.decimal128(10, 2), pa.decimal128(18, 0)]
    assert result.write(tmp_path / "x.csv") == 3
    assert (tmp_path / "x.csv").read_text().splitlines()[1] == "10.50,9007199254740992"
    result.write(tmp_path / "x.jsonl")
    assert json.loads((tmp_path / "x.jsonl").read_text().splitlines()[1]) == {"m": 0.1, "w": TWO_53 + 1}
    result.write(tmp_path / "x.parquet")
    con = gquery.connect()
    gquery.attach(con, graph(), "g")
    rows = con.execute("SELECT sum(m), max(w) FROM gquery('g', 'MATCH (a) RETURN a.m AS m, a.wide AS w')").fetchall()
    assert rows == [(Decimal("10.80"), Decimal(TWO_53 + 1))]
