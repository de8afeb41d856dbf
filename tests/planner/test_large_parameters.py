"""Lists of many values are looked at together: what is found is what a look at each value finds."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gquery
from gquery.errors import Span
from gquery.planner.ir.types.common_type import NARROW_INTEGER, unify
from gquery.planner.ir.types.temporal import readings
from gquery.planner.ir.types.value_types import type_of_value
from gquery.values.parameters import snapshot_of
from tests.conftest import patience

NOWHERE = Span(0, 0)

TEXTS = st.sampled_from(["", "a", "12", "12:30", "2020-02-03", "2020-02-03T04:05:06+01:00", "2020-13-03"])
NUMBERS = st.one_of(st.integers(-3, 3), st.sampled_from([2**53 - 1, 2**53 + 1, -(2**63), 2**63 - 1]))
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, st.floats(), TEXTS, st.binary(max_size=2), st.dates())


def alike(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Lists of one kind of values, or of all; maps most often have the same keys."""
    kinds = [st.integers(-3, 3), NUMBERS, st.floats(), TEXTS, st.none() | NUMBERS, st.none() | TEXTS, values]
    columns = st.dictionaries(st.sampled_from("abc"), st.sampled_from(kinds), max_size=3)
    maps = columns.flatmap(lambda held: st.lists(st.fixed_dictionaries(held), max_size=4))
    return st.one_of(*map(st.lists, kinds), maps, st.lists(st.none() | st.dictionaries(st.sampled_from("ab"), values)))


LISTS = alike(st.recursive(SCALARS, alike, max_leaves=8))


@given(LISTS)
@settings(max_examples=500, deadline=None)
def test_together_as_each_by_itself(values: list[Any]) -> None:
    taken = snapshot_of({"r": values})["r"]
    assert repr(taken) == repr(values)
    assert all(new is not old for new, old in zip(taken, values, strict=True) if isinstance(old, (dict, list)))
    each = [NARROW_INTEGER if type(v) is int and abs(v) <= 2**53 else type_of_value(v, NOWHERE) for v in values]
    common = unify(each)
    item = type_of_value(values, NOWHERE).item
    assert str(item or "NULL") == str(type_of_value(0, NOWHERE) if common == NARROW_INTEGER else common)
    assert readings(values) == (frozenset(filter(None, map(readings, values))) or None)


@pytest.mark.alone
def test_a_list_of_many_maps_is_unwound_soon() -> None:
    """DuckDB copied the list for every part of its rows: 140 seconds."""
    graph = gquery.from_arrow(vertices={"A": {"id": [1, 2, 3]}}, edges={})
    rows = [{"a": number, "b": str(number)} for number in range(300_000)]
    began = time.perf_counter()
    answer = graph.query("UNWIND $rows AS r RETURN sum(r.a) AS s, count(r.b) AS n, max(r.b) AS m", {"rows": rows})
    assert answer.rows() == [(300_000 * 299_999 // 2, 300_000, "99999")]
    assert time.perf_counter() - began < 8 * patience()


@pytest.mark.parametrize("count", [0, 1, 5_000, 2_000_000])
def test_rows_of_a_long_list(count: int) -> None:
    graph = gquery.from_arrow(vertices={"A": {"id": [1, 2, 3]}}, edges={})
    numbers = list(range(count))
    found = graph.query("MATCH (a:A) UNWIND $numbers AS n RETURN a.id, count(*), sum(n)", {"numbers": numbers}).rows()
    assert sorted(found) == [(each, count, sum(numbers)) for each in (1, 2, 3) if count]
    places = graph.query("MATCH (a:A) RETURN a.id, $numbers[a.id], $numbers[-a.id]", {"numbers": numbers}).rows()
    padded = [*numbers, *[None] * (4 - count)]
    expected = [(each, padded[each], numbers[-each] if each <= count else None) for each in (1, 2, 3)]
    assert sorted(places) == expected
