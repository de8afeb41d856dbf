"""Tables of vertices and of edges: Arrow columns, loaded when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import pc, to_numpy
from gquery.lasting.properties import cached_property
from gquery.stopping import Check
from gquery.storage.schema import ZONED_TIME

_AT_ONCE = 1 << 16  # ids that are compared at once
_DAY = 86_400  # seconds

Ends = tuple[NDArray[np.int32], NDArray[np.int32]]  # source and target of some edges


def in_one_piece(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column as one chunk, where there is a chunk that can hold it: values are then taken by one look each. Done as
    a graph is loaded, so that no query waits for it."""
    if column.num_chunks == 1:
        return column
    try:
        return pa.table([column], [""]).combine_chunks().column(0)
    except pa.ArrowException:  # dictionaries that have too many values together, or of types that Arrow cannot unite
        return column


class Columns(Mapping[str, pa.ChunkedArray]):
    """Property columns by name, each loaded when first asked for (a graph on disk opens column by column)."""

    def __init__(self, types: Mapping[str, pa.DataType], load: Callable[[str], pa.ChunkedArray]) -> None:
        self.types = dict(types)
        self._load = load
        self._loaded: dict[str, pa.ChunkedArray] = {}

    @classmethod
    def from_table(cls, table: pa.Table) -> Columns:
        columns = {name: in_one_piece(column) for name, column in zip(table.column_names, table.columns, strict=True)}
        return cls({name: column.type for name, column in columns.items()}, columns.__getitem__)

    def __getitem__(self, name: str) -> pa.ChunkedArray:
        if name not in self.types:
            raise KeyError(name)
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.types)

    def __len__(self) -> int:
        return len(self.types)


class VertexTable:
    """All vertices with exactly these labels.

    `ids` are the users' ids (int64 or string). `id_name` is the property that shows the id, None when it is not one.
    """

    def __init__(
        self,
        labels: tuple[str, ...],
        count: int,
        id_type: pa.DataType,
        id_name: str | None,
        columns: Columns,
        load_ids: Callable[[], pa.ChunkedArray],
        orders: Mapping[str | None, Callable[[Check], NDArray[np.int32]]] | None = None,
        ids_repeat: bool = False,
    ) -> None:
        """orders: loads what is saved of indexes, by column, of the ids by None. ids_repeat: whether labels may have
        brought vertices together that have the same id."""
        self.labels = labels
        self.count = count
        self.id_type = id_type
        self.id_name = id_name
        self.columns = columns
        self.orders = orders or {}
        self.ids_repeat = ids_repeat
        self._load_ids = load_ids

    @classmethod
    def from_arrow(
        cls, labels: tuple[str, ...], ids: pa.ChunkedArray, properties: pa.Table, id_name: str | None
    ) -> VertexTable:
        columns = Columns.from_table(properties)
        shown = None if id_name is None else columns[id_name]
        whole = shown if shown is not None and shown.equals(ids) else in_one_piece(ids)
        return cls(labels, len(ids), ids.type, id_name, columns, lambda: whole)

    @cached_property
    def ids(self) -> pa.ChunkedArray:
        return self._load_ids()

    @cached_property
    def counts_from(self) -> int | None:
        """The first id where each is one more than the one before, None elsewhere. Reads all ids where the first and
        the last are as far apart as that."""
        if not pa.types.is_int64(self.id_type) or not self.count:
            return None
        first, last = self.ids[0].as_py(), self.ids[-1].as_py()
        if first is None or last is None or last - first != self.count - 1:
            return None
        begin = int(first)
        for chunk in self.ids.chunks:
            for part in (chunk.slice(at, _AT_ONCE) for at in range(0, len(chunk), _AT_ONCE)):
                if part.null_count or np.any(to_numpy(part) != np.arange(begin, begin + len(part))):
                    return None
                begin += len(part)
        return int(first)

    def column(self, name: str | None) -> pa.ChunkedArray | None:
        """A property, None when there is no such; the users' ids when `name` is None."""
        return self.ids if name is None else self.columns.get(name)


class EdgeTable:
    """Edges of one type. `ends()` gives source and target, int32[count] internal vertex ids."""

    def __init__(
        self,
        type: str,
        count: int,
        columns: Columns,
        load_ends: Callable[[], Ends],
    ) -> None:
        self.type = type
        self.count = count
        self.columns = columns
        self._load_ends = load_ends

    @classmethod
    def from_arrow(
        cls, type: str, source: NDArray[np.int32], target: NDArray[np.int32], properties: pa.Table
    ) -> EdgeTable:
        return cls(type, len(source), Columns.from_table(properties), lambda: (source, target))

    @cached_property
    def ends(self) -> Ends:
        return self._load_ends()

    def ends_at(self, rows: NDArray[np.integer[Any]]) -> Ends:
        """Source and target of some edges."""
        source, target = self.ends
        return source[rows], target[rows]

    def column(self, name: str | None) -> pa.ChunkedArray | None:
        """A property, None when there is no such: edges have no ids of users."""
        return None if name is None else self.columns.get(name)


def largest_number(ids: pa.ChunkedArray) -> int:
    """The largest id that is a number, or is written as one; -1 where there is none."""
    if not pa.types.is_integer(ids.type):
        ids = ids.filter(pc.match_substring_regex(ids, "^[0-9]{1,18}$")).cast(pa.int64())
    return max(-1, pc.max(ids).as_py()) if len(ids) else -1


def wrong_time(column: pa.ChunkedArray) -> str | None:
    """What is wrong with times that have an offset, which Arrow does not look at; None where nothing is."""
    return next(filter(None, map(_wrong_time, column.chunks)), None) if _has_offsets(column.type) else None


def _has_offsets(type_: pa.DataType) -> bool:
    fields = [type_.field(index).type for index in range(type_.num_fields)]
    return type_ == ZONED_TIME or any(map(_has_offsets, fields))


def _wrong_time(values: pa.Array) -> str | None:
    if values.type != ZONED_TIME:
        parts = values.flatten() if pa.types.is_struct(values.type) else [values.flatten()]
        return next((found for part in parts if _has_offsets(part.type) and (found := _wrong_time(part))), None)
    time, offset = values.filter(values.is_valid()).flatten()
    if time.null_count or offset.null_count:
        return "a time with an offset lacks one of the two"
    return "an offset from UTC is a day or more" if np.any(np.abs(to_numpy(offset)) >= _DAY) else None
