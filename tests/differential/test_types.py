"""Properties and ids of many types over several labels, beside plain Python."""

from __future__ import annotations

import contextlib
import datetime
import os
import random
from collections import Counter
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import gquery
from tests.differential.cypher_values import by_order, compare, group, is_in

pytestmark = pytest.mark.filterwarnings("ignore::gquery.errors.QueryWarning")

ROUNDS = 300 if os.environ.get("GQUERY_SLOW") else 8
OPERATORS = ("=", "<>", "<", "<=", ">", ">=")

POOLS: dict[pa.DataType, list[Any]] = {
    pa.int64(): [0, 1, 5, -5, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)],
    pa.float64(): [0.0, -0.0, 0.57, 0.1, 1.0, 5.0, 2.0**53, 2.0**63, -(2.0**63), 1e300, float("nan"), float("inf")],
    pa.decimal128(5, 2): [Decimal("0.57"), Decimal("5.00"), Decimal("1.00"), Decimal("-5.00"), Decimal("0.10")],
    pa.decimal128(18, 0): [Decimal(2**53), Decimal(2**53 + 1), Decimal(5), Decimal(0)],
    pa.decimal128(38, 20): [Decimal("0.57"), Decimal("0.57000000000000000001"), Decimal(2**53 + 1), Decimal("0.1")],
    pa.decimal128(38, 37): [Decimal("0.57"), Decimal("9.9999999999999999999999999999999999999"), Decimal(5)],
    pa.decimal128(38, 0): [Decimal("9" * 38), Decimal(2**63), Decimal(2**53 + 1), Decimal(-(2**63))],
    pa.string(): ["", "5", "0.57", "a", "it's", "{"],
    pa.bool_(): [True, False],
    pa.date32(): [datetime.date(2020, 1, 1), datetime.date(1970, 1, 1)],
}
LITERALS = [0, 1, 5, 2**53 + 1, 2**63 - 1, 0.57, 5.0, 2.0**53, 0.1, 1e300, 2.0**63, "5", "a", "", True, False]
GIVEN = [*LITERALS, -(2**63), Decimal("0.57"), Decimal("0.570000"), Decimal(2**53 + 1), datetime.date(2020, 1, 1), None]


class Case:
    """A graph of two to four labels, whose columns are each of a random type; the same vertices in Python."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        tables = {}
        self.vertices: list[dict[str, Any]] = []
        for label in "ABCD"[: draw.randint(2, 4)]:
            count = draw.randint(1, 5)
            as_text = draw.random() < 0.5
            ids: list[Any] = [str(i) if as_text else i for i in draw.sample(range(8), count)]
            columns: dict[str, Any] = {"id": ids}
            for key in draw.sample(["x", "y"], draw.randint(1, 2)) if label != "A" else ["x", "y"]:
                arrow = draw.choice(list(POOLS))
                values = [draw.choice([*POOLS[arrow], None]) for _ in ids]
                columns[key] = pa.array(values, arrow)
            tables[label] = pa.table(columns)
            rows = tables[label].to_pylist()
            self.vertices += [{"x": None, "y": None, **row} for row in rows]
        self.graph = gquery.from_arrow(vertices=tables, edges={})
        self.draw = draw

    def ask(self, text: str, **given: Any) -> list[tuple[Any, ...]]:
        try:
            return [tuple(row) for row in self.graph.query(text, given).rows()]
        except gquery.BindError as error:
            raise TextIsNoDate if "is no date" in str(error) else error from None

    def same(self, text: str, expected: list[tuple[Any, ...]], **given: Any) -> None:
        """The answer is as expected, but for texts beside a column of nothing but dates: these are refused."""
        with contextlib.suppress(TextIsNoDate):
            assert bag(self.ask(text, **given)) == bag(expected), (text, given)


class TextIsNoDate(Exception):
    """A text beside a column of dates has to be one."""


def bag(rows: list[tuple[Any, ...]]) -> Counter[Any]:
    """Rows without an order, their values with their types: a decimal is a whole number's equal, a float is not."""
    return Counter(tuple(map(typed, row)) for row in rows)


def typed(value: Any) -> tuple[object, object]:
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return "exact", Decimal(value)
    return type(value), group(value)


@pytest.fixture(scope="module", params=range(ROUNDS))
def case(request: pytest.FixtureRequest) -> Case:
    print(f"seed {request.param}")
    return Case(request.param)


def written(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value).lower()


def test_comparisons_with_literals_and_parameters(case: Case) -> None:
    for key in ("x", "id(a)"):
        name, text = key.removesuffix("(a)").removeprefix("id") or "id", key if key != "x" else "a.x"
        for _ in range(8):
            operator, value, given = case.draw.choice(OPERATORS), case.draw.choice(LITERALS), case.draw.choice(GIVEN)
            for right, other, parameters in ((written(value), value, {}), ("$p", given, {"p": given})):
                kept = [row["id"] for row in case.vertices if compare(operator, row[name], other)]
                case.same(f"MATCH (a) WHERE {text} {operator} {right} RETURN id(a)", [(i,) for i in kept], **parameters)
                shown = [(row["id"], compare(operator, row[name], other)) for row in case.vertices]
                case.same(f"MATCH (a) RETURN id(a), {text} {operator} {right}", shown, **parameters)


def test_membership(case: Case) -> None:
    for _ in range(6):
        items = [case.draw.choice(GIVEN) for _ in range(case.draw.randint(0, 4))]
        shown = [(row["id"], is_in(row["x"], items)) for row in case.vertices]
        case.same("MATCH (a) RETURN id(a), a.x IN $p", shown, p=items)
        case.same("MATCH (a) WHERE a.x IN $p RETURN id(a)", [(i,) for i, found in shown if found], p=items)
        found = [(row["id"],) for row in case.vertices if is_in(row["id"], items)]
        case.same("MATCH (a) WHERE id(a) IN $p RETURN id(a)", found, p=items)
        literals = [case.draw.choice(LITERALS) for _ in range(3)]
        text = ", ".join(map(written, literals))
        shown = [(row["id"], is_in(row["x"], literals)) for row in case.vertices]
        case.same(f"MATCH (a) RETURN id(a), a.x IN [{text}]", shown)


@pytest.mark.parametrize("keys", [("x", "y"), ("x", "x"), ("id", "id")])
@pytest.mark.parametrize("operator", ["=", "<>", "<"])
def test_comparisons_between_vertices(case: Case, keys: tuple[str, str], operator: str) -> None:
    left, right = (f"id({name})" if key == "id" else f"{name}.{key}" for name, key in zip("ab", keys, strict=True))
    pairs = [(a, b) for a in case.vertices for b in case.vertices]
    kept = [(a["id"], b["id"]) for a, b in pairs if compare(operator, a[keys[0]], b[keys[1]])]
    case.same(f"MATCH (a), (b) WHERE {left} {operator} {right} RETURN id(a), id(b)", kept)
    assert case.ask(f"MATCH (a), (b) WHERE {left} {operator} {right} RETURN count(*)") == [(len(kept),)]
    shown = [(a["id"], b["id"], compare(operator, a[keys[0]], b[keys[1]])) for a, b in pairs]
    case.same(f"MATCH (a), (b) RETURN id(a), id(b), {left} {operator} {right}", shown)


def test_order_and_groups(case: Case) -> None:
    values = [row["x"] for row in case.vertices]
    ascending = [group(value) for (value,) in case.ask("MATCH (a) RETURN a.x ORDER BY a.x")]
    assert ascending == [group(value) for value in sorted(values, key=by_order)]
    groups = Counter(map(group, values))
    assert Counter({group(value): n for value, n in case.ask("MATCH (a) RETURN a.x, count(*)")}) == groups
    assert Counter(group(value) for (value,) in case.ask("MATCH (a) RETURN DISTINCT a.x")) == Counter(set(groups))
    present = [value for value in values if value is not None]
    ((count, distinct, least, most, every),) = case.ask(
        "MATCH (a) RETURN count(DISTINCT a.x), collect(DISTINCT a.x), min(a.x), max(a.x), collect(a.x)"
    )
    assert count == len(set(map(group, present)))
    assert Counter(map(group, distinct)) == Counter(set(map(group, present)))
    assert group(least) == group(min(present, key=by_order, default=None))
    assert group(most) == group(max(present, key=by_order, default=None))
    assert Counter(map(typed, every)) == Counter(map(typed, present))


def test_values_keep_their_types(case: Case) -> None:
    either = "coalesce(a.x, a.y), CASE WHEN a.x IS NULL THEN a.y ELSE a.x END"
    rows = case.ask(f"MATCH (a) RETURN id(a), a.x, {either}, a")
    firsts = [row["y"] if row["x"] is None else row["x"] for row in case.vertices]
    expected = [(row["id"], row["x"], first, first) for row, first in zip(case.vertices, firsts, strict=True)]
    assert bag([row[:4] for row in rows]) == bag(expected)
    whole = [(row[4].id, row[4].properties.get("x")) for row in rows]
    assert bag(whole) == bag([(row["id"], row["x"]) for row in case.vertices])
