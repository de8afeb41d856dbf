"""The DuckDB that runs the relational work: one in-memory instance for all queries, one of its own under a limit."""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from gquery.errors import ExecutionError, GQueryError, MemoryLimitError
from gquery.executor.progress import Control

if TYPE_CHECKING:
    import duckdb

_POLL = 0.02  # seconds between two looks at the deadline while DuckDB works alone


@cache
def _shared() -> duckdb.DuckDBPyConnection:
    import duckdb

    return duckdb.connect(":memory:", config=_CONFIG)


_CONFIG: dict[str, Any] = {"autoinstall_known_extensions": False, "preserve_insertion_order": True}


@contextmanager
def connection(control: Control | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection for one statement. With a memory limit it is a database of its own that spills to disk."""
    import duckdb

    if control is None or control.memory_limit is None:
        cursor = _shared().cursor()
        try:
            yield cursor
        finally:
            cursor.close()
        return
    share = max(_LEAST, control.memory_limit // 2)
    with tempfile.TemporaryDirectory(prefix="gquery-") as folder:
        config: dict[str, Any] = {**_CONFIG, "memory_limit": f"{share}B", "temp_directory": folder, "threads": 1}
        own = duckdb.connect(":memory:", config=config)
        try:
            yield own
        finally:
            own.close()


_LEAST = 64 * 2**20  # DuckDB itself needs some tens of megabytes to do anything at all


@contextmanager
def translated(control: Control | None = None, failure: list[BaseException] | None = None) -> Iterator[None]:
    """DuckDB's errors as ours. `failure` holds an error that our own stream raised inside DuckDB's pull: it wins."""
    import duckdb

    try:
        yield
    except GQueryError:
        raise
    except duckdb.Error as error:
        if failure:
            raise failure[0] from None
        if control is not None:
            control.check()
        if isinstance(error, duckdb.OutOfMemoryException):
            raise MemoryLimitError("the relational part of the query ran out of memory",
                                   hint="raise memory_limit") from None  # fmt: skip
        raise ExecutionError(_tidy(str(error))) from None


def _tidy(message: str) -> str:
    """DuckDB's sentence without its class and without the SQL that the user never wrote."""
    first = message.split("\n")[0]
    return re.sub(r"^[A-Za-z ]+ Error: ", "", first) or "the relational part of the query failed"


@contextmanager
def watched(connection: Any, control: Control) -> Iterator[None]:
    """Interrupts the connection when the query is cancelled or its time is up, also while DuckDB works alone."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_POLL):
            expired = control.timeout is not None and control.elapsed > control.timeout
            if control.cancelled or expired:
                with suppress(Exception):
                    connection.interrupt()

    watcher = threading.Thread(target=watch, name="gquery-watch", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
