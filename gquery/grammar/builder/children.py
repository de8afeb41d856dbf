"""The children of a reduction: tokens, nodes, lists, and None for what was left out."""

from __future__ import annotations

from typing import Any

from gquery.errors import Span
from gquery.grammar import ast
from gquery.grammar.scanner import Token, new_span

Children = list[Any]


def nodes(children: Children) -> list[Any]:
    return [child for child in children if isinstance(child, ast.Node)]


def span_of(children: Children) -> Span:
    first, last = children[0], children[-1]
    if first is None or last is None:
        present = [child for child in children if child is not None]
        first, last = present[0], present[-1]
    while isinstance(last, list):
        last = last[-1]
    start = first.start if isinstance(first, Token) else first.span.start
    return new_span(Span, (start, last.end if isinstance(last, Token) else last.span.end))


def word(token: Token | None) -> Any:
    return None if token is None else token.text.lower()
