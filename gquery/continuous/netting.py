"""Tables of rows against each other: a row that is gone and there again has not changed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import pyarrow as pa

from gquery.executor.progress import Control
from gquery.executor.relational.database.functions import Given
from gquery.executor.relational.database.running import stream
from gquery.executor.relational.gather import plain_type
from gquery.executor.relational.sql.words import quoted
from gquery.executor.relational.unions import cast, in_parts, union_type, widened
from gquery.planner.ir.types.common_type import any_of, type_of_arrow

_OTHER = "others"


def net(added: pa.Table, removed: pa.Table, control: Control) -> tuple[pa.Table, pa.Table]:
    """Both without the rows that they have in common, each as often as it is in both."""
    if not (added.num_rows and removed.num_rows):
        return added, removed
    added, removed = alike(added, removed)
    sql = f"FROM matches EXCEPT ALL FROM {_OTHER}"
    return _asked(sql, added, removed, control), _asked(sql, removed, added, control)


def differences(
    new: pa.Table, old: pa.Table, keys: Sequence[str], counts: Sequence[str], control: Control
) -> tuple[pa.Table, pa.Table]:
    """By how much the counts of each group are higher in the new table, and by how much lower; groups that have the
    same are left out. A group that a table does not have has counts of 0."""
    if not new.num_rows and not old.num_rows:
        return new, old
    if not keys:
        return _more(new, old), _more(old, new)
    new, old = alike(new, old)
    sums = [f"CAST(sum({quoted(each)}) AS BIGINT) AS {quoted(each)}" for each in counts]
    less = [f"-{quoted(each)} AS {quoted(each)}" for each in counts]
    grouped = f" GROUP BY {', '.join(map(quoted, keys))}"
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


def _more(one: pa.Table, other: pa.Table) -> pa.Table:
    """The one row of numbers less that of another, where any is higher."""
    (mine,), (theirs,) = one.to_pylist(), other.to_pylist()
    more = {name: max(0, mine[name] - theirs[name]) for name in mine}
    return pa.Table.from_pylist([more] if any(more.values()) else [], schema=one.schema)


def _asked(sql: str, table: pa.Table, other: pa.Table, control: Control) -> pa.Table:
    ours, theirs = map(_in_parts, (table, other))
    found = list(stream(sql, Given(), ours.schema, iter(ours.to_batches()), control, beside={_OTHER: theirs}))
    if not found:
        return pa.table([pa.nulls(0, field.type) for field in table.schema], schema=table.schema)
    columns = zip(pa.Table.from_batches(found).columns, table.schema, strict=True)
    return pa.table([cast(values, field.type) for values, field in columns], schema=table.schema)


def _in_parts(table: pa.Table) -> pa.Table:
    return pa.table([cast(values, in_parts(values.type)) for values in table.columns], table.column_names)


def alike(one: pa.Table, other: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Both with columns of the same types: a property may have got another, and elements may have properties more."""
    if one.schema.equals(other.schema):
        return one, other
    types = [common(mine.type, theirs.type) for mine, theirs in zip(one.schema, other.schema, strict=True)]
    return tuple(
        pa.table([widened(values, type_) for values, type_ in zip(table.columns, types, strict=True)], one.column_names)
        for table in (one, other)
    )


def common(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """The type of values of both: a union of all that there are, where Arrow knows none."""
    if one.equals(other):
        return one
    if pa.types.is_list(one) and pa.types.is_list(other):
        return pa.list_(common(one.value_type, other.value_type))
    if pa.types.is_struct(one) and pa.types.is_struct(other):
        return _common_fields(one, other)
    if not (pa.types.is_union(one) or pa.types.is_union(other)):
        with suppress(pa.ArrowTypeError):
            schemas = [pa.schema([("", each)]) for each in (one, other)]
            return pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    return union_type(any_of([*map(type_of_arrow, (*_members(one), *_members(other)))]), plain_type)


def _common_fields(one: pa.StructType, other: pa.StructType) -> pa.DataType:
    """Of elements and maps that have fields of both."""
    types: dict[str, pa.DataType] = {field.name: field.type for field in one}
    for field in other:
        types[field.name] = common(types[field.name], field.type) if field.name in types else field.type
    return pa.struct(list(types.items()))


def _members(arrow: pa.DataType) -> list[pa.DataType]:
    if pa.types.is_union(arrow):
        return [field.type for field in arrow]
    return [] if pa.types.is_null(arrow) else [arrow]
