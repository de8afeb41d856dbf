"""Broken text of every kind: the parser answers with a tree or with an error of our own, and soon."""

from __future__ import annotations

import os
import random
import time

import pytest

from gquery.errors import GQueryError, ParseError, UnsupportedError
from gquery.grammar import keywords, parse, unparse
from tests.conftest import patience

QUERIES = [
    "MATCH (a:Person {name: 'x'})-[r:KNOWS|LIKES]->(b:!A&%) WHERE a.age >= $min AND NOT (a)-[:X]-(b) RETURN a.name",
    "PROFILE MATCH DIFFERENT NODES p = (a)-->(b)<--(c), (c)--(d) WHERE 1 < a.x <= 5 OR b.y IS NOT NULL RETURN *;",
    "OPTIONAL MATCH (a WHERE a.`odd key` =~ '.*\\u00e9') RETURN DISTINCT count(*), sum(a.x) + -1.5e3 AS n",
    "RETURN CASE a WHEN 1 THEN 'one' ELSE [1, 2][0..1] END, {k: [true, null]}.k ORDER BY a.x DESC SKIP 1 LIMIT 2",
    'RETURN f.g(DISTINCT x) % 2 ^ $1, n:A|B, a IN [1] /* or */ XOR a STARTS WITH "b" // end',
    "MATCH (a) WHERE NOT EXISTS { MATCH INDUCED p = (a)-->(b WHERE b.x), (b)--() WHERE a.y } AND exists(a.x) RETURN a",
    "MATCH (a)-[:X*1..3]->(b) WITH a, [x IN a.xs WHERE x > 1 | x] AS xs UNWIND xs AS y RETURN y",
]
SIGNS = [*"()[]{}<>-=+*/%^|&!:;,.$'\"`\\#?@~", "..", "->", "<-", "--", "//", "/*", "*/"]
ODD = [" ", "\n", "\t", "\0", "\u00a0", "\ud800", "é", "٣", "😀", "0x", "1e9", "9" * 30]
WORDS = [*sorted(keywords()), "WITH", "UNWIND", "all(", "EXISTS {", "shortestPath(", "name", "'text'", "$p", "12"]
PIECES = [*SIGNS, *ODD, *WORDS]
SEEDS = range(200 if os.environ.get("GQUERY_SLOW") else 10)
MUTANTS_PER_SEED = 100
LONGEST = 1.0  # seconds for one text


def mutant(chance: random.Random) -> str:
    """A valid query after one to five random changes."""
    text = chance.choice(QUERIES)
    for _ in range(chance.randint(1, 5)):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.randint(0, 12))
        match chance.randrange(6):
            case 0:
                text = text[:start] + text[end:]
            case 1:
                text = text[:start] + chance.choice(PIECES) + text[start:]
            case 2:
                text = text[:start] + chance.choice(PIECES) + text[end:]
            case 3:
                text = text[:start] + text[start:end] * chance.randint(2, 50) + text[end:]
            case 4:
                text = text[:start] + chance.choice(QUERIES)[chance.randrange(40) :]
            case 5:
                words = text.split(" ")
                chance.shuffle(words)
                text = " ".join(words)
    return text


def check(text: str) -> None:
    begun = time.perf_counter()
    problem: GQueryError | None = None
    try:
        tree = parse(text)
    except (ParseError, UnsupportedError) as error:
        problem = error
    assert time.perf_counter() - begun < LONGEST * patience()
    if problem is None:
        assert parse(unparse(tree)) == tree
    else:
        assert problem.span is not None
        assert 0 <= problem.span.start <= problem.span.end <= len(text)
        str(problem).encode()


@pytest.mark.parametrize("seed", SEEDS)
def test_mutants(seed: int) -> None:
    chance = random.Random(seed)
    for number in range(MUTANTS_PER_SEED):
        text = mutant(chance)
        try:
            check(text)
        except Exception as problem:
            raise AssertionError(f"seed {seed}, mutant {number}: {text!r}") from problem


@pytest.mark.parametrize("seed", SEEDS)
def test_random_pieces(seed: int) -> None:
    chance = random.Random(seed)
    for number in range(MUTANTS_PER_SEED):
        text = chance.choice(["", " "]).join(chance.choices(PIECES, k=chance.randint(1, 30)))
        try:
            check(text)
        except Exception as problem:
            raise AssertionError(f"seed {seed}, text {number}: {text!r}") from problem


@pytest.mark.parametrize("query", QUERIES)
def test_every_beginning(query: str) -> None:
    for end in range(len(query)):
        check(query[:end])
