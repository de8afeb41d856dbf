"""What keeps a parse bounded: the size and the depth of a query."""

from __future__ import annotations

from gquery.errors import ParseError, Span
from gquery.grammar.ast import Node, parts_in

MAX_TOKENS = 100_000
MAX_DEPTH = 200
"""Levels of the syntax tree and of brackets. Whoever walks the tree may recurse."""

_NODES_PER_TOKEN = 16


def too_deep(span: Span) -> ParseError:
    """The error for a query nested beyond `MAX_DEPTH` at `span`."""
    return ParseError(
        f"the query is nested too deeply (more than {MAX_DEPTH} levels)",
        span=span,
        hint="long sums can be cut by brackets, long lists of values can be passed as a parameter",
    )


def too_long(span: Span) -> ParseError:
    """The error for a query of more than `MAX_TOKENS` words and signs, found at `span`."""
    return ParseError(
        f"the query is too long (more than {MAX_TOKENS:,} words and signs)",
        span=span,
        hint="pass long lists of values as a parameter",
    )


def check_tree(root: Node, tokens: int) -> None:
    """Refuse a tree that is deeper than `MAX_DEPTH`, or far larger than its text of so many tokens.

    A tree outgrows its text when comparison chains nest: the middle operand of `a < b < c` stands in it twice.
    """
    room, depth = _NODES_PER_TOKEN * tokens, 1
    level = [root]
    while level:
        room -= len(level)
        if depth > MAX_DEPTH or room < 0:
            raise too_deep(level[0].span)
        depth += 1
        below: list[Node] = []
        for node in level:
            for value in parts_in(node):
                if value is None:  # as most are
                    continue
                if isinstance(value, tuple):
                    below += value
                elif isinstance(value, Node):
                    below.append(value)
        level = below
