"""The `.graph` text format: `t V E`, then `v id label [degree]` and `e u v [label]`, one edge as written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from gquery.arrays import pc
from gquery.errors import LoadError
from gquery.storage.load.assembly.rows import EdgeRows, End, Reference, VertexRows, split_rows
from gquery.storage.load.formats.names import DEFAULT_TYPE
from gquery.storage.load.loading import Loading
from gquery.storage.load.rejects import Origin, Rows
from gquery.storage.load.text.tokens import Words, lines_part, read_words
from gquery.storage.load.text.values import parse

_SHAPES = {"t": "t VERTICES EDGES", "v": "v ID LABEL [DEGREE]", "e": "e SOURCE TARGET [LABEL]"}


def read_graph_text(loading: Loading, path: Path) -> tuple[list[VertexRows], list[EdgeRows]]:
    """Vertices by label and edges of type `EDGE`; a third number of an `e` line is the edge's type instead.

    Rejects lines of another shape. Raises LoadError when the numbers of the `t` line are not those of the file.
    """
    loading.expect([path])
    reader = _Reader(loading, path)
    for words in read_words(loading, path, None):
        reader.take(words)
    reader.compare_counts()
    return reader.vertices(), reader.edges()


class _Reader:
    """Collects the words of `v` and `e` lines: lines, then one array a column."""

    def __init__(self, loading: Loading, path: Path) -> None:
        self.loading = loading
        self.path = path
        self.announced: tuple[int, int] | None = None
        self.announced_at = 0
        self.seen = {"v": 0, "e": 0}
        self.parts: dict[str, list[tuple[Rows, list[pa.Array]]]] = {"v": [], "e": []}

    def take(self, words: Words) -> None:
        kind = words.words(np.arange(len(words.lines)), 0)
        fits = np.zeros(len(words.lines), np.bool_)
        for letter in "ve":
            mine = pc.equal(kind, letter).to_numpy(zero_copy_only=False)
            self.seen[letter] += int(np.count_nonzero(mine))
            mine &= (words.counts == 3) | (words.counts == 4)
            fits |= mine
            rows = np.flatnonzero(mine)
            if len(rows):
                labels = self._fourth_word(words, rows) if letter == "e" else words.words(rows, 2)
                first, second = words.words(rows, 1), (words.words(rows, 2) if letter == "e" else labels)
                self.parts[letter].append((words.lines[rows], [first, second, labels]))
        wrong: dict[str, list[int]] = {}
        for row in np.flatnonzero(~fits).tolist():
            if reason := self._other(words, row, str(kind[row])):
                wrong.setdefault(reason, []).append(row)
        for reason, rows_of in wrong.items():
            origin = Origin((lines_part(self.path, words.lines[rows_of]),))
            texts = [words.line_text(row) for row in rows_of]
            self.loading.rejects.add(origin, np.arange(len(rows_of)), None, texts, reason)

    def _fourth_word(self, words: Words, rows: Rows) -> pa.Array:
        """The label of each `e` line, null where there is none."""
        has = words.counts[rows] == 4
        last = pa.array(words.first[rows] + 3, mask=~has)
        return words.text.take(last)

    def _other(self, words: Words, row: int, kind: str) -> str | None:
        """What is wrong with a line that is no well-shaped vertex or edge; nothing, if it is the first `t` line."""
        text = words.line_text(row)
        numbers = text.split()[1:]
        if kind != "t":
            return f"the line is not `{_SHAPES[kind]}`" if kind in _SHAPES else "the line begins with none of t, v, e"
        if self.announced is not None:
            reason = "a second `t` line: the file holds several graphs"
            raise LoadError(reason, file=str(self.path), line=int(words.lines[row]), value=text)
        if len(numbers) != 2 or not all(number.isdecimal() for number in numbers):
            return f"the line is not `{_SHAPES[kind]}`"
        self.announced, self.announced_at = (int(numbers[0][:18]), int(numbers[1][:18])), int(words.lines[row])
        return None

    def compare_counts(self) -> None:
        if self.announced is None:
            raise LoadError("the file has no `t VERTICES EDGES` line", file=str(self.path), line=1)
        found = self.seen["v"], self.seen["e"]
        if found != self.announced:
            vertices, edges = self.announced
            announced = f"the line announces {vertices:,} vertices and {edges:,} edges"
            reason = f"{announced}, the file has {found[0]:,} and {found[1]:,}"
            hint = "the file may have been cut short; on_bad_row='skip' loads what is there"
            origin = Origin((lines_part(self.path, np.array([self.announced_at])),))
            self.loading.rejects.add(origin, np.zeros(1, np.int64), None, [f"t {vertices} {edges}"], reason, hint)

    def _columns(self, letter: str, names: tuple[str, ...]) -> tuple[list[pa.ChunkedArray], Origin]:
        """The three columns of these lines, the `names` first ones as integers; rows with a bad one are rejected."""
        lines = np.concatenate([np.zeros(0, np.int64), *(lines for lines, _ in self.parts[letter])])
        columns = [pa.chunked_array([part[i] for _, part in self.parts[letter]], pa.string()) for i in range(3)]
        origin = Origin((lines_part(self.path, lines),))
        keep = np.ones(len(lines), np.bool_)
        numbers = []
        for name, column in zip(names, columns, strict=False):
            values, bad = parse(column, pa.int64())
            self.loading.rejects.add(origin, bad, name, column.take(pa.array(bad)), "the value is not a 64-bit integer")
            keep[bad] = False
            numbers.append(values)
        columns = [*numbers, *columns[len(names) :]]
        if keep.all():
            return columns, origin
        rows = np.flatnonzero(keep)
        return [column.take(pa.array(rows)) for column in columns], origin.select(rows)

    def vertices(self) -> list[VertexRows]:
        (ids, _, labels), origin = self._columns("v", ("id",))
        whole = VertexRows((), ids, "id", pa.table({"id": ids}), "", origin)
        return [
            VertexRows((label,), p.ids, p.id_name, p.properties, p.space, p.origin)
            for label, p in split_rows(labels, whole.take)
        ]

    def edges(self) -> list[EdgeRows]:
        (sources, targets, labels), origin = self._columns("e", ("source", "target"))
        source, target = End(sources, Reference("source")), End(targets, Reference("target"))
        whole = EdgeRows(DEFAULT_TYPE, source, target, pa.table({}), origin)
        if labels.null_count == len(labels):
            return [whole]
        return [
            EdgeRows(label or DEFAULT_TYPE, p.source, p.target, p.properties, p.origin)
            for label, p in split_rows(labels, whole.take)
        ]
