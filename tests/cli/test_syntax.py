"""Half-typed text: tokens, statements, completeness; values as people type them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gquery.terminal.entry.highlight import styled
from gquery.terminal.entry.syntax import is_complete, statements, tokens
from gquery.terminal.literals import read_assignment, read_literal, read_seconds
from gquery.terminal.messages import UsageError

anything = st.text(alphabet="abM1 .:;,'\"`\\$/*\n()[]{}->|é", max_size=40)


@given(anything)
def test_every_character_belongs_to_one_token(text: str) -> None:
    assert "".join(token.text for token in tokens(text)) == text


@given(anything)
def test_highlighting_keeps_the_text_and_completeness_never_fails(text: str) -> None:
    assert "".join(piece[1] for piece in styled(text)) == text
    assert is_complete(text) in (True, False)


def test_statements() -> None:
    script = """
    // a comment; with a semicolon
    :mode induced
    MATCH (a) WHERE a.x = ';' /* ; */ RETURN a;
    MATCH (b:`;`)
    RETURN b ; ;
    :quit
    """
    first, query, second, quit_command = statements(script)
    assert first == ":mode induced"
    assert query.endswith("MATCH (a) WHERE a.x = ';' /* ; */ RETURN a")
    assert second == "MATCH (b:`;`)\n    RETURN b"
    assert quit_command == ":quit"


def test_a_comment_is_no_statement() -> None:
    assert list(statements("// nothing\n /* here */ ;; ")) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":help",
        "help",
        "MATCH (a) RETURN a",
        "MATCH (a)\nRETURN a;",
        "MATCH (a)\nRETURN a\n  ",
        "MATCH (a) RETRUN a",  # no further line could mend it
        "CREATE (a)",
    ],
)
def test_complete(text: str) -> None:
    assert is_complete(text)


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a)",
        "MATCH (a) WHERE a.x = ",
        "MATCH (a:Person",
        "MATCH (a) RETURN 'abc",
        "MATCH (a) /* half",
        "MATCH (a)\nRETURN a",  # of several lines: ORDER BY may follow
    ],
)
def test_incomplete(text: str) -> None:
    assert not is_complete(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("30", 30),
        ("1.5", 1.5),
        ("true", True),
        ("null", None),
        ("[1, 2]", [1, 2]),
        ('"30"', "30"),
        ("'30'", "30"),
        ("Ann", "Ann"),
        ("NaN", "NaN"),
        ("", ""),
        ("it's", "it's"),
    ],
)
def test_literals(text: str, value: object) -> None:
    assert read_literal(text) == value


def test_assignment() -> None:
    assert read_assignment("min=30") == ("min", 30)
    assert read_assignment("$q=a=b") == ("q", "a=b")
    with pytest.raises(UsageError, match="name=value"):
        read_assignment("min")


@pytest.mark.parametrize("text", ["x", "0", "-1", "inf", "nan"])
def test_no_number_of_seconds(text: str) -> None:
    with pytest.raises(UsageError):
        read_seconds(text)


def test_highlighting() -> None:
    pieces = {text: style for style, text, *_ in styled("MATCH (a:Person {x: 'y'}) RETURN count(a.match), $p, 1.5")}
    assert pieces["MATCH"] == pieces["RETURN"] == "class:keyword"
    assert pieces["Person"] == "class:label"
    assert pieces["count"] == "class:function"
    assert pieces["match"] == ""
    assert (pieces["'y'"], pieces["$p"], pieces["1.5"]) == ("class:string", "class:parameter", "class:number")
