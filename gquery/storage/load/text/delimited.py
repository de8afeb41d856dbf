"""Delimited text (CSV): the dialect, and the fields as columns of strings.

Everything is read as text by Arrow's reader and converted later, so a bad value costs one row and is known by its line.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from gquery.arrays import pc
from gquery.errors import LoadError
from gquery.storage.load.loading import Loading
from gquery.storage.load.rejects import Origin, Part
from gquery.storage.load.text.decoded import BLOCK, decode_line, open_bytes, read_head
from gquery.storage.load.text.dialect import Dialect, Format
from gquery.storage.load.text.quotes import TEXT_AFTER, UNCLOSED, QuoteCheck, scan_records
from gquery.storage.load.text.watched import MARK, NotUtf8, WatchedStream

DELIMITERS = ",|;\t"
_SNIFFED = 10_000  # characters of a line that are looked at for its delimiter


@dataclass(frozen=True, slots=True)
class FirstRow:
    """The first row of a file: its fields, and the number of lines up to its end."""

    fields: tuple[str, ...]
    lines: int
    dialect: Dialect


def read_first_row(path: Path, format: Format) -> FirstRow:
    """The first row that is not empty. Raises LoadError for an empty file, other encodings, a quote left open."""
    raw_lines = read_head(path, format.encoding).splitlines()
    for number, raw in enumerate(raw_lines, 1):
        if raw.strip():
            line = decode_line(path, number, raw)
            break
    else:
        raise LoadError("the file is empty", file=str(path))
    if "\0" in line:
        raise LoadError("the file has NUL bytes: it is not a text file", file=str(path), line=number)
    sample = [text.decode("latin-1") for text in raw_lines[number : number + 20]]
    dialect = format.dialect(sniff_delimiter(line, sample, format.quote))
    return FirstRow(tuple(split_line(line, dialect, path, number)), number, dialect)


def sniff_delimiter(first: str, following: Sequence[str], quote: str) -> str:
    """The delimiter that splits the first line into most fields; lines that agree with it break a tie."""

    def fields(line: str, delimiter: str) -> int:
        return len(_split(line[:_SNIFFED], delimiter, quote))

    def score(delimiter: str) -> tuple[int, int]:
        found = fields(first, delimiter)
        return found, sum(fields(line, delimiter) == found for line in following)

    return max(DELIMITERS, key=score)


def split_line(line: str, dialect: Dialect, path: Path, number: int) -> list[str]:
    """The fields of one line; LoadError when its quotes are wrong or a field is far too long."""
    try:
        return _split(line, dialect.delimiter, dialect.quote, strict=True)
    except csv.Error as error:
        reasons = {"unexpected": UNCLOSED, "expected": TEXT_AFTER}
        reason = next((reasons[word] for word in reasons if word in str(error)), f"the line is no header: {error}")
        raise LoadError(reason, file=str(path), line=number, value=line[:1000], hint=_QUOTE_HINT) from None


def _split(line: str, delimiter: str, quote: str, strict: bool = False) -> list[str]:
    if not quote or quote not in line:
        return line.split(delimiter)
    quoting: dict[str, Any] = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
    return next(csv.reader([line], delimiter=delimiter, strict=strict, **quoting), [])


def read_fields(
    loading: Loading, path: Path, names: Sequence[str], skip: int, dialect: Dialect
) -> tuple[list[pa.ChunkedArray], Origin]:
    """All rows after the first `skip` lines, a column of strings for each of `names`; an empty unquoted field is null.

    Rows with another number of fields, odd quotes, NUL bytes or other encodings than UTF-8 are rejected.
    """
    reader = _Reader(loading, path, len(names), skip, dialect)
    columns, suspicious = reader.read()
    part = Part(str(path), reader.total, lambda: reader.records().lines)
    whole = Origin((part,))
    physical = np.delete(np.arange(reader.total), reader.bad_records) if reader.bad else np.arange(reader.total)
    keep = np.ones(len(physical), np.bool_)
    violations = reader.records().violations if suspicious else ()
    for violation in violations:
        # The line is that of the quote, which need not be the record's first.
        place = Origin((Part(str(path), 1, partial(np.array, [violation.line], np.int64)),))
        loading.rejects.add(place, np.zeros(1, np.int64), None, [violation.text], violation.reason, _QUOTE_HINT)
        keep &= physical != violation.record
    reader.reject_bad(whole, {violation.record for violation in violations})
    origin = whole.select(physical) if reader.bad else whole
    texts = [column.cast(pa.string()) for column in columns]
    if reader.mended:
        keep &= _without(loading, origin, names, texts, keep, MARK, "the value is not UTF-8")
    if reader.has_nul:
        keep &= _without(loading, origin, names, texts, keep, "\0", "the value has a NUL byte")
    if keep.all():
        return texts, origin
    rows = np.flatnonzero(keep)
    return [column.take(pa.array(rows)) for column in texts], origin.select(rows)


_QUOTE_HINT = "where quotes are ordinary characters, load with quote=''"


class _BadRow(Exception):
    """Arrow stopped at a row that the options do not let it skip."""


class _Reader:
    """One file read by Arrow, and what was wrong with its rows."""

    def __init__(self, loading: Loading, path: Path, width: int, skip: int, dialect: Dialect) -> None:
        self.loading, self.path, self.width, self.skip, self.dialect = loading, path, width, skip, dialect
        self.bad: list[Any] = []
        self.total = 0
        self.has_nul = False
        self.mended = False
        self.records = cache(lambda: scan_records(path, skip, dialect))

    @property
    def bad_records(self) -> list[int]:
        return [row.number - self.skip - 1 for row in self.bad]

    def read(self) -> tuple[list[pa.ChunkedArray], bool]:
        """Columns of bytes, and whether quotes look odd. Bad rows have numbers only without threads: run again."""
        result = None
        try:
            result = self._run(threads=True)
        except NotUtf8:
            self.mended = True
        except _BadRow:
            pass
        if result is None or self.bad:
            self.bad.clear()
            try:
                result = self._run(threads=False)
            except _BadRow:
                raise self._first_error() from None
        table, suspicious = result
        self.total = table.num_rows + len(self.bad)
        return table.columns, suspicious

    def _run(self, threads: bool) -> tuple[pa.Table, bool]:
        names = [str(index) for index in range(self.width)]
        quotes = QuoteCheck(self.dialect.delimiter, self.dialect.quote) if self.dialect.quote else None
        with open_bytes(self.path, self.dialect.encoding) as streams:
            watched = WatchedStream(self.loading, self.path, streams, quotes, self.mended)
            try:
                table = pa.csv.read_csv(
                    pa.PythonFile(watched, "r"),
                    pa.csv.ReadOptions(use_threads=threads, block_size=BLOCK, skip_rows=self.skip, column_names=names),
                    pa.csv.ParseOptions(
                        delimiter=self.dialect.delimiter,
                        quote_char=self.dialect.quote or False,
                        newlines_in_values=bool(self.dialect.quote),
                        invalid_row_handler=self._bad_row,
                    ),
                    pa.csv.ConvertOptions(
                        column_types=dict.fromkeys(names, pa.binary()),
                        null_values=["", *self.dialect.null],
                        strings_can_be_null=True,
                        quoted_strings_can_be_null=False,
                    ),
                )
            except (pa.ArrowInvalid, pa.ArrowCapacityError) as error:
                if not watched.has_bytes:
                    return pa.table({name: pa.array([], pa.binary()) for name in names}), False
                if self.bad:
                    raise _BadRow from None
                raise self._first_error(f"the file cannot be read as CSV: {error}") from None
        self.has_nul = watched.has_nul
        return table, quotes is not None and quotes.suspicious

    def _bad_row(self, row: Any) -> str:
        self.bad.append(row)
        return self.loading.options.on_bad_row

    def _first_error(self, reason: str = "") -> LoadError:
        """Why Arrow stopped: wrong quotes before or in the first bad row, else that row, else `reason`.

        Without a bad row it was one longer than a block: mostly a quote that swallows the rest of the file.
        """
        file, (first, *_) = str(self.path), [*self.bad_records, None]
        for wrong in self.records().violations:
            if first is None or wrong.record <= first:
                return LoadError(wrong.reason, file=file, line=wrong.line, value=wrong.text, hint=_QUOTE_HINT)
        if first is None:
            return LoadError(reason, file=file)
        row = self.bad[0]
        line = int(self.records().lines[first])
        return LoadError(self._width_reason(row.actual_columns), file=file, line=line, value=row.text.replace(MARK, ""))

    def _width_reason(self, found: int) -> str:
        return f"expected {self.width} field{'s' * (self.width != 1)}, found {found}"

    def reject_bad(self, origin: Origin, known: set[int]) -> None:
        """Rejects the rows with another number of fields, but for the records that are `known` to be wrong."""
        by_width: dict[int, list[tuple[int, str]]] = {}
        for record, row in zip(self.bad_records, self.bad, strict=True):
            if record not in known:
                by_width.setdefault(row.actual_columns, []).append((record, row.text.replace(MARK, "")))
        for found, rows in by_width.items():
            records = np.array([record for record, _ in rows], np.int64)
            self.loading.rejects.add(origin, records, None, [text for _, text in rows], self._width_reason(found))


def _without(
    loading: Loading,
    origin: Origin,
    names: Sequence[str],
    texts: Sequence[pa.ChunkedArray],
    keep: NDArray[np.bool_],
    wrong: str,
    reason: str,
) -> NDArray[np.bool_]:
    """Rejects the rows of `keep` in which some text contains `wrong`; returns which rows do not."""
    clean = np.ones(len(keep), np.bool_)
    for name, text in zip(names, texts, strict=True):
        found = pc.fill_null(pc.match_substring(text, wrong), False).to_numpy(zero_copy_only=False)
        rows = np.flatnonzero(found & clean & keep)
        values = pc.replace_substring(text.take(pa.array(rows)), MARK, "")
        loading.rejects.add(origin, rows, name, values, reason)
        clean &= ~found
    return clean
