"""A folder of files, one table a file or a group of files: vertices and edges told by headers, then by file names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from gquery.errors import LoadError
from gquery.storage.load.assembly.doubts import doubt
from gquery.storage.load.assembly.rows import EdgeRows, RawTable, Reference, VertexRows, edge_rows, vertex_rows
from gquery.storage.load.formats.files import TABLE_ENDINGS, Layout, ending, layout_of, read_table
from gquery.storage.load.formats.names import (
    DEFAULT_TYPE,
    edge_parts,
    find_ends,
    find_id,
    is_header_file,
    label_name,
    stem,
    table_name,
    type_name,
)
from gquery.storage.load.formats.other_formats import looks_like_data
from gquery.storage.load.loading import Loading
from gquery.storage.load.text.first_row import check_alike, first_words, names_columns, unclear
from gquery.storage.load.text.header import Column, parse_header, with_ends
from gquery.storage.persist.manifest import is_saved

_SHOWN = 5  # names in a note


@dataclass(frozen=True, slots=True)
class _Table:
    """Files that share a table and a header."""

    name: str
    paths: tuple[Path, ...]
    layout: Layout
    guessed: bool = False  # nothing but the lack of ends tells that it has vertices

    def has(self, role: str) -> bool:
        return any(column.role == role for column in self.layout.columns)

    @property
    def is_edges(self) -> bool:
        return self.has("start")


def read_folder(loading: Loading, folder: Path) -> tuple[list[VertexRows], list[EdgeRows]]:
    """All vertices and edges of a folder. Raises LoadError when it has no table."""
    tables = _with_roles(_tables(folder, loading), loading.options.super_labels)
    loading.expect(path for table in tables for path in table.paths)
    vertices: list[VertexRows] = []
    guesses: list[tuple[_Table, RawTable]] = []
    for table in tables:
        if not table.is_edges:
            raw = read_table(loading, table.paths, table.layout)
            vertices += vertex_rows(loading, raw, (label_name(table.name),), label_name(table.name))
            guesses += [(table, raw)] if table.guessed else []
    for table, raw in guesses:
        doubt(loading, raw, label_name(table.name), vertices)
    known = _known_names((*(label for piece in vertices for label in (*piece.labels, piece.space)),
                          *loading.options.super_labels))  # fmt: skip
    edges: list[EdgeRows] = []
    for table in tables:
        if table.is_edges:
            raw = read_table(loading, table.paths, table.layout)
            edges += _edges(loading, raw, table.name, known)
    return vertices, edges


def read_edge_file(loading: Loading, path: Path, layout: Layout) -> list[EdgeRows]:
    """The edges of a single file; they are of type `EDGE` unless a column says otherwise."""
    loading.expect([path])
    table = _as_edges(_Table(DEFAULT_TYPE, (path,), layout))
    raw = read_table(loading, [path], table.layout)
    told: bool | None = False
    if layout.dialect and not layout.skip and loading.options.header is None:
        told = names_columns(raw)
    if told:
        raw = replace(raw.without_first(), columns=with_ends(parse_header(first_words(raw), str(path))))
    if told or layout.skip or not layout.dialect:
        check_alike(raw, raw.having("start")[0], raw.having("end")[0])
    pieces = _edges(loading, raw, table.name, {})
    if told is None:
        raise unclear(raw)
    return pieces


def read_vertex_file(loading: Loading, path: Path, layout: Layout) -> list[VertexRows]:
    """The vertices of a single file with an `:ID` column."""
    loading.expect([path])
    label = label_name(table_name(stem(path.name), "", set()))
    return vertex_rows(loading, read_table(loading, [path], layout), (label,), label)


def _tables(folder: Path, loading: Loading) -> list[_Table]:
    files = _data_files(loading, folder)
    headers = {table_name(stem(path.name), "", set()): path for path in files if is_header_file(stem(path.name))}
    options = loading.options
    format = options.format()
    groups: dict[tuple[str, Layout], list[Path]] = {}
    for path in files:
        if is_header_file(stem(path.name)):
            continue
        parent = path.parent.name if path.parent != folder else ""
        name = table_name(stem(path.name), parent, set(headers))
        layout = layout_of(path, format, headers.get(name))
        groups.setdefault((name, layout), []).append(path)
    return [_Table(name, tuple(paths), layout) for (name, layout), paths in groups.items()]


def _data_files(loading: Loading, folder: Path) -> list[Path]:
    every = sorted(_files_below(folder))
    files = [path for path in every if ending(path) in TABLE_ENDINGS]
    if not files:
        found = f"it has {every[0].name}" if every else "it is empty"
        raise LoadError(
            f"the folder has no tables; {found}",
            file=str(folder),
            hint=f"tables end in {', '.join(TABLE_ENDINGS)}, and may be gzipped",
        )
    unread = [path.name for path in every if ending(path) not in TABLE_ENDINGS and looks_like_data(path, ending(path))]
    if unread:
        more = f" and {len(unread) - _SHOWN:,} more" if len(unread) > _SHOWN else ""
        names = ", ".join(unread[:_SHOWN])
        loading.notes.append(f"not read: {names}{more}; of a folder the files {', '.join(TABLE_ENDINGS)} are read")
    return files


def _files_below(folder: Path) -> Iterator[Path]:
    """All files but those of saved graphs and those that their makers keep for themselves: `.git`, `_SUCCESS`."""

    def fail(error: OSError) -> NoReturn:
        raise LoadError(f"cannot read the folder: {error.strerror}", file=str(error.filename))

    for parent, folders, names in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not _is_hidden(name) and not is_saved(Path(parent, name))]
        yield from (Path(parent, name) for name in names if not _is_hidden(name))


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "_"))


def _with_roles(tables: Sequence[_Table], super_labels: Iterable[str]) -> list[_Table]:
    """The tables with an id column or two end columns each, where headers do not name them."""
    plain = [table for table in tables if not table.has("id") and not table.has("start")]
    certain = [table for table in plain if find_ends([column.name for column in table.layout.columns]) is not None]
    perhaps = [table for table in plain if table not in certain]
    vertex_names = {table.name for table in tables if table.has("id")}
    vertex_names |= {table.name for table in perhaps if edge_parts(table.name) is None}
    known = _known_names((*vertex_names, *super_labels))

    def named_as_edges(table: _Table) -> bool:
        parts = edge_parts(table.name)
        return parts is not None and {parts[0].lower(), parts[2].lower()} <= known.keys()

    return [
        table
        if table.has("id") or table.has("start")
        else _as_edges(table)
        if table in certain or named_as_edges(table)
        else replace(table, layout=with_id(table.layout), guessed=True)
        for table in tables
    ]


def _as_edges(table: _Table) -> _Table:
    """The columns that a plain header names as ends, else the first two, become ends."""
    if table.is_edges:
        return table
    if len(table.layout.columns) < 2:
        raise LoadError("an edge table needs two columns for its ends", file=str(table.paths[0]), line=1)
    return replace(table, layout=replace(table.layout, columns=with_ends(table.layout.columns)))


def with_id(layout: Layout) -> Layout:
    """The column named `id`, else the first, becomes the id."""
    columns = list(layout.columns)
    index = find_id([column.name for column in columns])
    columns[index] = columns[index].as_role("id")
    return replace(layout, columns=tuple(columns))


def _edges(loading: Loading, raw: RawTable, name: str, known: dict[str, str]) -> list[EdgeRows]:
    """`known`: labels and spaces by their lower case. The file name says what the header does not."""
    parts = edge_parts(name)
    if parts is not None and not {parts[0].lower(), parts[2].lower()} <= known.keys():
        parts = None
    source, target = raw.columns[raw.having("start")[0]], raw.columns[raw.having("end")[0]]
    named = (known[parts[0].lower()], known[parts[2].lower()]) if parts else (None, None)
    return edge_rows(
        loading,
        raw,
        type_name(parts[1] if parts else name),
        _reference(source, ":START_ID", named[0]),
        _reference(target, ":END_ID", named[1]),
    )


def _reference(column: Column, role: str, named: str | None) -> Reference:
    return Reference(column.name or role, column.space or named)


def _known_names(names: Iterable[str]) -> dict[str, str]:
    return {name.lower(): name for name in names if name}
