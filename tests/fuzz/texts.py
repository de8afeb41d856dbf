"""Query texts that nobody would write: mutants of real ones, made ones, deep ones, long ones."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cache
from random import Random
from typing import Any

from tests.conformance.tck_features import read_scenarios
from tests.conftest import SHARED
from tests.grammar.test_grammar_fuzz import PIECES, QUERIES
from tests.soak.queries import random_query
from tests.soak.render import text_of
from tests.soak.tables import random_tables

NUMBERS = ["9223372036854775807", "-9223372036854775808", "9223372036854775808", "9" * 400, "1e308", "1e-400", "0x7f",
           "-0.0", "0.1", "1e9", "2147483648", "0o17", "1_000", "00", "1." + "0" * 300 + "1"]  # fmt: skip
TEXTS = ["''", '"', "'", "`", "``", "'\\u0000'", "'\\ud800'", "'\u0000'", "'\u202e'", "'é\u0301'", "'😀'", "'%s'",
         "'); DROP TABLE x; --'", "'{}'", "'$p'", "'\\'", "'\n'"]  # fmt: skip
VALUES = ["null", "true", "[]", "{}", "[null]", "{a: null}", "$n", "$t", "$l", "$m", "$d", "a", "a.name", "a.num", "p",
          "date('2024-02-30')", "datetime('2024-01-01T00:00:00+01:00')", "count(*)", "rand()", "0.0 / 0.0", "a.list",
          "a.born", "*", "(a)-->()", "EXISTS { (a)--() }", "[[1], [2, 'x']]", "range(1, 100)"]  # fmt: skip
CALLS = ["abs", "size", "toString", "toInteger", "head", "collect", "sum", "count", "date", "datetime", "substring",
         "range", "coalesce", "id", "labels", "type", "nodes", "split", "reverse", "left", "log", "round", "min",
         "keys", "replace", "toFloat", "startNode", "stdev", "length", "exists", "e", "atan2"]  # fmt: skip
OPERATORS = ["+", "-", "*", "/", "%", "^", "=", "<>", "<", ">=", "AND", "OR", "XOR", "IN", "STARTS WITH", "CONTAINS",
             "=~", ".", ":", "IS NULL AND"]  # fmt: skip
PARAMETERS = {"n": 1, "t": "a", "l": [1, None, 3], "m": {"a": 1, "name": "x"}, "d": Decimal("0.57"),
              "p": date(2024, 1, 1)}  # fmt: skip
ODD_VALUES: list[Any] = [
    None, True, 2**63 - 1, -(2**63), 2**63, 10**400, float("inf"), -0.0, "", "\ud800", "\0", "x" * 100_000, [], [[]],
    [1, "a"], [None, None], {}, {"": 1}, {"a": {"b": []}}, (), {1, 2}, b"\xff", object(), Decimal("NaN"),
    Decimal("1e500"), Decimal("0.1"), date(1, 1, 1), date(9999, 12, 31), 1j, range(3), [1, 2.5], {"a": float("nan")},
    [2**70],
]  # fmt: skip
TABLES = random_tables(Random("a graph for odd texts"))
_TOKEN = re.compile(r"\w+|'[^']*'|\s+|.", re.DOTALL)


@cache
def known_texts() -> tuple[str, ...]:
    """Those of the TCK where it is, and those of our own tests."""
    folder = SHARED / "tck" / "features"
    steps = (step for scenario in read_scenarios(folder) for step in scenario.steps) if folder.is_dir() else ()
    return (*QUERIES, *dict.fromkeys(step.block for step in steps if step.text == "executing query:"))


@dataclass(frozen=True)
class Text:
    """A text with its parameters. tabled: to be asked of the graph of `TABLES`, not of the small one."""

    text: str
    parameters: dict[str, Any] = field(default_factory=PARAMETERS.copy)
    tabled: bool = False


def text_at(seed: int, number: int) -> Text:
    """One of the endlessly many texts of a seed."""
    return _text(Random(f"fuzz {seed} {number}"))


def _text(random: Random) -> Text:
    if random.random() < 0.3:
        return _made(random)
    made = random.choice([_mutant, _mutant, _returning, _returning, _deep, _pieces])(random)
    return Text(made if random.random() < 0.9 else _changed(random, made))


def _mutant(random: Random) -> str:
    changed = random.choice(known_texts())
    for _ in range(random.choice([1, 1, 2, 3, 6])):
        changed = _changed(random, changed)
    return changed


def _changed(random: Random, text: str) -> str:
    tokens = _TOKEN.findall(text) or [""]
    place, other = random.randrange(len(tokens)), random.randrange(len(tokens))
    match random.randrange(9):
        case 0:
            tokens[place], tokens[other] = tokens[other], tokens[place]
        case 1:
            del tokens[place : place + random.randint(1, 4)]
        case 2:
            tokens[place] *= random.choice([2, 3, 40])
        case 3:
            tokens[place] = random.choice([*NUMBERS, *TEXTS, *VALUES, *CALLS])
        case 4:
            tokens.insert(place, f" {random.choice([*OPERATORS, *PIECES])} ")
        case 5:
            begin, end = sorted((place, other))
            tokens[end:end] = tokens[begin:end] * random.choice([1, 2, 20])
        case 6:
            rest = _TOKEN.findall(random.choice(known_texts()))
            tokens[place:] = rest[random.randrange(len(rest)) :]
        case 7:
            tokens = [f" {token.upper()} " if random.random() < 0.2 else token for token in tokens]
        case _:
            digits = [index for index, token in enumerate(tokens) if token.isdigit()] or [place]
            tokens[random.choice(digits)] = random.choice(NUMBERS)
    return "".join(tokens)[:20_000]


def _made(random: Random) -> Text:
    """One of the soak's queries, as it is, with another word, or with other parameters."""
    text, parameters = text_of(random_query(random, TABLES))
    if random.random() < 0.5:
        text = _changed(random, text)
    for name in parameters:
        if random.random() < 0.3:
            parameters[name] = random.choice(ODD_VALUES)
    return Text(text, parameters, tabled=True)


def _returning(random: Random) -> str:
    """A made expression of no type in particular, returned or asked for."""
    expression = _expression(random, random.choice([1, 1, 1, 2, 3]))
    words = [
        f"MATCH (a:A)-[r]->(b) WHERE {expression} RETURN count(*)",
        f"MATCH p = (a)-[r:R]->(b:B) RETURN DISTINCT {expression} AS x ORDER BY x",
        f"MATCH (a {{num: {expression}}}) RETURN a.name, {expression} LIMIT 3",
        f"RETURN {expression} AS x",
        f"MATCH (a:A) RETURN a.name, collect({expression}) AS x ORDER BY {_expression(random, 1)}",
        f"MATCH (a) WHERE a.num IN {expression} RETURN a SKIP {_expression(random, 0)}",
    ]
    return random.choice(words)


def _expression(random: Random, depth: int) -> str:
    if depth == 0:
        return random.choice(random.choice([VALUES, VALUES, NUMBERS, TEXTS]))
    one, other, third = (_expression(random, random.randrange(depth)) for _ in range(3))
    return random.choice(
        [
            f"({one} {random.choice(OPERATORS)} {other})",
            f"{random.choice(CALLS)}({one})",
            f"{random.choice(CALLS)}({one}, {other})",
            f"{random.choice(CALLS)}(DISTINCT {one})",
            f"[{one}, {other}][{third}]",
            f"[{one}, {other}][{third}..]",
            f"{{a: {one}, b: {other}}}.{random.choice('ab')}",
            f"CASE {one} WHEN {other} THEN {third} ELSE {one} END",
            f"CASE WHEN {one} THEN {other} END",
            f"NOT {one}",
            f"-{one}",
            f"{one} < {other} <= {third}",
            f"({one} IS NOT NULL)",
        ]
    )


def _deep(random: Random) -> str:
    """The same again and again, inside itself or in a row."""
    depth = random.choice([10, 30, 100, 1_000, 5_000])
    before, inner, after = random.choice(
        [("(", "1", ")"), ("[", "1", "]"), ("NOT ", "true", ""), ("-", "1", ""), ("{a: ", "1", "}"), ("abs(", "1", ")"),
         ("[1][", "0", "]"), ("1 + ", "1", ""), ("CASE WHEN true THEN ", "1", " END"), ("", "a", ".b"),
         ("", "1", " = 1"), ("", "[1]", "[0..]"), ("coalesce(null, ", "1", ")"), ("true OR ", "false", ""),
         ("1 IN [", "1", "]"), ("[1,2][abs(", "a.num", ")]"), ("size(toString(", "1", "))"), ("'a' + ", "'b'", ""),
         ("/*", "1", "*/")]
    )  # fmt: skip
    nested = before * depth + inner + after * depth
    patterns = "(a)" + "-->()" * depth, ", ".join(["(a)-->()"] * depth), "(" * depth + "a" + ")" * depth
    return random.choice(
        [
            f"RETURN {nested} AS x",
            f"MATCH (a:A) WHERE {nested} = 1 RETURN a.name",
            f"MATCH {random.choice(patterns)} RETURN count(*)",
            f"MATCH (a) WHERE {'EXISTS { (a) WHERE ' * depth}true{' }' * depth} RETURN a",
            f"MATCH (a) {'MATCH (a) ' * depth} RETURN {', '.join(['a'] * min(depth, 100))}",
            f"MATCH (a{':A|B' * depth}) RETURN {', '.join(f'1 AS c{index}' for index in range(depth))}",
        ]
    )


def _pieces(random: Random) -> str:
    words = [*PIECES, *VALUES, *CALLS, *NUMBERS, *TEXTS]
    return random.choice(["", " "]).join(random.choices(words, k=random.randint(1, 40)))
