"""Updates from a CSV file or a pipe, as batches for a store: one line an edge that comes or goes.

The header names `op`, which is `+` or `-`, `source` and `target` (or `u` and `v`), the users' ids. It may name `type`,
which a graph with edges of one type needs not, `source_label` and `target_label`; all other columns are properties. An
empty field is a property that the edge does not have; what deletes an edge may name properties to tell it from others.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from gquery.continuous.watch import Watch
from gquery.errors import LoadError, did_you_mean
from gquery.records import record
from gquery.storage.schema import Schema
from gquery.store.store import Store

_NAMED = ("op", "source", "target", "u", "v", "type", "source_label", "target_label")

Key = tuple[str, str, str]
Tables = Mapping[Key, pa.Table]


@record(frozen=True, slots=True)
class Update:
    """key: source label, type, target label. values: of the other columns, as texts."""

    inserts: bool
    key: Key
    ends: tuple[str, str]
    values: Mapping[str, str]


def read_updates(lines: Iterable[str], name: str, schema: Schema) -> Iterator[Update]:
    """The updates of a file, as its lines come. Raises LoadError, with the line, for what is none."""
    rows = csv.DictReader(lines, strict=True)
    try:
        header = rows.fieldnames or ()
        source, target = ("u", "v") if "source" not in header and "u" in header else ("source", "target")
        missing = [column for column in ("op", source, target) if column not in header]
        if missing:
            hint = did_you_mean(missing[0], header) or "the header names op, source and target"
            raise LoadError(f"{name}: there is no column `{missing[0]}`", hint=hint)
        types = schema.types
        for row in rows:
            place = f"{name}, line {rows.line_num}"
            if row["op"] not in ("+", "-"):
                raise LoadError(f"{place}: op is `+` or `-`, not `{row['op']}`")
            if None in row or None in row.values():
                raise LoadError(f"{place}: there are not as many fields as columns")
            type_ = row.get("type") or (types[0] if len(types) == 1 else "")
            if not type_:
                raise LoadError(f"{place}: there is no type", hint=f"the graph has {', '.join(types) or 'none'}")
            key = row.get("source_label") or "", type_, row.get("target_label") or ""
            values = {column: text for column, text in row.items() if column not in _NAMED and text}
            yield Update(row["op"] == "+", key, (row[source], row[target]), values)
    except csv.Error as error:
        raise LoadError(f"{name}, line {rows.line_num}: {error}") from None


def fed(store: Store, watch: Watch, lines: Iterable[str], name: str, size: int) -> Iterator[pa.RecordBatch]:
    """Applies the updates of a file, so many at a time, and tells the changes that a watch sees as they come."""
    for inserted, deleted in batches(read_updates(lines, name, store.graph.schema), size):
        store.apply(insert=inserted, delete=deleted)
        yield from watch.reader()


def batches(updates: Iterable[Update], size: int) -> Iterator[tuple[Tables, Tables]]:
    """What `Store.apply` is to insert and to delete, of so many updates at a time; of fewer where one deletes what has
    been inserted just before."""
    pending: list[Update] = []
    for update in updates:
        again = not update.inserts and any(each.inserts and _may_be(each, update) for each in pending)
        if again or len(pending) == size:
            yield _tables(pending)
            pending = []
        pending.append(update)
    if pending:
        yield _tables(pending)


def _may_be(one: Update, other: Update) -> bool:
    """Whether two updates may speak of one edge."""
    return one.key[1] == other.key[1] and one.ends in (other.ends, other.ends[::-1])


def _tables(updates: Sequence[Update]) -> tuple[Tables, Tables]:
    sides: tuple[dict[Key, list[Update]], dict[Key, list[Update]]] = {}, {}
    for update in updates:
        sides[not update.inserts].setdefault(update.key, []).append(update)
    inserted, deleted = ({key: _table(those) for key, those in side.items()} for side in sides)
    return inserted, deleted


def _table(updates: Sequence[Update]) -> pa.Table:
    names = dict.fromkeys(name for update in updates for name in update.values)
    columns: dict[str, Any] = {
        "source": [update.ends[0] for update in updates],
        "target": [update.ends[1] for update in updates],
        **{name: _column([update.values.get(name) for update in updates]) for name in names},
    }
    return pa.table(columns)


def _column(texts: Sequence[str | None]) -> pa.Array:
    """Numbers where all texts are such."""
    column = pa.array(texts, pa.string())
    for wanted in (pa.int64(), pa.float64()):
        try:
            return column.cast(wanted)
        except pa.ArrowInvalid:
            continue
    return column
