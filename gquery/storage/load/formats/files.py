"""One table from files: delimited text, Parquet or Arrow IPC, told by content."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from gquery.errors import LoadError
from gquery.storage.load.assembly.arrow_values import cast, check_size, checked, normalise
from gquery.storage.load.assembly.rows import RawTable
from gquery.storage.load.loading import Loading
from gquery.storage.load.rejects import Origin, Part
from gquery.storage.load.text.decoded import open_file, reading
from gquery.storage.load.text.delimited import read_fields, read_first_row
from gquery.storage.load.text.dialect import Dialect, Format
from gquery.storage.load.text.header import Column, parse_header
from gquery.storage.schema import common_type

BINARY_ENDINGS = (".parquet", ".arrow", ".feather", ".ipc")
TEXT_ENDINGS = (".csv", ".tsv")
TABLE_ENDINGS = (*BINARY_ENDINGS, *TEXT_ENDINGS)


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a file; `skip` lines stand before its rows. `dialect` is None for a binary file."""

    columns: tuple[Column, ...]
    skip: int = 0
    dialect: Dialect | None = None


def ending(path: Path) -> str:
    """The ending that tells the format: `.csv` for `a.csv.gz`."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return next((suffix for suffix in reversed(suffixes) if suffix != ".gz"), "")


def is_binary(path: Path) -> bool:
    return ending(path) in BINARY_ENDINGS


def layout_of(path: Path, format: Format, header_file: Path | None = None) -> Layout:
    """The columns of a file, as its first row, its own header file or its schema tells them."""
    if is_binary(path):
        with _open_binary(path) as source:
            schema = _parquet().read_schema(source) if ending(path) == ".parquet" else _open_ipc(source).schema
            names = schema.names
        return Layout(parse_header(names, str(path)))
    if header_file is not None:
        head = read_first_row(header_file, format)
        return Layout(parse_header(head.fields, str(header_file), head.lines), 0, head.dialect)
    first = read_first_row(path, format)
    if format.header is False:
        names = format.names or tuple(f"column{number}" for number in range(1, len(first.fields) + 1))
        return Layout(parse_header(names, str(path)), 0, first.dialect)
    return Layout(parse_header(format.names or first.fields, str(path), first.lines), first.lines, first.dialect)


def read_table(loading: Loading, paths: Sequence[Path], layout: Layout) -> RawTable:
    """The rows of all these files, which share one layout."""
    tables = [_read_text(loading, path, layout) if layout.dialect else _read_binary(loading, path) for path in paths]
    if len(tables) == 1:
        data, origin = tables[0]
    else:
        data = [
            _concat([columns[index] for columns, _ in tables], column, paths)
            for index, column in enumerate(layout.columns)
        ]
        origin = _joined([origin for _, origin in tables])
    return RawTable(layout.columns, tuple(data), origin, is_text=layout.dialect is not None)


def _read_text(loading: Loading, path: Path, layout: Layout) -> tuple[list[pa.ChunkedArray], Origin]:
    assert layout.dialect is not None
    names = [column.name or f":{column.role.upper()}" for column in layout.columns]
    return read_fields(loading, path, names, layout.skip, layout.dialect)


def _read_binary(loading: Loading, path: Path) -> tuple[list[pa.ChunkedArray], Origin]:
    with _open_binary(path) as source:
        table = _read_parquet(source, path) if ending(path) == ".parquet" else _open_ipc(source).read_all()
    checked(table, str(path))
    loading.read(path, path.stat().st_size)
    return table.columns, Origin((Part(str(path), table.num_rows),))


def _read_parquet(source: pa.NativeFile, path: Path) -> pa.Table:
    """Raises LoadError for more rows than memory holds, before they are there."""
    file = _parquet().ParquetFile(source)
    check_size(file.metadata.num_rows, file.metadata.num_columns, str(path))
    return file.read()


def _parquet() -> ModuleType:
    import pyarrow.parquet  # slow to import, and few loads need it

    return typing.cast(ModuleType, pyarrow.parquet)


def _open_ipc(source: pa.NativeFile) -> pa.ipc.RecordBatchFileReader | pa.ipc.RecordBatchStreamReader:
    """The reader of an Arrow file in either of its two formats."""
    start = source.read(6)
    source.seek(0)
    return pa.ipc.open_file(source) if start == b"ARROW1" else pa.ipc.open_stream(source)


@contextmanager
def _open_binary(path: Path) -> Iterator[pa.NativeFile]:
    """A file for Arrow's readers. It is read, not mapped: files change. Turns what Arrow says about a damaged file into
    LoadError."""
    with open_file(path):
        pass  # this refuses what is no file
    try:
        with reading(path), pa.OSFile(str(path)) as source:
            yield source
    except (pa.ArrowMemoryError, OverflowError):
        raise LoadError("the file announces more than fits into memory", file=str(path)) from None
    except (pa.ArrowException, ValueError, TypeError, KeyError) as error:
        kind = ending(path).lstrip(".").capitalize()
        reason = str(error).split("\n")[0] or type(error).__name__
        raise LoadError(f"the {kind} file cannot be read: {reason}", file=str(path)) from None


def _concat(columns: Sequence[pa.ChunkedArray], column: Column, paths: Sequence[Path]) -> pa.ChunkedArray:
    files = [str(path) for path in paths]
    values = [normalise(part, column.name, file) for part, file in zip(columns, files, strict=True)]
    type = common_type(part.type for part in values)
    if type is None:
        kinds = " and ".join(dict.fromkeys(str(part.type) for part in values))
        raise LoadError(f"the files of the table disagree on a column: {kinds}", file=files[-1], column=column.name)
    parts = (cast(part, type, column.name, file) for part, file in zip(values, files, strict=True))
    return pa.chunked_array([chunk for part in parts for chunk in part.chunks], type)


def _joined(origins: Sequence[Origin]) -> Origin:
    parts = tuple(part for origin in origins for part in origin.parts)
    if all(origin.rows is None for origin in origins):
        return Origin(parts)
    rows, first = [], 0
    for origin in origins:
        count = sum(part.count for part in origin.parts)
        rows.append((np.arange(count) if origin.rows is None else origin.rows) + first)
        first += count
    return Origin(parts, np.concatenate(rows))
