"""Large patterns and long texts are planned in little time. Times are ten times what a quiet machine takes;
`benchmarks/planning.py` measures them."""

from __future__ import annotations

import time
from functools import cache

import pytest

import gquery
from gquery.planner.ir.match_plan import MatchPlan
from gquery.session import Prepared
from gquery.settings import Settings
from gquery.stopping import Check, unchecked
from tests.conftest import patience
from tests.planner.shapes import MODES, pattern, shape
from tests.planner.town import town

pytestmark = pytest.mark.usefixtures("unverified")

LARGE = [
    ("path", 200), ("star", 64), ("clique", 12), ("cycle", 200), ("grid", 10), ("tree", 127), ("caterpillar", 60),
    ("barbell", 8), ("parallel", 64), ("pieces", 50),
]  # fmt: skip
KINDS = [(":Person", ":KNOWS", ">"), ("", ":KNOWS", ""), ("", "", ">"), (":Person", ":CALLED", "")]
GENEROUS = 1.5  # seconds; a tenth of them on a quiet machine


@cache
def graph() -> gquery.Graph:
    return town()


def _planned(text: str, check: Check = unchecked) -> tuple[MatchPlan, ...]:
    """Both halves of planning, with nothing remembered and nothing verified."""
    query = Prepared(graph().snapshot, text, {}, Settings(), None, check)
    return query.matchings[0].estimated(check)


@pytest.mark.parametrize(("name", "size"), LARGE)
def test_large_patterns(name: str, size: int) -> None:
    for mode, kind in zip(MODES, KINDS, strict=True):
        text = f"MATCH {mode} {pattern(shape(name, size)[1], *kind)} RETURN count(*)"
        began = time.process_time()
        planned = _planned(text)
        assert time.process_time() - began < GENEROUS * patience(), mode
        assert [plan.order for plan in planned] == [plan.order for plan in _planned(text)], mode


def _checks(text: str) -> int:
    """How often planning looks whether it has to stop: once a step, whatever the machine."""
    count = 0

    def check() -> None:
        nonlocal count
        count += 1

    _planned(text, check)
    return count


@pytest.mark.parametrize("name", ["path", "star", "cycle", "caterpillar", "pieces"])
@pytest.mark.parametrize("mode", MODES)
def test_twice_the_pattern_takes_twice_the_steps(name: str, mode: str) -> None:
    small, large = (
        _checks(f"MATCH {mode} {pattern(shape(name, size)[1], ':Person', ':KNOWS', '>')} RETURN count(*)")
        for size in (60, 120)
    )
    assert large < 3 * small


TERMS = 2_000
MANY = range(TERMS)
LONG = {
    "or": "MATCH (a:Person) WHERE " + " OR ".join(f"a.age = {n}" for n in MANY) + " RETURN count(*)",
    "and": "MATCH (a:Person) WHERE " + " AND ".join(f"a.age <> {n}" for n in MANY) + " RETURN count(*)",
    "in": f"MATCH (a:Person) WHERE a.age IN [{', '.join(map(str, MANY))}] RETURN count(*)",
    "case": f"MATCH (a:Person) RETURN CASE a.age {' '.join(f'WHEN {n} THEN {n}' for n in MANY)} END",
    "columns": "MATCH (a:Person) RETURN " + ", ".join(f"a.age + {n}" for n in MANY),
    "groups": "MATCH (a:Person) RETURN " + ", ".join(f"a.age + {n}" for n in MANY) + ", count(*)",
    "sorted": f"MATCH (a:Person) RETURN {', '.join(f'a.age + {n} AS c{n}' for n in MANY)} ORDER BY "
    + ", ".join(f"c{n}" for n in MANY),
    "labels": f"MATCH (a:{'|'.join(['Person', 'City'] * (TERMS // 2))}) RETURN count(*)",
    "map": f"RETURN {{{', '.join(f'k{n}: {n}' for n in MANY)}}} AS m",
    "spanning": "MATCH (a:Person)-[:KNOWS]->(b) WHERE "
    + " AND ".join(f"a.age + b.age <> {n}" for n in MANY)
    + " RETURN count(*)",
}  # fmt: skip


@pytest.mark.parametrize("name", LONG)
def test_long_texts(name: str) -> None:
    began = time.process_time()
    graph().query(LONG[name])
    assert time.process_time() - began < 3 * GENEROUS * patience()


@pytest.mark.parametrize("text", [", ".join(["()"] * 1_001), "-->".join(["()"] * 1_001)])
def test_patterns_beyond_the_limit_are_refused_by_name(text: str) -> None:
    with pytest.raises(gquery.UnsupportedError, match="1,001 nodes, gquery matches at most 1,000 at once"):
        graph().query(f"MATCH {text} RETURN count(*)")


def test_relationships_beyond_the_limit_are_refused_by_name() -> None:
    with pytest.raises(gquery.UnsupportedError, match="1,001 relationships, gquery matches at most 1,000"):
        graph().query("MATCH " + ", ".join(["(a)-->(b)"] * 1_001) + " RETURN count(*)")


def test_estimates_beyond_any_number() -> None:
    """The product of 150 label sizes is beyond any float."""
    plan = graph().explain("MATCH " + ", ".join(f"(v{n}:Person)" for n in range(150)) + " RETURN *")
    assert "e+" in plan
    assert all(len(line) < 200 for line in plan.splitlines() if "estimated" in line)


def test_explain_without_a_pattern() -> None:
    assert graph().explain("RETURN 1 AS one").startswith("Arrow\n  SELECT")
