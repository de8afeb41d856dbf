"""What lives behind one `gquery(...)` in a DuckDB statement: the bound query, and each scan of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from gquery.integrations.duckdb.interruption import watcher
from gquery.integrations.duckdb.portable import conform, portable_schema
from gquery.integrations.duckdb.registry import Graph, Result


class Statement:
    """A query bound in DuckDB. A prepared one may be scanned again, also at the same time.

    context: DuckDB's, by address, or None. on_main: the main thread runs the DuckDB statement. schema: columns and
    types that DuckDB is told. rows: about how many, by which it orders joins.
    """

    def __init__(self, graph: Graph, text: str, parameters: Mapping[str, Any], context: int | None) -> None:
        self._query: Callable[[], Result] = lambda: graph.query(text, parameters)
        self.on_main = threading.current_thread() is threading.main_thread()
        self.context = context
        result = self._query()
        self._unused = [result]
        self.schema = portable_schema(result.schema)
        self.rows = result.expected_rows or 1

    def scan(self, columns: Sequence[int]) -> Scan:
        """A scan of some columns, by place. Each has a result of its own: cancelling it touches no other."""
        try:
            result = self._unused.pop()
        except IndexError:
            result = self._query()
        return Scan(self, result, columns)


class Scan:
    """One run of a query, pulled batch by batch. The query starts at the first pull and ends with `close`."""

    def __init__(self, statement: Statement, result: Result, columns: Sequence[int]) -> None:
        self._statement = statement
        self._result = result
        self._columns = list(columns)
        self._schema = pa.schema([statement.schema.field(i) for i in columns])
        self._reader: pa.RecordBatchReader | None = None
        self._watch: object = None

    def watch(self) -> None:
        """Has interruption stop the query from now on until `close`, which must come: DuckDB's context is looked at."""
        self._watch = watcher.add(self._statement.context, self._result.cancel, self._statement.on_main)

    def next(self) -> pa.RecordBatch | None:
        """The next batch with the columns asked for, None after the last. Raises what the query raises."""
        if self._reader is None:
            self._reader = self._result.reader()
        try:
            batch = self._reader.read_next_batch()
        except StopIteration:
            return None
        return conform(batch.select(self._columns), self._schema)

    def cancel(self) -> None:
        """Stops the query where it is; from any thread."""
        self._result.cancel()

    def close(self) -> None:
        """Stops the query where it is and lets go of it."""
        watcher.remove(self._watch)
        if self._reader is not None:
            self._result.cancel()
            self._reader.close()
            self._reader = None
