"""The wider language: what Cypher or GQL can say and gquery cannot yet, recognised so that it can be named.

The tables hold one sentence for each construct. A construct leaves its table on the day the grammar takes it.
"""

from __future__ import annotations

from collections.abc import Sequence

from gquery.errors import Span, UnsupportedError
from gquery.grammar.lookahead import opens_subquery
from gquery.grammar.refused.broken import Broken
from gquery.grammar.scanner import Token

_BRACKETED_PATH = "gquery has path patterns in brackets only where they are repeated, such as `((a)-->(b)){1,3}`"
_SHORTEST = "gquery has shortest paths in MATCH only; write MATCH p = shortestPath(...) and then use p"
_SUBQUERY = "gquery has no subqueries other than EXISTS, COUNT, COLLECT and CALL"
_OLD_LISTS = (
    "gquery has no filter() and extract(); write a list comprehension, such as `[x IN list WHERE x > 1 | x + 1]`"
)

_CLAUSES = {
    word: f"gquery has no {word}"
    for word in (
        "EXCEPT",
        "INTERSECT",
        "FOR",
        "FINISH",
        "NEXT",
        "DROP",
    )
}
_CLAUSES |= {
    "INSERT": "gquery has no INSERT; write CREATE",
    "USE": "gquery has no USE; a query runs on the graph that it is given to",
    "LOAD": "gquery has no LOAD CSV; data is loaded with `gquery.load`",
    "SHOW": "gquery has no SHOW; `CALL gquery.schema()` lists what is in the graph",
}
"""Words that begin a clause, or a part of one."""

_FUNCTIONS = dict.fromkeys(("shortestpath", "allshortestpaths"), _SHORTEST)
_FUNCTIONS |= dict.fromkeys(("filter", "extract"), _OLD_LISTS)
"""Functions whose arguments are no expressions."""

_MADE = {
    "INDEX": "gquery has no CREATE INDEX; what is looked for is indexed by itself",
    "CONSTRAINT": "gquery has no CREATE CONSTRAINT; an id stands for one node of its labels in any case",
}
"""What other systems make with CREATE beside nodes and relationships."""

_SUBQUERIES = ("VALUE",)


def refuse_function(name: str, span: Span) -> None:
    """Raise UnsupportedError when the arguments of this function have a syntax of their own."""
    if name in _FUNCTIONS:
        raise UnsupportedError(_FUNCTIONS[name], span=span)


def refuse_subquery(tokens: Sequence[Token], place: int) -> None:
    """Raise UnsupportedError when the word at `place`, where an expression begins, begins `COUNT {`."""
    if opens_subquery(tokens, place) and tokens[place].text.upper() in _SUBQUERIES:
        raise UnsupportedError(_SUBQUERY, span=tokens[place].span)


def unsupported(broken: Broken) -> UnsupportedError | None:
    """The error when the parse broke because of a construct of the wider language."""
    if made := _made(broken):
        return made
    if sentence := _CLAUSES.get(broken.word()):
        return UnsupportedError(sentence, span=broken.span)
    return _bracketed_path(broken)


def _made(broken: Broken) -> UnsupportedError | None:
    """`CREATE INDEX name`, `CREATE CONSTRAINT FOR`, `CREATE TEXT INDEX`: a word was taken for the name of a path."""
    if broken.text(-2).upper() != "CREATE" or broken.last is None:
        return None
    found = _MADE.get(broken.last.text.upper()) or _MADE.get(broken.word())
    return UnsupportedError(found, span=broken.tokens[broken.place - 2].span.to(broken.last.span)) if found else None


def _bracketed_path(broken: Broken) -> UnsupportedError | None:
    """`MATCH ((a)-->(b))`, `(p = (a)-->(b))`."""
    once = broken.text(-1) == ")" and broken.accepted == {"{", "*", "+"}
    named = broken.text(-2) == "(" and broken.text() + broken.text(1) == "=(" and "AND" not in broken.accepted
    return UnsupportedError(_BRACKETED_PATH, span=broken.span) if once or named else None
