"""Tables of rows against each other: a row that is gone and there again has not changed."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from gquery.executor.progress import Control
from gquery.executor.relational.database.functions import Given
from gquery.executor.relational.database.running import stream
from gquery.executor.relational.sql.words import quoted

_OTHER = "others"


def net(added: pa.Table, removed: pa.Table, control: Control) -> tuple[pa.Table, pa.Table]:
    """Both without the rows that they have in common, each as often as it is in both."""
    if not (added.num_rows and removed.num_rows):
        return added, removed
    added, removed = _alike(added, removed)
    sql = f"FROM matches EXCEPT ALL FROM {_OTHER}"
    return _asked(sql, added, removed, control), _asked(sql, removed, added, control)


def differences(
    new: pa.Table, old: pa.Table, keys: Sequence[str], counts: Sequence[str], control: Control
) -> tuple[pa.Table, pa.Table]:
    """By how much the counts of each group are higher in the new table, and by how much lower; groups that have the
    same are left out. A group that a table does not have has counts of 0."""
    new, old = _alike(new, old)
    sums = [f"CAST(sum({quoted(each)}) AS BIGINT) AS {quoted(each)}" for each in counts]
    less = [f"-{quoted(each)} AS {quoted(each)}" for each in counts]
    named = ", ".join(map(quoted, keys))
    grouped = f" GROUP BY {named}" if keys else ""
    columns = ", ".join([*map(quoted, keys), *less])
    both = f"(FROM matches UNION ALL BY NAME SELECT {columns} FROM {_OTHER})"
    found = []
    for one, other in ((new, old), (old, new)):
        rows = f"SELECT {', '.join([*map(quoted, keys), *sums])} FROM {both}{grouped}"
        least = [f"greatest({quoted(each)}, 0) AS {quoted(each)}" for each in counts]
        some = " OR ".join(f"{quoted(each)} > 0" for each in counts)
        sql = f"SELECT {', '.join([*map(quoted, keys), *least])} FROM ({rows}) WHERE {some}"
        found.append(_asked(sql, one, other, control).select(new.column_names))
    return found[0], found[1]


def _asked(sql: str, table: pa.Table, other: pa.Table, control: Control) -> pa.Table:
    found = list(stream(sql, Given(), table.schema, iter(table.to_batches()), control, beside={_OTHER: other}))
    return pa.Table.from_batches(found).cast(table.schema) if found else table.schema.empty_table()


def _alike(one: pa.Table, other: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Both with columns of the same types: a property may have got another."""
    if one.schema.equals(other.schema):
        return one, other
    schema = pa.unify_schemas([one.schema, other.schema], promote_options="permissive")
    return one.cast(schema), other.cast(schema)
