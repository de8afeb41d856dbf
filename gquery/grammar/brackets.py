"""Which bracket closes which."""

from __future__ import annotations

from collections.abc import Sequence

from gquery.grammar.limits import MAX_DEPTH, too_deep
from gquery.grammar.scanner import Token

Pairs = dict[int, int]
"""Index of an opening bracket among the tokens to that of its closing one."""

CLOSING = {"(": ")", "[": "]", "{": "}"}
_CLOSERS = frozenset(CLOSING.values())


def pair_brackets(tokens: Sequence[Token]) -> Pairs:
    """The pairs up to the first bracket that closes nothing or the wrong one. Raises ParseError beyond MAX_DEPTH."""
    pairs: Pairs = {}
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.text in CLOSING:
            opened.append(index)
            if len(opened) > MAX_DEPTH:
                raise too_deep(token.span)
        elif token.text in _CLOSERS:
            if not opened or CLOSING[tokens[opened[-1]].text] != token.text:
                return pairs
            pairs[opened.pop()] = index
    return pairs
