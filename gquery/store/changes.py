"""The changes of a standing query as a table that is asked for by version: what DuckDB reads as
`gquery_changes(name, version)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import pyarrow as pa

from gquery.continuous.watch import Watch
from gquery.errors import BindError

ASKED = "changes"  # in place of the text of a query


class Changes:
    """Answers like a graph, so that it can be attached to DuckDB like one. begin: a watch from a version on, or from
    the newest where it is None."""

    def __init__(self, begin: Callable[[int | None], Watch]) -> None:
        self._begin = begin
        with begin(None) as watch:
            self.schema = watch.schema
            self.since = watch.version

    def query(self, text: str, parameters: Mapping[str, Any] | None = None) -> ChangesAfter:
        """The changes after the version `$after`; the text is `changes`. Raises BindError for anything else, and for a
        version that is not kept."""
        after = (parameters or {}).get("after")
        if text != ASKED or not isinstance(after, int) or isinstance(after, bool):
            raise BindError("changes are asked for by a version", hint="FROM gquery_changes('name', version)")
        return ChangesAfter(self._begin, after, self.schema)


class ChangesAfter:
    """The changes after a version, up to the newest one whenever they are read."""

    expected_rows: ClassVar[None] = None  # nobody knows before

    def __init__(self, begin: Callable[[int | None], Watch], after: int, schema: pa.Schema) -> None:
        self.schema = schema
        self._begin = begin
        self._after = after
        self._watch: Watch | None = None

    def reader(self) -> pa.RecordBatchReader:
        """`version`, `diff` and the columns of the query."""
        self._watch = self._begin(self._after)
        return self._watch.reader(schema=self.schema)

    def cancel(self) -> None:
        """Ends with the change that is being worked out."""
        if self._watch is not None:
            self._watch.close()
