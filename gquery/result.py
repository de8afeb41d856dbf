"""The answer to a query: a lazy stream of Arrow batches, and every form that people want it in."""

from __future__ import annotations

import datetime
import html
import json
import os
import tempfile
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, suppress
from decimal import Decimal
from itertools import islice
from pathlib import Path as FilePath
from typing import Any, BinaryIO

import pyarrow as pa

from gquery.errors import ExecutionError
from gquery.executor.progress import Control
from gquery.settings import Settings
from gquery.values import (
    Node,
    Path,
    Relationship,
    Row,
    holds_union,
    python_values,
    text_of,
    unions_replaced,
    without_unions,
)

_PREVIEW = 20  # rows that a notebook shows


class Result:
    """Runs when it is read. Every `reader()` is a fresh run; `to_arrow()` is kept and serves the forms in memory.

    schema: pa.Schema, columns: names, both known before anything runs. Errors of the run are ExecutionErrors.

    counts: the answer is one row of counts. A count beyond 2^63 then comes as decimal128(38, 0), or as
    decimal256(76, 0) beyond 10^38, in place of the int64 of `schema`; as a Python value it is an int like any other.

    warnings: what was found odd about the query, as texts with its place; Python's warnings had them already.
    """

    def __init__(
        self,
        schema: pa.Schema,
        start: Callable[[Control], Iterator[pa.RecordBatch]],
        settings: Settings,
        counts: bool = False,
        warnings: tuple[str, ...] = (),
    ) -> None:
        self.schema = schema
        self.warnings = warnings
        self._counts = counts
        self._start = start
        self._settings = settings
        self._table: pa.Table | None = None
        self._control = self._new_control()

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.schema.names)

    @property
    def progress(self) -> Control:
        """matches, fraction and elapsed of the current run."""
        return self._control

    def cancel(self) -> None:
        """Stops the current run; its reader raises QueryCancelled. May be called from any thread."""
        self._control.cancel()

    def batches(self) -> Generator[pa.RecordBatch, None, None]:
        """A fresh run, batch by batch. Closing the iterator stops the run; so does Ctrl-C."""
        self._control = control = self._new_control()
        try:
            yield from self._start(control)
        except KeyboardInterrupt:
            control.cancel()
            raise

    def reader(self) -> pa.RecordBatchReader:
        """A fresh run as an Arrow stream."""
        schema, batches = self._opened(self.batches())
        return pa.RecordBatchReader.from_batches(schema, _until_dropped(batches))

    def _opened(self, batches: Batches) -> tuple[pa.Schema, Batches]:
        """The schema of a run with the run; a row of counts is computed now, since it may be wider than expected."""
        if not self._counts:
            return self.schema, batches
        row = list(batches)
        return row[0].schema, (batch for batch in row)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.reader().__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pa.Table:
        """The whole answer; kept, so later calls do not run the query again."""
        if self._table is None:
            schema, batches = self._opened(self.batches())
            self._table = pa.Table.from_batches(list(batches), schema)
        return self._table

    def to_pandas(self) -> Any:
        """A pandas DataFrame. Values of several types are Python objects, each of its own type."""
        pandas, table = _require("pandas"), self.to_arrow()
        columns = {
            name: pandas.Series(column.to_pylist(), dtype=object) if holds_union(column.type) else column.to_pandas()
            for name, column in zip(table.column_names, table.columns, strict=True)
        }
        return pandas.DataFrame(columns)

    def to_polars(self) -> Any:
        """A Polars DataFrame. Polars has no values of several types: numbers become floats, others text."""
        table = self.to_arrow()
        batches = [_without_unions(batch) for batch in table.to_batches()]
        return _require("polars").from_arrow(pa.Table.from_batches(batches, _schema_without_unions(table.schema)))

    def rows(self) -> list[Row]:
        """The answer as rows of Python values: tuples whose values are reachable by name too."""
        return list(self)

    def __iter__(self) -> Generator[Row, None, None]:
        """Rows as they are found, without keeping them."""
        batches = self._table.to_batches() if self._table is not None else _until_dropped(self.batches())
        for batch in batches:
            yield from rows_of(batch)

    def scalar(self) -> Any:
        """The one value of an answer with one row and one column."""
        if len(self.columns) != 1:
            raise ExecutionError(f"scalar() needs one column, the answer has {len(self.columns)}")
        with closing(iter(self)) as rows:
            found = list(islice(rows, 2))
        if len(found) != 1:
            raise ExecutionError(f"scalar() needs one row, the answer has {'more' if found else 'none'}")
        return found[0][0]

    def write(self, path: str | os.PathLike[str]) -> int:
        """Writes the answer as it comes to a `.parquet`, `.csv`, `.arrow`, `.feather` or `.jsonl` file; returns the
        number of rows. The file appears when it is whole: an error leaves no half file behind."""
        target = FilePath(path)
        writer = WRITERS.get(target.suffix.lower())
        if writer is None:
            raise ExecutionError(f"cannot tell the format of `{target.name}`",
                                 hint="the endings are " + ", ".join(WRITERS))  # fmt: skip
        try:
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
        except OSError as error:
            raise ExecutionError(f"cannot write {target}: {error.strerror}") from None
        try:
            with os.fdopen(handle, "wb") as sink:
                schema, batches = self._opened(self.batches())
                rows = writer(batches, schema, sink)
            os.chmod(name, 0o644)
            os.replace(name, target)
        except (OSError, pa.ArrowException) as error:
            raise ExecutionError(f"cannot write {target}: {error}") from None
        finally:
            with suppress(FileNotFoundError):
                os.unlink(name)
        return rows

    def write_to(self, sink: BinaryIO, format: str) -> int:
        """Writes the answer as it comes to an open binary file, such as a pipe; returns the number of rows.

        format: `csv`, `json` (one object a line), `arrow` (the IPC stream format) or `parquet`.
        """
        schema, batches = self._opened(self.batches())
        return STREAM_WRITERS[format](_flushing(batches, sink), schema, sink)

    def __repr__(self) -> str:
        state = f"{self._table.num_rows:,} rows" if self._table is not None else "not read yet"
        return f"<gquery.Result: {', '.join(self.columns)}; {state}>"

    def _repr_html_(self) -> str:
        """The first rows as a table, for notebooks."""
        with closing(iter(self)) as rows:
            found = list(islice(rows, _PREVIEW + 1))
        lines = ["".join(f"<th>{html.escape(name)}</th>" for name in self.columns)]
        lines += ["".join(f"<td>{html.escape(str(value))}</td>" for value in row) for row in found[:_PREVIEW]]
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        return f"<table>{body}</table>" + ("<p>and more rows</p>" if len(found) > _PREVIEW else "")

    def _new_control(self) -> Control:
        return Control(self._settings.timeout, self._settings.memory_limit)


def rows_of(batch: pa.RecordBatch) -> Iterator[Row]:
    """The rows of a batch as Python values."""
    names = tuple(batch.schema.names)
    for values in zip(*map(python_values, batch.columns), strict=True):
        yield Row(names, values)


def _until_dropped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same batches; a consumer that drops the stream half-way stops the run at once, and so does Python's exit."""
    holder = _Holder(batches)
    weakref.finalize(holder, batches.close)  # type: ignore[attr-defined]
    return holder


class _Holder(Iterator[pa.RecordBatch]):
    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches

    def __next__(self) -> pa.RecordBatch:
        return next(self._batches)


def _require(module: str) -> Any:
    try:
        return __import__(module)
    except ImportError:
        raise ExecutionError(f"{module} is not installed", hint=f"pip install {module}") from None


# --- files -------------------------------------------------------------------------------------------------------

Batches = Iterator[pa.RecordBatch]
Writer = Callable[[Batches, pa.Schema, BinaryIO], int]


def _write_parquet(batches: Batches, schema: pa.Schema, sink: BinaryIO) -> int:
    import pyarrow.parquet as parquet

    with parquet.ParquetWriter(sink, _schema_without_unions(schema)) as writer:
        return _write_all(batches, lambda batch: writer.write_batch(_without_unions(batch)))


def _schema_without_unions(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_type(without_unions(field.type)) for field in schema])


def _without_unions(batch: pa.RecordBatch) -> pa.RecordBatch:
    columns = [unions_replaced(column) for column in batch.columns]
    return pa.record_batch(columns, schema=_schema_without_unions(batch.schema))


def _write_csv(batches: Batches, schema: pa.Schema, sink: BinaryIO) -> int:
    import pyarrow.csv as csv

    flat = pa.schema([(field.name, pa.string() if pa.types.is_nested(field.type) else field.type) for field in schema])
    with csv.CSVWriter(sink, flat) as writer:
        return _write_all(batches, lambda batch: writer.write_batch(flattened(batch, flat)))


def _write_arrow_file(batches: Batches, schema: pa.Schema, sink: BinaryIO) -> int:
    with pa.ipc.new_file(sink, schema) as writer:
        return _write_all(batches, writer.write_batch)


def _write_arrow_stream(batches: Batches, schema: pa.Schema, sink: BinaryIO) -> int:
    with pa.ipc.new_stream(sink, schema) as writer:
        return _write_all(batches, writer.write_batch)


def _write_json_lines(batches: Batches, schema: pa.Schema, sink: BinaryIO) -> int:
    return _write_all(batches, lambda batch: sink.writelines(f"{line}\n".encode() for line in json_lines(batch)))


WRITERS: Mapping[str, Writer] = {
    ".parquet": _write_parquet,
    ".csv": _write_csv,
    ".arrow": _write_arrow_file,
    ".feather": _write_arrow_file,
    ".jsonl": _write_json_lines,
    ".json": _write_json_lines,
}
STREAM_WRITERS: Mapping[str, Writer] = {
    "csv": _write_csv,
    "json": _write_json_lines,
    "arrow": _write_arrow_stream,
    "parquet": _write_parquet,
}


def _flushing(batches: Batches, sink: BinaryIO) -> Batches:
    """The same batches; what was written of one goes out before the next is made."""
    for batch in batches:
        yield batch
        sink.flush()


def _write_all(batches: Batches, write: Callable[[pa.RecordBatch], object]) -> int:
    rows = 0
    for batch in batches:
        write(batch)
        rows += batch.num_rows
    return rows


def flattened(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch with nested values as JSON text, for formats that have no nested values."""
    arrays = [_as_text(column) if pa.types.is_nested(column.type) else column for column in batch.columns]
    return pa.record_batch(arrays, schema=schema)


def _as_text(column: pa.Array) -> pa.Array:
    """Nested values as JSON; a value that is only of several types is written as others are."""
    texts = (json_text(value) if isinstance(value, _NESTED) else text_of(value) for value in python_values(column))
    return pa.array(texts, pa.string())


_NESTED = (list, dict, Node, Relationship, Path)


def json_lines(batch: pa.RecordBatch) -> Iterator[str]:
    """One JSON object a row; nodes, relationships and paths are objects with the properties that they have."""
    return (json_text(row.asdict()) for row in rows_of(batch))


def json_text(value: object) -> str:
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
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


__all__ = [
    "WRITERS",
    "Node",
    "Path",
    "Relationship",
    "Result",
    "Row",
    "flattened",
    "json_lines",
    "json_text",
    "rows_of",
]
