"""What a source is: told by its kind, its ending and its first lines, and handed to the module that reads it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gquery.errors import LoadError
from gquery.storage.load.edge_list import read_edge_list
from gquery.storage.load.files import Format, ending, is_binary, layout_of
from gquery.storage.load.folder import read_edge_file, read_folder, read_vertex_file
from gquery.storage.load.graph_text import read_graph_text
from gquery.storage.load.loading import Loading, no_such_file
from gquery.storage.load.mapping import read_mapping, read_toml
from gquery.storage.load.names import find_ends
from gquery.storage.load.options import Options
from gquery.storage.load.rows import EdgeRows, VertexRows
from gquery.storage.load.text import decode_line, read_head

Read = tuple[Loading, list[VertexRows], list[EdgeRows]]


def read_source(source: Path, mapping: str | os.PathLike[str] | Mapping[str, Any] | None, options: Options) -> Read:
    """Reads a source of any kind. Raises LoadError when it does not exist or is of no kind that is known."""
    if not source.exists():
        raise no_such_file(source, "there is no such file or folder")
    if mapping is not None:
        return _read_mapped(source if source.is_dir() else source.parent, mapping, options)
    if source.is_dir():
        loading = Loading(options)
        return loading, *read_folder(loading, source)
    if ending(source) == ".toml":
        return _read_mapped(source.parent, source, options)
    loading = Loading(options)
    if ending(source) == ".graph" or (not is_binary(source) and _begins_like_graph_text(source)):
        return loading, *read_graph_text(loading, source)
    return loading, *_read_table_or_list(loading, source)


def _read_mapped(folder: Path, mapping: str | os.PathLike[str] | Mapping[str, Any], options: Options) -> Read:
    name = "" if isinstance(mapping, Mapping) else os.fspath(mapping)
    settings = mapping if isinstance(mapping, Mapping) else read_toml(Path(mapping))
    declared = settings.get("super_labels", {})
    if isinstance(declared, Mapping):
        options = replace(options, super_labels={**declared, **options.super_labels})
    loading = Loading(options)
    return loading, *read_mapping(loading, settings, folder, name)


def _begins_like_graph_text(path: Path) -> bool:
    lines = [line.split() for line in read_head(path)[:4096].splitlines() if line.strip() and line[:1] not in b"#%"]
    return len(lines) > 1 and len(lines[0]) == 3 and lines[0][0] == b"t" and lines[1][0] in (b"v", b"e")


def _read_table_or_list(loading: Loading, path: Path) -> tuple[list[VertexRows], list[EdgeRows]]:
    """A single table when its header names ends or an id, else an edge list."""
    options = loading.options
    if is_binary(path):
        layout = layout_of(path, Format())
    elif options.header is False or _first_mark(path) in "#%":
        return [], read_edge_list(loading, path)
    else:
        layout = layout_of(path, Format(options.delimiter, options.quote, True))
    roles = {column.role for column in layout.columns}
    if "id" in roles:
        return read_vertex_file(loading, path, layout), []
    if "start" in roles or is_binary(path):
        return [], read_edge_file(loading, path, layout)
    several = len(layout.columns) > 1
    if several and (options.header or find_ends([column.name for column in layout.columns]) is not None):
        return [], read_edge_file(loading, path, layout)
    if several and options.quote and options.quote.encode() in read_head(path):
        return [], read_edge_file(loading, path, layout_of(path, Format(options.delimiter, options.quote, False)))
    return [], read_edge_list(loading, path)


def _first_mark(path: Path) -> str:
    for number, line in enumerate(read_head(path).splitlines(), 1):
        if line.strip():
            return decode_line(path, number, line.lstrip())[0]
    raise LoadError("the file is empty", file=str(path))
