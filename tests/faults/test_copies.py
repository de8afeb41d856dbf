"""Values that are made of copies of others, clause after clause: DuckDB counts no memory for these,
so they have a limit."""

from __future__ import annotations

import time

import pytest

import gquery
from tests.conftest import patience

GRAPH = gquery.from_arrow({"P": {"id": list(range(500)), "name": ["aa"] * 500}}, {})
EIGHT = " + ".join(["s"] * 8)


@pytest.mark.parametrize(
    "text",
    [
        "WITH [1, 2, 3] AS s " + f"WITH {EIGHT} AS s " * 10 + "RETURN size(s)",
        "WITH 'abc' AS s " + f"WITH {EIGHT} AS s " * 12 + "RETURN size(s)",
        "WITH 'aaaaaaaa' AS s " + "WITH replace(s, 'a', 'aaaaaaaaaaaaaaaaaaaa') AS s " * 8 + "RETURN size(s)",
        "WITH {l: [1, 2, 3]} AS s " + f"WITH {{l: {EIGHT.replace('s', 's.l')}}} AS s " * 10 + "RETURN size(s.l)",
        "WITH [1, 2, 3] AS s " + f"WITH {EIGHT.replace('s', 'reverse(s)')} AS s " * 10 + "RETURN size(s)",
        "WITH [1] AS s " + f"WITH [{EIGHT.replace('+', ',')}] AS s " * 8 + "RETURN size(s)",
        "RETURN reduce(m = {l: [1]}, x IN range(1, 40) | {l: m.l + m.l})",
        "RETURN reduce(l = ['a'], x IN range(1, 40) | [l[0] + l[0]])",
        "MATCH (a) WITH a.name AS s "
        + "WITH replace(s, 'a', 'aaaaaaaaaaaaaaaaaaaa') AS s " * 8
        + "RETURN sum(size(s))",
    ],
)
def test_they_end_soon(text: str) -> None:
    began = time.monotonic()
    with pytest.raises((gquery.QueryTimeout, gquery.ExecutionError)):
        GRAPH.query(text, timeout=1.0).rows()
    assert time.monotonic() - began < 3.0 * patience()


@pytest.mark.parametrize("condition", ["d + 'a' = 'aaaaa'", "d + d = 'aaaaaaaa'"])
def test_a_condition_behind_distinct_speaks_of_what_is_copied_there(condition: str) -> None:
    text = f"MATCH (a) WITH DISTINCT a.name + a.name AS d WHERE {condition} RETURN d"
    assert GRAPH.query(text).rows() == [("aaaa",)]


def test_the_limit_is_named() -> None:
    with pytest.raises(gquery.ExecutionError, match="copies make texts of at most 16,777,216 characters"):
        GRAPH.query("WITH 'abcdefgh' AS s " + "WITH s + s AS s " * 25 + "RETURN size(s)").rows()


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("s + s + s", "ababab"),
        ("replace(s, 'a', 'aaa')", "aaab"),
        ("replace(s, '', '-') + s", "abab"),
        ("[s, s] + [s] + [s]", ["ab"] * 4),
        ("replace(s + s, 'ab', 'c')", "cc"),
        ("n + n", None),
    ],
)
def test_others_are_as_they_were(expression: str, value: object) -> None:
    rows = GRAPH.query(
        f"UNWIND ['ab'] AS s UNWIND [1] AS i WITH s, CASE WHEN i > 1 THEN 'x' END AS n RETURN {expression}"
    )
    assert rows.rows() == [(value,)]
