"""What a source is: told by its kind, its ending and its first lines, and handed to the module that reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gquery.errors import LoadError
from gquery.storage.load.assembly.rows import EdgeRows, VertexRows
from gquery.storage.load.formats.edge_list import read_edge_list
from gquery.storage.load.formats.files import ending, is_binary, layout_of
from gquery.storage.load.formats.folder import read_edge_file, read_folder, read_vertex_file, with_id
from gquery.storage.load.formats.graph_text import read_graph_text
from gquery.storage.load.formats.kuzu import is_kuzu, read_kuzu
from gquery.storage.load.formats.names import ID_NAMES, find_ends
from gquery.storage.load.formats.other_formats import refuse_other_formats
from gquery.storage.load.formats.sif import read_sif
from gquery.storage.load.loading import Loading, as_path, cannot_read, no_such_file
from gquery.storage.load.mapping import read_mapping, read_toml
from gquery.storage.load.text.decoded import decode_line, read_head
from gquery.storage.load.text.dialect import Format
from gquery.storage.persist.manifest import is_saved

Read = tuple[list[VertexRows], list[EdgeRows]]


def read_source(loading: Loading, source: Any, mapping: Any) -> Read:
    """Reads a source of any kind. Raises LoadError when it does not exist or is of no kind that is known."""
    path = as_path(source, "the source", hint="tables in memory are loaded by from_arrow")
    try:
        is_folder = path.is_dir()
        exists = is_folder or path.exists()
    except OSError as error:
        raise cannot_read(path, error) from None
    if not exists:
        raise no_such_file(path, "there is no such file or folder")
    if mapping is not None:
        return _read_mapped(loading, path if is_folder else path.parent, mapping)
    if is_folder and is_saved(path):
        raise LoadError("the folder is a graph that was saved", file=str(path), hint="open it by gquery.open")
    if is_folder:
        return read_kuzu(loading, path) if is_kuzu(path) else read_folder(loading, path)
    if ending(path) == ".toml":
        return _read_mapped(loading, path.parent, path)
    if not is_binary(path):
        refuse_other_formats(path, ending(path))
    if ending(path) == ".sif":
        return read_sif(loading, path)
    if ending(path) == ".graph" or (not is_binary(path) and _begins_like_graph_text(path, loading.options.encoding)):
        return read_graph_text(loading, path)
    return _read_table_or_list(loading, path)


def _read_mapped(loading: Loading, folder: Path, mapping: Any) -> Read:
    file = None if isinstance(mapping, Mapping) else as_path(mapping, "the mapping", hint="give a TOML file or a dict")
    settings = mapping if file is None else read_toml(file)
    declared = settings.get("super_labels", {})
    if isinstance(declared, Mapping):
        merged = {**declared, **loading.options.super_labels}
        loading.options = replace(loading.options, super_labels=merged)
    return read_mapping(loading, settings, folder, "" if file is None else str(file))


def _begins_like_graph_text(path: Path, encoding: str | None) -> bool:
    head = read_head(path, encoding)[:4096]
    lines = [line.split() for line in head.splitlines() if line.strip() and line[:1] not in b"#%"]
    return len(lines) > 1 and len(lines[0]) == 3 and lines[0][0] == b"t" and lines[1][0] in (b"v", b"e")


def _read_table_or_list(loading: Loading, path: Path) -> tuple[list[VertexRows], list[EdgeRows]]:
    """A single table when its header names ends or an id, else an edge list."""
    options = loading.options
    if is_binary(path):
        layout = layout_of(path, Format())
    elif options.header is False or _first_mark(path, options.encoding) in "#%":
        return [], read_edge_list(loading, path)
    else:
        layout = layout_of(path, options.format(header=True))
    roles = {column.role for column in layout.columns}
    if "id" in roles:
        return read_vertex_file(loading, path, layout), []
    if "start" in roles:
        return [], read_edge_file(loading, path, layout)
    names = [column.name for column in layout.columns]
    several = len(names) > 1
    if find_ends(names) is None and names[0].lower() in ID_NAMES:
        return read_vertex_file(loading, path, with_id(layout)), []
    if is_binary(path) or (several and (options.header or find_ends(names) is not None)):
        return [], read_edge_file(loading, path, layout)
    if several and options.quote and options.quote.encode() in read_head(path, options.encoding):
        return [], read_edge_file(loading, path, layout_of(path, options.format(header=False)))
    return [], read_edge_list(loading, path)


def _first_mark(path: Path, encoding: str | None) -> str:
    for number, line in enumerate(read_head(path, encoding).splitlines(), 1):
        if line.strip():
            return decode_line(path, number, line.lstrip())[0]
    raise LoadError("the file is empty", file=str(path))
