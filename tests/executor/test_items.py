"""Lists item by item, maps, and what is asked of them."""

from __future__ import annotations

import math
import warnings
from typing import Any

import pytest

import gquery
from tests.executor.relational_graph import ask, value_of

VALUES: list[tuple[str, Any]] = [
    # comprehensions
    ("[x IN [1, 2, 3] WHERE x > 1 | x * 10]", [20, 30]), ("[x IN [1, 2, 3] WHERE x > 1]", [2, 3]),
    ("[x IN [1, 2] | 'a' + x]", ["a1", "a2"]), ("[x IN [1, 2]]", [1, 2]), ("[(1 IN [1, 2])]", [True]),
    ("[x IN [] | x]", []), ("[x IN null | x]", None), ("[x IN [1, null] WHERE x > 0]", [1]),
    ("[x IN [1, 'a', null, [2]] WHERE x IS NOT NULL]", [1, "a", [2]]), ("[x IN [1, 'a'] WHERE x = 'a']", ["a"]),
    ("[x IN [1, 2] | [y IN [10, 20] WHERE y > x * 10 | x + y]]", [[21], []]),
    ("[x IN [1, 2] | [x IN [x, 5] | x * 2]]", [[2, 10], [4, 10]]), ("[x IN [[1, 2], [3]] | size(x)]", [2, 1]),
    ("[x IN [{a: 1}, {a: 2}] | x.a]", [1, 2]), ("[x IN [{a: 1}, {b: 'z'}] | x.b]", [None, "z"]),
    ("[x IN [1.0, 0.0 / 0.0] WHERE x = x]", [1.0]), ("[x IN range(1, 5) WHERE x IN [2, 4]]", [2, 4]),
    # quantifiers have three values
    ("all(x IN [] WHERE x > 0)", True), ("any(x IN [] WHERE x > 0)", False), ("none(x IN [] WHERE x > 0)", True),
    ("single(x IN [] WHERE x > 0)", False), ("all(x IN null WHERE true)", None), ("any(x IN null WHERE true)", None),
    ("none(x IN null WHERE true)", None), ("single(x IN null WHERE true)", None),
    ("all(x IN [1, 2] WHERE x > 0)", True), ("all(x IN [1, -2] WHERE x > 0)", False),
    ("all(x IN [1, null] WHERE x > 0)", None), ("all(x IN [-1, null] WHERE x > 0)", False),
    ("any(x IN [1, null] WHERE x > 0)", True), ("any(x IN [-1, null] WHERE x > 0)", None),
    ("none(x IN [-1, null] WHERE x > 0)", None), ("none(x IN [1, null] WHERE x > 0)", False),
    ("single(x IN [1, -1] WHERE x > 0)", True), ("single(x IN [1, 2] WHERE x > 0)", False),
    ("single(x IN [1, null] WHERE x > 0)", None), ("single(x IN [1, 2, null] WHERE x > 0)", False),
    ("single(x IN [-1, null] WHERE x > 0)", None), ("any(x IN [[1], []] WHERE any(y IN x WHERE y = 1))", True),
    # reduce: the accumulator is what its beginning and its steps have in common
    ("reduce(s = 0, x IN [1, 2, 3] | s + x)", 6), ("reduce(s = 0, x IN [] | s + x)", 0),
    ("reduce(s = 0, x IN null | s + x)", None), ("reduce(s = 0, x IN [1, null] | s + x)", None),
    ("reduce(s = '', x IN ['a', 'b'] | s + x)", "ab"), ("reduce(s = 0, x IN [1.5, 2.5] | s + x)", 4.0),
    ("reduce(l = [], x IN [1, 2] | l + [x, x])", [1, 1, 2, 2]), ("reduce(m = null, x IN [1, 2] | x)", 2),
    ("reduce(s = 1, x IN [[1, 2], [3]] | s + reduce(t = 0, y IN x | t + y))", 7),
    # maps
    ("{a: 1}['a']", 1), ("{a: 1, b: 'x'}[toLower('B')]", "x"), ("{a: 1}[toLower('C')]", None), ("{a: 1}[null]", None),
    ("null['a']", None), ("keys({b: 1, a: null})", ["b", "a"]), ("keys({})", []), ("keys(null)", None),
    ("properties({a: 1})", {"a": 1}), ("properties(null)", None), ("[{a: 1}, {b: 2}][1].b", 2),
    ("[{}, 1]", [{}, 1]), ("[{a: null}, 1]", [{"a": None}, 1]), ("[[{b: [null]}], [2]]", [[{"b": [None]}], [2]]),
    ("[{a: 1}, {}][1] = {}", True), ("[[], [null], [1], 1]", [[], [None], [1], 1]),
    ("exists(1)", True), ("exists(null)", False),
    # what is null is of any type
    ("[x IN null | size(x)]", None), ("[x IN tail(null) WHERE x > 1 | reverse(x)]", None),
    ("['a'] + [x IN null]", None), ("tail(null + null)", None), ("toUpper(null * null)", None),
    ("[null + null, 'a']", [None, "a"]), ("coalesce('a', reduce(s = null, x IN [1] | null))", "a"),
    ("reduce(s = 'a', x IN [null] | coalesce(x, 'b'))", "b"), ("[x IN [null] | coalesce(x, 'b')]", ["b"]),
    ("(null + duration('P1D')).day", None), ("[x IN [1] | (duration('P1D') + null).year]", [None]),
    ("(date('2024-01-01') - null).days", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), VALUES)
def test_values(text: str, expected: Any) -> None:
    assert value_of(text) == expected


@pytest.mark.parametrize(("text", "expected"), VALUES)
def test_values_after_with(text: str, expected: Any) -> None:
    """The same where the result travels through a clause."""
    graph = gquery.from_arrow(vertices={"A": {"id": [1]}}, edges={})
    assert (
        graph.query(f"MATCH (a) WITH a, {text} AS v ORDER BY v WITH v RETURN v, v = v AS same").rows()[0][0] == expected
    )


def test_items_and_rows() -> None:
    """What is asked of an item may speak of the row, of groups, and of parameters."""
    graph = gquery.from_arrow(
        vertices={"P": {"id": [1, 2, 3], "x": [10, 20, None], "l": [[1, 20], [3], None]}},
        edges={("P", "K", "P"): {"source": [1, 2], "target": [2, 3]}},
    )

    def rows(text: str, **parameters: object) -> list[Any]:
        return [tuple(row) for row in graph.query(text, parameters).rows()]

    assert rows("MATCH (a) RETURN [x IN a.l WHERE x < a.x | x + a.x] AS r ORDER BY a.x") == [([11],), ([23],), (None,)]
    assert rows("MATCH (a) WHERE any(x IN a.l WHERE x = 3) RETURN a.x") == [(20,)]
    assert rows("MATCH (a) WHERE any(x IN a.l WHERE x IN $l) RETURN a.x", l=[20, 3]) == [(10,), (20,)]
    assert rows("MATCH (a) RETURN [x IN collect(a.x) WHERE x > 10 | x] AS r") == [([20],)]
    assert rows("MATCH (a)-->(b) RETURN a.x AS k, [x IN collect(b.x) | x - a.x] AS r ORDER BY k") == [
        (10, [10]),
        (20, []),
    ]
    assert rows("MATCH p = (a)-->(b)-->(c) RETURN [n IN nodes(p) WHERE n = b OR n = c | 1] AS r") == [([1, 1],)]
    assert rows("MATCH (a) RETURN a {.x, z: 1} AS m, keys(a) AS k, a['x'] AS v ORDER BY v") == [
        ({"x": 10, "z": 1}, ["id", "x", "l"], 10),
        ({"x": 20, "z": 1}, ["id", "x", "l"], 20),
        ({"x": None, "z": 1}, ["id"], None),
    ]
    assert rows("OPTIONAL MATCH (a {x: 5}) RETURN a {.x} AS m, keys(a) AS k, properties(a) AS p") == [
        (None, None, None)
    ]
    assert rows("MATCH (a {x: 10}) RETURN a {.*, x: 5} AS m, properties(a) AS p") == [
        ({"x": 5, "id": 1, "l": [1, 20]}, {"id": 1, "x": 10, "l": [1, 20]})
    ]
    assert rows("MATCH (a) RETURN percentileDisc(a.x, 0.5) AS d, percentileCont(a.x, $p) AS c", p=0.5) == [(10, 15.0)]


def test_a_map_without_the_key_is_told() -> None:
    graph = gquery.from_arrow(vertices={"A": {"id": [1]}}, edges={})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert graph.query("WITH {name: 1} AS m RETURN m.nam").scalar() is None
    (warning,) = caught
    assert "the map has no key `nam`: always null" in str(warning.message)
    assert "did you mean `name`?" in str(warning.message)


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([-(2**63), 2**63 - 1], 0.5, 0.0), ([math.inf], 0.5, math.inf), ([-math.inf, -math.inf, 1.0], 0.25, -math.inf),
        ([1e308, -1e308], 0.5, 0.0), ([0.1] * 7, 0.3, 0.1), ([1, 2, 4], 0.75, 3.0), ([1, 2], None, None),
    ],
)  # fmt: skip
def test_a_percentile_between_numbers_at_the_ends(values: list[Any], share: float | None, expected: Any) -> None:
    """Between those of 64 bits an overflow was an error; an infinite one, less itself, is no number."""
    text = "UNWIND $l AS x RETURN percentileCont(x, $p) AS c, percentileDisc(x, $p) IS NULL AS d"
    graph = gquery.from_arrow({"A": {"id": [1]}}, {})
    assert graph.query(text, {"l": values, "p": share}).rows() == [(expected, share is None)]


@pytest.mark.parametrize("share", ["1.5", "-1"])
def test_a_percentile_lies_between_0_and_1(share: str) -> None:
    with pytest.raises(gquery.ExecutionError, match="a percentile lies between"):
        list(ask(f"MATCH (a:Person) RETURN percentileDisc(a.age, {share})", {"a": [0]}))


@pytest.mark.parametrize(
    "text",
    [
        "[x IN range(1, 1000000) | range(1, 1000000)]", "[x IN range(1, 10000) | [y IN range(x, 10000) | 1]]",
        "any(x IN range(1, 1000000) WHERE size(range(1, 1000000)) = x)", "[x IN $l | [y IN $l | x + y]]",
        "[x IN $l | $l]", "[x IN $l | any(y IN $l WHERE any(z IN $l WHERE x = y + z))]",
        "[x IN tail($l) | [y IN tail($l) | x + y]]", "[x IN $l | reduce(s = 0, y IN $l | s + y)]",
        "[x IN $l | replace($t, 'a', $t)]", "reduce(s = [1], x IN range(1, 60) | s + s)",
        "reduce(s = 'a', x IN range(1, 60) | s + s)", "reduce(s = 'a', x IN range(1, 9) | replace(s, 'a', $t))",
    ],
)  # fmt: skip
def test_lists_within_lists_have_a_limit(text: str) -> None:
    """Before, they filled the memory, whatever the limits of memory and time."""
    with pytest.raises(gquery.ExecutionError, match=r"makes (lists|texts) of at most|lists within lists have at most"):
        value_of(f"size({text})" if "any(x" not in text else text, {"l": list(range(5000)), "t": "a" * 1000})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[x IN range(1, 3) | range(1, x)]", [[1], [1, 2], [1, 2, 3]]), ("[x IN $l | $l]", [[1, 2], [1, 2]]),
        ("[x IN $l + 3 | [y IN $l + x WHERE y >= x | y * x]]", [[1, 2, 1], [4, 4], [9]]),
        ("[x IN $l | [y IN tail($l) | [z IN range(1, y) | x * y * z]]]", [[[2, 4]], [[4, 8]]]),
        ("[x IN $l | $t]", ["ab", "ab"]), ("[x IN range(4, 1, -3) | [y IN range(0, x, 2) | y]]", [[0, 2, 4], [0]]),
        ("[x IN $l | [y IN null | y]]", [None, None]), ("[x IN [y IN $l | y] | replace($t, 'a', 'x')]", ["xb", "xb"]),
        ("size(reduce(s = [1], x IN range(1, 19) | s + s))", 2**19),
    ],
)  # fmt: skip
def test_lists_within_lists(text: str, expected: Any) -> None:
    assert value_of(text, {"l": [1, 2], "t": "ab"}) == expected


def test_computed_lists_within_lists_are_four_deep_at_most() -> None:
    text = "1"
    for depth in range(10):
        text = f"[x{depth} IN [y IN [1] | y] | {text}]"
    with pytest.raises(gquery.UnsupportedError, match="computed and so deep"):
        value_of(f"size({text})")


def test_names_of_items_are_ten_deep_at_most() -> None:
    text = "1"
    for depth in range(10):
        text = f"[x{depth} IN [1] | {text}]"
    assert value_of(f"size({text})") == 1
    with pytest.raises(gquery.UnsupportedError, match="10 names of items"):
        value_of(f"[x IN [1] | {text}]")


def test_positions_of_a_list_are_no_longer_than_the_list() -> None:
    """Few rows at a time were looked at, as for ranges of any length: whether the relationships of 200,000 paths are in
    order of time took half a minute."""
    graph = gquery.from_arrow({"V": {"id": list(range(9000)), "l": [[n, n + 1, n + 2] for n in range(9000)]}}, {})

    def most_rows(expression: str) -> int:
        answer = graph.query(f"MATCH (v:V) RETURN {expression} AS x", {"l": [1, 2]}).to_arrow()
        return max(map(len, answer["x"].chunks))

    assert most_rows("[i IN range(0, size(v.l) - 2) WHERE v.l[i] < v.l[i + 1]]") > 1000
    assert most_rows("range(0, size([i IN range(size(v.l), 1, -1) | v.l[i - 1]]))") > 1000
    assert most_rows("[i IN range(0, size(range(0, v.id % 2))) | i]") < 10
    assert most_rows("[i IN range(0, size($l)) | i]") < 10  # of which each row would have one as long
    assert most_rows("[x IN v.l | range(0, size(v.l))]") < 10
