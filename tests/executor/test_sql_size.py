"""The SQL of an expression grows with the expression, however deep it nests."""

from __future__ import annotations

import datetime
import re
import time

import pytest

import gquery
from gquery.errors import UnsupportedError
from gquery.planner.ir.expr import Call, walk
from gquery.planner.ir.functions.operators import OPERATORS
from gquery.planner.ir.functions.scalars import SCALARS
from tests.executor.relational_graph import tail_of, value_of

DEPTH = 12
FLOATS = ("abs", "ceil", "floor", "round", "sqrt", "exp", "log", "log10", "sin", "cos", "tan", "asin", "acos", "atan",
          "cot", "degrees", "radians", "haversin")  # fmt: skip
TEXTS = ("toLower", "toUpper", "lower", "upper", "trim", "ltrim", "rtrim", "reverse")
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
TRUTHS = (
    *(text.format(operator) for operator in COMPARISONS for text in (
        "_ {} 1", "1 {} _", "_ {} 1.5", "'a' {} _", "[_] {} [1]", "[1] {} [_]", "[[1]] {} [[_]]",
        "{{a: _}} {} {{a: 1}}", "toFloat(_) {} toFloat(1)", "date(toString(_)) {} date('2020-01-01')", "[1] {} _",
        "{{b: 1}} {} {{a: _}}",
    )),
    *(text.format(operator) for operator in ("AND", "OR", "XOR") for text in ("_ = 1 {} true", "true {} _ = 1")),
    *(f"{one} {operator} {other}" for operator in ("=~", "STARTS WITH", "ENDS WITH", "CONTAINS")
      for one, other in (("toString(_)", "'a'"), ("'a'", "toString(_)"))),
    "_ IN [1, 2]", "1 IN [_, 2]", "1 IN tail([1, _])", "_ IN tail([1, 2])", "_ IN $list", "[_] IN $lists",
    "toFloat(_) IN [1.0]", "'a' IN [_]", "_ IN $texts", "[_] IN [[1]]", "{a: _} IN [{a: 1}]", "NOT _ = 1",
    "_ IS NULL", "_ IS NOT NULL", "toBoolean(toString(_))", "toBoolean(_)", "toBoolean(_ = 1)",
)  # fmt: skip
NESTS = (
    *(f"size([{truth}])" for truth in TRUTHS),
    *(f"toInteger({name}(_))" for name in FLOATS),
    *(f"size({name}(toString(_)))" for name in TEXTS),
    "[1, 2][_]", "[1, _][0]", "size([1, 2][_..2])", "size([1, 2][0.._])", "size([_][0..1])", "head([_])", "last([_])",
    "head(tail([1, _]))", "reverse([_])[0]", "size(range(_, 3))", "size(range(1, _))", "size(range(1, 3, _))",
    "size([1] + [_])", "size([_] + [1])", "size([1] + _)", "size(_ + [1])", "_ + 1", "1 + _", "_ - 1", "1 - _",
    "_ * 1", "1 * _", "_ / 1", "7 / _", "_ % 2", "7 % _", "-(_)", "-abs(_)", "abs(_)", "sign(_)",
    "toInteger(_)", "toInteger(toString(_))", "toInteger(toFloat(_))", "toInteger(_ ^ 1)", "toInteger(1 ^ _)",
    "toInteger(round(1.5, _))", "toInteger(round(_, 1))", "toInteger(atan2(_, 1))", "toInteger(atan2(1, _))",
    "size(toString(_))", "size(toString(toFloat(_)))", "size('a' + _)", "size(_ + 'a')", "size('a' + toFloat(_))",
    "size(left('abc', _))", "size(right('abc', _))", "size(left(toString(_), 1))", "size(right(toString(_), 1))",
    "size(substring('abc', _))", "size(substring('abc', 0, _))", "size(substring(toString(_), 0, 1))",
    "size(replace(toString(_), 'a', 'b'))", "size(replace('a', toString(_), 'b'))", "size(split(toString(_), 'a'))",
    "size(replace('a', 'b', toString(_)))", "size(split('a', toString(_)))", "length(toString(_))", "length([_])",
    "size([isEmpty(toString(_))])", "size([isEmpty([_])])", "size([isNaN(_)])",
    "char_length(toString(_))", "character_length(toString(_))",
    "datetime.fromEpoch(_, 0).year", "datetime.fromEpoch(0, _).year", "datetime.fromEpochMillis(_).year",
    "coalesce(_, 1)", "coalesce(null, _)", "nullIf(_, 2)", "nullIf(2, _)",
    "{a: _}.a", "{a: {b: _}}.a.b", "date(toString(_)).year",
    "datetime(toString(_)).year", "size(toString(date(toString(_))))", "date(datetime(toString(_))).year",
    "CASE WHEN _ = 1 THEN 2 END", "CASE WHEN true THEN _ END", "CASE WHEN true THEN 1 ELSE _ END",
    "toInteger(toString(coalesce(_, 'a')))", "size([_, 'a'] + [2.5])", "toInteger([_, 'a'][0])",
    "toInteger(CASE WHEN true THEN _ ELSE 'a' END)", "CASE WHEN coalesce(_, 'a') = 'b' THEN 1 ELSE 2 END",
    "{a: _}['a']", "{a: 1, b: _}[toString('b')]", "{a: 1}[toString(_)]", "size([exists(_)])", "size(keys({a: _}))",
    "localdatetime(toString(_)).year", "localtime(toString(_)).hour", "time(toString(_)).hour",
    "datetime(localdatetime(toString(_))).year", "localdatetime(datetime(toString(_))).year",
    "localtime(datetime(toString(_))).hour", "date({year: _}).year", "duration({months: _}).months",
    "duration(toString(_)).months",
    "[x IN [_] | x][0]", "size([x IN [1, _] WHERE x = 1])", "reduce(s = _, x IN [1] | s)",
    "reduce(s = 1, x IN [_] | x)",
    "size([all(x IN [_] WHERE x = 1)])", "size([any(x IN [_] WHERE x = 1)])", "size([none(x IN [_] WHERE x = 1)])",
    "size([single(x IN [_] WHERE x = 1)])",
    "CASE 1 WHEN _ THEN 1 END", "CASE 1 WHEN 2 THEN _ ELSE 3 END", "CASE _ WHEN 1 THEN 2 END",
)  # fmt: skip
GIVEN = {"list": [1, 2], "lists": [[1], [2]], "texts": ["a"]}
ALONE = {"pi", "e", "rand", "nodes", "relationships", "startnode", "endnode"}  # nothing is nested in them
ALONE |= {"timestamp", "datetime.fromepoch", "datetime.fromepochmillis"}
ALONE |= {"moment", "truncate", "time", "duration", "date.truncate"}  # calculated before, or by `calculate`
ALONE |= {f"duration.{name}" for name in ("between", "inmonths", "indays", "inseconds")}
ALONE |= {"join paths", "unwind", "percentilecont", "percentiledisc"}


def _nested(template: str, inner: str, depth: int) -> str:
    for _ in range(depth):
        inner = _filled(template, f"({inner})" if inner[-1] != ")" else inner)
    return inner


def _filled(template: str, inner: str) -> str:
    """The template with something in its place, which is no part of a name."""
    return re.sub(r"\b_\b", lambda _: inner, template)


@pytest.mark.parametrize("template", NESTS)
def test_sql_grows_with_the_query(template: str) -> None:
    sizes = []
    for depth in (DEPTH // 2, DEPTH):
        computing = tail_of(f"RETURN {_nested(template, '1', depth)} AS value", GIVEN)._computing
        assert computing is not None
        statement = computing.statement
        assert statement is not None
        sizes.append(len(statement.sql))
    assert sizes[1] <= 2.5 * sizes[0]
    assert sizes[1] <= 25_000


def test_every_function_is_nested() -> None:
    found = set()
    for template in NESTS:
        (item,) = tail_of(f"RETURN {_filled(template, 'abs(1)')} AS value", GIVEN).projection.items
        found |= {part.function for part in walk(item.expression) if isinstance(part, Call)}
    assert OPERATORS.keys() | SCALARS.keys() <= found | ALONE


def test_what_nests_is_answered() -> None:
    start = time.perf_counter()
    assert value_of("[1,2][abs(" * 10 + "0" + ")]" * 10) is None
    assert value_of("([1] + " * 60 + "[2]" + ")" * 60) == [1] * 60 + [2]
    assert value_of("abs(-" * 90 + "1" + ")" * 90) == 1
    assert value_of("toInteger(toString(" * 30 + "7" + "))" * 30) == 7
    assert value_of("tail([0, 1 + head(" * 20 + "[1]" + ")])" * 20) == [21]
    assert time.perf_counter() - start < 20


def test_case_repeats_its_subject_up_to_a_size() -> None:
    """From there on it stands once; where DuckDB would bind its branches again and again for that, it is refused."""

    def nested(depth: int) -> str:
        text = "1"
        for _ in range(depth):
            text = f"CASE {text} WHEN 1 THEN 2 WHEN 2 THEN 1 ELSE 3 END"
        return text

    assert value_of(nested(6)) == 1
    assert value_of(nested(41)) == 2
    large = " + ".join(["1"] * 150)
    branches = " ".join(f"WHEN {number} THEN {number + 1}" for number in range(400))
    assert value_of(f"CASE {large} {branches} END") == 151
    assert value_of(f"CASE {large} {branches} WHEN 1 / 0 THEN 1 END") == 151
    lists = " ".join(f"WHEN [{number}] THEN {number}" for number in range(120, 160))
    mixed = " ".join(f"WHEN [{number}, 'a'] THEN [{number}]" for number in range(40))
    inside = f"CASE [{large}] {lists} ELSE -1 END"
    assert value_of(inside) == 150
    assert value_of(f"CASE [{large}, null] {lists} WHEN [150, 1] THEN -2 END") is None
    assert value_of(f"CASE [0 * ({large}) + 7, 'a'] {mixed} END") == [7]
    assert value_of(f"CASE [{large} + 900] {lists} ELSE {inside} END") == 150
    with pytest.raises(UnsupportedError, match="CASE of so large a subject"):
        value_of(f"CASE [{large}] {lists} ELSE CASE [{large}] {lists} ELSE {inside} END END")


def test_volatile_arguments_are_computed_once() -> None:
    assert value_of("[1, 2, 3][toInteger(rand() * 3)] IN [1, 2, 3]") is True
    with pytest.raises(UnsupportedError, match="CASE of what is random"):
        value_of("CASE toInteger(rand() * 2) WHEN 0 THEN 'a' WHEN 1 THEN 'b' END")


def test_no_text_is_taken_for_an_argument() -> None:
    for key in ("lambda", "$p_p", "' given'", '" given"'):
        for text in ("') --", "\0000\000", "\0001\000"):
            given = {"p": {key: text}, "q": {key: text}}
            assert value_of("[$p][abs(0)] = [$q][abs(0)]", given) is True
            assert value_of("[$p, $q][abs(0)]", given) == given["p"]


def test_arguments_fail_only_where_they_are_asked_for() -> None:
    assert value_of("CASE WHEN 1 = 1 THEN 5 ELSE [1, 2][abs(1 / 0)] END") == 5


def test_nesting_beside_aggregates_keys_and_parameters() -> None:
    graph = gquery.from_arrow(
        vertices={"P": {"id": [1, 2, 3], "n": [1, 1, 2], "d": [datetime.date(2020, 1, day) for day in (1, 2, 3)]}},
        edges={},
    )
    text = """MATCH (a:P) RETURN [0, 10, 20, 30][abs(a.n) + 1] AS k, [1, 2, 3][abs(count(*))] AS c,
              a.n IN $list AS i, [true, false][size([a.n IN $list])] AS s ORDER BY [0, 10, 20, 30][abs(a.n) + 1]"""
    assert [tuple(row) for row in graph.query(text, {"list": [1, None]}).rows()] == [
        (20, 3, True, False), (30, 2, None, False)
    ]  # fmt: skip
    text = "MATCH (a:P) RETURN DISTINCT round(a.n / 2.0) AS r, toString(a.n / 2.0) AS s ORDER BY s"
    assert [tuple(row) for row in graph.query(text).rows()] == [(1.0, "0.5"), (1.0, "1.0")]
    text = "MATCH (a:P) RETURN a.n AS n, collect(toString(sqrt(a.n - 1))) AS s ORDER BY n"
    assert [tuple(row) for row in graph.query(text).rows()] == [(1, ["0.0", "0.0"]), (2, ["1.0"])]


def test_duckdb_does_not_repeat_what_stands_once() -> None:
    """DuckDB itself writes the operand of a simple CASE again for each of its branches."""
    assert value_of("toBoolean(toString(" * 40 + "true" + "))" * 40) is True
    assert value_of("size([" * 40 + "1" + " IN [1, 2]])" * 40) == 1
    assert value_of("nullIf(" * 40 + "1" + ", 2)" * 40) == 1
