"""Comparisons as openCypher has them: three-valued at any depth, NaN, families of values, parameters of any type."""

from __future__ import annotations

import itertools
import math
from operator import eq, ge, gt, le, lt, ne
from random import Random
from typing import Any

import pytest

import gquery
from gquery.errors import GQueryError, UnsupportedError
from tests.executor.relational_graph import value_of

NAN = "(0.0 / 0.0)"

CASES: list[tuple[str, Any]] = [
    # lists: null where an item decides and is null
    ("[1, null] = [1, null]", None), ("[1, null] = [1, 2]", None), ("[1, null] = [2, null]", False),
    ("[1, null] = [1]", False), ("[null] = [null]", None), ("[] = []", True), ("[1, 2] = [1, 2]", True),
    ("[1, null] <> [1, null]", None), ("[1, null] <> [2, null]", True), ("[1, null] <> [1]", True),
    ("[[1], [null]] = [[1], [2]]", None), ("[[1], [null]] = [[1], [2, 3]]", False), ("[[1]] = [[1], [null]]", False),
    ("[1, 2] = null", None), ("['a'] = [1]", False), ("[1] = ['a']", False), ("[] = ['a']", False),
    ("[] = tail(['a'])", True), ("[1] = [1.0]", True), ("[[1.0]] = [[1]]", True), ("[null] = ['a']", None),
    # maps
    ("{a: 1, b: null} = {a: 1, b: null}", None), ("{a: 1, b: null} = {a: 2, b: null}", False),
    ("{a: 1, b: 2} = {b: 2, a: 1}", True), ("{a: null} = {}", False), ("{a: 1} <> {a: null}", None),
    ("{a: [1, null]} = {a: [1, 2]}", None), ("[{a: 1}, {a: null}] = [{a: 1}, {a: 2}]", None), ("{} = {}", True),
    ("{a: 1} = {a: 'x'}", False), ("{a: {b: null}} = {a: {b: 1}}", None), ("{a: {b: 1}} <> {a: {b: 2}}", True),
    # orders of lists
    ("[1, 2] < [1, 3]", True), ("[1] < [1, 0]", True), ("[1, null] < [1]", False), ("[1, 2] < [1, null]", None),
    ("[1, null] >= [1]", True), ("[1, 2] >= [3, null]", False), ("[2, null] > [1, 5]", True), ("[] < [1]", True),
    ("[[1], [2]] < [[1], [3]]", True), ("[1] <= [1]", True),
    ("[[1]] < ['x']", None), ("['x'] >= [[1]]", None), ("[[]] < [1]", None), ("[1, [2]] < [2, 'a']", True),
    ("['a'] < [1]", None), ("[1, 2] < null", None), ("[true] > [false]", True), ("[[null]] < [[1]]", None),
    # not a number
    (f"{NAN} IN [{NAN}]", False), (f"[{NAN}] = [{NAN}]", False), (f"[{NAN}] <> [{NAN}]", True),
    (f"{NAN} IN [{NAN}, null]", None), (f"{NAN} = {NAN}", False), (f"1.0 IN [{NAN}, 1.0]", True),
    (f"{{a: {NAN}}} = {{a: {NAN}}}", False), (f"{NAN} IN [1.0, 2.0]", False), (f"{NAN} <= {NAN}", False),
    (f"[{NAN}] < [1.0]", None), (f"{NAN} IN []", False), (f"1 < {NAN}", False), (f"{NAN} < 1", False),
    (f"{NAN} = coalesce(null, null)", None), (f"head(tail([0.0])) = {NAN}", None),
    (f"{NAN} <> head(tail([0.0]))", None), (f"head(tail([0.0])) < {NAN}", None), ("1 / 0.0 < -1 / 0.0", False),
    ("-1 / 0.0 < 1 / 0.0", True), ("1 / 0.0 = 1 / 0.0", True),
    # IN looks inside
    ("[1] IN [[1], [2]]", True), ("[null] IN [[1]]", None), ("[null] IN [[1, 2]]", False), ("[1] IN [[null]]", None),
    ("[1, 2] IN [1, 2]", False), ("{a: null} IN [{a: 1}]", None), ("[] IN [[]]", True), ("3 IN [1, null]", None),
    ("null IN []", False), ("null IN [1]", None), ("1 IN tail([1])", False), ("'a' IN [1, 2]", False),
    ("'a' IN [1, null]", None), ("1 IN [null]", None), ("NOT 1 IN [2, 3]", True),
    # CASE compares alike
    ("CASE [1, null] WHEN [1, null] THEN 'a' ELSE 'b' END", "b"), (f"CASE {NAN} WHEN {NAN} THEN 1 ELSE 2 END", 2),
    ("CASE abs(-1) WHEN 1 THEN 'a' END", "a"), ("CASE null WHEN null THEN 1 ELSE 2 END", 2),
    ("CASE 'a' WHEN 1 THEN 1 ELSE 2 END", 2), ("CASE 1 WHEN 1.0 THEN 1 / 1 ELSE 1 / 0 END", 1),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "expected"), CASES, ids=[text for text, _ in CASES])
def test_comparison(expression: str, expected: Any) -> None:
    assert value_of(expression) is expected or value_of(expression) == expected
    assert value_of(f"[{expression}]") == [expected]


@pytest.mark.parametrize("operator", ["=", "<>", "<", "<=", ">", ">="])
def test_lists_against_a_plain_reading_of_the_rule(operator: str) -> None:
    items = [None, 1, 2]
    lists = [list(each) for size in range(3) for each in itertools.product(items, repeat=size)]
    pairs = [(one, other) for one in lists for other in lists]
    found = value_of("[" + ", ".join(f"{_text(one)} {operator} {_text(other)}" for one, other in pairs) + "]")
    assert found == [_compared(operator, one, other) for one, other in pairs]


def _text(items: list[int | None]) -> str:
    """A list of numbers, also where no item says so."""
    return "tail([0, " + ", ".join("null" if item is None else str(item) for item in items) + "])" if items else (
        "tail([0])")  # fmt: skip


def _compared(operator: str, one: list[int | None], other: list[int | None]) -> bool | None:
    if operator in ("=", "<>"):
        parts = [None if None in pair else pair[0] == pair[1] for pair in zip(one, other, strict=False)]
        same = False if len(one) != len(other) or False in parts else None if None in parts else True
        return same if operator == "=" or same is None else not same
    sign: int | None = len(one) - len(other)
    for this, that in zip(one, other, strict=False):
        if this is None or that is None:
            sign = None
        elif this != that:
            sign = this - that
        else:
            continue
        break
    return None if sign is None else {"<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0}[operator]


def test_lists_nested_deeper_than_can_be_compared() -> None:
    deep = "[" * 9 + "]" * 9
    for text in (f"{deep} = {deep}", f"{deep} < {deep}", f"{deep} IN [{deep}]", f"CASE {deep} WHEN {deep} THEN 1 END"):
        with pytest.raises(UnsupportedError, match="8 deep at most") as raised:
            value_of(text)
        assert raised.value.span is not None
    assert value_of(f"{deep[1:-1]} = {deep[1:-1]}") is True


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("[true, []] IN [[true, []], [1, 'a']]", True), ("[true, []] IN [[1, 'a'], [2.5, date('2024-01-01')]]", False),
        ("[true, null] IN [[true, []], [1, 'a']]", None), ("[1, 'a'] IN [tail([0, 1, 'a']), [true, []], null]", True),
    ],
)  # fmt: skip
def test_lists_of_several_types_among_lists_of_others(expression: str, expected: Any) -> None:
    assert value_of(expression) is expected


PARAMETERS: list[tuple[str, Any, Any]] = [
    ("1 >= $p", "text", None), ("1 >= $p", [1], None), ("1 >= $p", {"a": 1}, None), ("1 >= $p", None, None),
    ("1 = $p", "text", False), ("1 = $p", [1], False), ("1 = $p", {"a": 1}, False), ("1 <> $p", [1], True),
    ("1 IN $p", ["a"], False), ("1 IN $p", [None], None), ("1 IN $p", ["a", None], None), ("1 IN $p", None, None),
    ("1 IN $p", [[1]], False), ("1 IN $p", [2, None], None), ("'a' IN $p", [], False), ("[1] + $p", None, None),
    ("[1] IN $p", [[1], [2]], True), ("[1] IN $p", [[None]], None), ("$p IN [1, 2]", "a", False),
    ("$p IN [1, 2]", None, None), ("$p = [1, null]", [1, 2], None), ("$p = $p", math.nan, False),
    ("1.5 IN $p", [math.nan], False), ("$p[0] IN $p", [math.nan], False), ("$p IS NULL", None, True),
    ("$p = {a: null}", {"a": 1}, None), ("'$p_p' <> $p", 1, True), ("false AND $p", None, False),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "given", "expected"), PARAMETERS, ids=[repr(case[:2]) for case in PARAMETERS])
def test_parameters_of_any_type(expression: str, given: Any, expected: Any) -> None:
    assert value_of(expression, {"p": given}) is expected


@pytest.mark.filterwarnings("ignore::gquery.QueryWarning")
@pytest.mark.parametrize("given", ["text", [1], ["a"], {"a": 1}, None, [], [None, 1], [None], True, 1.5, b"x"])
@pytest.mark.parametrize("operator", ["=", ">=", "IN"])
def test_a_column_against_parameters_of_any_type(operator: str, given: Any) -> None:
    graph = gquery.from_arrow(vertices={"P": {"id": [1, 2], "i": [1, None], "s": ["a", None]}}, edges={})
    if operator == "IN" and not isinstance(given, list | None):
        given = [given]
    for key in "is":
        text = f"MATCH (a:P) WHERE a.{key} {operator} $x RETURN a.id"
        whole = f"MATCH (a:P) RETURN a.id, a.{key} {operator} $x AS holds"
        passing = [row[0] for row in graph.query(whole, {"x": given}).rows() if row["holds"]]
        assert [row[0] for row in graph.query(text, {"x": given}).rows()] == passing


def test_not_a_number_in_a_column_is_in_no_list() -> None:
    graph = gquery.from_arrow(vertices={"P": {"id": [1, 2, 3], "f": [1.0, math.nan, None]}}, edges={})
    for items in ([math.nan], [math.nan, 1.0], [1.0, None, math.nan]):
        text = "MATCH (a:P) WHERE a.f IN $items RETURN a.id"
        assert [row[0] for row in graph.query(text, {"items": items}).rows()] == [1] * (1.0 in items)


_NAN = float("nan")
_LISTED = (None, [], [1, 2], [1, None], [None, 2], [None, None], [2], [1, 2, 3])


@pytest.mark.parametrize("kind", [int, float, str])
def test_lists_compare_item_by_item_where_something_is_unknown(kind: type) -> None:
    """The same truth for stored lists, for a filter, and for lists that nobody could see through."""
    rows = [None if row is None else [None if item is None else kind(item) for item in row] for row in _LISTED]
    if kind is float:
        rows += [[1.0, _NAN], [_NAN]]
    graph = gquery.from_arrow(vertices={"P": {"id": list(range(len(rows))), "l": rows}}, edges={})
    for items in ([1, 2], [1], [2, 2], []):
        listed = [kind(item) for item in items]
        comparisons = [f"a.l {operator} {listed}" for operator in ("=", "<", "<=", ">=")]
        for test in (*comparisons, f"a.l IN [{listed}, {listed + listed}]"):
            seen = [row[0] for row in graph.query(f"MATCH (a:P) RETURN {test} AS t ORDER BY a.id").rows()]
            hidden = test.replace("a.l", "[a.l, null][toInteger(sqrt(0))]")
            found = [row[0] for row in graph.query(f"MATCH (a:P) RETURN {hidden} AS t ORDER BY a.id").rows()]
            kept = graph.query(f"MATCH (a:P) WHERE {test} RETURN a.id ORDER BY a.id").rows()
            assert seen == found, test
            assert [row[0] for row in kept] == [index for index, truth in enumerate(seen) if truth is True], test
            expected = [_truth(row, test.split()[1], listed) for row in rows]
            assert seen == expected, test


def _truth(row: list[object] | None, operator: str, items: list[object]) -> bool | None:
    """What openCypher has for a list beside one of constants."""
    if row is None:
        return None
    if operator == "IN":
        truths = [_truth(row, "=", items), _truth(row, "=", items + items)]
        return True if True in truths else None if None in truths else False
    if operator == "=":
        if len(row) != len(items):
            return False
        pairs = [None if one is None else one == other for one, other in zip(row, items, strict=True)]
        return False if False in pairs else None if None in pairs else True
    for one, other in zip(row, items, strict=False):
        if one is None or one != one:
            return None
        if one != other:
            return (one < other) == (operator[0] == "<")  # type: ignore[operator]
    return {"<": lt, "<=": le, ">=": ge}[operator](len(row), len(items))


def test_whole_numbers_beside_floats_are_exact_in_one_element() -> None:
    whole = [1, 2**53, 2**53 + 1, -(2**63), 2**63 - 1, None, 5, 5]
    floats = [1.5, 2.0**53, 2.0**53, -(2.0**63), 2.0**63, 1.0, None, _NAN]
    for rows in (slice(None), slice(0, 1), slice(5, 8)):  # all, and those that floats hold
        vertices = {"P": {"id": list(range(len(whole[rows]))), "i": whole[rows], "f": floats[rows]}}
        graph = gquery.from_arrow(vertices=vertices, edges={})
        for operator, compare in (("=", eq), ("<>", ne), ("<", lt), ("<=", le), (">", gt), (">=", ge)):
            expected = [None if one is None or other is None else compare(one, other)
                        for one, other in zip(whole[rows], floats[rows], strict=True)]  # fmt: skip
            found = graph.query(f"MATCH (a:P) RETURN a.i {operator} a.f AS t ORDER BY a.id").rows()
            assert [row[0] for row in found] == expected
            kept = graph.query(f"MATCH (a:P) WHERE a.i {operator} a.f RETURN a.id ORDER BY a.id").rows()
            assert [row[0] for row in kept] == [index for index, truth in enumerate(expected) if truth]


def test_a_parameter_in_what_min_takes() -> None:
    """DuckDB has no min() of lists that a subquery takes part in."""
    given = {"p": [1, 2], "q": ["a", "b"]}
    assert value_of("min(CASE WHEN 1 IN $p THEN $q ELSE ['c'] END)", given) == ["a", "b"]
    assert value_of("max(CASE WHEN 3 IN $p THEN $q ELSE ['c'] END)", given) == ["c"]


def test_operators_are_no_functions() -> None:
    for text in ("IN (1 <> 1)", "list(1)", "negate(1)"):
        with pytest.raises(GQueryError):
            value_of(text)


def _same(one: Any, other: Any) -> bool | None:
    """Whether two values are equal, of which lists are compared item by item: true, false or None."""
    if one is None or other is None:
        return None
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return False
        found = [_same(*pair) for pair in zip(one, other, strict=True)]
        return False if False in found else None if None in found else True
    alike = isinstance(one, str) == isinstance(other, str) and isinstance(one, bool) == isinstance(other, bool)
    return alike and bool(one == other)


@pytest.mark.parametrize("kinds", ["i", "f", "s", "b", "if", "is", "fs", "ifsb"])
def test_lists_among_many_lists(kinds: str) -> None:
    """Given as a parameter and computed, with nulls and NaN or without: a list is looked for as a whole, and the
    answers are those of a comparison item by item."""
    random = Random(17)
    values = {"i": [0, 1, 2**53 + 1], "f": [0.0, -0.0, 1.0, 2.0**53, math.nan], "s": ["", "a"], "b": [True, False]}
    for size in (1, 3, 40, 40):
        some = [value for kind in kinds for value in values[kind]] + random.choice([[], [None]])
        lists: list[Any] = [random.choices(some, k=random.randrange(3)) for _ in range(size)]
        lists += random.choice([[], [None]])
        sought = [random.choices(some, k=random.randrange(3)) for _ in range(4)]
        given = {"lists": lists, "more": [[], *lists], **{f"x{number}": each for number, each in enumerate(sought)}}
        for items in ("$lists", "tail($more)"):
            text = f"[{', '.join(f'$x{number} IN {items}' for number in range(len(sought)))}]"
            found = value_of(text, given)
            truths = [[_same(each, other) for other in lists] for each in sought]
            expected = [True if True in each else None if None in each else False for each in truths]
            assert found == expected, (text, given)
