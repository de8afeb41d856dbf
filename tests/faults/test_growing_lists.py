"""Lists that are gone through for each item of others, and values that `reduce()` makes longer and longer: DuckDB
counts neither memory nor time while it computes one value, so these have limits."""

from __future__ import annotations

import time

import pytest

import gquery
from tests.conftest import patience

GRAPH = gquery.from_arrow({"P": {"id": [1], "tags": [["a", "b"]]}}, {})
WITHIN, REDUCED = "4,000,000 items in all", "4,194,304 characters and lists of 1,000,000 values"


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("size([x IN range(1, 30000) | [y IN range(1, 30000) | x * y]])", WITHIN),
        ("all(x IN range(1, 100000) WHERE any(y IN range(1, 100000) WHERE y > x + 100000))", WITHIN),
        ("[x IN range(1, 200) | [y IN range(1, 200) | [z IN range(1, 200) | x * y * z]]]", WITHIN),
        ("reduce(s = 0, x IN range(1, 30000) | s + reduce(t = 0, y IN range(1, 30000) | t + y))", WITHIN),
        ("size([x IN range(1, 30000) WHERE single(y IN $many WHERE x = y)])", WITHIN),
        ("size([x IN [z IN range(1, 30000) | z + 1] | [y IN tail(range(1, 30000)) | x * y]])", WITHIN),
        ("size(reduce(s = 'a', x IN range(1, 60) | s + s))", REDUCED),
        ("size(reduce(s = [1], x IN range(1, 60) | s + s))", REDUCED),
        ("reduce(s = 'a', x IN range(1, 40) | s + s) =~ '(a*)*b'", REDUCED),
    ],
)
def test_they_end_soon(expression: str, message: str) -> None:
    began = time.monotonic()
    with pytest.raises(gquery.ExecutionError, match=message):
        GRAPH.query(f"RETURN {expression} AS x", {"many": list(range(30_000))}, timeout=1.0).rows()
    assert time.monotonic() - began < 2.0 * patience()


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("size([x IN range(1, 2000) | [y IN range(1, 2000) | x * y]])", 2000),
        ("[x IN range(1, 3) | size([y IN range(x, 100000) | y])]", [100_000, 99_999, 99_998]),
        ("[x IN [1, null] | [y IN [x, 2] WHERE y > 1 | x]]", [[1], [None]]),
        ("[x IN range(3, 1) | [y IN range(1, 5) | y]]", []),
        ("[x IN range(5, 1, -2) | [y IN range(x, 1, -1) | y]]", [[5, 4, 3, 2, 1], [3, 2, 1], [1]]),
        ("[x IN null | [y IN [1] | y]]", None),
        ("size(reduce(s = 'a', x IN range(1, 20) | s + s))", 2**20),
        ("reduce(s = [], x IN range(1, 4) | s + [x])", [1, 2, 3, 4]),
        ("reduce(s = '', x IN ['a', null] | s + x)", None),
    ],
)
def test_others_are_as_they_were(expression: str, value: object) -> None:
    assert GRAPH.query(f"RETURN {expression} AS x").scalar() == value


def test_lists_that_are_stored() -> None:
    text = "MATCH (a:P) RETURN [x IN a.tags WHERE any(y IN a.tags WHERE y > x) | [z IN a.tags | x + z]] AS x"
    assert GRAPH.query(text).scalar() == [["aa", "ab"]]
