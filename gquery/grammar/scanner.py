"""From text to tokens: one regular expression made of the grammar's terminals.

Words come out as NAME; the parser says later which of them are keywords, as that depends on the place.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import NamedTuple

from gquery.errors import ParseError, Span
from gquery.grammar.limits import MAX_TOKENS, too_long
from gquery.grammar.literals import shown
from gquery.grammar.table import Table
from gquery.records import record

NAME = "NAME"

_SIGN, _PUNCTUATION, _ILLEGAL = "SIGN", "PUNCTUATION", "ILLEGAL"
_SIGNS = frozenset((_SIGN, _PUNCTUATION))
_BEGINNING = "./"  # signs that numbers and comments begin with
_FORBIDDEN = re.compile("[\0\ud800-\udfff]")
_WORD = re.compile(r"\w+")
_TYPOGRAPHIC = {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "→": "->", "←": "<-"}
_TYPOGRAPHIC |= {"≠": "<>", "≤": "<=", "≥": ">=", "×": "*", "÷": "/", "…": ".."}


class Token(NamedTuple):
    """A word or sign: the name of its terminal in the grammar, its text as written, its place."""

    type: str
    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        return new_span(Span, (self.start, self.end))


# Made in half the time that calling the classes takes: a text spends that for each of its words.
_new_token: Callable[..., Token] = tuple.__new__
new_span: Callable[..., Span] = tuple.__new__


@record(frozen=True, slots=True)
class Lexicon:
    """What the scanner and the parser know about the grammar's terminals."""

    keywords: dict[str, str]
    """Upper-case word to its terminal."""
    punctuation: dict[str, str]
    """Sign to its terminal."""
    written: dict[str, str]
    """Terminal to its text, for the keywords and the punctuation."""
    pattern: re.Pattern[str]
    ignored: frozenset[str]

    @classmethod
    def of(cls, table: Table) -> Lexicon:
        """Sort the terminals of the grammar into words, signs and the rest."""
        terminals = table["terminals"]
        written = {name: text for name, text, is_text, _ in terminals if is_text}
        keywords = {text: name for name, text in written.items() if text.isalpha()}
        punctuation = {text: name for name, text in written.items() if not text.isalpha()}
        classes = sorted((each for each in terminals if not each[2]), key=lambda each: (each[0] != NAME, -each[3]))
        groups = [f"(?P<{name}>{pattern})" for name, pattern, *_ in classes]
        signs = "|".join(re.escape(sign) for sign in sorted(punctuation, key=len, reverse=True))
        # What begins nothing else is looked for before numbers, comments and strings, and half of a text is that.
        alone = "".join(re.escape(sign) for sign in punctuation if _begins_nothing_else(sign, punctuation))
        groups[1:1] = [f"(?P<{_SIGN}>[{alone}])"]
        groups += [f"(?P<{_PUNCTUATION}>(?!/\\*)(?:{signs}))", f"(?P<{_ILLEGAL}>(?s:.))"]
        return cls(keywords, punctuation, written, re.compile("|".join(groups)), frozenset(table["ignored"]))


def _begins_nothing_else(sign: str, signs: Iterable[str]) -> bool:
    """Whether a sign is one character with which no name, no other sign and nothing else begins."""
    longer = (other for other in signs if other != sign)
    return len(sign) == 1 and sign not in _BEGINNING and not any(other.startswith(sign) for other in longer)


def scan(text: str, lexicon: Lexicon) -> list[Token]:
    """The tokens of `text`, comments and white space left out. Raises ParseError at what is no token."""
    if forbidden := _FORBIDDEN.search(text):
        raise ParseError(
            f"a query cannot contain the character {_code(forbidden[0])}",
            span=Span(forbidden.start(), forbidden.end()),
            hint="was the text decoded with the right encoding?",
        )
    tokens: list[Token] = []
    ignored, punctuation = lexicon.ignored, lexicon.punctuation
    for match in lexicon.pattern.finditer(text):
        kind = match.lastgroup or _ILLEGAL
        if kind in ignored:
            continue
        found = match[0]
        if kind in _SIGNS:
            kind = punctuation[found]
        elif kind == _ILLEGAL:
            raise _illegal(text, match.start())
        tokens.append(_new_token(Token, (kind, found, *match.span())))
        if len(tokens) > MAX_TOKENS:
            raise too_long(tokens[-1].span)
    return tokens


def _illegal(text: str, place: int) -> ParseError:
    """The error for what stands at `place`, where no token begins."""
    character = text[place]
    span = Span(place, place + 1)
    if character in "'\"":
        return ParseError("this string is never closed", span=span, hint=f"it must end with {character}")
    if character == "`":
        return ParseError("this back-quoted name is never closed", span=span)
    if text.startswith("/*", place):
        return ParseError("this comment is never closed", span=Span(place, place + 2), hint="it must end with */")
    if character.isdigit() and (word := _WORD.match(text, place)):
        return ParseError(f"{shown(word[0])} is not a number", span=Span(place, word.end()), hint=_number_hint(word[0]))
    if character == "$":
        return ParseError("a parameter's name must follow `$`", span=span)
    if character == "#":
        return ParseError("unexpected character `#`", span=span, hint="a comment is written // to the end of the line")
    if character in _TYPOGRAPHIC:
        hint = f"write {_TYPOGRAPHIC[character]} instead"
        return ParseError(f"unexpected character `{character}`", span=span, hint=hint)
    if unicodedata.category(character) in ("Zs", "Zl", "Zp"):
        name = f"unusual white space {_code(character)}"
        return ParseError(name, span=span, hint="replace it by an ordinary space")
    if not character.isprintable():
        return ParseError(f"invisible character {_code(character)}", span=span, hint="delete it")
    return ParseError(f"unexpected character `{character}`", span=span)


def _code(character: str) -> str:
    return f"U+{ord(character):04X}"


def _number_hint(word: str) -> str | None:
    if word[:2].lower() == "0x":
        return "a hexadecimal number is written with 0-9 and A-F after 0x"
    if word[:2].lower() == "0o":
        return "an octal number is written with 0-7 after 0o"
    return "a name that begins with a digit must stand in back-quotes"
