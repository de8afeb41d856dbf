"""`parse`: from the text of a query to its syntax tree.

Lark makes the LALR(1) table of `gquery.lark`; `machine.py` is fed one token after the other. What a word means is
decided as it is fed, from the state it is in: a keyword where the parser can take that keyword, else a name.
"""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import Any

from gquery.errors import GQueryError, ParseError
from gquery.grammar import ast
from gquery.grammar.brackets import Pairs, pair_brackets
from gquery.grammar.builder import Builder
from gquery.grammar.limits import check_tree
from gquery.grammar.lookahead import (
    BEFORE_PATHS,
    bars_of,
    function_end,
    names_path,
    opens_comprehension,
    opens_pattern,
    opens_pattern_comprehension,
    opens_subquery,
    own_form,
)
from gquery.grammar.machine import END, Automaton, Machine, Unexpected
from gquery.grammar.refused.broken import Broken
from gquery.grammar.refused.complaints import complaint
from gquery.grammar.refused.unsupported import refuse_function, refuse_subquery
from gquery.grammar.scanner import NAME, Lexicon, Token, scan
from gquery.grammar.table import read_table
from gquery.records import record, replace
from gquery.stopping import Check, unchecked

_PATTERN, _FUNCTION, _BAR = "PATTERN", "FUNCTION", "BAR"
_COMPREHENSIONS = {"COMPREHENSION": opens_comprehension, "PATTERN_COMPREHENSION": opens_pattern_comprehension}
_SUBQUERIES = ("EXISTS", "COUNT", "COLLECT")


def parse(text: str, check: Check = unchecked) -> ast.Query:
    """The syntax tree of a query. Raises ParseError, or UnsupportedError for Cypher that gquery does not have yet;
    `check` is called between tokens."""
    if not isinstance(text, str):
        raise ParseError(f"a query must be text (str), not {type(text).__name__}")
    try:
        language = _language()
        tokens = scan(text, language.lexicon)
        query = _Reader(language, tokens, check).read()
        check_tree(query, len(tokens))
        named: ast.Query = _with_column_names(query, text)
        return named
    except GQueryError as error:
        # A lone surrogate could not be printed; what replaces it keeps the columns.
        error.with_text(text.encode("utf-8", "replace").decode())
        raise


def keywords() -> frozenset[str]:
    """The words, in upper case, that the grammar gives a meaning."""
    return frozenset(_language().lexicon.keywords)


def _with_column_names(node: Any, text: str) -> Any:
    """Give each item of a RETURN what its column is called without an alias, also in subqueries of expressions."""
    if isinstance(node, tuple):
        return tuple(_with_column_names(each, text) for each in node)
    if not isinstance(node, ast.Node) or not _returns(node):
        return node
    if isinstance(node, ast.Return):
        items = tuple(replace(item, text=_column(item.expression, text)) for item in node.items)
        node = replace(node, items=items)
    return replace(node, **{name: _with_column_names(getattr(node, name), text) for name in ast.parts_of(node)})


def _returns(node: ast.Node) -> bool:
    """Whether it is or holds a RETURN."""
    pending: list[object] = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, ast.Return):
            return True
        if isinstance(each, ast.Node):
            pending += [part for part in ast.parts_in(each) if part]  # most are None or empty
        elif isinstance(each, tuple):
            pending += each
    return False


def _column(expression: ast.Expression, text: str) -> str:
    """A variable's column is called as it is, with no backticks: what comes behind asks for it by its name."""
    if isinstance(expression, ast.Variable):
        return expression.name
    return text[expression.span.start : expression.span.end]


@record(frozen=True, slots=True)
class _Language:
    """The grammar, ready for use."""

    lexicon: Lexicon
    automaton: Automaton


@cache
def _language() -> _Language:
    table = read_table()
    return _Language(Lexicon.of(table), Automaton.of(table, Builder()))


class _Reader:
    """Feeds the tokens of one query to the parser."""

    def __init__(self, language: _Language, tokens: list[Token], check: Check) -> None:
        self._lexicon = language.lexicon
        self._tokens = tokens
        self._check = check
        self._pairs: Pairs = pair_brackets(tokens)
        self._automaton = language.automaton
        self._machine = Machine(language.automaton)
        self._feed = self._machine.feed
        self._bars: set[int] = set()

    def read(self) -> ast.Query:
        tokens, bars, feed, check = self._tokens, self._bars, self._feed, self._check
        count, place = len(tokens), 0
        try:
            while place < count:
                check()
                token = tokens[place]
                if token.type == NAME:
                    place += self._word(place)
                else:
                    feed(self._opening(place) if token.text in "([" or place in bars else token)
                    place += 1
            query: ast.Query = self._feed(Token(END, "", 0, 0))
        except Unexpected:
            raise complaint(self._broken(place)) from None
        return query

    def _opening(self, place: int) -> Token:
        """The bracket or bar at `place`, as what it is where an expression may begin."""
        token, choices = self._tokens[place], self._machine.choices
        if place in self._bars:
            return token._replace(type=_BAR)
        if token.text == "(" and _PATTERN in choices and opens_pattern(self._tokens, self._pairs, place):
            self._feed(Token(_PATTERN, "", token.start, token.start))
        elif token.text == "[" and _FUNCTION in choices:
            for kind, opens in _COMPREHENSIONS.items():
                if opens(self._tokens, self._pairs, place):
                    self._bars.update(bars_of(self._tokens, self._pairs, place))
                    return token._replace(type=kind)
        return token

    def _word(self, place: int) -> int:
        """Feed a keyword, a function's name with all its dots, or another name; returns how many tokens that was."""
        word, acceptable = self._tokens[place], self._machine.choices
        keyword = self._lexicon.keywords.get(word.text.upper())
        if keyword is not None and keyword in acceptable and self._is_keyword(keyword, place):
            if keyword == "FOREACH":
                self._bars.update(islice(bars_of(self._tokens, self._pairs, place + 1), 1))
            self._feed(word._replace(type=keyword))
            return 1
        if _FUNCTION not in acceptable:
            self._feed(word)
            return 1
        end = function_end(self._tokens, place)
        if end is None:
            refuse_subquery(self._tokens, place)
            self._feed(word)
            return 1
        name = "".join(part.text for part in self._tokens[place:end]).lower()
        form = own_form(self._tokens, place) if end == place + 1 else None
        if form is not None:
            self._bars.update(bars_of(self._tokens, self._pairs, end))
        function = Token(form or _FUNCTION, name, word.start, self._tokens[end - 1].end)
        if form is None:
            refuse_function(name, function.span)
        self._feed(function)
        return end - place

    def _is_keyword(self, keyword: str, place: int) -> bool:
        """Whether the word at `place`, where the keyword may stand, is no name."""
        if keyword in _SUBQUERIES and not opens_subquery(self._tokens, place):
            return False
        if keyword in BEFORE_PATHS and names_path(self._tokens, place):
            return False
        return self._tokens[place].text.isascii()

    def _broken(self, place: int) -> Broken:
        fed = self._machine.fed
        return Broken(
            tokens=self._tokens,
            place=place,
            pairs=self._pairs,
            keywords=frozenset(self._lexicon.keywords),
            last=fed[-1] if fed else None,
            accepted=self._accepted_after(fed),
            accepted_for_last=self._accepted_after(fed[:-1]),
        )

    def _accepted_after(self, fed: list[Token]) -> set[str]:
        """The terminals, as written, that could follow these tokens."""
        return {self._lexicon.written.get(name, name) for name in self._automaton.accepted_after(fed)}
