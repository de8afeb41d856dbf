"""What a user reads when a query is wrong, held in `errors.golden`: each query and the error as it is rendered.

Run this file as a script to write the golden file anew from the queries in it; a new query is added as a `>` line.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gquery.errors import GQueryError, ParseError, Span, UnsupportedError
from gquery.grammar import parse

GOLDEN = Path(__file__).with_name("errors.golden")


def error_of(query: str) -> GQueryError:
    with pytest.raises(GQueryError) as caught:
        parse(query)
    return caught.value


def golden() -> list[tuple[str, str]]:
    blocks = GOLDEN.read_text(encoding="utf-8").removesuffix("\n").split("\n\n")
    return [(query.removeprefix("> "), message) for query, _, message in (block.partition("\n") for block in blocks)]


@pytest.mark.parametrize(("query", "message"), golden())
def test_golden(query: str, message: str) -> None:
    assert str(error_of(query)) == message


def test_caret_on_a_later_line() -> None:
    lines = str(error_of("MATCH (a)\nWHERE a.x = 1\n  AND AND a.y\nRETURN a")).splitlines()
    assert lines[1:] == ["  3 |   AND AND a.y", "    |       ^^^"]


@pytest.mark.parametrize(
    ("query", "message", "place"),
    [
        ("", "the query is empty", 0),
        (" \n ", "the query is empty", 0),
        ("// only a comment", "the query is empty", 0),
        ("MATCH\u00a0(a)", "unusual white space U+00A0", 5),
        ("MATCH (a)\u2003RETURN a", "unusual white space U+2003", 9),
        ("MATCH (a)\u2028RETURN a", "unusual white space U+2028", 9),
        ("\ufeffMATCH (a) RETURN a", "invisible character U+FEFF", 0),
        ("MATCH (a\u200b) RETURN a", "invisible character U+200B", 8),
        ("MATCH (a) RETURN '\0'", "a query cannot contain the character U+0000", 18),
        ("MATCH (a) RETURN '\ud800'", "a query cannot contain the character U+D800", 18),
        ("MATCH (a) RETURN ٣", "`٣` is not a number", 17),
        ("MATCH (a) RETURN a\u0301", "unexpected character `\u0301`", 18),
    ],
)
def test_odd_characters(query: str, message: str, place: int) -> None:
    error = error_of(query)
    assert (error.message, error.span and error.span.start) == (message, place)
    str(error).encode()  # what is shown can be printed


@pytest.mark.parametrize("query", [None, 1, b"MATCH (a) RETURN a", ["RETURN 1"]])
def test_not_text(query: object) -> None:
    with pytest.raises(ParseError, match="must be text"):
        parse(query)  # type: ignore[arg-type]


def test_long_words_are_cut_in_messages() -> None:
    for query in (
        f"RETURN {'9' * 10_000}a",
        f"{'x' * 10_000}",
        f"RETURN a AS {'x' * 10_000} y",
        "RETURN '\\" + "u" * 10_000 + "'",
    ):
        assert len(str(error_of(query))) < 1000


def test_no_foreign_exception_shows() -> None:
    error = error_of("MATCH (a) RETURN )")
    assert error.__suppress_context__
    assert error.__cause__ is None


TOO_DEEP = {
    "brackets": "RETURN " + "(" * 10_000 + "1" + ")" * 10_000,
    "open brackets": "RETURN " + "(" * 50_000,
    "lists": "RETURN " + "[" * 5_000 + "]" * 5_000,
    "maps": "RETURN " + "{a: " * 5_000 + "1" + "}" * 5_000,
    "calls": "RETURN " + "f(" * 5_000 + ")" * 5_000,
    "cases": "RETURN " + "CASE WHEN " * 3_000 + "1" + " THEN 1 END" * 3_000,
    "not": "RETURN " + "NOT " * 90_000 + "true",
    "minus": "RETURN " + "-" * 90_000 + "a",
    "label not": "MATCH (a:" + "!" * 50_000 + "A) RETURN a",
    "sum": "RETURN " + "+".join("1" * 5_000),
    "power": "RETURN " + "^".join("2" * 5_000),
    "properties": "RETURN a" + ".x" * 5_000,
    "indexes": "RETURN a" + "[0]" * 5_000,
    "null tests": "RETURN a" + " IS NULL" * 5_000,
    "nested comparison chains": "RETURN " + "1 < (" * 30 + "a" + ") < 2" * 30,
}


@pytest.mark.parametrize("query", TOO_DEEP.values(), ids=TOO_DEEP)
def test_too_deep(query: str) -> None:
    error = error_of(query)
    assert isinstance(error, ParseError)
    assert "nested too deeply" in error.message
    assert error.span is not None


@pytest.mark.parametrize("words", ["NOT ", "(", "1 + ", "a.b "])
def test_too_long(words: str) -> None:
    error = error_of("RETURN " + words * (1_000_000 // len(words)))
    assert isinstance(error, ParseError)
    assert "too long" in error.message


def test_unsupported_is_no_syntax_error() -> None:
    assert isinstance(error_of("MATCH (a) INSERT (b) RETURN a"), UnsupportedError)
    assert error_of("RETURN shortestPath((a)-->(b))").span == Span(7, 19)


if __name__ == "__main__":
    GOLDEN.write_text("\n\n".join(f"> {q}\n{error_of(q)}" for q, _ in golden()) + "\n", encoding="utf-8")
