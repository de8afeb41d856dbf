"""Vertices that must have equal values meet at the value, whatever it is: the matches are those of a comparison."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from itertools import product
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import gquery
from tests.differential.test_counting import WAYS, costs

SIZE = 14
_DAY = datetime.date(2024, 2, 28)
_TIME = datetime.datetime(2024, 2, 28, 12, 30)

VALUES: dict[str, pa.Array] = {
    "integers": pa.array([0, 1, -5, 2**63 - 1, -(2**63), None]),
    "floats": pa.array([0.0, -0.0, 1.5, math.nan, math.inf, None]),
    "texts": pa.array(["", "a", "A", "a ", None]),
    "texts from a dictionary": pa.array(["x", "y", None, "x"]).dictionary_encode(),
    "truths": pa.array([True, False, None]),
    "decimals": pa.array([Decimal("1.50"), Decimal("-2.25"), None]),
    "days": pa.array([_DAY, _DAY.replace(year=1), None]),
    "points in time": pa.array([_TIME, _TIME.replace(year=1700), None], pa.timestamp("us")),
    "times of the day": pa.array([_TIME.time(), datetime.time(), None]),
    "durations": pa.array([datetime.timedelta(days=3), datetime.timedelta(), None]),
    "nothing": pa.array([None, None], pa.int64()),
}


def graph_of(values: pa.Array, random: Random) -> gquery.Graph:
    taken = pa.array([random.randrange(len(values)) for _ in range(SIZE)])
    table = pa.table({"id": range(SIZE), "at": values.take(taken), "kind": [each % 3 for each in range(SIZE)]})
    pairs = [(one, other) for one, other in product(range(SIZE), repeat=2) if random.random() < 0.2]
    pairs += random.choices(pairs, k=4)
    sources, targets = zip(*pairs, strict=True)
    edges = pa.table({"source": sources, "target": targets})
    return gquery.from_arrow({"V": table}, {("V", "E", "V"): edges})


PATTERNS = {
    "two alone": ("(a), (b)", "ab"),
    "two hops": ("(a)-[]->(b)-[]->(c)", "ac"),
    "either way": ("(a)-[]-(b)-[]-(c)", "ac"),
    "a tail": ("(a)-[]->(b), (c)-[]->(d)", "ad"),
    "a square": ("(a)-[]->(b)-[]->(c)-[]->(d)<-[]-(a)", "bd"),
}


def equal(one: Any, other: Any) -> bool:
    return one is not None and other is not None and bool(one == other)


def expected(graph: gquery.Graph, mode: str, pattern: str, ends: str) -> Counter[tuple[Any, ...]]:
    """What a comparison leaves of the matches of the pattern alone."""
    values = dict(graph.query("MATCH (v) RETURN v.id, v.at").rows())
    names = sorted({each for each in pattern if each.isalpha()})
    ids = ", ".join(f"{name}.id" for name in names)
    rows = graph.query(f"MATCH {mode} {pattern} RETURN {ids}").rows()
    places = [names.index(end) for end in ends]
    return Counter(row for row in rows if equal(*(values[row[place]] for place in places)))


@pytest.mark.parametrize("kind", VALUES)
def test_values_of_every_kind(kind: str, device: str) -> None:
    graph = graph_of(VALUES[kind], Random(kind))
    wanted = expected(graph, "", "(a), (b)", "ab")
    text = "MATCH (a), (b) WHERE a.at = b.at"
    assert "(a value)" in graph.explain(f"{text} RETURN count(*)")
    assert Counter(graph.query(f"{text} RETURN a.id, b.id", device=device).rows()) == wanted
    assert graph.query(f"{text} RETURN count(*)", device=device).scalar() == wanted.total()


CASES = [(name, "as planned") for name in PATTERNS]
CASES += [(list(PATTERNS)[number % len(PATTERNS)], way) for number, way in enumerate(WAYS) if way != "as planned"]


@pytest.mark.parametrize(("name", "way"), CASES)
def test_patterns_that_meet(name: str, way: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pattern, ends = PATTERNS[name]
    graph = graph_of(pa.array([1, 2, 2, None, 5]), Random(name))
    names = sorted({each for each in pattern if each.isalpha()})
    for mode in ("", "DIFFERENT NODES", "REPEATABLE ELEMENTS"):
        wanted = expected(graph, mode, pattern, ends)
        with monkeypatch.context() as patched:
            for patch in WAYS[way]:
                patched.setattr(*patch)
            check(graph, f"MATCH {mode} {pattern} WHERE {ends[0]}.at = {ends[1]}.at", names, wanted, device)


def check(graph: gquery.Graph, text: str, names: Sequence[str], wanted: Counter[tuple[Any, ...]], device: str) -> None:
    def asked(what: str) -> Counter[tuple[Any, ...]]:
        return Counter(graph.query(f"{text} RETURN {what}", device=device).rows())

    assert asked(", ".join(f"{name}.id" for name in names)) == wanted
    assert asked("count(*)") == Counter([(wanted.total(),)])
    for place, name in enumerate(names):
        assert asked(f"{name}.id") == Counter({(key,): count for key, count in _summed(wanted, place).items()})
        assert asked(f"{name}.id, count(*)") == Counter(_summed(wanted, place).items())
        assert asked(f"DISTINCT {name}.id") == Counter((key,) for key in _summed(wanted, place))
    limited = list(graph.query(f"{text} RETURN {names[0]}.id, {names[-1]}.id LIMIT 3", device=device).rows())
    assert len(limited) == min(3, wanted.total())
    assert not Counter(limited) - Counter({(row[0], row[-1]): wanted.total() for row in wanted})


def _summed(rows: Counter[tuple[Any, ...]], place: int) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for row, count in rows.items():
        found[row[place]] += count
    return found


def test_numbers_of_two_kinds(device: str) -> None:
    """A property that is an integer here and a float there: what is equal is equal, and beyond 2^53 exactly."""
    graph = gquery.from_arrow(
        {
            "A": pa.table({"id": [0, 1, 2], "at": [1, 2**53 + 1, None]}),
            "B": pa.table({"id": [3, 4, 5], "at": [1.0, 2.0**53, math.nan]}),
            "C": pa.table({"id": [6, 7], "at": ["1", "x"]}),
        },
        {},
    )
    rows = graph.query("MATCH (a), (b) WHERE a.at = b.at RETURN a.id, b.id", device=device).rows()
    assert sorted(rows) == [(0, 0), (0, 3), (1, 1), (3, 0), (3, 3), (4, 4), (6, 6), (7, 7)]


def test_computed_values_and_two_of_them(device: str) -> None:
    graph = graph_of(pa.array([1, 2, 3, 4]), Random(8))
    values = dict(graph.query("MATCH (v) RETURN v.id, v.at").rows())
    text = "MATCH (a), (b), (c) WHERE a.at + 1 = b.at AND b.at = c.at * $by AND a.kind = c.kind RETURN a.id, b.id, c.id"
    wanted = [
        (a, b, c)
        for a, b, c in product(range(SIZE), repeat=3)
        if values[a] + 1 == values[b] == 2 * values[c] and a % 3 == c % 3
    ]
    assert sorted(graph.query(text, {"by": 2}, device=device).rows()) == wanted


def test_values_that_earlier_rows_are_joined_with(device: str) -> None:
    """Seeds and values in one pattern, each with vertices of its own."""
    graph = graph_of(pa.array([1, 2, 3, None]), Random(9))
    values = dict(graph.query("MATCH (v) RETURN v.id, v.at").rows())
    text = "MATCH (a) WHERE a.kind = 1 WITH a MATCH (a)-[]->(b), (c) WHERE b.at = c.at RETURN a.id, b.id, c.id"
    edges = graph.query("MATCH (a)-[]->(b) RETURN a.id, b.id").rows()
    wanted = [(a, b, c) for a, b in edges if a % 3 == 1 for c in range(SIZE) if equal(values[b], values[c])]
    assert Counter(graph.query(text, device=device).rows()) == Counter(wanted)


@pytest.mark.parametrize("way", ["as planned", "candidate graph", "nothing folded", "everything remembered"])
def test_values_of_what_may_be_missing(way: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of(pa.array([1, 2, 3, None]), Random(way))
    values = dict(graph.query("MATCH (v) RETURN v.id, v.at").rows())
    edges = list(graph.query("MATCH (a)-[]->(b) RETURN a.id, b.id").rows())
    for patch in WAYS[way]:
        monkeypatch.setattr(*patch)
    parts = {
        "(c) WHERE a.at = c.at": [sum(equal(values[a], values[c]) for c in range(SIZE)) for a, _ in edges],
        "(c)-[]->(d) WHERE d.at = b.at": [sum(equal(values[d], values[b]) for _, d in edges) for _, b in edges],
        "(c), (d) WHERE c.at = d.at AND a.at = d.at": [
            sum(equal(values[a], values[d]) for d in range(SIZE)) ** 2 for a, _ in edges
        ],
    }
    for part, found in parts.items():
        text = f"MATCH (a)-[]->(b) OPTIONAL MATCH {part} RETURN count(*)"
        assert "(a value)" in graph.explain(text)
        assert graph.query(text, device=device).scalar() == sum(max(1, each) for each in found), text
        counted = f"MATCH (a)-[]->(b) OPTIONAL MATCH {part} RETURN count(c)"
        assert graph.query(counted, device=device).scalar() == sum(found), counted
        without = f"MATCH (a)-[]->(b) WHERE NOT EXISTS {{ {part} }} RETURN count(*)"
        assert graph.query(without, device=device).scalar() == found.count(0), without


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a)-[]->(b) WHERE a.at = b.at RETURN count(*)",  # an edge joins them anyway
        "MATCH (a {id: 3})-[]->(b)-[]->(c) WHERE a.at = c.at RETURN count(*)",  # one is compared with others
        "MATCH (a), (b) WHERE a.at < b.at RETURN count(*)",
    ],
)
def test_what_is_compared(text: str) -> None:
    assert "(a value)" not in graph_of(pa.array([1, 2]), Random(2)).explain(text)


def test_one_is_compared_with_all_others(device: str) -> None:
    """A vertex that a value names is matched first, though nobody asks for it; and few candidates of a vertex without
    edges are gone to at once."""
    graph = graph_of(pa.array([1, 2, 3, None]), Random(5))
    values = dict(graph.query("MATCH (v) RETURN v.id, v.at").rows())
    one = next(each for each in range(SIZE) if values[each] is not None)
    text = f"MATCH (b), (a {{id: {one}}}) WHERE a.at = b.at RETURN b.id"
    plan = graph.explain(text)
    assert plan.index("Scan (a") < plan.index("Scan (b"), plan
    wanted = [(each,) for each in range(SIZE) if equal(values[each], values[one])]
    assert sorted(graph.query(text, device=device).rows()) == wanted
    some = [each for each in (2, 3, SIZE - 1) if values[each] is not None]
    text = f"MATCH (b), (a) WHERE a.id IN {some} AND a.at <= b.at RETURN a.id, b.id"
    wanted_pairs = [(a, b) for a in some for b in range(SIZE) if values[b] is not None and values[a] <= values[b]]
    assert sorted(graph.query(text, device=device).rows()) == wanted_pairs


def test_few_vertices_are_not_followed_to_a_value(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where edges lead from few vertices is followed before values are collected."""
    monkeypatch.setattr(*costs(filters_weighed=1.0, filter_reached=1e-3))
    graph = graph_of(VALUES["integers"], Random("few"))
    body = "(b)-[]->(c) WHERE b.at = a.at AND c.kind > 0 AND id(a) <> id(b) RETURN id(a), id(b), id(c)"
    expected = Counter(
        tuple(row)
        for row in graph.query("MATCH (a), (b)-[]->(c) RETURN id(a), id(b), id(c), a.at, b.at, a.kind, c.kind").rows()
        if row[5] == 2 and equal(row[3], row[4]) and row[6] > 0 and row[0] != row[1]
    )
    found = {
        text: Counter(row[:3] for row in map(tuple, graph.query(text, device=device).rows()))
        for text in (f"MATCH (a {{kind: 2}}), {body}", f"MATCH (a {{kind: 2}}) WITH a, 1 AS x MATCH (a), {body}")
    }
    assert expected
    assert all(rows == Counter({row[:3]: n for row, n in expected.items()}) for rows in found.values())
