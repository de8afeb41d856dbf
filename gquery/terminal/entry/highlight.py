"""Colours for the language at the prompt."""

from __future__ import annotations

from collections.abc import Callable

from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.styles import Style

from gquery.terminal.entry.syntax import Token, keywords, tokens

STYLE = Style.from_dict(
    {
        "keyword": "ansiblue bold",
        "function": "ansicyan",
        "label": "ansimagenta",
        "string": "ansigreen",
        "number": "ansiyellow",
        "parameter": "ansired",
        "comment": "ansibrightblack italic",
        "command": "ansiblue bold",
        "prompt": "bold",
        "continuation": "ansibrightblack",
        "bottom-toolbar": "noreverse ansibrightblack",
        "bottom-toolbar.name": "bold",
    }
)
"""Only the terminal's own colours: they fit light and dark backgrounds."""


class QueryLexer(Lexer):
    """Highlights a query, or the first word of a colon-command."""

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        lines = _lines(styled(document.text))
        return lambda number: lines[number] if number < len(lines) else []


_SUBQUERIES = ("COUNT", "COLLECT", "EXISTS")  # functions, where no `{` follows


def styled(text: str) -> StyleAndTextTuples:
    """The pieces of `text` with their style classes."""
    if text.lstrip().startswith(":"):
        command, space, rest = text.partition(" ")
        return [("class:command", command), ("", space + rest)]
    found = list(tokens(text))
    pieces: StyleAndTextTuples = []
    opened: list[str] = []
    for index, token in enumerate(found):
        if token.text in ("(", "[", "{"):
            opened.append(token.text)
        elif token.text in (")", "]", "}") and opened:
            opened.pop()
        pieces.append((_style(found, index, in_map=opened[-1:] == ["{"]), token.text))
    return pieces


def _style(found: list[Token], index: int, in_map: bool) -> str:
    token = found[index]
    if token.kind in ("string", "number", "parameter", "comment"):
        return f"class:{token.kind}"
    if token.kind == "open":
        return "class:comment" if token.text.startswith("/*") else "class:string"
    if token.kind != "name":
        return ""
    before, after = _neighbour(found, index, -1), _neighbour(found, index, 1)
    if before in (":", "|", "&", "!") and not in_map:
        return "class:label"
    if before == "." or token.text.startswith("`"):
        return ""
    if token.text.upper() in keywords() and after not in (".", ":"):
        called = after == "(" and token.text.upper() in _SUBQUERIES
        return "class:function" if called else "class:keyword"
    return "class:function" if after == "(" else ""


def _neighbour(found: list[Token], index: int, step: int) -> str:
    """The text of the next token in a direction, comments and white space left out."""
    index += step
    while 0 <= index < len(found) and found[index].kind in ("space", "comment"):
        index += step
    return found[index].text if 0 <= index < len(found) else ""


def _lines(pieces: StyleAndTextTuples) -> list[StyleAndTextTuples]:
    lines: list[StyleAndTextTuples] = [[]]
    for style, text, *_ in pieces:
        first, *rest = text.split("\n")
        lines[-1].append((style, first))
        lines.extend([(style, part)] for part in rest)
    return lines
