"""Updates from a CSV file or a pipe, as batches for a store: one line an edge that comes or goes.

The header names `op`, which is `+` or `-`, `source` and `target` (or `u` and `v`), the users' ids. It may name `type`,
which a graph with edges of one type needs not, `source_label` and `target_label`; all other columns are properties, of
the type that they have in the graph, and one without a name is left out. An empty field is a property that the edge
does not have; what deletes an edge may name properties to tell it from others, and an empty field of it tells nothing.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import pyarrow as pa

from gquery.continuous.watch import Watch
from gquery.errors import GQueryError, LoadError, did_you_mean
from gquery.records import record
from gquery.storage.schema import Schema
from gquery.store.store import Store

_NUMBERS = (pa.int64(), pa.float64())
_LONGEST = 1 << 24  # characters of a field, as in the files of a graph
_NAMED = ("op", "source", "target", "type", "source_label", "target_label")

Key = tuple[str, str, str]
Tables = Mapping[Key, pa.Table]


@record(frozen=True, slots=True)
class Update:
    """line: of the feed. key: source label, type, target label. values: of the other columns, as they are written.
    types: what these are read as."""

    line: int
    inserts: bool
    key: Key
    ends: tuple[str, str]
    values: Mapping[str, str]
    types: Mapping[str, pa.DataType]

    @property
    def between(self) -> tuple[str, frozenset[str]]:
        """What it has in common with others that may speak of the same edge."""
        return self.key[1], frozenset(self.ends)


class _Together:
    """Updates that are applied at once, by one table for each key of those that insert, and of those that delete."""

    def __init__(self) -> None:
        self.updates: list[Update] = []
        self._inserted: set[tuple[str, frozenset[str]]] = set()
        self._texts: dict[tuple[bool, Key], dict[str, bool]] = {}

    def takes(self, update: Update) -> bool:
        """Not what deletes what has been inserted here, nor texts in a column of numbers; what deletes names the same
        columns as others: in a table an empty field is a property that is not there."""
        if not update.inserts and update.between in self._inserted:
            return False
        columns = self._texts.get((update.inserts, update.key))
        if columns is None:
            return True
        alike = all(columns.get(name, is_text) == is_text for name, is_text in _texts(update).items())
        return alike and (update.inserts or columns.keys() == update.values.keys())

    def add(self, update: Update) -> None:
        self.updates.append(update)
        if update.inserts:
            self._inserted.add(update.between)
        self._texts.setdefault((update.inserts, update.key), {}).update(_texts(update))


def _texts(update: Update) -> dict[str, bool]:
    return {name: pa.types.is_string(each) for name, each in update.types.items()}


def read_updates(lines: Iterable[str], name: str, schema: Schema) -> Iterator[Update]:
    """The updates of a file, as its lines come. Raises LoadError, with the line, for what is none."""
    rows = csv.DictReader(lines, strict=True)
    try:
        header = rows.fieldnames or ()
        source, target = ("u", "v") if "source" not in header and "u" in header else ("source", "target")
        missing = [column for column in ("op", source, target) if column not in header]
        again = next((column for column in header if header.count(column) > 1), None)
        if again is not None:
            raise LoadError(f"{name}: there are two columns `{again}`")
        if target == "v" and "target" in header:
            raise LoadError(
                f"{name}: `target` is a column beside `u`", hint="the ends are source and target, or u and v"
            )
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
            values = {
                column: text for column, text in row.items() if column not in (*_NAMED, source, target, "") and text
            }
            read = {}
            for column, text in values.items():
                value = _read([text], types_of := _types(schema, type_, column))
                if value is None:
                    raise LoadError(f"{place}: `{text}` cannot be a value of `{column}`, of type {types_of[0]}")
                read[column] = value.type
            yield Update(rows.line_num, row["op"] == "+", key, (row[source], row[target]), values, read)
    except csv.Error as error:
        raise LoadError(f"{name}, line {rows.reader.line_num}: {error}") from None
    except UnicodeDecodeError as error:
        raise LoadError(f"{name}: the text is not UTF-8 ({error.reason})") from None


@contextmanager
def long_fields() -> Iterator[None]:
    """Within, a field may be as long as in the files of a graph. For a program that does nothing but follow a feed: the
    limit is that of all readers of a process."""
    before = csv.field_size_limit(_LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def fed(store: Store, watch: Watch, lines: Iterable[str], name: str, size: int) -> Iterator[pa.RecordBatch]:
    """Applies the updates of a file, so many at a time, and tells the changes that a watch sees as they come."""
    schema = store.graph.schema
    for updates in batches(read_updates(lines, name, schema), size):
        inserted, deleted = _tables(updates, schema)
        try:
            store.apply(insert=inserted, delete=deleted)
            yield from watch.reader()
        except GQueryError as error:  # what is told may fail, too: of a property that the feed brings, say
            error.message = f"{name}, {_lines(updates)}: {error.message}"
            raise


def _lines(updates: Sequence[Update]) -> str:
    first, last = updates[0].line, updates[-1].line
    return f"line {first}" if first == last else f"lines {first} to {last}"


def batches(updates: Iterable[Update], size: int) -> Iterator[Sequence[Update]]:
    """So many updates at a time; fewer where one cannot be applied together with those before."""
    pending = _Together()
    for update in updates:
        if not pending.takes(update):
            yield pending.updates
            pending = _Together()
        pending.add(update)
        if len(pending.updates) == size:  # before the next one is waited for, or found to be wrong
            yield pending.updates
            pending = _Together()
    if pending.updates:
        yield pending.updates


def _tables(updates: Sequence[Update], schema: Schema) -> tuple[Tables, Tables]:
    """What `Store.apply` is to insert and to delete."""
    sides: tuple[dict[Key, list[Update]], dict[Key, list[Update]]] = {}, {}
    for update in updates:
        sides[not update.inserts].setdefault(update.key, []).append(update)
    inserted, deleted = ({key: _table(those, schema) for key, those in side.items()} for side in sides)
    return inserted, deleted


def _table(updates: Sequence[Update], schema: Schema) -> pa.Table:
    type_ = updates[0].key[1]
    names = dict.fromkeys(name for update in updates for name in update.values)
    columns: dict[str, Any] = {
        "source": [update.ends[0] for update in updates],
        "target": [update.ends[1] for update in updates],
        **{name: _read([each.values.get(name) for each in updates], _types(schema, type_, name)) for name in names},
    }
    return pa.table(columns)


def _types(schema: Schema, type_: str, name: str) -> Sequence[pa.DataType]:
    """What values of a property may be: of a graph's type, or numbers where it has none and all texts are such."""
    known = [each for each in schema.edge_property(name, (type_,)) if not pa.types.is_null(each)]
    known = [each.value_type if pa.types.is_dictionary(each) else each for each in known]
    if known and all(map(pa.types.is_floating, known)):
        return (pa.float64(),)
    if known and all(map(pa.types.is_integer, known)):
        return (pa.int64(),)
    if all(pa.types.is_integer(each) or pa.types.is_floating(each) for each in known):
        return _NUMBERS if known else (*_NUMBERS, pa.string())
    return known if len(known) == 1 else (*_NUMBERS, pa.string())


def _read(texts: Sequence[str | None], types: Sequence[pa.DataType]) -> pa.Array | None:
    """The values, of the first type that all can be of; None where there is none."""
    column = pa.array(texts, pa.string())
    for wanted in types:
        try:
            return column.cast(wanted)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            if pa.types.is_timestamp(wanted) and wanted.tz == "UTC":
                return _read_utc(column, wanted)
    return None


def _read_utc(column: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    """Points in time of which some have no offset, which are UTC's as in the files of a graph."""
    read = []
    for row in range(len(column)):
        for kind in (wanted, pa.timestamp(wanted.unit)):
            with suppress(pa.ArrowInvalid):
                read.append(column[row : row + 1].cast(kind).cast(wanted))
                break
        else:
            return None
    return pa.concat_arrays(read)
