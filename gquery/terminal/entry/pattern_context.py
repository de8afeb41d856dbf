"""Where in a half-typed query the cursor stands, and what the patterns around it say about the variables."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Literal

from gquery.grammar.literals import is_plain_name
from gquery.terminal.entry.syntax import Token, keywords, open_brackets, tokens, words

Element = Literal["node", "relationship"]
_LABEL_SIGNS = (":", "|", "&", "!")
_CLAUSES = ("MATCH", "WITH", "WHERE", "RETURN", "ORDER", "SKIP", "LIMIT")


class Place(Enum):
    """What may be completed."""

    LABEL = auto()
    TYPE = auto()
    LABEL_OR_TYPE = auto()
    PROPERTY = auto()
    PARAMETER = auto()
    EXPRESSION = auto()
    NOWHERE = auto()


@dataclass(frozen=True, slots=True)
class Variable:
    """A name from a pattern: what it stands for, and the labels or types written beside it."""

    element: Element | None = None
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """The place of the cursor. typed: the beginning of the word there. element and labels: whose property is asked for.
    variables: the names that the query knows."""

    place: Place
    typed: str = ""
    element: Element | None = None
    labels: tuple[str, ...] = ()
    variables: tuple[str, ...] = field(default=())


def context_of(before: str, text: str) -> Context:
    """The context at the end of `before`, which begins `text`."""
    typed, place = _typed(before)
    if place is not None:
        return Context(place, typed)
    meaningful = words(before[: len(before) - len(typed)])
    known = variables(words(text), skip_at=len(before) - len(typed))
    last = meaningful[-1].text if meaningful else ""
    if last == ".":
        return _property_of(meaningful, typed, known)
    opened = open_brackets(meaningful)
    inside = meaningful[opened[-1]].text if opened else ""
    if inside == "{" and last in ("{", ",") and len(opened) > 1:
        element, labels = _details(meaningful, opened[-2])
        return Context(Place.PROPERTY, typed, element, labels)
    if last in _LABEL_SIGNS and inside != "{":
        return Context(_label_place(meaningful, opened, known), typed)
    if last.upper() == "AS" and meaningful[-1].kind == "name":
        return Context(Place.NOWHERE)
    return Context(Place.EXPRESSION, typed, variables=tuple(known))


def variables(meaningful: list[Token], skip_at: int = -1) -> dict[str, Variable]:
    """The variables that the patterns and RETURN of a query name; the word that begins at `skip_at` is not counted."""
    found: dict[str, Variable] = {}
    for index, token in enumerate(meaningful[1:], start=1):
        if token.kind != "name" or token.start == skip_at:
            continue
        before = meaningful[index - 1]
        after = meaningful[index + 1].text if index + 1 < len(meaningful) else ""
        if before.text in ("(", "[") and not _is_call(meaningful, index - 1) and not _is_keyword(token):
            element, labels = _details(meaningful, index - 1)
            name = _plain(token.text)
            if before.text == "(" or element == "relationship":
                found[name] = Variable(element, labels or found.get(name, Variable()).labels)
        elif before.text.upper() == "AS" or (after == "=" and before.text.upper() in ("MATCH", ",")):
            found.setdefault(_plain(token.text), Variable())
    return found


def _typed(before: str) -> tuple[str, Place | None]:
    """The beginning of a word just before the cursor, and the place when that word alone tells it."""
    found = list(tokens(before))
    last = found[-1] if found else Token("space", "", 0)
    if last.kind == "parameter" or last.text in ("$", "$`"):
        return last.text, Place.PARAMETER
    if last.kind == "name":
        closed = last.text.startswith("`")
        return ("", Place.NOWHERE) if closed else (last.text, None)
    if last.kind == "open" and last.text.startswith("`"):
        return last.text, None
    if last.kind in ("string", "open", "comment", "number"):
        return "", Place.NOWHERE
    return "", None


def _property_of(meaningful: list[Token], typed: str, known: dict[str, Variable]) -> Context:
    if len(meaningful) < 2 or meaningful[-2].kind != "name":
        return Context(Place.NOWHERE)
    variable = known.get(_plain(meaningful[-2].text), Variable())
    return Context(Place.PROPERTY, typed, variable.element, variable.labels)


def _label_place(meaningful: list[Token], opened: list[int], known: dict[str, Variable]) -> Place:
    """In a pattern the bracket tells labels from types; in a condition (`WHERE x:Label`) the variable does."""
    if opened and meaningful[opened[-1]].text == "[":
        return Place.TYPE
    subject = _subject(meaningful)
    if subject is not None and known.get(subject, Variable()).element == "relationship":
        return Place.TYPE
    in_pattern = opened and _clause(meaningful) == "MATCH"
    return Place.LABEL if in_pattern or (subject in known) else Place.LABEL_OR_TYPE


def _subject(meaningful: list[Token]) -> str | None:
    """The name before the `:` of the label expression at the end."""
    index = len(meaningful) - 1
    while index > 0 and meaningful[index].text != ":":
        index -= 1
    before = meaningful[index - 1] if index > 0 else None
    return _plain(before.text) if before is not None and before.kind == "name" else None


def _clause(meaningful: list[Token]) -> str:
    """The clause at the end, MATCH in the middle of a pattern's brackets."""
    for token in reversed(meaningful):
        if token.kind == "name" and token.text.upper() in _CLAUSES:
            return token.text.upper()
    return ""


def _details(meaningful: list[Token], opening: int) -> tuple[Element | None, tuple[str, ...]]:
    """What the bracket at `opening` describes, and the labels named in it (not those after `!`)."""
    dashed = opening > 0 and meaningful[opening - 1].text == "-"
    element: Element | None = "node" if meaningful[opening].text == "(" else "relationship" if dashed else None
    labels: list[str] = []
    for index in range(opening + 1, len(meaningful)):
        token, before = meaningful[index], meaningful[index - 1].text
        if token.text in ("{", ")", "]") or token.text.upper() == "WHERE":
            break
        if token.kind == "name" and before in (":", "|", "&"):
            labels.append(_plain(token.text))
    return element, tuple(labels)


def _is_call(meaningful: list[Token], opening: int) -> bool:
    """Whether the bracket belongs to a function's arguments: `count(n)` introduces no `n`."""
    before = meaningful[opening - 1] if opening > 0 else None
    return meaningful[opening].text == "(" and before is not None and before.kind == "name" and not _is_keyword(before)


def _is_keyword(token: Token) -> bool:
    return token.text.upper() in keywords()


def _plain(name: str) -> str:
    return name if is_plain_name(name) else name.strip("`").replace("``", "`")
