"""Every error that a user can see, and the one place that renders them.

An error is raised where the mistake is found, with the `Span` of the words at fault; the text of the query is put in
once, at the top of the pipeline (`GQueryError.with_text`). `str(error)` then shows the line, a caret and a hint.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple


class Span(NamedTuple):
    """Half-open range of character offsets in the query text."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of `other`."""
        return Span(self.start, other.end)


class GQueryError(Exception):
    """Root of the tree: everything gquery raises on purpose derives from it."""

    title = "Error"

    def __init__(self, message: str, *, span: Span | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.hint = hint
        self.text: str | None = None

    def with_text(self, text: str) -> GQueryError:
        """Remember the query text that `span` points into; returns the error itself."""
        if self.text is None:
            self.text = text
        return self

    def __str__(self) -> str:
        return render(self)

    @staticmethod
    @contextmanager
    def behind(prefix: str) -> Iterator[None]:
        """Errors in a text that nobody has written so: they are shown without the prefix."""
        try:
            yield
        except GQueryError as error:
            if isinstance(error.text, str) and error.text.startswith(prefix):
                error.text = error.text[len(prefix) :]
                if error.span is not None:
                    error.span = Span(*(max(0, place - len(prefix)) for place in error.span))
            raise


class ParseError(GQueryError):
    """The text is not in the language."""

    title = "Syntax error"


class BindError(GQueryError):
    """A name, label, type, property, parameter or function does not exist or does not fit."""

    title = "Name error"


class PlanError(GQueryError):
    """No plan can be made for a query that is otherwise well formed."""

    title = "Planning error"


class UnsupportedError(GQueryError):
    """The language has it, gquery does not have it yet."""

    title = "Not supported yet"


class LoadError(GQueryError):
    """A graph cannot be loaded, opened or saved. Carries the place in the input when there is one."""

    title = "Load error"

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: str | None = None,
        value: object = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.file = file
        self.line = line
        self.column = column
        self.value = value


class ExecutionError(GQueryError):
    """The query is well planned but its execution failed."""

    title = "Execution error"


class MemoryLimitError(ExecutionError):
    """The query cannot go on within its memory limit."""

    title = "Memory limit reached"


class QueryTimeout(ExecutionError):
    """The query ran longer than its timeout."""

    title = "Timeout"


class QueryCancelled(ExecutionError):
    """The query was cancelled by its user."""

    title = "Cancelled"


class QueryWarning(UserWarning):
    """The query can be answered, but hardly as it is meant: it compares a column with what it never holds, say."""


class StoreWarning(UserWarning):
    """What a store does by itself did not succeed: it goes on as it is, and will try again."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What a QueryWarning says, found while the query is bound."""

    message: str
    span: Span
    hint: str | None = None

    def rendered(self, text: str) -> str:
        """As an error is rendered, over the query's text."""
        hint = [f"hint: {self.hint}"] if self.hint else []
        return "\n".join([f"Warning: {self.message}", *_caret(text, self.span), *hint])


_LONGEST_MISSPELT, _MOST_KNOWN = 100, 1_000  # characters, and names that are compared: every pair takes a while


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint naming the known name nearest to `name`, or None when nothing is near."""
    if len(name) > _LONGEST_MISSPELT:
        return None
    names = list(islice(known, _MOST_KNOWN))
    for candidate in names:
        if candidate.lower() == name.lower():
            return f"did you mean `{candidate}`?"
    near = difflib.get_close_matches(name.lower(), [known_name.lower() for known_name in names], n=1, cutoff=0.6)
    for candidate in names:
        if near and candidate.lower() == near[0]:
            return f"did you mean `{candidate}`?"
    return None


def render(error: GQueryError) -> str:
    """The text a user reads: title and message, the place in the input or in the query with a caret, the hint."""
    lines = [f"{error.title}: {_readable(error.message)}"]
    if isinstance(error, LoadError):
        lines.extend(_input_place(error))
    if error.span is not None and error.text is not None:
        lines.extend(_caret(error.text, error.span))
    if error.hint:
        lines.append(f"hint: {_readable(error.hint)}")
    return "\n".join(lines).encode("utf-8", "replace").decode()  # half of a surrogate pair could not be printed


def _input_place(error: LoadError) -> list[str]:
    place = [f"file {error.file}"] if error.file else []
    if error.line is not None:
        place.append(f"line {error.line}")
    if error.column is not None:
        place.append(f"column {error.column}")
    if error.value is not None:
        place.append(f"value {shortened(repr(error.value))}")
    return ["  " + ", ".join(place)] if place else []


def shortened(text: str, limit: int = 80) -> str:
    """A text as a message shows it, of at most so many characters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


_LONGEST = 600  # characters of a message: names in it may be as long as the query


def _readable(text: str) -> str:
    return _visible(shortened(text, _LONGEST))


def _visible(text: str) -> str:
    """The text without characters that would change how a terminal shows what stands around them."""
    return text if text.isprintable() else "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


_WINDOW = 100  # characters of a long line shown around the caret


def _caret(text: str, span: Span) -> list[str]:
    start = max(0, min(span.start, len(text)))
    number = text.count("\n", 0, start) + 1
    begin = text.rfind("\n", 0, start) + 1
    end = text.find("\n", start)
    line = text[begin : end if end >= 0 else len(text)].replace("\t", " ").rstrip("\r")
    column = start - begin
    width = max(1, min(span.end - span.start, len(line) - column))
    if len(line) > _WINDOW:
        left = max(0, column - _WINDOW // 2)
        line = ("…" if left else "") + line[left : left + _WINDOW]
        column = column - left + (1 if left else 0)
        width = max(1, min(width, len(line) - column))
    prefix = f"  {number} | "
    return [prefix + _visible(line), " " * (len(prefix) - 2) + "| " + " " * column + "^" * width]
