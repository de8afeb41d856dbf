"""Edge lists: one edge a line, two words or more (SNAP and its many relatives)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import pc
from gquery.errors import LoadError
from gquery.storage.load.assembly.lookup import distinct
from gquery.storage.load.assembly.rows import EdgeRows, RawTable, Reference, edge_rows
from gquery.storage.load.formats.names import DEFAULT_TYPE, find_ends
from gquery.storage.load.loading import Loading
from gquery.storage.load.rejects import MAX_LISTED, NO_ROWS, Origin, Rows
from gquery.storage.load.text.decoded import decode_line, read_head
from gquery.storage.load.text.delimited import DELIMITERS
from gquery.storage.load.text.first_row import check_alike, first_words, names_columns, unclear
from gquery.storage.load.text.header import Column, check_width, with_ends
from gquery.storage.load.text.tokens import Words, lines_part, read_words

_Columns = tuple[pa.ChunkedArray, ...]


def read_edge_list(loading: Loading, path: Path) -> list[EdgeRows]:
    """Edges of type `EDGE` as the lines give them. Further words of a line become properties.

    Rejects lines with another number of words than the first. Raises LoadError when a line has fewer than two.
    """
    loading.expect([path])
    delimiter, comment_words = _look(path, loading.options.delimiter, loading.options.encoding)
    tables = [words for words in read_words(loading, path, delimiter) if len(words.lines)]
    lines = np.concatenate([NO_ROWS, *(words.lines for words in tables)])
    counts = np.concatenate([NO_ROWS, *(words.counts for words in tables)])
    if len(lines) == 0:
        raise LoadError("the file has no edges", file=str(path))
    names, skipped = _leading_lines(loading, tables, counts)
    if len(counts) == skipped:
        return []
    width = int(counts[skipped])
    if width < 2:
        reason = "an edge needs two ends, the line has one word"
        raise LoadError(reason, file=str(path), line=int(lines[skipped]), value=_text_of(tables, skipped))
    check_width(width, str(path), int(lines[skipped]))
    origin = Origin((lines_part(path, lines),))
    right = counts == width
    right[:skipped] = False
    wrong = np.flatnonzero(~right)[skipped:]
    texts = [_text_of(tables, int(row)) for row in wrong[:MAX_LISTED]]
    loading.rejects.add(origin, wrong, None, texts, f"expected {width} fields, as in line {lines[skipped]}")
    columns = _columns(names or comment_words, width)
    absent = [*loading.options.null, *([] if delimiter is None else [""])]
    data = _data(tables, right, width, absent)
    table = RawTable(columns, data, origin.select(np.flatnonzero(right)), is_text=True)
    told: bool | None = False
    if not names:
        if loading.options.header is None:
            table = _without_count_line(loading, table)
        if loading.options.header is None and find_ends(comment_words) is None:
            told = names_columns(table)
        if told:
            table = replace(table.without_first(), columns=_columns(first_words(table), width))
    columns = table.columns
    source, target = table.having("start")[0], table.having("end")[0]
    if names or told:
        check_alike(table, source, target)
    ends = Reference(columns[source].name), Reference(columns[target].name)
    pieces = edge_rows(loading, table, DEFAULT_TYPE, *ends)
    if told is None:  # said last: what is wrong with a row comes before what is unclear
        raise unclear(table)
    return pieces


def _look(path: Path, delimiter: str | None, encoding: str | None) -> tuple[str | None, list[str]]:
    """The delimiter (None: white space), and the words of the last comment before the edges: often column names."""
    comment: list[str] = []
    for number, raw in enumerate(read_head(path, encoding).splitlines(), 1):
        line = decode_line(path, number, raw).strip()
        if line[:1].encode() in (b"#", b"%"):
            comment = line.lstrip("#%").split()
        elif line:
            return delimiter or _delimiter_of(raw.decode()), comment
    return delimiter, comment


def _delimiter_of(line: str) -> str | None:
    """What separates the words of a line: white space, unless a mark does or tabs split it otherwise."""
    for delimiter in DELIMITERS:
        if delimiter in line and (delimiter != "\t" or [word.strip() for word in line.split("\t")] != line.split()):
            return delimiter
    return None


def _leading_lines(loading: Loading, tables: Sequence[Words], counts: Rows) -> tuple[list[str], int]:
    """Column names of a header line and the number of lines that are no edges: a header, or a lone count."""
    first = tables[0]
    words = [str(word) for word in first.text[int(first.first[0]) : int(first.first[0] + first.counts[0])]]
    header = loading.options.header
    if header or (header is None and find_ends(words) is not None):
        return words, 1
    if len(words) == 1 and words[0].isdigit() and len(counts) > 1 and counts[1] > 1:
        return [], 1
    return [], 0


def _columns(names: list[str], width: int) -> tuple[Column, ...]:
    if len(names) != width or len(set(names)) != width:
        names = ["source", "target", *(f"column{number}" for number in range(3, width + 1))]
    return with_ends([Column(name) for name in names])


def _data(tables: Sequence[Words], right: NDArray[np.bool_], width: int, absent: Sequence[str]) -> _Columns:
    """The words at each position of the `right` lines; those of `absent` are nulls."""
    chunks: list[list[pa.Array]] = [[] for _ in range(width)]
    begin = 0
    for words in tables:
        rows = np.flatnonzero(right[begin : begin + len(words.lines)])
        begin += len(words.lines)
        for position in range(width):
            chunks[position].append(words.words(rows, position))
    columns = tuple(pa.chunked_array(column, pa.string()) for column in chunks)
    if not absent:
        return columns
    missing, words = pa.scalar(None, pa.string()), pa.array(absent)
    return tuple(pc.if_else(pc.is_in(column, words), missing, column) for column in columns)


def _text_of(tables: Sequence[Words], row: int) -> str:
    for words in tables:
        if row < len(words.lines):
            return words.line_text(row)
        row -= len(words.lines)
    return ""


def _without_count_line(loading: Loading, table: RawTable) -> RawTable:
    """Some lists begin with a line `vertices edges`: it is one when both numbers are those of the rest. That is said,
    since it may be an edge all the same."""
    if len(table.data) != 2 or table.count < 2:
        return table
    vertices, edges = (str(column[0]) for column in table.data)
    if edges != str(table.count - 1):
        return table
    rest = table.without_first()
    ends = [rest.ids(0), rest.ids(1)]
    if any(column.null_count for column in ends):
        return table
    if vertices != str(len(distinct(ends))):
        return table
    loading.notes.append(
        f"the first line of {table.origin.file}, `{vertices} {edges}`, was taken for the numbers of vertices and edges "
        "behind it; if it is an edge, load with header=False"
    )
    return rest
