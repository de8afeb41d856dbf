"""An answer in the formats of files and streams: CSV, lines of JSON, Parquet and Arrow, batch by batch."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from decimal import Decimal
from pathlib import Path as FilePath
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from gquery.errors import ExecutionError
from gquery.values.elements import (
    Node,
    Path,
    Relationship,
    holds_duration,
    text_of,
    unions_replaced,
    without_unions,
    written_values,
)  # fmt: skip

Batches = Iterator[pa.RecordBatch]

_LONGEST_PREFIX = 100  # characters of a temporary file's name


class Format(NamedTuple):
    write: Callable[[Batches, pa.Schema, BinaryIO], int]  # gives the number of rows
    by_value: bool = False  # it makes Python values of the batches, which takes long where they are large


def file_format(path: object) -> tuple[FilePath, Format]:
    """The path that a user gave, and the format that its ending names."""
    target = _path(path)
    format = _FILES.get(target.suffix.lower())
    if format is None:
        hint = "the endings are " + ", ".join(_FILES)
        raise ExecutionError(f"cannot tell the format of `{target.name}`", hint=hint)
    return target, format


def stream_format(sink: object, format: object) -> Format:
    """The format of that name, for what has to be an open binary file."""
    found = _STREAMS.get(str(format))
    if found is None or not hasattr(sink, "write"):
        hint = "the formats are " + ", ".join(_STREAMS)
        raise ExecutionError("write_to() needs an open binary file and a format", hint=hint)
    return found


def flushing(batches: Batches, sink: BinaryIO) -> Batches:
    """The same batches; what was written of one goes out before the next is made."""
    for batch in batches:
        yield batch
        sink.flush()


@contextmanager
def new_file(target: FilePath) -> Iterator[BinaryIO]:
    """A file that appears under its name when the block ends; an error leaves nothing behind."""
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-"[:_LONGEST_PREFIX])
    except (OSError, ValueError) as error:
        raise ExecutionError(f"cannot write {target}: {_reason(error)}") from None
    try:
        with os.fdopen(handle, "wb") as sink:
            yield sink
        os.chmod(name, 0o644)
        os.replace(name, target)
    except (OSError, pa.ArrowException) as error:
        raise ExecutionError(f"cannot write {target}: {_reason(error)}") from None
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)


def _path(path: object) -> FilePath:
    try:
        return FilePath(os.fsdecode(path))  # type: ignore[arg-type]
    except TypeError:
        raise ExecutionError(f"a path is text, not {type(path).__name__}") from None


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def schema_without_unions(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_type(without_unions(field.type)) for field in schema])


def batch_without_unions(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with values of several types as numbers or text and durations as text, for formats that have none."""
    columns = [unions_replaced(column) for column in batch.columns]
    return pa.record_batch(columns, schema=schema_without_unions(batch.schema))


def _write_parquet(batches: Batches, schema: pa.Schema, sink: BinaryIO) -> int:
    import pyarrow.parquet as parquet

    with parquet.ParquetWriter(sink, schema_without_unions(schema)) as writer:
        return _write_all(batches, lambda batch: writer.write_batch(batch_without_unions(batch)))


def _write_csv(batches: Batches, schema: pa.Schema, sink: BinaryIO) -> int:
    import pyarrow.csv as csv

    flat = pa.schema([(field.name, pa.string() if _is_written(field.type) else field.type) for field in schema])
    with csv.CSVWriter(sink, flat) as writer:
        return _write_all(batches, lambda batch: writer.write_batch(_flattened(batch, flat)))


def _write_arrow_file(batches: Batches, schema: pa.Schema, sink: BinaryIO) -> int:
    with pa.ipc.new_file(sink, schema) as writer:
        return _write_all(batches, writer.write_batch)


def _write_arrow_stream(batches: Batches, schema: pa.Schema, sink: BinaryIO) -> int:
    with pa.ipc.new_stream(sink, schema) as writer:
        return _write_all(batches, writer.write_batch)


def _write_json_lines(batches: Batches, schema: pa.Schema, sink: BinaryIO) -> int:
    return _write_all(batches, lambda batch: sink.writelines(f"{line}\n".encode() for line in _json_lines(batch)))


_CSV = Format(_write_csv, by_value=True)
_JSON = Format(_write_json_lines, by_value=True)
_PARQUET = Format(_write_parquet)
_ARROW_FILE = Format(_write_arrow_file)
_FILES: Mapping[str, Format] = {
    ".parquet": _PARQUET,
    ".csv": _CSV,
    ".arrow": _ARROW_FILE,
    ".feather": _ARROW_FILE,
    ".jsonl": _JSON,
    ".json": _JSON,
}
_STREAMS: Mapping[str, Format] = {
    "csv": _CSV,
    "json": _JSON,
    "arrow": Format(_write_arrow_stream),
    "parquet": _PARQUET,
}


def _write_all(batches: Batches, write: Callable[[pa.RecordBatch], object]) -> int:
    rows = 0
    for batch in batches:
        write(batch)
        rows += batch.num_rows
    return rows


def _flattened(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch with nested values as JSON text, for formats that have no nested values."""
    arrays = [_as_text(column) if _is_written(column.type) else column for column in batch.columns]
    return pa.record_batch(arrays, schema=schema)


def _is_written(arrow: pa.DataType) -> bool:
    """Whether Arrow writes no CSV of the type, or bytes as they are, and we write the values as text."""
    return bool(pa.types.is_nested(arrow) or pa.types.is_interval(arrow) or pa.types.is_binary(arrow))


def _as_text(column: pa.Array) -> pa.Array:
    """Nested values as JSON; a value that is only of several types is written as others are."""
    texts = (_json_text(value) if isinstance(value, _NESTED) else text_of(value) for value in _json_values(column))
    return pa.array(texts, pa.string())


_NESTED = (list, dict, Node, Relationship, Path)


def _json_lines(batch: pa.RecordBatch) -> Iterator[str]:
    """One JSON object a row; nodes, relationships and paths are objects with the properties that they have."""
    names = batch.schema.names
    columns = map(_json_values, batch.columns)
    return (_json_text(dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True))


def _json_values(column: pa.Array) -> list[Any]:
    """The values of a column, durations as text: for JSON they would be tuples."""
    values = written_values(column)
    return list(map(_without_durations, values)) if holds_duration(column.type) else values


def _without_durations(value: object) -> object:
    match value:
        case pa.MonthDayNano():
            return text_of(value)
        case list() | tuple():
            return list(map(_without_durations, value))
        case dict():
            return {key: _without_durations(each) for key, each in value.items()}
        case Node() | Relationship() | Path():
            return _without_durations(_plain(value))
    return value


def _json_text(value: object) -> str:
    """A value of an answer as JSON. Numbers that JSON does not have (NaN, infinity) become null."""
    try:
        return json.dumps(value, default=_plain, ensure_ascii=False, allow_nan=False)
    except ValueError:
        finite = json.loads(json.dumps(value, default=_plain), parse_constant=lambda _: None)
        return json.dumps(finite, ensure_ascii=False)


def _plain(value: object) -> object:
    if isinstance(value, Node | Relationship | Path):
        return {slot: getattr(value, slot) for slot in value.__slots__}
    if isinstance(value, Decimal) and Decimal(repr(float(value))) == value:
        return float(value)  # written as the same number
    return text_of(value)
