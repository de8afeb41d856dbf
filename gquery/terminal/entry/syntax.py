"""A forgiving view of text that is still being typed: tokens, statements, whether a query is complete.

The grammar refuses half a query; highlighting and completion need something for it. Nothing here judges a query.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from gquery.errors import GQueryError, ParseError

_TOKEN = re.compile(
    r"""
      (?P<comment>   //[^\n]* | /\*.*?\*/ )
    | (?P<string>    '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" )
    | (?P<name>      `(?:[^`]|``)*` | [^\W\d]\w* )
    | (?P<parameter> \$(?:\w+|`(?:[^`]|``)*`) )
    | (?P<number>    \d\w*(?:\.\d\w*)? | \.\d\w* )
    | (?P<space>     \s+ )
    | (?P<open>      (?: ' | " | `| \$` | /\* ) .* )
    | (?P<sign>      . )
    """,
    re.VERBOSE | re.DOTALL,
)
_PAIRS = {")": "(", "]": "[", "}": "{"}

BARE_COMMANDS = {"help": ":help", "?": ":help", "quit": ":quit", "exit": ":quit"}
"""Words that newcomers try; as queries they would mean nothing."""


class Token(NamedTuple):
    """kind: comment, string, name, parameter, number, space, sign, or open for what is begun and never closed; its
    text; the offset of its first character."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def tokens(text: str, start: int = 0) -> Iterator[Token]:
    """All tokens of `text` from `start` on, white space and comments too: every character belongs to one."""
    for match in _TOKEN.finditer(text, start):
        yield Token(match.lastgroup or "sign", match[0], match.start())


def words(text: str) -> list[Token]:
    """The tokens that mean something."""
    return [token for token in tokens(text) if token.kind not in ("space", "comment")]


def open_brackets(meaningful: list[Token]) -> list[int]:
    """Indices of the brackets that are not closed, outermost first."""
    opened: list[int] = []
    for index, token in enumerate(meaningful):
        if token.kind != "sign":
            continue
        if token.text in _PAIRS.values():
            opened.append(index)
        elif token.text in _PAIRS and opened and meaningful[opened[-1]].text == _PAIRS[token.text]:
            opened.pop()
    return opened


def statements(text: str) -> Iterator[str]:
    """The statements of a script: queries end with `;`, colon-commands with their line."""
    position = 0
    while position < len(text):
        begin = position
        position, statement = _next_statement(text, begin)
        if statement:
            yield statement


def _next_statement(text: str, begin: int) -> tuple[int, str]:
    """Where the next statement begins, and the one that begins here (empty for white space and comments only)."""
    empty = True
    for token in tokens(text, begin):
        if token.kind in ("space", "comment"):
            continue
        if empty and token.text == ":":
            end = text.find("\n", token.start)
            end = len(text) if end < 0 else end
            return end, text[token.start : end].strip()
        if token.text == ";":
            return token.end, "" if empty else text[begin : token.start].strip()
        empty = False
    return len(text), "" if empty else text[begin:].strip()


def is_complete(text: str) -> bool:
    """Whether Enter at the end of `text` runs it.

    It does after `;`, on an empty line, for a colon-command, and for a single line that is a whole query or that no
    further line could mend.
    """
    stripped = text.strip()
    if not stripped or stripped.startswith(":") or stripped.lower() in BARE_COMMANDS:
        return True
    meaningful = words(text)
    if not meaningful:
        return True
    if meaningful[-1].text == ";" or re.search(r"\n[ \t]*\Z", text):
        return True
    if "\n" in stripped or open_brackets(meaningful) or meaningful[-1].kind == "open":
        return False
    return _is_decided(stripped)


def _is_decided(text: str) -> bool:
    """Whether the parser takes `text`, or finds a mistake before its end."""
    from gquery.grammar.parser import parse

    try:
        parse(text)
    except ParseError as error:
        return error.span is None or error.span.start < words(text)[-1].end
    except GQueryError:
        return True
    return True


@cache
def keywords() -> frozenset[str]:
    """The words of the language, in upper case."""
    from gquery.grammar.parser import keywords as of_the_grammar

    return of_the_grammar()
