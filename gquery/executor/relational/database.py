"""The DuckDB that does the relational work: its instances, the way a statement streams, its errors as ours."""

from __future__ import annotations

import atexit
import os
import re
import tempfile
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gquery.errors import ExecutionError, GQueryError, MemoryLimitError
from gquery.executor.progress import Control

if TYPE_CHECKING:
    import duckdb

BATCH_ROWS = 1 << 15
_POLL = 0.02  # seconds between two looks at the control while DuckDB works alone
_DEEPEST = 2_000  # levels of an expression; one of 200, the deepest that is parsed, becomes many times as many
_LEAST_MEMORY = 32 * 2**20  # with less, DuckDB cannot sort or group beyond memory at all


def evaluate(sql: str, relation: pa.Table, values: Mapping[str, object]) -> pa.ChunkedArray:
    """The first column of a statement over the relation `elements`."""
    with translated(), _shared_cursor(threads=None) as cursor:
        cursor.register("elements", relation)
        return cursor.sql(sql, params=dict(values)).to_arrow_table().column(0)


def stream(
    sql: str,
    values: Mapping[str, object],
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
    control: Control,
    blocking: bool,
) -> Generator[pa.RecordBatch, None, None]:
    """Runs a statement over the relation `matches`, whose rows are pulled while the answer is read.

    One thread, the reader's, serves the statement and pulls only when more is asked for: nothing runs between two
    reads. More threads would take turns at the one stream, and lose time by it. blocking: the statement sorts or
    groups, so it may work long without pulling, and a watcher interrupts it when the query has to stop. What `batches`
    raises comes out as it is.
    """
    feed = _Feed(batches, control)
    with _cursor_for(control) as cursor:
        reader = None
        try:
            with _translated_pull(feed, control), _watched(cursor, control, blocking):
                cursor.register("matches", pa.RecordBatchReader.from_batches(schema, feed))
                reader = cursor.sql(sql, params=dict(values)).to_arrow_reader(BATCH_ROWS)
                batch = next(reader, None)
            while batch is not None:
                yield batch
                with _translated_pull(feed, control), _watched(cursor, control, blocking):
                    control.check()
                    batch = next(reader, None)
        finally:
            feed.stopped = True
            if reader is not None:
                reader.close()


class _Feed:
    """The matches as DuckDB pulls them. Keeps the error that ended them: DuckDB wraps it beyond recognition."""

    def __init__(self, batches: Iterator[pa.RecordBatch], control: Control) -> None:
        self.batches = batches
        self.control = control
        self.stopped = False
        self.error: BaseException | None = None

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> pa.RecordBatch:
        if self.stopped:
            raise StopIteration
        try:
            self.control.check()
            return next(self.batches)
        except StopIteration:
            raise
        except BaseException as error:
            self.error = error
            raise


@contextmanager
def _cursor_for(control: Control) -> Iterator[duckdb.DuckDBPyConnection]:
    """The shared instance, or under a memory limit one of the query's own that spills to disk."""
    if control.memory_limit is None:
        with _shared_cursor(threads=1) as cursor:
            yield cursor
        return
    with tempfile.TemporaryDirectory(prefix="gquery-") as folder:
        size = max(control.memory_limit // 2, _LEAST_MEMORY)
        own = _connect(folder, threads=1, memory_limit=f"{size}B")
        try:
            yield own
        finally:
            own.close()


@contextmanager
def _shared_cursor(threads: int | None) -> Iterator[duckdb.DuckDBPyConnection]:
    cursor = _shared(os.getpid(), threads).cursor()
    try:
        yield cursor
    finally:
        cursor.close()


@cache
def _shared(process: int, threads: int | None) -> duckdb.DuckDBPyConnection:
    """One instance for each number of threads; a forked process makes its own."""
    atexit.register(_shared.cache_clear)
    folder = os.path.join(tempfile.gettempdir(), f"gquery-{process}-{threads or 'all'}")
    return _connect(folder) if threads is None else _connect(folder, threads=threads)


def _connect(folder: str, **config: Any) -> duckdb.DuckDBPyConnection:
    import duckdb

    config |= {"temp_directory": folder, "python_enable_replacements": False, "autoinstall_known_extensions": False}
    config |= {"max_expression_depth": _DEEPEST}
    connection = duckdb.connect(":memory:", config=config)
    connection.execute("SET GLOBAL TimeZone = 'UTC'")  # not this session's alone: its cursors are sessions too
    return connection


@contextmanager
def _watched(cursor: duckdb.DuckDBPyConnection, control: Control, blocking: bool) -> Iterator[None]:
    """Interrupts the statement when the query is cancelled or its time is up."""
    if not blocking:
        yield
        return
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_POLL):
            try:
                control.check()
            except GQueryError:
                cursor.interrupt()

    watcher = threading.Thread(target=watch, name="gquery-watch", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


@contextmanager
def _translated_pull(feed: _Feed, control: Control) -> Iterator[None]:
    try:
        with translated():
            yield
    except (ExecutionError, KeyboardInterrupt):
        if feed.error is not None:
            raise feed.error from None
        control.check()
        raise


@contextmanager
def translated() -> Iterator[None]:
    """DuckDB's and Arrow's errors as ours. Ctrl-C inside DuckDB comes out as KeyboardInterrupt."""
    import duckdb

    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError, RuntimeError) as error:
        text = str(error)
        if "interrupted" in text.lower():
            raise KeyboardInterrupt from None
        if "Out of Memory" in text or isinstance(error, pa.ArrowMemoryError):
            raise MemoryLimitError(
                "sorting, grouping or collecting the matches needs more memory than there is",
                hint="raise memory_limit, or return fewer rows",
            ) from None
        raise ExecutionError(_tidy(text)) from None


def _tidy(text: str) -> str:
    """DuckDB's sentence without its class and without the SQL that the user never wrote."""
    sentence = re.sub(r"^[A-Za-z -]+ Error: ", "", text.split("\n")[0])
    if sentence.startswith("Division by zero"):
        return "division by zero"
    sentence = re.sub(r" when casting from source column .*", "", sentence).rstrip(".! ")
    for sql, cypher in (("INT64", "INTEGER"), ("INT128", "INTEGER"), ("DOUBLE", "FLOAT"), ("VARCHAR", "STRING")):
        sentence = re.sub(rf"\b{sql}\b", cypher, sentence)
    return sentence[:1].lower() + sentence[1:] or "the relational part of the query failed"
