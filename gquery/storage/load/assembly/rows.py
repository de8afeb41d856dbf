"""From the columns of one file or table to vertices and edges, grouped by label set and by type."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import pc
from gquery.errors import LoadError
from gquery.storage.load.assembly.arrow_values import cast, ids_of_values, normalise
from gquery.storage.load.loading import Loading
from gquery.storage.load.rejects import NO_ROWS, Origin, Rows
from gquery.storage.load.report import KeptAsText
from gquery.storage.load.text.header import TYPES, Column, Role, check_names, check_text
from gquery.storage.load.text.values import (
    TYPE_WORDS,
    fitting,
    ids_of_text,
    in_nanoseconds,
    infer,
    parse,
    parse_lists,
    type_of_most,
)

Piece = TypeVar("Piece")


@dataclass(frozen=True, slots=True)
class RawTable:
    """Columns as they were read: strings when `is_text`, else of Arrow's types. `origin` has a place for every row."""

    columns: tuple[Column, ...]
    data: tuple[pa.ChunkedArray, ...]
    origin: Origin
    is_text: bool

    @property
    def count(self) -> int:
        return len(self.data[0]) if self.data else 0

    def having(self, role: Role) -> list[int]:
        """Positions of the columns with this role."""
        return [index for index, column in enumerate(self.columns) if column.role == role]

    def filter(self, keep: NDArray[np.bool_]) -> RawTable:
        if keep.all():
            return self
        rows = np.flatnonzero(keep)
        data = tuple(column.take(pa.array(rows)) for column in self.data)
        return RawTable(self.columns, data, self.origin.select(rows), self.is_text)

    def without_first(self) -> RawTable:
        """All rows but the first."""
        return self.filter(np.arange(self.count) > 0)

    def ids(self, index: int) -> pa.ChunkedArray:
        """An id or end column as int64 or string, as it is declared to be or as its values are."""
        column = self.columns[index]
        if self.is_text:
            return ids_of_text(self.data[index], column.type)
        ids = ids_of_values(self.data[index], column.name, self.origin.file)
        return ids if column.type is None else cast(ids, column.type, column.name, self.origin.file)


@dataclass(frozen=True, slots=True)
class VertexRows:
    """Vertices of one label set from one table. `space`: the id space in which an id stands for one vertex."""

    labels: tuple[str, ...]
    ids: pa.ChunkedArray
    id_name: str | None
    properties: pa.Table
    space: str
    origin: Origin
    kept_as_text: Mapping[str, KeptAsText] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.ids)

    def take(self, rows: Rows) -> VertexRows:
        indices = pa.array(rows)
        ids, properties = self.ids.take(indices), self.properties.take(indices)
        return replace(self, ids=ids, properties=properties, origin=self.origin.select(rows))


@dataclass(frozen=True, slots=True)
class Reference:
    """The vertices that an end column may name: an id space, the vertices with certain labels, or any (both None).

    `column` is the column's name, for messages.
    """

    column: str
    space: str | None = None
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class End:
    """One end of some edges: the users' ids, without nulls, and where to look for them."""

    ids: pa.ChunkedArray
    reference: Reference


@dataclass(frozen=True, slots=True)
class EdgeRows:
    """Edges of one type from one table."""

    type: str
    source: End
    target: End
    properties: pa.Table
    origin: Origin
    kept_as_text: Mapping[str, KeptAsText] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.source.ids)

    def take(self, rows: Rows) -> EdgeRows:
        indices = pa.array(rows)
        source = End(self.source.ids.take(indices), self.source.reference)
        target = End(self.target.ids.take(indices), self.target.reference)
        properties, origin = self.properties.take(indices), self.origin.select(rows)
        return replace(self, source=source, target=target, properties=properties, origin=origin)


def vertex_rows(loading: Loading, raw: RawTable, labels: tuple[str, ...], space: str) -> list[VertexRows]:
    """The vertices of a table; one that has a label column is split by its label sets, and `labels` are not used."""
    for label in labels:
        check_text(label, "label", raw.origin.file)
    raw = _as_declared(loading, raw)
    (id_index,) = raw.having("id")
    id_column = raw.columns[id_index]
    raw, (ids,) = _present_ids(loading, raw, [id_index], "the id is missing")
    names, columns, keep, kept = _properties(loading, raw)
    label_columns = raw.having("label")
    if id_column.name:
        names, columns = [id_column.name, *names], [ids, *columns]
    check_names(names, raw.origin.file)
    properties = pa.table(columns, names=names)
    whole = VertexRows(labels, ids, id_column.name or None, properties, id_column.space or space, raw.origin, kept)
    if not label_columns:
        return [whole if keep.all() else whole.take(np.flatnonzero(keep))]
    texts = [_as_text(raw.data[index]) for index in label_columns]
    delimiter = loading.options.array_delimiter
    joined = texts[0] if len(texts) == 1 else pc.binary_join_element_wise(*texts, delimiter, null_handling="skip")
    return [
        replace(p, labels=_split_labels(text, delimiter, raw.origin.file))
        for text, p in split_rows(joined, whole.take, keep)
    ]


def edge_rows(
    loading: Loading, raw: RawTable, type: str, source: Reference, target: Reference, absent_is_none: bool = False
) -> list[EdgeRows]:
    """The edges of a table; one that has a type column is split by it, and `type` is not used.

    absent_is_none: a row without one of the ends has no edge, as with foreign keys; otherwise it is a bad row.
    """
    check_text(type, "type", raw.origin.file)
    raw = _as_declared(loading, raw)
    ends = [*raw.having("start"), *raw.having("end")]
    if absent_is_none:
        raw = raw.filter(_all_present(raw, ends))
    raw, (sources, targets) = _present_ids(loading, raw, ends, "an end of the edge is missing")
    names, columns, keep, kept = _properties(loading, raw)
    check_names(names, raw.origin.file)
    properties = pa.table(columns, names=names)
    whole = EdgeRows(type, End(sources, source), End(targets, target), properties, raw.origin, kept)
    type_columns = raw.having("type")
    if not type_columns:
        return [whole if keep.all() else whole.take(np.flatnonzero(keep))]
    types = _as_text(raw.data[type_columns[0]])
    absent = pc.fill_null(pc.equal(types, ""), True).to_numpy(zero_copy_only=False)
    name = raw.columns[type_columns[0]].name or ":TYPE"
    loading.rejects.add(raw.origin, np.flatnonzero(absent & keep), name, None, "the type is missing")
    pieces = [replace(p, type=text) for text, p in split_rows(types, whole.take, keep & ~absent)]
    for piece in pieces:
        check_text(piece.type, "type", raw.origin.file)
    return pieces


def _as_declared(loading: Loading, raw: RawTable) -> RawTable:
    """The table with the types that the caller of the load gives some of its columns."""
    types = loading.options.types
    if not types:
        return raw
    columns = []
    for column in raw.columns:
        loading.columns_seen.add(column.name)
        if column.name in types:
            written = types[column.name].lower()
            column = replace(column, type=TYPES[written.removesuffix("[]")], is_list=written.endswith("[]"))
            no_id = column.is_list or column.type not in (pa.int64(), pa.string())
            if no_id and column.role in ("id", "start", "end"):
                hint = "ids are int or string"
                raise LoadError(f"ids cannot be {written}", file=raw.origin.file, column=column.name, hint=hint)
        columns.append(column)
    return replace(raw, columns=tuple(columns))


def _all_present(raw: RawTable, columns: Sequence[int]) -> NDArray[np.bool_]:
    present = np.ones(raw.count, np.bool_)
    for index in columns:
        column = raw.data[index]
        present &= column.is_valid().to_numpy()
        if raw.is_text:
            present &= pc.fill_null(pc.not_equal(column, ""), False).to_numpy(zero_copy_only=False)
    return present


def _present_ids(
    loading: Loading, raw: RawTable, columns: Sequence[int], reason: str
) -> tuple[RawTable, list[pa.ChunkedArray]]:
    """The rows that have all of these ids, and the ids; the others are rejected."""
    ids = [raw.ids(index) for index in columns]
    if all(column.null_count == 0 for column in ids):
        return raw, ids
    keep = np.ones(raw.count, np.bool_)
    for index, column in zip(columns, ids, strict=True):
        absent = column.is_null().to_numpy()
        name = raw.columns[index].name or {"id": ":ID", "start": ":START_ID"}.get(raw.columns[index].role, ":END_ID")
        loading.rejects.add(raw.origin, np.flatnonzero(absent & keep), name, None, reason)
        keep &= ~absent
    raw = raw.filter(keep)
    return raw, [raw.ids(index) for index in columns]


_Properties = tuple[list[str], list[pa.ChunkedArray], NDArray[np.bool_], dict[str, KeptAsText]]


def _properties(loading: Loading, raw: RawTable) -> _Properties:
    """Names and values of the property columns, which rows stay (rows with a bad value are rejected), and which
    columns are text for the sake of a few values."""
    names: list[str] = []
    columns, keep, kept = [], np.ones(raw.count, np.bool_), {}
    for index in raw.having("property"):
        loading.step()
        column, data = raw.columns[index], raw.data[index]
        values, bad = _convert(loading, column, data, raw)
        new = bad[keep[bad]]
        if len(new) and column.type is not None:
            words = f"a list of {TYPE_WORDS[values.type.value_type]}" if column.is_list else TYPE_WORDS[values.type]
            reason = f"the value is not {words}"
            loading.rejects.add(raw.origin, new, column.name, data.take(pa.array(new)), reason)
        keep[bad] = False
        names.append(column.name)
        columns.append(values)
        entry = _kept_as_text(values, raw.origin) if raw.is_text and column.type is None else None
        if entry is not None:
            kept[column.name] = entry
    return names, columns, keep, kept


def _kept_as_text(values: pa.ChunkedArray, origin: Origin) -> KeptAsText | None:
    """The first value that keeps a column from the type that most of its values have."""
    type = type_of_most(values) if values.type == pa.string() else None
    if type is None:
        return None
    others = np.flatnonzero(pc.invert(pc.fill_null(fitting(values, type), True)).to_numpy(zero_copy_only=False))
    if 2 * len(others) > len(values) - values.null_count:
        return None
    (file,), (line,) = origin.places(others[:1])
    return KeptAsText(file, int(line), values[int(others[0])].as_py(), type, len(others))


def _convert(loading: Loading, column: Column, data: pa.ChunkedArray, raw: RawTable) -> tuple[pa.ChunkedArray, Rows]:
    values = data if raw.is_text else normalise(data, column.name, raw.origin.file)
    if values.type != pa.string():
        return values if column.type is None else _declared(values, column, column.type, raw.origin.file), NO_ROWS
    if column.type is None:
        return infer(values) if raw.is_text else values, NO_ROWS
    if column.is_list:
        return parse_lists(values, column.type, loading.options.array_delimiter)
    return parse(values, column.type)


def _declared(values: pa.ChunkedArray, column: Column, type: pa.DataType, file: str) -> pa.ChunkedArray:
    """Values of Arrow's types as what the column is declared to be, in nanoseconds where they have some."""
    try:
        return cast(values, pa.list_(type) if column.is_list else type, column.name, file)
    except LoadError:
        item = values.type.value_type if pa.types.is_list(values.type) else values.type
        finer = in_nanoseconds(type)
        if finer == type or getattr(item, "unit", None) != "ns":
            raise
        return _declared(values, column, finer, file)


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column if column.type == pa.string() else column.cast(pa.string())


def _split_labels(text: str, delimiter: str, file: str) -> tuple[str, ...]:
    check_text(text, "label", file)
    return tuple(dict.fromkeys(label for part in text.split(delimiter) if (label := part.strip().lstrip(":"))))


def split_rows(
    values: pa.ChunkedArray, take: Callable[[Rows], Piece], keep: NDArray[np.bool_] | None = None
) -> Iterator[tuple[str, Piece]]:
    """The rows (those of `keep`) of each distinct text, in the order in which the texts first appear; null is empty."""
    encoded = pc.fill_null(values, "").combine_chunks().dictionary_encode()
    codes = encoded.indices.to_numpy() if keep is None else np.where(keep, encoded.indices.to_numpy(), -1)
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(len(encoded.dictionary) + 1))
    for code, value in enumerate(encoded.dictionary.to_pylist()):
        rows = order[bounds[code] : bounds[code + 1]]
        if len(rows):
            yield value, take(rows)
