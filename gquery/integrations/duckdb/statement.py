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

    context: DuckDB's, by address, or None. schema: columns and types that DuckDB is told.
    """

    def __init__(self, graph: Graph, text: str, parameters: Mapping[str, Any], context: int | None) -> None:
        self._query: Callable[[], Result] = lambda: graph.query(text, parameters)
        self._on_main = threading.current_thread() is threading.main_thread()
        self.context = context
        result = self._query()
        self._unused = [result]
        self.schema = portable_schema(result.schema)

    def scan(self, columns: Sequence[int]) -> Scan:
        """A scan of some columns, by place. Each has a result of its own: cancelling it touches no other."""
        try:
            result = self._unused.pop()
        except IndexError:
            result = self._query()
        watch = watcher.add(self.context, result.cancel, self._on_main)
        return Scan(result, columns, pa.schema([self.schema.field(i) for i in columns]), watch)


class Scan:
    """One run of a query, pulled batch by batch. The query starts at the first pull and ends with `close`."""

    def __init__(self, result: Result, columns: Sequence[int], schema: pa.Schema, watch: object) -> None:
        self._result = result
        self._columns = list(columns)
        self._schema = schema
        self._watch = watch
        self._reader: pa.RecordBatchReader | None = None

    def next(self) -> pa.RecordBatch | None:
        """The next batch with the columns asked for, None after the last. Raises what the query raises."""
        if self._reader is None:
            self._reader = self._result.reader()
        try:
            batch = self._reader.read_next_batch()
        except StopIteration:
            return None
        return conform(batch.select(self._columns), self._schema)

    def close(self) -> None:
        """Stops the query where it is and lets go of it."""
        watcher.remove(self._watch)
        if self._reader is not None:
            self._result.cancel()
            self._reader.close()
            self._reader = None
