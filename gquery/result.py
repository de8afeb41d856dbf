"""The answer to a query: a lazy stream of Arrow batches, and every form that people want it in."""

from __future__ import annotations

import html
import os
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, nullcontext
from typing import Any, BinaryIO, NoReturn, TypeVar

import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_numpy
from gquery.errors import ExecutionError, QueryCancelled
from gquery.executor.progress import Control
from gquery.executor.updates.counting import Changes
from gquery.settings import Settings
from gquery.stopping import Check
from gquery.values.elements import Row, python_values, rows_of, written_values
from gquery.values.formats import (
    Format,
    batch_without_unions,
    file_format,
    flushing,
    new_file,
    schema_without_unions,
    stream_format,
)
from gquery.values.frames import named_zones, series_of
from gquery.values.on_card import device_capsules

Part = TypeVar("Part")

_PREVIEW = 20  # rows that a notebook shows
_PATIENCE = 2.0  # seconds that Python waits for who still reads, when it ends
_SLICE = 256  # rows that become Python values between two looks at the clock


class Result:
    """Runs when it is read. What `to_arrow()`, `rows()` or a frame has read whole is kept, and every later reading is
    of the same rows; until then each `reader()`, iteration or file is a run of its own, with other numbers where the
    query has `rand()`.

    schema: pa.Schema, columns: names, both known before anything runs. Errors of the run are ExecutionErrors. May be
    used from several threads; cannot be pickled.

    counts: the answer is one row of counts. A count beyond 2^63 then comes as decimal128(38, 0), or as
    decimal256(76, 0) beyond 10^38, in place of the int64 of `schema`; as a Python value it is an int like any other.

    warnings: what was found odd about the query, as texts with its place; Python's warnings had them already. spent:
    seconds of the timeout that went into planning. changes: what a statement that writes has changed, else None.
    """

    def __init__(
        self,
        schema: pa.Schema,
        start: Callable[[Control], Iterator[pa.RecordBatch]],
        settings: Settings,
        counts: bool = False,
        warnings: tuple[str, ...] = (),
        spent: float = 0.0,
        arrays: Callable[[Control], Iterator[Sequence[Any]]] | None = None,
        expected: Callable[[Check], int] | None = None,
    ) -> None:
        """arrays: the same answer, which is all numbers, part by part with an array for each column. expected: about
        how many rows it has."""
        self.schema = schema
        self.warnings = warnings
        self.changes: Changes | None = None
        self._counts = counts
        self._start = start
        self._start_arrays = arrays or (lambda control: map(numbers_of, start(control)))
        self._expected = expected
        self._settings = settings
        self._spent = spent
        self._table: pa.Table | None = None
        self._control = self._new_control()
        self._under_way: set[Control] = set()
        self._cancel_next = False
        self._lock = threading.RLock()  # a run that is dropped ends whatever its thread is doing

    @classmethod
    def written(
        cls, table: pa.Table, settings: Settings, warnings: tuple[str, ...], control: Control, changes: Changes
    ) -> Result:
        """The answer to a statement that writes: it has run, and does not run again."""
        result = cls(table.schema, lambda _: iter(table.to_batches()), settings, warnings=warnings)
        result._table, result._control, result.changes = table, control, changes
        return result

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.schema.names)

    @property
    def expected_rows(self) -> int | None:
        """About how many rows there will be, as the planner estimates before anything runs; None where it does not."""
        return self._expected(self._new_control().check) if self._expected else None

    @property
    def progress(self) -> Control:
        """matches, fraction and elapsed of the newest run."""
        return self._control

    def cancel(self) -> None:
        """Stops all runs that are under way, or where there is none the next one: their readers raise QueryCancelled.
        Runs after that are not touched. May be called from any thread."""
        with self._lock:
            self._cancel_under_way()
            self._cancel_next = not self._under_way and self._table is None

    def _cancel_under_way(self) -> None:
        for control in list(self._under_way):
            control.cancel()

    def __enter__(self) -> Result:
        return self

    def __exit__(self, *_: object) -> None:
        """The end of a `with` block stops the runs that are under way."""
        with self._lock:
            self._cancel_under_way()

    def batches(self) -> Run[pa.RecordBatch]:
        """The answer batch by batch: what is kept, or a fresh run. Closing it stops the run; so does Ctrl-C."""
        if self._table is not None:
            return Run(iter(self._table.to_batches()), self._control, lambda: None)
        return self._run(self._start)

    def _run(self, start: Callable[[Control], Iterator[Part]]) -> Run[Part]:
        """A fresh run."""
        control = self._new_control()
        with self._lock:
            self._control = control
            self._under_way.add(control)
            if self._cancel_next:
                control.cancel()
            self._cancel_next = False
        return Run(_begun(start, control), control, lambda: self._ended(control))

    def _ended(self, control: Control) -> None:
        with self._lock:
            self._under_way.discard(control)

    def reader(self) -> pa.RecordBatchReader:
        """The answer as an Arrow stream: what is kept, or a fresh run."""
        return pa.RecordBatchReader.from_batches(*self._opened())

    def _opened(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """Batches with their schema; a row of counts is computed now, since it may be wider than expected."""
        if self._table is not None:
            return self._table.schema, self.batches()
        if not self._counts:
            return self.schema, self.batches()
        row = list(self.batches())
        return row[0].schema, iter(row)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.reader().__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pa.Table:
        """The whole answer; kept, so later calls do not run the query again."""
        if self._table is None:
            schema, batches = self._opened()
            self._keep(list(batches), schema)
        assert self._table is not None
        return self._table

    def _keep(self, batches: list[pa.RecordBatch], schema: pa.Schema) -> None:
        """Keeps a whole answer; of two threads that have read one, the first one's counts."""
        table = pa.Table.from_batches(batches, schema)
        with self._lock:
            self._table = table if self._table is None else self._table

    def to_pandas(self) -> Any:
        """A pandas DataFrame. Maps, elements and values of several types are Python objects, each of its own type."""
        pandas, table = _require("pandas"), self.to_arrow()
        columns = zip(table.column_names, table.columns, strict=True)
        return pandas.DataFrame({name: series_of(column, pandas) for name, column in columns})

    def to_cupy(self) -> dict[str, Any]:
        """The columns as CuPy arrays by name, which other libraries take through DLPack. Ids and numbers of nodes that
        a card has found (`device="gpu"`) stay there all the way; any other answer is copied to it. Raises
        ExecutionError for columns of other values than numbers and where there are nulls."""
        cupy = _require("cupy")
        parts = map(numbers_of, self._table.to_batches()) if self._table else self._run(self._start_arrays)
        columns = list(zip(*parts, strict=True)) or [()] * len(self.columns)
        found = {}
        for field, own in zip(self.schema, columns, strict=True):
            empty = numbers(pa.nulls(0, field.type), field.name)
            arrays = [cupy.asarray(part) for part in own or (empty,)]
            found[field.name] = arrays[0] if len(arrays) == 1 else cupy.concatenate(arrays)
        return found

    def __arrow_c_device_array__(
        self, requested_schema: object | None = None, **others: object
    ) -> tuple[object, object]:
        """The columns of `to_cupy` as one batch of Arrow's C device interface, which cuDF and others read where they
        are. A schema that is asked for is not heeded, as Arrow allows. Raises what `to_cupy` raises, and
        NotImplementedError for what else Arrow may come to ask."""
        if any(each is not None for each in others.values()):
            raise NotImplementedError(f"gquery knows nothing of {', '.join(others)}")
        columns = list(self.to_cupy().values())
        _require("cupy").cuda.get_current_stream().synchronize()
        return device_capsules(self.schema, columns)

    def to_polars(self) -> Any:
        """A Polars DataFrame. Polars has no values of several types: numbers become floats, others text. Nor has it
        offsets of points in time that belong to no zone: these are UTC's."""
        table = self.to_arrow()
        batches = [batch_without_unions(batch) for batch in table.to_batches()]
        table = pa.Table.from_batches(batches, schema_without_unions(table.schema))
        return _require("polars").from_arrow(named_zones(table))

    def rows(self) -> list[Row]:
        """The answer as rows of Python values: tuples whose values are reachable by name too."""
        self.to_arrow()
        return list(self)

    def __iter__(self) -> Generator[Row, None, None]:
        """Rows as they are found, without keeping them."""
        batches = self.batches()
        for batch in _in_slices(batches, batches.control):
            yield from rows_of(batch)

    def _head(self, count: int) -> list[pa.RecordBatch]:
        """The first rows. An answer of fewer is kept; a longer one is stopped."""
        schema, batches = self._opened()
        found: list[pa.RecordBatch] = []
        with closing(batches) if isinstance(batches, Run) else nullcontext():
            for batch in batches:
                found.append(batch.slice(0, count))
                count -= found[-1].num_rows
                if count == 0:
                    break
            else:
                self._keep(found, schema)
        return found

    def scalar(self) -> Any:
        """The one value of an answer with one row and one column."""
        if len(self.columns) != 1:
            raise ExecutionError(f"scalar() needs one column, the answer has {len(self.columns)}")
        found = [value for batch in self._head(2) for value in python_values(batch.column(0))]
        if len(found) != 1:
            raise ExecutionError(f"scalar() needs one row, the answer has {'more' if found else 'none'}")
        return found[0]

    def write(self, path: str | os.PathLike[str]) -> int:
        """Writes the answer as it comes to a `.parquet`, `.csv`, `.arrow`, `.feather` or `.jsonl` file; returns the
        number of rows. The file appears when it is whole: an error leaves no half file behind."""
        target, format = file_format(path)
        with new_file(target) as sink:
            return self._written(format, sink)

    def write_to(self, sink: BinaryIO, format: str) -> int:
        """Writes the answer as it comes to an open binary file, such as a pipe; returns the number of rows.

        format: `csv`, `json` (one object a line), `arrow` (the IPC stream format) or `parquet`.
        """
        try:
            return self._written(stream_format(sink, format), sink, flushed=True)
        except pa.ArrowException as error:
            raise ExecutionError(f"cannot write the answer as {format}: {error}") from None

    def _written(self, format: Format, sink: BinaryIO, flushed: bool = False) -> int:
        schema, batches = self._opened()
        if format.by_value:
            batches = _in_slices(batches, batches.control if isinstance(batches, Run) else self._control)
        return format.write(flushing(batches, sink) if flushed else batches, schema, sink)

    def __repr__(self) -> str:
        state = f"{self._table.num_rows:,} rows" if self._table is not None else "runs when it is read"
        return f"<gquery.Result: {', '.join(self.columns)}; {state}>"

    def _repr_html_(self) -> str:
        """The first rows as a table, for notebooks."""
        batches = self._head(_PREVIEW + 1)
        found = [row for batch in batches for row in zip(*map(written_values, batch.columns), strict=True)]
        lines = ["".join(f"<th>{html.escape(name)}</th>" for name in self.columns)]
        lines += ["".join(f"<td>{html.escape(str(value))}</td>" for value in row) for row in found[:_PREVIEW]]
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        return f"<table>{body}</table>" + ("<p>and more rows</p>" if len(found) > _PREVIEW else "")

    def __reduce__(self) -> NoReturn:
        raise ExecutionError("a result cannot be pickled or copied: it is a run that is still to come",
                             hint="take the table that to_arrow() gives")  # fmt: skip

    def _new_control(self) -> Control:
        return Control(self._settings.timeout, self._settings.memory_limit, self._spent)


class Run(Iterator[Part]):
    """One run: its batches, or other parts, in order, one thread at a time. Dropping or closing it stops the run at
    once, and so does Python's exit."""

    def __init__(self, batches: Iterator[Part], control: Control, ended: Callable[[], object]) -> None:
        self.control = control
        self._batches = batches
        self._turn = threading.RLock()
        self._closed = False
        self._end = weakref.finalize(self, _stop, batches, control, ended)

    def __next__(self) -> Part:
        with self._turn:
            if self._closed:
                raise QueryCancelled("the stream of this run was closed")
            try:
                return next(self._batches)
            except KeyboardInterrupt:
                self.control.cancel()
                self._end()
                raise
            except RecursionError:
                self._end()
                raise ExecutionError(
                    "reading the answer needs more of Python's stack than is left here",
                    hint="read it where fewer functions have called each other",
                ) from None
            except BaseException:
                self._end()
                raise

    def close(self) -> None:
        """Stops the run, which another thread may be reading."""
        if not self._end.alive:
            return
        self._closed = True
        self.control.cancel()
        with self._turn:
            self._end()


def _begun(start: Callable[[Control], Iterator[Part]], control: Control) -> Iterator[Part]:
    control.check()
    yield from start(control)


def _stop(batches: Iterator[Any], control: Control, ended: Callable[[], object]) -> None:
    ended()
    if getattr(batches, "gi_running", False):  # as Python exits another thread may still be reading
        control.cancel()
        # It would be ended where it next asks for the interpreter, which amid frames of C++ ends the process.
        until = time.monotonic() + _PATIENCE
        while batches.gi_running and time.monotonic() < until:  # type: ignore[attr-defined]
            time.sleep(0.005)
    elif isinstance(batches, Generator):
        batches.close()


def numbers_of(batch: pa.RecordBatch) -> list[NDArray[Any]]:
    """The columns of a batch as arrays. Raises ExecutionError for what has no place in one."""
    return [numbers(column, name) for name, column in zip(batch.schema.names, batch.columns, strict=True)]


def numbers(values: pa.Array, name: str) -> NDArray[Any]:
    """A column as an array."""
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)) or values.null_count:
        what = "nulls" if values.null_count else f"values of type {values.type}"
        raise ExecutionError(f"`{name}` has {what}: only numbers become arrays on a card", hint="use to_arrow()")
    return to_numpy(values)


def _in_slices(batches: Iterator[pa.RecordBatch], control: Control) -> Iterator[pa.RecordBatch]:
    """The same rows, few at a time: what is made of them value by value takes long, and has to stop when told."""
    for batch in batches:
        for begin in range(0, batch.num_rows, _SLICE):
            control.check()
            yield batch.slice(begin, _SLICE)


def _require(module: str) -> Any:
    try:
        return __import__(module)
    except ImportError:
        raise ExecutionError(f"{module} is not installed", hint=f"pip install {module}") from None
