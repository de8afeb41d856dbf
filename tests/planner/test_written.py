"""Plans say which predicates filter, in the words of the query."""

from __future__ import annotations

from functools import cache

import pytest

import gquery
from gquery.planner.ir.written import LONGEST
from tests.planner.town import town


@cache
def graph() -> gquery.Graph:
    return town()


def filters(where: str, pattern: str = "(a:Person)-[k:KNOWS]->(b:Person)", **parameters: object) -> str:
    """What EXPLAIN says of the predicates of `a`, or of `k`."""
    plan = graph().explain(f"MATCH {pattern} WHERE {where} RETURN count(*)", parameters)
    lines = [line.strip() for line in plan.splitlines() if line.startswith("  (")]
    about = next(line for line in lines if ": label" not in line and ": at least" not in line and ": about" not in line)
    return about.partition(": ")[2] if "]-" not in about else about.rpartition("): ")[2]


@pytest.mark.parametrize(
    "where",
    [
        "a.name = 'it\\'s'",
        "a.name = 'two\\nlines'",
        "a.age >= 3 AND a.age < 7",
        "a.age = 3 OR a.age = 4",
        "(a.age = 3 OR a.age = 4) AND a.name <> 'x'",
        "NOT (a.age = 3 AND a.name = 'x')",
        "a.age * (2 + 3) - 1 > 4",
        "a.age IN [1, 2, 3]",
        "a.name STARTS WITH 'p' AND a.name IS NOT NULL",
        "toUpper(a.name) = 'X'",
        "id(a) = 7",
        "CASE a.age WHEN 1 THEN true ELSE false END",
        "size([a.age, 2][0..1]) = -a.age",
        "k.since > 2010",
    ],
)
def test_predicates_are_written_as_they_were(where: str) -> None:
    assert filters(where) == where


def test_what_a_pattern_says_is_a_predicate() -> None:
    plan = graph().explain("MATCH (a:Person {name: 'x', age: $age})-[{since: 2000}]->() RETURN count(*)", {"age": 3})
    assert "  (a:Person): a.name = 'x' AND a.age = $age\n" in plan
    assert ".since = 2000, asked at (a:Person), if " in plan


def test_copies_have_the_names_of_what_they_copy() -> None:
    plan = graph().explain(
        "MATCH (a:Person), (b) WHERE EXISTS { MATCH (a)-[:KNOWS]->(b) WHERE a.age > 3 } RETURN a.name"
    )
    assert ": a.age > 3\n" in plan


def test_long_predicates_are_cut() -> None:
    text = filters(" OR ".join(f"a.age = {number}" for number in range(5_000)))
    assert len(text) <= LONGEST
    assert text.startswith("a.age = 0 OR a.age = 1 OR a.age = 2")
    assert text.endswith("…")
