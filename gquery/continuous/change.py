"""What a change of the graph did to the answer of a query."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from gquery.arrays import to_arrow
from gquery.errors import BindError
from gquery.records import record

VERSION, DIFF = "version", "diff"


@record(frozen=True, slots=True)
class Change:
    """From the version after `since` up to `version`: these are one further, unless who follows was slow. added,
    removed: rows of the query's columns."""

    since: int
    version: int
    added: pa.Table
    removed: pa.Table

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return bool(self.added.num_rows or self.removed.num_rows)

    def to_arrow(self) -> pa.Table:
        """All rows in one table, behind two columns: `version`, int64, and `diff`, int8: 1 for what is added, -1 for
        what is removed. Raises BindError where the query has columns of these names."""
        told_schema(self.added.schema)
        parts = [_told(self.version, -1, self.removed), _told(self.version, 1, self.added)]
        return pa.concat_tables(parts, promote_options="permissive")


def told_schema(rows: pa.Schema) -> pa.Schema:
    """The columns of `Change.to_arrow`, for a query with these. Raises BindError where a name would be there twice."""
    again = next((name for name in (VERSION, DIFF) if name in rows.names), None)
    if again is not None:
        raise BindError(f"a stream of changes has a column `{again}` of its own",
                        hint=f"name that of the query otherwise: RETURN ... AS {again}_of")  # fmt: skip
    return pa.schema([pa.field(VERSION, pa.int64()), pa.field(DIFF, pa.int8()), *rows])


def _told(version: int, diff: int, rows: pa.Table) -> pa.Table:
    versions, diffs = np.full(rows.num_rows, version, np.int64), np.full(rows.num_rows, diff, np.int8)
    return rows.add_column(0, VERSION, [to_arrow(versions)]).add_column(1, DIFF, [to_arrow(diffs)])
