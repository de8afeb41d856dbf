"""The DuckDB that does the relational work: its instances, and the way a statement streams under a control."""

from __future__ import annotations

import atexit
import os
import tempfile
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa

from gquery.errors import GQueryError, MemoryLimitError, QueryCancelled
from gquery.executor.progress import Control
from gquery.executor.relational.database.apart import begun
from gquery.executor.relational.database.functions import Calls, Given, registered
from gquery.executor.relational.database.private import private_duckdb
from gquery.executor.relational.database.translation import translated
from gquery.executor.relational.database.watch import watched
from gquery.executor.relational.unions import unsliced
from gquery.executor.relational.widths import BATCH_ROWS, batch_bytes, long_row
from gquery.imports import DATABASE, import_apart

if TYPE_CHECKING:
    import duckdb

AT_ONCE = 2048  # rows that DuckDB computes at once
_RESULT_WIDTH = 16  # bytes: of a value that a predicate or a comparison gives
_FOR_ALL_THREADS = 2**28  # bytes of a memory limit from which on expressions are evaluated on all cores
LEAST_MEMORY = 32 * 2**20  # with less, DuckDB cannot sort or group beyond memory at all


def evaluate(
    sql: str,
    relation: pa.Table,
    given: Given,
    control: Control,
    rows: int | None = None,
    whole: bool = False,
    alone: bool = False,
) -> pa.ChunkedArray:
    """The first column of a statement over the relation `elements`. `rows`: how many DuckDB may see at a time. `whole`:
    the statement compares rows with each other, so that the relation cannot be taken in parts. `alone`: several threads
    ask at once, each on its own core."""
    blocks = _Feed(_in_blocks(relation, rows), control) if rows else None
    # Every thread holds values of its own, which DuckDB does not count; functions of ours are called from one.
    few = alone or given.functions or (control.memory_limit or _FOR_ALL_THREADS) < _FOR_ALL_THREADS
    calls = Calls(control)
    with _stoppable(control, blocks, calls), ExitStack() as held:
        cursor = held.enter_context(_shared_cursor(1 if few else None))
        text = held.enter_context(registered(cursor, sql, given.functions, calls))

        def run() -> pa.Table:
            with watched(control, cursor.interrupt):
                return cursor.sql(text, params=dict(given.values)).to_arrow_table()

        found: list[pa.ChunkedArray] = []
        whole_or_fed = [relation] if blocks is None else [blocks.reader(relation.schema)]
        for part in _parts(relation, control) if blocks is None and not whole else whole_or_fed:
            cursor.register("elements", part)
            control.check()
            found.append(begun(run, text, control, held).column(0))
    return pa.chunked_array([chunk for part in found for chunk in part.chunks], found[0].type)


def stream(
    sql: str,
    given: Given,
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
    control: Control,
    rows: int = BATCH_ROWS,
    beside: Mapping[str, pa.Table] | None = None,
    threads: int = 1,
) -> Generator[pa.RecordBatch, None, None]:
    """Runs a statement over the relation `matches`, whose rows are pulled while the answer is read, and answers `rows`
    of them at a time. beside: other relations that it reads. threads: that work on what was pulled, one at a time
    pulls; no limit of memory is kept by several.

    One thread is the reader's, which pulls only when more is asked for: nothing runs between two reads. That is for
    what goes out as it comes in; a grouping or an order has seen all rows before the first goes out. What `batches`
    raises comes out as it is.
    """
    feed, calls = _Feed(batches, control), Calls(control)
    with ExitStack() as held:
        cursor = held.enter_context(_cursor_for(control, threads))
        text = held.enter_context(registered(cursor, sql, given.functions, calls))

        def begin() -> tuple[pa.RecordBatchReader, pa.RecordBatch | None]:
            with watched(control, cursor.interrupt):
                reader = cursor.sql(text, params=dict(given.values)).to_arrow_reader(rows)
                return reader, next(reader, None)

        reader = None
        try:
            with _stoppable(control, feed, calls):
                for name, relation in (beside or {}).items():
                    cursor.register(name, relation)
                cursor.register("matches", feed.reader(schema))
                reader, batch = begun(begin, text, control, held, threads)
            while batch is not None:
                with long_row(batch.nbytes, control):
                    yield batch
                with _stoppable(control, feed, calls), watched(control, cursor.interrupt):
                    control.check()
                    batch = next(reader, None)
        finally:
            feed.stop()
            if reader is not None:
                reader.close()


def rows_of(width: float, control: Control) -> int:
    """How many rows of so many bytes DuckDB may hand over at a time."""
    return max(1, min(BATCH_ROWS, int(batch_bytes(control) // max(1.0, width))))


def check_memory(control: Control) -> None:
    """Raises MemoryLimitError when a statement that sorts or groups could not work within the limit at all."""
    limit = control.memory_limit
    if limit is not None and limit < LEAST_MEMORY:
        raise MemoryLimitError(
            f"sorting, grouping and collecting need a memory limit of at least 32 MiB, it is {limit:,} bytes",
            hint="raise memory_limit to '32 MiB' or more; queries that only match, count and return rows need less",
        )


class _Feed:
    """The matches as DuckDB pulls them. Keeps the error that ended them: DuckDB wraps it beyond recognition."""

    def __init__(self, batches: Iterator[pa.RecordBatch], control: Control) -> None:
        self.error: BaseException | None = None
        self._stopped = False
        self._pulling = threading.Lock()
        self._pulled = self._pull(batches, control)
        next(self._pulled)

    def reader(self, schema: pa.Schema) -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(schema, self._pulled)

    def stop(self) -> None:
        """Afterwards nothing is pulled, by a thread that was left behind either."""
        self._stopped = True
        with self._pulling:
            pass

    def _pull(self, batches: Iterator[pa.RecordBatch], control: Control) -> Iterator[pa.RecordBatch | None]:
        """A generator that has begun: a signal that comes as DuckDB calls is raised at a `yield`, inside `try`."""
        try:
            yield None
            while True:
                with self._pulling:
                    if self._stopped:
                        return
                    control.check()
                    batch = next(batches, None)
                if batch is None:
                    return
                yield unsliced(batch)
        except GeneratorExit:
            raise
        except BaseException as error:
            self.error = error
            raise


@contextmanager
def _cursor_for(control: Control, threads: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """The shared instance, or under a memory limit one of the query's own that spills to disk."""
    if control.memory_limit is None:
        with _shared_cursor(None if threads >= (os.cpu_count() or 1) > 1 else threads) as cursor:
            yield cursor
        return
    free = control.memory.available or 0  # others hold the rest, some of which are read while DuckDB sorts
    size = max(free // 2, LEAST_MEMORY)
    held = control.memory.taken(free // 2, "sorting, grouping and collecting")
    with held, tempfile.TemporaryDirectory(prefix="gquery-") as folder:
        own = private_duckdb(folder, threads=1, memory_limit=f"{size}B")
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
    return private_duckdb(folder) if threads is None else private_duckdb(folder, threads=threads)


@contextmanager
def _stoppable(control: Control, *asked: _Feed | Calls | None) -> Iterator[None]:
    """What went wrong, as it was: in what DuckDB asked, else because the query has to stop, else in DuckDB."""
    import_apart(DATABASE, control.check)
    try:
        with translated():
            yield
    except (GQueryError, KeyboardInterrupt) as error:
        for each in asked:
            if each is not None and each.error is not None and not _follows(each.error, error):
                raise each.error from None
        if isinstance(error, GQueryError):
            control.check()
        raise


def _follows(inside: BaseException, outside: BaseException) -> bool:
    """Whether what was asked ended because of Ctrl-C outside, which cancels it."""
    return isinstance(inside, QueryCancelled) and isinstance(outside, KeyboardInterrupt)


def _parts(relation: pa.Table, control: Control) -> Iterator[pa.Table]:
    """The relation in parts that fit into the memory that is left, at least one."""
    available = control.memory.available
    rows = max(1, relation.num_rows)
    if available is not None:
        width = relation.nbytes / rows + _RESULT_WIDTH
        rows = max(AT_ONCE, int(available / 4 / width))
    for begin in range(0, max(1, relation.num_rows), rows):
        part = relation.slice(begin, rows)
        yield pa.Table.from_batches(map(unsliced, part.to_batches()), relation.schema)


def _in_blocks(relation: pa.Table, rows: int) -> Iterator[pa.RecordBatch]:
    for batch in relation.to_batches():
        yield from (batch.slice(begin, rows) for begin in range(0, batch.num_rows, rows))
