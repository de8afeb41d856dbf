"""Quotes in delimited text: a quick check while reading, and an exact walk when something is wrong.

The reader that fills the columns takes `"ab"c` and a quote that is never closed as they come: both are looked for here.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gquery.storage.load.text.decoded import MAX_LINE, line_too_long, open_bytes
from gquery.storage.load.text.dialect import Dialect

UNCLOSED = "a quote that opens here is never closed"
TEXT_AFTER = "text follows a closing quote"


class QuoteCheck:
    """Sees a file block by block. `suspicious` says that not every quote opens and closes a whole field."""

    def __init__(self, delimiter: str, quote: str) -> None:
        self._quote = ord(quote)
        self._beside = np.zeros(256, np.bool_)
        self._beside[[ord(delimiter), ord("\n"), ord("\r"), self._quote]] = True
        self._count = 0
        self._last = b"\n"
        self._wrong = False

    def see(self, block: bytes) -> None:
        if self._wrong or (bytes([self._quote]) not in block and self._last[0] != self._quote):
            self._last = block[-1:] or self._last
            return
        data = np.frombuffer(self._last + block, np.uint8)
        self._last = block[-1:]
        at = np.flatnonzero(data == self._quote)
        carried = int(at[0] == 0) if len(at) else 0  # this one was counted with the block before
        ordinal = self._count + np.arange(len(at)) + 1 - carried
        self._count += len(at) - carried
        closing = at[(ordinal % 2 == 0) & (at < len(data) - 1)]
        opening = at[(ordinal % 2 == 1) & (at > 0)]
        self._wrong = not (self._beside[data[closing + 1]].all() and self._beside[data[opening - 1]].all())

    @property
    def suspicious(self) -> bool:
        return self._wrong or self._count % 2 == 1


@dataclass(frozen=True, slots=True)
class Violation:
    """A record (by position) whose quotes are wrong, the line of the quote, that line's text, and what is wrong."""

    record: int
    line: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Records:
    """`lines`: int64[records], the first line of every record after the header."""

    lines: NDArray[np.int64]
    violations: tuple[Violation, ...]


def scan_records(path: Path, skip: int, dialect: Dialect) -> Records:
    """Walks a file line by line, as the reader does: empty lines are no records, a quote opens at a field's start."""
    delimiter, quote = dialect.delimiter, dialect.quote
    starts: list[int] = []
    violations: list[Violation] = []
    opened = 0  # the line of the quote that is open, 0 when none is
    opened_text = ""
    with open_bytes(path, dialect.encoding) as (stream, _), io.TextIOWrapper(stream, "latin-1", newline=None) as lines:
        for number, line in enumerate(iter(partial(lines.readline, MAX_LINE), ""), 1):
            if len(line) == MAX_LINE:
                raise line_too_long(path, number)
            if number <= skip:
                continue
            if not opened:
                if line == "\n":
                    continue
                starts.append(number)
            if quote and quote in line:
                still_open, wrong = _walk(line, delimiter, quote, bool(opened))
                if wrong:
                    violations.append(Violation(len(starts) - 1, number, _utf8(line), TEXT_AFTER))
                if not still_open:
                    opened = 0
                elif not opened or wrong or line.count(quote) > 1:
                    opened, opened_text = number, line
    if opened:
        violations.append(Violation(len(starts) - 1, opened, _utf8(opened_text), UNCLOSED))
    return Records(np.array(starts, np.int64), tuple(violations))


def _utf8(line: str) -> str:
    return line.rstrip("\n").encode("latin-1").decode("utf-8", "backslashreplace")


def _walk(line: str, delimiter: str, quote: str, inside: bool) -> tuple[bool, bool]:
    """Whether a quote is open at the end of the line, and whether text followed a closing quote."""
    position, wrong = 0, False
    while True:
        if inside:
            end = line.find(quote, position)
            if end < 0:
                return True, wrong
            position = end + 1
            if line[position : position + 1] == quote:
                position += 1
                continue
            inside = False
            wrong |= line[position : position + 1] not in (delimiter, "\n", "")
        elif line[position : position + 1] == quote and (position == 0 or line[position - 1] == delimiter):
            inside = True
            position += 1
            continue
        next_field = line.find(delimiter, position)
        if next_field < 0:
            return False, wrong
        position = next_field + 1
