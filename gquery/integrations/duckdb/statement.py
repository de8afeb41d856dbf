"""What lives behind one `gquery(...)` in a DuckDB statement: the bound query, and each scan of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from gquery.integrations.duckdb.interruption import Watch
from gquery.integrations.duckdb.portable import conform, portable_schema
from gquery.integrations.duckdb.registry import Graph, Result

_LIMIT = re.compile(r"\blimit\s+(\d+)\s*;?\s*$", re.IGNORECASE)


class Statement:
    """A query bound in DuckDB. A prepared one may be scanned again, also at the same time.

    schema: columns and types that DuckDB is told. rows: an estimate of their number, or -1.
    """

    def __init__(
        self, graph: Graph, text: str, parameters: Mapping[str, Any], interrupted: Callable[[], bool] | None
    ) -> None:
        self._query: Callable[[], Result] = lambda: graph.query(text, parameters)
        self._interrupted = interrupted
        result = self._query()
        self._unused = [result]
        self.schema = portable_schema(result.schema)
        limit = _LIMIT.search(text)
        self.rows = int(limit[1]) if limit else -1

    def scan(self, columns: Sequence[int]) -> Scan:
        """A scan of some columns, by place. Each has a result of its own: cancelling it touches no other."""
        try:
            result = self._unused.pop()
        except IndexError:
            result = self._query()
        return Scan(result, columns, pa.schema([self.schema.field(i) for i in columns]), self._interrupted)


class Scan:
    """One run of a query, pulled batch by batch. The query starts at the first pull and ends with `close`."""

    def __init__(
        self, result: Result, columns: Sequence[int], schema: pa.Schema, interrupted: Callable[[], bool] | None
    ) -> None:
        self._result = result
        self._columns = list(columns)
        self._schema = schema
        self._interrupted = interrupted
        self._reader: pa.RecordBatchReader | None = None
        self._watch: Watch | None = None

    def next(self) -> pa.RecordBatch | None:
        """The next batch with the columns asked for, None after the last. Raises what the query raises."""
        if self._reader is None:
            self._reader = self._result.reader()
            if self._interrupted is not None:
                self._watch = Watch(self._interrupted, self._result.cancel)
        try:
            batch = self._reader.read_next_batch()
        except StopIteration:
            return None
        return conform(batch.select(self._columns), self._schema)

    def close(self) -> None:
        """Stops the query where it is and lets go of it."""
        if self._watch is not None:
            self._watch.close()
        if self._reader is not None:
            self._result.cancel()
            self._reader.close()
            self._reader = None
