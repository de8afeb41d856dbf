"""A folder in the layout of Kùzu and Ladybug: `EXPORT DATABASE` writes it, and their own data sets come in it.

The files need no header rows: the schema says what their columns are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import numpy as np
import pyarrow as pa

from gquery.arrays import pc
from gquery.errors import LoadError, did_you_mean
from gquery.storage.load.assembly.rows import EdgeRows, RawTable, Reference, VertexRows, edge_rows, vertex_rows
from gquery.storage.load.formats.files import TABLE_ENDINGS, Layout, ending, is_binary, layout_of, read_table
from gquery.storage.load.formats.kuzu_schema import Copy, Table, read_copies, read_schema
from gquery.storage.load.formats.names import find_ends, stem
from gquery.storage.load.loading import Loading, cannot_read
from gquery.storage.load.options import check_character
from gquery.storage.load.text.decoded import MAX_LINE, open_file
from gquery.storage.load.text.delimited import read_first_row
from gquery.storage.load.text.dialect import Format
from gquery.storage.load.text.header import Column, Role
from gquery.storage.load.text.values import parse_lists

_SCHEMA, _COPIES = "schema.cypher", "copy.cypher"
_ENDS: dict[str, Role] = {"from": "start", "to": "end"}
_WITHOUT_MEANING = ("parallel", "sample_size", "auto_detect", "file_format")
_OPTIONS = ("header", "delim", "delimiter", "quote", "escape", "from", "to", *_WITHOUT_MEANING)

_INTEGER = re.compile(r"U?INT(8|16|32|64|128)?|SERIAL|INTEGER|BIGINT|SMALLINT|TINYINT")
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_LIST = re.compile(r"(\w+)\[\d*\]")
_TYPES: dict[str, pa.DataType] = {
    "STRING": pa.string(), "UUID": pa.string(), "BLOB": pa.string(), "INTERVAL": pa.string(), "BOOL": pa.bool_(),
    "BOOLEAN": pa.bool_(), "DOUBLE": pa.float64(), "FLOAT": pa.float64(), "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us"), "TIMESTAMP_NS": pa.timestamp("us"), "TIMESTAMP_MS": pa.timestamp("us"),
    "TIMESTAMP_SEC": pa.timestamp("us"), "TIMESTAMP_TZ": pa.timestamp("us", "UTC"),
}  # fmt: skip


def is_kuzu(folder: Path) -> bool:
    return os.path.isfile(folder / _SCHEMA)  # where the system does not tell, reading the folder says why


def read_kuzu(loading: Loading, folder: Path) -> tuple[list[VertexRows], list[EdgeRows]]:
    """The vertices and edges of all tables, labels and types named as the tables are.

    Raises LoadError for whatever of the schema or the COPY statements is not understood.
    """
    tables = {table.name: table for table in read_schema(_text(folder / _SCHEMA), folder / _SCHEMA)}
    copies = _copies(folder, tables)
    sources = [_source(loading, folder, tables, copy) for copy in copies]
    loading.expect(source.path for source in sources)
    known = {source.path for source in sources}
    unread = [path.name for path in _files(folder) if ending(path) in TABLE_ENDINGS and path not in known]
    if unread:
        loading.notes.append(f"not read, since {_COPIES} does not name them: {', '.join(unread[:5])}")
    vertices: list[VertexRows] = []
    edges: list[EdgeRows] = []
    for source in sources:
        table, raw = source.table, source.read(loading)
        if table.pairs:
            start, end = (Reference(role, labels=(label,)) for role, label in zip(_ENDS, source.pair, strict=True))
            edges += edge_rows(loading, raw, table.name, start, end)
        else:
            vertices += vertex_rows(loading, raw, (table.name,), table.name)
    return vertices, edges


@dataclass(frozen=True, slots=True)
class _Source:
    """One file of a table. `pair`: the vertex tables at the ends of its edges; `types`: as the schema has them."""

    table: Table
    path: Path
    pair: tuple[str, ...]
    types: tuple[str, ...]
    layout: Layout

    def read(self, loading: Loading) -> RawTable:
        raw = read_table(loading, [self.path], self.layout)
        if not raw.is_text:
            return raw
        data = [_structured(loading, raw, index, type) for index, type in enumerate(self.types)]
        return replace(raw, data=tuple(data))


def _text(path: Path) -> str:
    with open_file(path) as raw:
        try:
            return raw.read(MAX_LINE).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise LoadError("the file is not UTF-8", file=str(path)) from None


def _copies(folder: Path, tables: dict[str, Table]) -> list[Copy]:
    """What `copy.cypher` says; without one, the file that is named like each table."""
    path = folder / _COPIES
    if path.is_file():
        return read_copies(_text(path), path)
    files = [file for file in _files(folder) if file.name.lower().endswith((*TABLE_ENDINGS, ".gz"))]
    copies = []
    for table in tables.values():
        wanted = {"_".join((table.name, *pair)).lower(): pair for pair in table.pairs}
        if len(table.pairs) < 2:
            wanted[table.name.lower()] = (table.pairs or ((),))[0]  # type: ignore[assignment]
        found = [(file, wanted[stem(file.name).lower()]) for file in files if stem(file.name).lower() in wanted]
        if not found:
            hint = f"{_COPIES} says which file holds which table"
            raise LoadError(f"no file is named like the table `{table.name}`", file=str(folder), hint=hint)
        for file, pair in found:
            copies.append(Copy(table.name, file.name, None, dict(zip(("from", "to"), pair, strict=False))))
    return copies


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise cannot_read(folder, error) from None


def _source(loading: Loading, folder: Path, tables: dict[str, Table], copy: Copy) -> _Source:
    place = str(folder / _COPIES)
    table = tables.get(copy.table)
    if table is None:
        raise LoadError(f"COPY: there is no table `{copy.table}`", file=place, hint=did_you_mean(copy.table, tables))
    for option, value in copy.options.items():
        if option not in _OPTIONS:
            raise LoadError(f"COPY `{table.name}`: the option `{option}` is not understood", file=place, value=value)
    path = _path(folder, copy, place)
    pair = _pair(table, copy, place)
    for name in pair:
        if name not in tables or tables[name].pairs:
            raise LoadError(f"the table `{table.name}` leads to `{name}`, which is no table of vertices", file=place)
    types = dict(table.columns)
    names = copy.columns if copy.columns is not None else tuple(types)
    for name in names:
        if name not in types:
            hint = did_you_mean(name, types)
            raise LoadError(f"COPY `{table.name}`: it has no column `{name}`", file=place, hint=hint)
    if not table.pairs and table.key not in names:
        raise LoadError(f"COPY `{table.name}`: its primary key `{table.key}` is not in the file", file=place)
    keys = [dict(tables[name].columns)[tables[name].key] for name in pair]
    columns = [Column(name, role, _key_type(key)) for (name, role), key in zip(_ENDS.items(), keys, strict=False)]
    for name in names:
        is_key = name == table.key
        type = _key_type(types[name]) if is_key else _type(types[name])
        columns.append(Column(name, "id" if is_key else "property", type))
    header = [*(tables[name].key for name in pair), *names]
    written = (*keys, *(types[name] for name in names))
    return _Source(table, path, pair, written, _layout(loading, path, copy, columns, header))


def _path(folder: Path, copy: Copy, place: str) -> Path:
    """The file that COPY names, or else the one of its name in the folder: the folder may have moved. Files elsewhere
    are not touched: a folder that somebody else made may name any."""
    named = PurePosixPath(copy.file.replace("\\", "/"))
    inside = [] if named.is_absolute() or ".." in named.parts else [folder / named]
    try:
        for path in (*inside, folder / named.name):
            if path.is_file():
                return path
    except (OSError, ValueError):  # no name that a file could have
        pass
    raise LoadError(f"COPY `{copy.table}`: the folder has no file `{named.name}`", file=place)


def _pair(table: Table, copy: Copy, place: str) -> tuple[str, ...]:
    if not table.pairs:
        return ()
    named = copy.options.get("from"), copy.options.get("to")
    fitting = [pair for pair in table.pairs if all(n is None or n == p for n, p in zip(named, pair, strict=True))]
    if len(fitting) != 1:
        pairs = ", ".join(f"FROM {source} TO {target}" for source, target in table.pairs)
        raise LoadError(f"COPY `{table.name}`: from and to do not tell which of {pairs} is meant", file=place)
    return fitting[0]


def _layout(loading: Loading, path: Path, copy: Copy, columns: Sequence[Column], names: Sequence[str]) -> Layout:
    """`names`: of the columns, as a header row would have them."""
    if is_binary(path):  # whose own types are exact
        plain = tuple(replace(column, type=None) if column.role == "property" else column for column in columns)
        found, layout = len(layout_of(path, Format()).columns), Layout(plain)
    else:
        delimiter, quote = copy.options.get("delim", copy.options.get("delimiter", ",")), copy.options.get("quote", '"')
        for option, value in (("delim", delimiter), ("quote", quote)):
            check_character(option, value)
        if copy.options.get("escape", quote) != quote:
            value = copy.options["escape"]
            reason = f"COPY `{copy.table}`: only a doubled quote can escape a quote"
            raise LoadError(reason, file=str(path.parent / _COPIES), value=value)
        if path.stat().st_size == 0:
            return Layout(tuple(columns), 0, Format(delimiter, quote).dialect(delimiter))
        first = read_first_row(path, Format(delimiter, quote, encoding=loading.options.encoding))
        skip = first.lines if _is_header(first.fields, names, copy.options.get("header")) else 0
        found, layout = len(first.fields), Layout(tuple(columns), skip, first.dialect)
    if found != len(columns):
        raise LoadError(f"the table `{copy.table}` has {len(columns)} columns, its file has {found}", file=str(path))
    return layout


def _is_header(fields: Sequence[str], names: Sequence[str], said: str | None) -> bool:
    """As COPY says, else whether the fields are the names of the columns: plain, or with a variable as EXPORT writes
    them (`a.id`)."""
    if said is not None:
        return said.lower() in ("true", "1")
    found = [field.strip().lower() for field in fields]
    plain = [field.rpartition(".")[2] for field in found]
    return plain == [name.lower() for name in names] or (find_ends(found) == (0, 1) and plain[2:] == [*names[2:]])


def _type(written: str) -> pa.DataType | None:
    """The type of a text column; None for those that `_structured` reads."""
    return pa.int64() if _INTEGER.fullmatch(written) else _TYPES.get(written)


def _key_type(written: str) -> pa.DataType:
    """Keys that are no integers are ids as they are written."""
    return pa.int64() if _INTEGER.fullmatch(written) else pa.string()


def _structured(loading: Loading, raw: RawTable, index: int, written: str) -> pa.ChunkedArray:
    """A column of text, decimals and lists read already. Raises LoadError for types that text cannot hold safely."""
    data, column = raw.data[index], raw.columns[index]
    if column.type is not None:
        return data
    decimal, items = _DECIMAL.fullmatch(written), _LIST.fullmatch(written)
    if decimal is not None:
        try:
            return data.cast(pa.decimal128(int(decimal[1]), int(decimal[2])))
        except (pa.ArrowInvalid, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise LoadError(f"a value is no {written}: {reason}", file=raw.origin.file, column=column.name) from None
    item = _type(items[1]) if items is not None else None
    if item is None:
        raise LoadError(
            f"a column of type {written} cannot be read from CSV",
            file=raw.origin.file, column=column.name, hint="export the database with format='parquet'",
        )  # fmt: skip
    values, bad = parse_lists(pc.utf8_slice_codeunits(data, 1, -1), item, ",")  # without the brackets
    loading.rejects.add(raw.origin, bad, column.name, data.take(pa.array(bad)), f"the value is no {written}")
    if not len(bad):
        return values
    mask = np.zeros(len(data), np.bool_)
    mask[bad] = True
    return pc.if_else(pa.array(mask), None, values)
