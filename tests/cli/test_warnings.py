"""What can never match is said: a warning with its place, in Python, on the result, on the command line."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import gquery

GRAPH = gquery.from_arrow(
    vertices={
        "P": {
            "id": ["a1", "a2"],
            "n": [1, None],
            "s": ["n/a", "12"],
            "day": [datetime.date(2024, 1, 15), None],
            "moment": [datetime.datetime(2024, 1, 15), None],
            "tags": [["x"], []],
            "ok": [True, None],
            "none": [None, None],
        }
    },
    edges={("P", "E", "P"): {"source": ["a1"], "target": ["a2"], "w": [1.5]}},
)


def _said(condition: str, **parameters: Any) -> tuple[str, ...]:
    """The warnings of a query; they are Python's too."""
    text = f"MATCH (a:P)-[e:E]->(b) WHERE {condition} RETURN a"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = GRAPH.query(text, parameters)
        assert result.rows() == []
    assert tuple(str(warning.message) for warning in caught) == result.warnings
    assert all(warning.category is gquery.QueryWarning for warning in caught)
    assert all(warning.filename == __file__ for warning in caught)
    return result.warnings


SAID: list[tuple[str, dict[str, Any], str]] = [
    ("a.s > 100", {}, "`a.s` is text and is compared with a number: never true or false"),
    ("a.s = 100", {}, "`a.s` is text and is compared with a number: never true"),
    ("a.s = null", {}, "`a.s` is compared with null: never true"), ("null <> a.s", {}, "hint: write IS NOT NULL"),
    ("100 = a.s", {}, "`a.s` is text and is compared with a number"), ("a.s = $x", {"x": 5}, "with a number"),
    ("a.s IN [1, 2]", {}, "`a.s` is text and is compared with a number"), ("a.s IN $x", {"x": [5]}, "with a number"),
    ("id(a) = 5", {}, "id(a) is text and is compared with a number"), ("a.n = 'x'", {}, "is a number and is compared"),
    ("a.day = 5", {}, "`a.day` is a date and is compared with a number"), ("a.ok = 1", {}, "is true or false"),
    ("a.day > datetime('2024-01-01T00:00')", {}, "a date and is compared with a point in time"),
    ("a.moment = date('2024-01-15')", {}, "a point in time and is compared with a date"),
    ("a.tags = 'x'", {}, "`a.tags` is a list and is compared with text"), ("e.w = 'x'", {}, "`e.w` is a number"),
    ("1 IN a.tags", {}, "`a.tags` is text and is compared with a number"), ("a.n = b.s", {}, "with text"),
    ("a.n = {a: 1}", {}, "with a map"), ("a.day = a.s", {}, "with text"), ("NOT a.s <> 1", {}, "always true"),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "given", "message"), SAID, ids=[case[0] for case in SAID])
def test_a_column_beside_what_it_never_holds(condition: str, given: dict[str, Any], message: str) -> None:
    (warning,) = _said(condition, **given)
    assert message in warning
    assert "^" in warning
    assert ("--null n/a" in warning) == ("is text" in warning and "id(a)" not in warning)


def test_as_it_is_read() -> None:
    with pytest.warns(gquery.QueryWarning) as caught:
        GRAPH.query("MATCH (a:P {s: 100}) RETURN a")
    assert str(caught[0].message) == (
        "Warning: `a.s` is text and is compared with a number: never true\n"
        "  1 | MATCH (a:P {s: 100}) RETURN a\n"
        "    |             ^^^^^^\n"
        "hint: where a few words such as n/a made it text, load it with null=['n/a'] (--null n/a)"
    )


@pytest.mark.parametrize(
    "condition",
    [
        "a.n = 7", "a.n = 7.5", "a.s = 'x'", "a.n > $x", "a.none = 1", "a.s IN []", "'1' = 2", "a.n = 8",
        "a.day = '2020-01-01'", "a.tags = ['y']", "a.tags = [1]", "a.n IN [null]", "toString(a.n) = 'x'",
    ],
)  # fmt: skip
def test_what_may_match_is_not_spoken_of(condition: str) -> None:
    assert _said(condition, x=None) == ()


def test_again_for_every_query_and_in_its_plan() -> None:
    for _ in range(2):
        with pytest.warns(gquery.QueryWarning, match="never true"):
            assert len(GRAPH.query("MATCH (a:P) WHERE a.s = 1 OR a.s = 2 RETURN a").warnings) == 2
    with pytest.warns(gquery.QueryWarning, match="never true"):
        GRAPH.explain("MATCH (a:P) WHERE a.s = 1 RETURN a")


def test_the_command_line_says_it_once(cli: Callable[..., tuple[int, bytes, str]], saved: str) -> None:
    text = "MATCH (a:Person) WHERE a.name = 5 RETURN a.name"
    for command in (("run", "--format", "csv"), ("explain",), ("profile",)):
        code, out, err = cli(command[0], saved, text, *command[1:])
        assert code == 0
        assert err.count("Warning: `a.name` is text and is compared with a number: never true") == 1
        assert b"Warning" not in out


def test_the_shell_says_it_before_the_answer(screen: Any) -> None:
    for command in ("", ":explain "):
        assert screen(f"{command}MATCH (a:Person) WHERE a.age = 'x' RETURN a.name") == 0
        assert screen.notes.startswith("Warning: `a.age` is a number and is compared with text: never true\n")
        assert screen.notes.count("Warning") == 1


def test_what_nobody_has_named_is_called_what_it_is() -> None:
    with pytest.warns(gquery.QueryWarning) as caught:
        GRAPH.query("MATCH ({s: 5})-[*0..2]-({s: 6}) RETURN count(*)")
    assert {str(each.message).split("\n")[0] for each in caught} == {
        "Warning: `s` of a node is text and is compared with a number: never true"
    }
