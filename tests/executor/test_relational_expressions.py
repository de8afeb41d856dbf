"""Cypher's values and functions as DuckDB computes them for us."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.errors import BindError, ExecutionError
from tests.executor.relational_graph import ask, tail_of, value_of

VALUES: list[tuple[str, Any]] = [
    # arithmetic
    ("7 / 2", 3), ("-7 / 2", -3), ("7 % 4", 3), ("-7 % 4", -3), ("7 / 2.0", 3.5), ("1 / 0.0", math.inf),
    ("2 ^ 3", 8.0), ("1 + 2 * 3", 7), ("3000000000 * 3", 9_000_000_000), ("-(2 + 3)", -5), ("1 + null", None),
    ("7.5 % 2", 1.5), ("1.0e300 * 1.0e10", math.inf), ("1 / -0.0", -math.inf), ("-1 / -0.0", math.inf),
    # strings and lists join
    ("'a' + 'b'", "ab"), ("'a' + 1", "a1"), ("1.5 + 'a'", "1.5a"), ("[1] + [2, 3]", [1, 2, 3]), ("[1] + 2", [1, 2]),
    ("0 + [1]", [0, 1]), ("[1] + null", None), ("'it\\'s'", "it's"),
    ("[1] + toInteger('x')", None), ("toInteger('x') + [1]", None), ("[1, 'a'] + [null, 'b'][0]", None),
    # three-valued logic
    ("true AND null", None), ("false AND null", False), ("true OR null", True), ("NOT null", None),
    ("true XOR true", False), ("null = null", None), ("null <> 1", None), ("null IS NULL", True),
    ("1 IS NOT NULL", True),
    # comparisons, also between families of values
    ("1 = 1.0", True), ("1 = 'a'", False), ("1 <> 'a'", True), ("1 < 'a'", None), ("'a' < 'b'", True),
    ("[1, 2] < [1, 3]", True), ("{a: 1} = {a: 1}", True), ("{a: 1} = {b: 1}", False), ("true > false", True),
    ("0.0 / 0.0 = 0.0 / 0.0", False), ("0.0 / 0.0 <> 0.0 / 0.0", True), ("0.0 / 0.0 > 1.0", False),
    ("1 < 0.0 / 0.0", False), ("1 = true", False), ("[1] = ['a']", False),
    # lists
    ("[1, 2, 3][0]", 1), ("[1, 2, 3][-1]", 3), ("[1, 2, 3][5]", None), ("[1, 2, 3][1..]", [2, 3]),
    ("[1, 2, 3][..2]", [1, 2]), ("[1, 2, 3][-2..]", [2, 3]), ("[1, 2, 3][0..-1]", [1, 2]), ("[1, 2, 3][2..1]", []),
    ("[1, 2.5]", [1.0, 2.5]), ("[]", []), ("[null]", [None]), ("head([1, 2])", 1), ("last([1, 2])", 2),
    ("tail([1, 2, 3])", [2, 3]), ("head([])", None), ("size([1, 2])", 2), ("reverse([1, 2])", [2, 1]),
    ("[1, 2, 3][9223372036854775807]", None), ("[1, 2, 3][toInteger('9223372036854775807')]", None),
    ("[1, 2, 3][-9223372036854775808..9223372036854775807]", [1, 2, 3]), ("[1, 2, 3][9223372036854775807..]", []),
    ("[1, 2, 3][..-9223372036854775808]", []), ("[1, 2, 3][0..toInteger('x')]", None),
    ("[1, 2, 3][toInteger('x')..2]", None), ("[1, 2, 3][toInteger('x')]", None),
    ("range(2, null, 0)", None), ("range(1, 2, null)", None),
    ("range(9007199254740993, 9007199254740995)", [2**53 + 1, 2**53 + 2, 2**53 + 3]),
    ("range(9223372036854775806, 9223372036854775807)", [2**63 - 2, 2**63 - 1]),
    ("range(-9223372036854775808, -9223372036854775806)", [-(2**63), 1 - 2**63, 2 - 2**63]),
    ("range(9223372036854775807, -9223372036854775808)", []),
    ("range(1, 3)", [1, 2, 3]), ("range(5, 1, -2)", [5, 3, 1]), ("range(1, 0)", []), ("{a: 1, b: 'x'}.b", "x"),
    ("{a: {b: 2}}.a.b", 2), ("{}", {}), ("[{}]", [{}]), ("{a: {}}", {"a": {}}), ("-0.0", 0.0),
    ("0.12345678901234567", 0.12345678901234567),
    # membership
    ("2 IN [1, 2]", True), ("3 IN [1, 2]", False), ("3 IN [1, null]", None), ("1 IN [1, null]", True),
    ("null IN [1]", None), ("null IN []", False), ("1 IN []", False), ("1 IN null", None), ("1 IN ['a']", False),
    ("1 IN tail([0, 1])", True), ("2 IN tail([0, 1])", False), ("2 IN tail([0, 1, null])", None),
    # texts
    ("'hello' STARTS WITH 'he'", True), ("'hello' ENDS WITH 'he'", False), ("'hello' CONTAINS 'ell'", True),
    ("null CONTAINS 'a'", None), ("'hello' =~ 'h.*o'", True), ("'hello' =~ 'h'", False), ("toUpper('aé')", "AÉ"),
    ("toLower('A')", "a"), ("trim(' a ')", "a"),
    ("trim('\\t a\\n b \u2003\\n')", "a\n b"), ("ltrim('\\n a ')", "a "), ("rtrim(' a\u00a0')", " a"),
    ("trim('\\n ')", ""),
    ("replace('aba', 'a', 'c')", "cbc"), ("substring('hello', 1)", "ello"),
    ("substring('hello', 1, 2)", "el"), ("left('hello', 2)", "he"), ("right('hello', 2)", "lo"),
    ("left(null, 1)", None), ("substring('abc', 5)", ""), ("left('abc', 0)", ""),
    ("substring('abc', 1, 9223372036854775807)", "bc"), ("substring('abc', 9223372036854775807)", ""),
    ("size(null + 1)", None), ("toUpper(1 + null)", None), ("null + true", None), ("[x IN null + 1 | x]", None),
    ("substring('abc', null)", None), ("substring('abc', toInteger('x'), -1)", None),
    ("split('a,b', ',')", ["a", "b"]), ("split('ab', null)", None),
    ("split('ab', [null, ','][0])", None), ("split([null, ','][0], ',')", None), ("split('ab', '')", ["a", "b"]),
    ("reverse('abc')", "cba"), ("size('abc')", 3), ("length('abc')", 3),
    ("isEmpty('')", True), ("isEmpty(' ')", False), ("isEmpty([])", True), ("isEmpty([null])", False),
    ("isEmpty(null)", None),
    # conversions
    ("toInteger('12')", 12), ("toInteger('12.7')", 12), ("toInteger('x')", None), ("toInteger(-2.7)", -2),
    ("toInteger('+-1')", None), ("toFloat('+-1.5')", None), ("toInteger('+1')", 1), ("toFloat('1_000')", None),
    ("toInteger('9223372036854775807')", 2**63 - 1), ("toFloat('1.5')", 1.5), ("toFloat('x')", None),
    ("toFloat(2)", 2.0), ("toString(1.0)", "1.0"), ("toString(true)", "true"), ("toBoolean('TRUE')", True),
    ("toBoolean('x')", None), ("toInteger(true)", 1),
    ("toString(1e20)", "1.0E20"), ("toString(-1.5e-7)", "-1.5E-7"), ("toString(1e-5)", "1.0E-5"),
    ("toString(0.1)", "0.1"), ("toString(0.001)", "0.001"), ("toString(0.0001)", "1.0E-4"),
    ("toString(-0.00012345)", "-1.2345E-4"), ("toString(1234567.0)", "1234567.0"), ("toString(1e7)", "1.0E7"),
    ("toString(-12345678.9)", "-1.23456789E7"), ("toString(1e15)", "1.0E15"), ("toString(1e16)", "1.0E16"),
    ("toString(123456789012345680.0)", "1.2345678901234568E17"), ("toString(100.0)", "100.0"),
    ("toString(0.0 / 0.0)", "NaN"), ("toString(-1 / 0.0)", "-Infinity"), ("'x' + 1e20", "x1.0E20"),
    ("toString(2.5e-300)", "2.5E-300"), ("toString(0.0)", "0.0"),
    # numbers
    ("abs(-3)", 3), ("abs(-2.5)", 2.5), ("ceil(1.2)", 2.0), ("floor(-1.2)", -2.0), ("round(2.5)", 3.0),
    ("round(-1.5)", -1.0), ("round(1.257, 2)", 1.26), ("round(0.49999999999999994)", 0.0),
    ("round(-0.5)", 0.0), ("round(4503599627370497.0)", 4503599627370497.0), ("round(3)", 3.0),
    ("round(1.005, 2)", 1.01), ("round(-2.675, 2)", -2.68), ("round(1.0049999999999997, 2)", 1.0),
    ("round(1e21, 2)", 1e21), ("round(9.223372036854775e18, 1)", 9.223372036854775e18), ("round(2.5, 0)", 3.0),
    ("round(1e15 + 0.5, 1)", 1e15 + 0.5), ("round(25, -1)", 30.0), ("round(-1249.5, -2)", -1200.0),
    ("round(1.25, 400)", 1.25), ("round(1e300, -400)", 0.0),
    ("round(1.25, 9223372036854775807)", 1.25), ("round(1.0 / 0, 2)", math.inf), ("round(null, 2)", None),
    ("sign(-5)", -1), ("sqrt(4)", 2.0), ("exp(0)", 1.0),
    ("log(1)", 0.0), ("log10(100)", 2.0), ("sin(0)", 0.0), ("cos(0)", 1.0), ("atan2(0, 1)", 0.0), ("pi()", math.pi),
    ("e()", math.e), ("ceil(3) / 2", 1.5), ("degrees(pi())", 180.0), ("radians(180)", math.pi),
    ("haversin(pi())", 1.0), ("haversin(null)", None), ("cot(null)", None), ("cot(0)", math.inf),
    ("char_length('aé💡')", 3), ("character_length('')", 0), ("char_length(null)", None),
    ("isNaN(0.0 / 0.0)", True), ("isNaN(1)", False), ("isNaN(null)", None), ("timestamp() % 1", 0),
    # the rest
    ("coalesce(null, 2, 3)", 2), ("coalesce(null, null)", None), ("nullIf(1, 1.0)", None),
    ("nullIf(1, 2)", 1), ("nullIf(1, null)", 1), ("nullIf(null, 1)", None), ("nullIf([null], [null])", [None]),
    ("nullIf(date('2024-01-01'), '2024-01-01')", None), ("nullIf([1, 'a'][1], 'a')", None),
    ("nullIf(2, [1, 'a'][1])", 2),
    ("nullIf(count(*), 1)", None), ("nullIf(sum(2), count(*))", 2),
    ("nullIf(9007199254740993, 9007199254740992.0)", 2**53 + 1),
    ("CASE WHEN false THEN 1 ELSE 2.5 END", 2.5),
    ("CASE 3 WHEN 1 THEN 'a' WHEN 3 THEN 'b' END", "b"), ("CASE WHEN null THEN 1 END", None),
    ("date('2020-02-03')", datetime.date(2020, 2, 3)), ("date('2020-02-03').month", 2),
    ("localdatetime('2020-01-01T10:00:00')", datetime.datetime(2020, 1, 1, 10)),
    ("datetime('2020-01-01T10:00:00')", datetime.datetime(2020, 1, 1, 10, tzinfo=datetime.UTC)),
    ("toString(datetime('2020-01-01T10:00:00'))", "2020-01-01T10:00:00Z"),
    ("toString(localdatetime('2020-01-01T10:00:00'))", "2020-01-01T10:00:00"),
    ("date('2020-01-02') > date('2020-01-01')", True), ("null", None), ("{a: null}", {"a": None}),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "expected"), VALUES, ids=[text for text, _ in VALUES])
def test_value(expression: str, expected: Any) -> None:
    value = value_of(expression)
    assert value == expected
    assert type(value) is type(expected)


def test_not_a_number_stays_one() -> None:
    assert math.isnan(value_of("sqrt(-1)"))
    assert math.isnan(value_of("0.0 / 0.0"))


PARAMETERS: list[tuple[str, Any, Any]] = [
    ("$p + 1", 41, 42), ("$p", "it's", "it's"), ("$p", None, None), ("$p", [1, 2], [1, 2]), ("2 IN $p", [1, 2], True),
    ("3 IN $p", [1, None], None), ("1 IN $p", [], False), ("$p", {"a": 1, "b c": ["x"]}, {"a": 1, "b c": ["x"]}),
    ("$p.a + 1", {"a": 1}, 2), ("$p", np.int64(3), 3), ("$p", (1, 2), [1, 2]),
    ("$p", datetime.date(2020, 1, 1), datetime.date(2020, 1, 1)), ("$p * $p", 3_000_000_000, 9_000_000_000_000_000_000),
    ("$p", [[1, 1.5], ["a"]], [[1.0, 1.5], ["a"]]),
    ("$p", [{"a": [3, math.inf]}, {"a": ["x"]}], [{"a": [3, math.inf]}, {"a": ["x"]}]),
    ("$p", [[Decimal("1.5"), 1], ["a"]], [[Decimal("1.5"), 1], ["a"]]),
    ("$p", [[Decimal("1.5"), 1.5], [100, 2.5]], [[Decimal("1.5"), 1.5], [100, 2.5]]),
    ("$p", [[1], [2]], [[1], [2]]), ("$p", 1.5, 1.5), ("$p", True, True), ("size($p)", "'); DROP TABLE x; --", 20),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "given", "expected"), PARAMETERS, ids=[repr(case[:2]) for case in PARAMETERS])
def test_parameter(expression: str, given: Any, expected: Any) -> None:
    assert value_of(expression, {"p": given}) == expected


@pytest.mark.parametrize("expression", ["toString(-$p)", "-$p % 3", "[x IN [-$p] | x / 5]"])
def test_a_parameter_that_is_negated_has_64_bits(expression: str) -> None:
    """DuckDB makes a number of 128 bits of the least one, where it is known."""
    with pytest.raises(ExecutionError, match="9223372036854775808 is out of range"):
        value_of(expression, {"p": -(2**63)})


def test_parameters_that_differ_in_case_only() -> None:
    assert value_of("[$P, $p, $P]", {"P": 1, "p": 2}) == [1, 2, 1]


ERRORS = [
    ("1 / 0", "division by zero"), ("1 % 0", "division by zero"), ("9223372036854775807 + 1", "overflow"),
    ("toInteger('1') / (1 - 1)", "division by zero"), ("date('yester' + 'day')", "date"),
    ("'a' =~ '('", r"regular expression cannot be read: missing \)"), ("'a' =~ 'a(?=b)'", "regular expression .* perl"),
    ("'aa' =~ '(a)' + '\\\\1'", "regular expression .* escape"), ("'a' =~ [')', ''][0]", "regular expression .* unex"),
    ("'a' =~ 'a\\\\'", "regular expression .* trailing"), ("'a' =~ '+'", "regular expression .* repetition"),
    ("left('abc', -1)", r"left\(\) takes no negative numbers"), ("right('abc', -1)", "negative"),
    ("substring('abc', -1)", "negative"), ("substring('abc', 0, -1)", "negative"),
    ("range(1, 3, 0)", r"range\(\) needs a step that is not 0"), ("range(1, 3, 1 - 1)", "step"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "message"), ERRORS, ids=[text for text, _ in ERRORS])
def test_error_while_running(expression: str, message: str) -> None:
    with pytest.raises(ExecutionError, match=message) as raised:
        value_of(expression)
    assert "SELECT" not in str(raised.value)
    assert "LINE" not in str(raised.value)


MISTAKES = [
    ("date('yesterday')", "'yesterday' is no date"), ("date({month: 2})", "a date needs a year"),
    ("1 + true", "`+` cannot take INTEGER and BOOLEAN"), ("abs('a')", "`abs` cannot take STRING"),
    ("sizes([1])", "there is no function `sizes`"), ("abs()", "`abs` takes 1 argument, not 0"),
    ("NOT 1", "`NOT` cannot take INTEGER"),
    ("'a' STARTS WITH 1", "cannot take STRING and INTEGER"), ("substring('a')", "takes 2 to 3 arguments, not 1"),
    ("date('2020-01-01').color", "a date has no `color`"), ("1 IN 2", "`IN` cannot take INTEGER and INTEGER"),
    ("count(rand())", "an aggregate cannot take what is random"), ("sum(1 + rand())", "random"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "message"), MISTAKES, ids=[text for text, _ in MISTAKES])
def test_mistake_found_before_running(expression: str, message: str) -> None:
    with pytest.raises(BindError, match=message.replace("+", r"\+")):
        tail_of(f"RETURN {expression} AS value")


def test_unknown_function_has_a_suggestion() -> None:
    with pytest.raises(BindError) as raised:
        tail_of("RETURN sizes([1]) AS value")
    assert raised.value.hint == "did you mean `size`?"


def test_ends_of_relationships() -> None:
    for end in ("endNode(e)", "endNode(head(collect(e)))"):
        rows = ask(f"MATCH (a:Person)-[e:KNOWS]->(b) RETURN startNode(e) = a, endNode(e) = b, {end}", {
            "a": [3], "e": [3], "b": [0]})  # fmt: skip
        assert rows[0][:2] == (True, True)
        assert rows[0][2].properties["name"] == "Ann"


def test_properties_of_narrow_types_do_not_overflow() -> None:
    assert ask("MATCH (a:Person) RETURN a.age * 1000", {"a": [0, 2]}) == [(30_000,), (None,)]


def test_columns_with_nan_dictionaries_and_lists() -> None:
    text = "RETURN a.height > 1.6, a.height = a.height, a.town + '!', 'b' IN a.tags, a.born.year"
    assert ask(f"MATCH (a:Person) {text}", {"a": [0, 1, 2, 3]}) == [
        (False, True, "x!", True, 1990),
        (False, False, "y!", False, None),
        (True, True, "x!", None, None),
        (None, None, None, True, None),
    ]


@pytest.mark.parametrize("given", [["2024-01-01", "2024-01-02"], ["2024-01-01"], [], {"a": "2024-01-01"}, 1])
def test_datetime_of_what_is_no_text_is_a_mistake(given: Any) -> None:
    with pytest.raises(BindError, match=r"`datetime` cannot take|a datetime has no `a`"):
        value_of("datetime($p)", {"p": given})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("WITH {a: 'xyz', b: 'y', c: 'z'} AS g, a RETURN g.a, replace(a.s + '', 'b', a.s)", ("xyz", "cacabdd")),
        ("WITH {a: 1, b: 9, c: 1} AS g, a.x - 40 AS x RETURN g.a, range(x, 3)", (1, [2, 3])),
        ("WITH {v0: [{k: 1, v: 2}]} AS b, a RETURN b.v0, collect(DISTINCT a.m)", ([{"k": 1, "v": 2}], ["b"])),
        ("WITH {k: 1, v: 2} AS e, a RETURN e.k, collect(DISTINCT a.m)", (1, ["b"])),
        ("WITH a AS e0 RETURN [e0][0].x, [i IN $p WHERE i = e0.x]", (42, [42])),
    ],
)
def test_variables_may_be_called_as_anything(text: str, expected: Any) -> None:
    vertices = {
        "A": pa.table({"id": [1], "x": [42], "s": ["cabd"], "m": ["b"]}),
        "B": pa.table({"id": [1], "m": [5]}),
    }
    graph = gquery.from_arrow(vertices=vertices, edges={})
    row = graph.query(f"MATCH (a) WHERE id(a) = 1 AND a.x = 42 {text}", {"p": [42, "a", [1, "b"]]}).rows()[0]
    assert tuple(row) == expected
