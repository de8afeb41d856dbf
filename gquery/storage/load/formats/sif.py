"""The `.sif` format of interaction networks: `source relation target target ...`, or a vertex alone on its line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from gquery.arrays import pc
from gquery.errors import LoadError
from gquery.storage.load.assembly.rows import EdgeRows, End, Reference, VertexRows, split_rows
from gquery.storage.load.assembly.vertices import named_by
from gquery.storage.load.loading import Loading
from gquery.storage.load.rejects import NO_ROWS, Origin, Rows
from gquery.storage.load.text.decoded import read_head
from gquery.storage.load.text.tokens import Words, lines_part, read_words
from gquery.storage.load.text.values import ids_of_text


def read_sif(loading: Loading, path: Path) -> tuple[list[VertexRows], list[EdgeRows]]:
    """Vertices without labels and edges whose type is the relation as it is written. Words are separated by tabs where
    the file has any, else by white space. Rejects lines that have a relation and no target."""
    loading.expect([path])
    tabs = "\t" if b"\t" in read_head(path, loading.options.encoding) else None
    parts = [_Part(loading, path, words) for words in read_words(loading, path, loading.options.delimiter or tabs)]
    lines = np.concatenate([NO_ROWS, *(part.lines for part in parts)])
    source, relation, target, alone = (
        pa.chunked_array([column for part in parts for column in part.columns[index]], pa.string())
        for index in range(4)
    )
    if not len(source) and not len(alone):
        raise LoadError("the file has neither edges nor vertices", file=str(path))
    ids = ids_of_text(pa.chunked_array([*source.chunks, *target.chunks, *alone.chunks], pa.string()))
    count = len(source)
    ends = End(ids.slice(0, count), Reference("source")), End(ids.slice(count, count), Reference("target"))
    whole = EdgeRows("", *ends, pa.table({}), Origin((lines_part(path, lines),)))
    edges = [
        EdgeRows(type, piece.source, piece.target, piece.properties, piece.origin)
        for type, piece in split_rows(relation, whole.take)
    ]
    return [named_by(edges, [ids.slice(2 * count)])], edges


class _Part:
    """The edges and lone vertices of some lines. `columns`: sources, relations, targets and lone vertices;
    `lines`: int64[edges]."""

    def __init__(self, loading: Loading, path: Path, words: Words) -> None:
        rows = np.repeat(np.arange(len(words.lines)), words.counts)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(words.counts) - words.counts, words.counts)
        every = pa.array(np.repeat(words.first, words.counts) + within)
        # Tabs at the end of a line leave empty words behind, which are no targets.
        filled = pc.not_equal(words.text.take(every), "").to_numpy(zero_copy_only=False)
        targets = np.bincount(rows[filled & (within > 1)], minlength=len(words.lines))
        named = np.bincount(rows[filled & (within < 2)], minlength=len(words.lines))
        alone = (targets == 0) & (named == 1)
        first = words.words(np.arange(len(words.lines)), 0)
        blanks = pc.match_substring_regex(first, r"\s\S+\s").to_numpy(zero_copy_only=False)
        alone &= pc.not_equal(first, "").to_numpy(zero_copy_only=False)
        alone &= ~blanks  # blanks where other lines have tabs: more likely an edge than the name of a vertex
        wrong = np.flatnonzero(~alone & ((named < 2) | (targets == 0)))
        origin = Origin((lines_part(path, words.lines[wrong]),))
        texts = [words.line_text(int(row)) for row in wrong]
        reason = "the line is neither `SOURCE RELATION TARGET ...` nor a vertex alone"
        loading.rejects.add(origin, np.arange(len(wrong)), None, texts, reason)
        good = np.ones(len(words.lines), np.bool_)
        good[wrong] = False
        at = np.flatnonzero(filled & (within > 1) & good[rows])
        self.lines: Rows = words.lines[rows[at]]
        self.columns = (
            [words.words(rows[at], 0)],
            [words.words(rows[at], 1)],
            [words.text.take(every.take(pa.array(at)))],
            [first.filter(pa.array(alone))],
        )
