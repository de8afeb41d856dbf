"""Lines of words, split without a loop: what edge lists and `.graph` files are made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.errors import LoadError
from gquery.storage.load.loading import Loading
from gquery.storage.load.rejects import Part, Rows
from gquery.storage.load.text.decoded import blocks

COMMENTS = b"#%"


@dataclass(frozen=True, slots=True)
class Words:
    """The words of some lines. `lines`: int64[k], the number of each line that has words and is no comment;
    `first`, `counts`: int64[k], its first word and how many; `text`: all words."""

    lines: NDArray[np.int64]
    first: NDArray[np.int64]
    counts: NDArray[np.int64]
    text: pa.StringArray

    def words(self, rows: NDArray[np.int64] | NDArray[np.bool_], position: int) -> pa.Array:
        """The word at `position` of the given lines, which must have it."""
        return self.text.take(pa.array(self.first[rows] + position))

    def line_text(self, row: int) -> str:
        begin = int(self.first[row])
        return " ".join(str(word) for word in self.text[begin : begin + int(self.counts[row])])


def read_words(loading: Loading, path: Path, delimiter: str | None) -> Iterator[Words]:
    """The words of a text file, block by block. `delimiter` None splits at runs of white space.

    Raises LoadError for NUL bytes and for bytes that are not UTF-8.
    """
    line = 1
    for block in blocks(loading, path):
        if b"\r" in block and _ends_lines_by_return(block):
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\0" in block:
            raise _bad_line(path, line, block, block.index(b"\0"), "the line has a NUL byte: the file is not text")
        words = _split_white(block, line) if delimiter is None else _split_at(block, line, ord(delimiter))
        try:
            words.text.validate(full=True)
        except pa.ArrowInvalid:
            raise _bad_line(path, line, block, _first_bad_byte(block), "the line is not UTF-8") from None
        yield words
        line += block.count(b"\n")


def _ends_lines_by_return(block: bytes) -> bool:
    """Whether a carriage return stands alone. One before a line feed is white space at the end of a line."""
    data = np.frombuffer(block, np.uint8)
    behind = np.flatnonzero(data == ord("\r")) + 1
    return bool(np.any(data[np.minimum(behind, len(data) - 1)] != ord("\n")))


def _split_white(block: bytes, line: int) -> Words:
    data = np.frombuffer(block, np.uint8)
    white = data <= ord(" ")
    edges = np.flatnonzero(white[1:] != white[:-1]) + 1
    begins = edges if white[0] else np.concatenate([[0], edges])
    if len(begins) % 2:
        begins = np.append(begins, len(data))
    starts, ends = begins[0::2], begins[1::2]
    newlines = np.flatnonzero(data == ord("\n"))
    before = np.searchsorted(starts, newlines)
    return _words(data[~white], starts, ends - starts, data, before, line)


def _split_at(block: bytes, line: int, delimiter: int) -> Words:
    """Fields between delimiters, white space around them taken off; empty fields stay, empty lines go."""
    if not block.endswith(b"\n"):
        block += b"\n"
    data = np.frombuffer(block, np.uint8)
    newline = data == ord("\n")
    ends = np.flatnonzero(newline | (data == delimiter))
    starts = np.concatenate([[0], ends[:-1] + 1])
    kept = data > ord(" ")
    kept[ends] = False
    # White space inside a field belongs to it: only what stands before its first and after its last mark goes.
    solid = np.concatenate([[0], np.cumsum(kept)])
    some = solid[ends] > solid[starts]
    at = np.flatnonzero(kept)
    inner_starts, inner_ends = ends.copy(), ends.copy()
    inner_starts[some] = at[solid[starts[some]]]
    inner_ends[some] = at[solid[ends[some]] - 1] + 1
    lengths = inner_ends - inner_starts
    inside = np.zeros(len(data) + 1, np.int8)
    np.add.at(inside, inner_starts[some], 1)
    np.add.at(inside, inner_ends[some], -1)
    before = np.searchsorted(ends, np.flatnonzero(newline)) + 1
    words = _words(data[np.cumsum(inside[:-1]).astype(np.bool_)], inner_starts, lengths, data, before, line)
    blank = (words.counts == 1) & (lengths[words.first] == 0)
    return Words(words.lines[~blank], words.first[~blank], words.counts[~blank], words.text)


def _words(
    letters: NDArray[np.uint8],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    data: NDArray[np.uint8],
    before: NDArray[np.int64],
    line: int,
) -> Words:
    """`letters`: the letters of all words; `before`: for every newline, the number of words before it."""
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    text = pa.StringArray.from_buffers(len(lengths), pa.py_buffer(offsets), pa.py_buffer(letters))
    bounds = np.concatenate([[0], before])
    if not len(before) or before[-1] < len(lengths):
        bounds = np.append(bounds, len(lengths))  # the last line does not end
    counts = np.diff(bounds)
    rows = np.flatnonzero(counts > 0)
    first = bounds[rows]
    leading = data[np.minimum(starts[first], len(data) - 1)]
    rows = rows[~np.isin(leading, np.frombuffer(COMMENTS, np.uint8))]
    return Words(rows + line, bounds[rows], counts[rows], text)


def _bad_line(path: Path, line: int, block: bytes, position: int, reason: str) -> LoadError:
    begin = block.rfind(b"\n", 0, position) + 1
    end = block.find(b"\n", position)
    text = block[begin : end if end >= 0 else len(block)][:60].decode("utf-8", "backslashreplace")
    return LoadError(reason, file=str(path), line=line + block.count(b"\n", 0, position), value=text)


def _first_bad_byte(block: bytes) -> int:
    try:
        block.decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0


def lines_part(path: Path, lines: Rows) -> Part:
    """The rows of a file whose lines are known already."""
    return Part(str(path), len(lines), lambda: lines)
