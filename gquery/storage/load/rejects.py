"""Rows that cannot be used: where they stand, and what the caller wants done about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.errors import LoadError
from gquery.storage.load.report import REJECTS

Rows = NDArray[np.int64]
NO_ROWS: Rows = np.zeros(0, np.int64)
Values: TypeAlias = pa.Array | pa.ChunkedArray | Sequence[Any] | None
MAX_LISTED = 100_000  # rejects are counted without end, but only so many are kept


@dataclass(frozen=True, slots=True)
class Part:
    """`count` rows of one file. `lines()` gives the line of each row, int64[count]; None where rows have no lines."""

    file: str
    count: int
    lines: Callable[[], Rows] | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the rows of a table come from. `rows`: which rows of the parts, one after another; None for all."""

    parts: tuple[Part, ...]
    rows: Rows | None = None

    def select(self, indices: Rows) -> Origin:
        return Origin(self.parts, indices if self.rows is None else self.rows[indices])

    @property
    def has_lines(self) -> bool:
        return all(part.lines is not None for part in self.parts)

    @property
    def file(self) -> str:
        return self.parts[0].file if self.parts else ""

    def places(self, indices: Rows) -> tuple[list[str], Rows]:
        """File, and line (or 1-based row number) within it, of the given rows."""
        rows = indices if self.rows is None else self.rows[indices]
        starts = np.cumsum([0, *(part.count for part in self.parts)])
        owner = np.searchsorted(starts, rows, side="right") - 1
        numbers = rows - starts[owner] + 1
        for index, part in enumerate(self.parts):
            mine = owner == index
            if part.lines is not None and mine.any():
                numbers[mine] = part.lines()[rows[mine] - starts[index]]
        return [self.parts[index].file for index in owner], numbers


class Rejects:
    """Collects rejected rows; under the policy "error" the first one is raised as LoadError."""

    def __init__(self, policy: str) -> None:
        self.policy = policy
        self.count = 0
        self._tables: list[pa.Table] = []
        self._listed = 0

    def add(
        self,
        origin: Origin,
        rows: Rows,
        column: str | None,
        values: Values,
        reason: str,
        hint: str | None = None,
    ) -> None:
        """Rejects `rows` of `origin`; `values` holds the value at fault of each. Raises LoadError when told to."""
        if len(rows) == 0:
            return
        if self.policy == "error":
            self.fail(origin, rows, column, values, reason, hint)
        self.count += len(rows)
        self.note(origin, rows, column, values, reason)

    def fail(
        self, origin: Origin, rows: Rows, column: str | None, values: Values, reason: str, hint: str | None = None
    ) -> NoReturn:
        """Raises LoadError for the first of `rows`, whatever the policy is."""
        files, numbers = origin.places(rows)
        first = int(np.argmin(numbers)) if len(set(files)) == 1 else 0
        if len(rows) > 1:
            more = f"{len(rows) - 1:,} more row{'s have' if len(rows) > 2 else ' has'} the same problem"
            hint = f"{hint}; {more}" if hint else more
        value = None if values is None else _text(values[first])
        message = reason if origin.has_lines else f"{reason} (row {numbers[first]})"
        line = int(numbers[first]) if origin.has_lines else None
        raise LoadError(message, file=files[first], line=line, column=column, value=value, hint=hint)

    def note(
        self,
        origin: Origin,
        rows: Rows,
        column: str | None,
        values: Values,
        reason: str,
    ) -> None:
        """Lists rows without counting them as rejected."""
        rows = rows[: MAX_LISTED - self._listed]
        if len(rows) == 0:
            return
        self._listed += len(rows)
        files, lines = origin.places(rows)
        count = len(rows)
        texts = [None] * count if values is None else [_text(values[index]) for index in range(count)]
        columns = [files, lines, [column] * count, texts, [reason] * count]
        self._tables.append(pa.table([pa.array(c, f.type) for c, f in zip(columns, REJECTS, strict=True)], REJECTS))

    def table(self) -> pa.Table:
        return pa.concat_tables([REJECTS.empty_table(), *self._tables]).combine_chunks()


def _text(value: Any) -> str | None:
    plain = value.as_py() if isinstance(value, pa.Scalar) else value
    if isinstance(plain, bytes):
        return plain.decode("utf-8", "backslashreplace")
    return None if plain is None else str(plain)
