"""How many bytes the values take that rows of ids stand for, so that a batch of huge texts is gathered in parts."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import filled, pc, to_arrow
from gquery.errors import Span
from gquery.executor.progress import Control
from gquery.executor.relational.gather import stored_column
from gquery.planner.ir.expr import Attribute, Column, Kind, Type
from gquery.storage.graph import Snapshot
from gquery.storage.numbering import Ids, Numbering
from gquery.storage.tables import EdgeTable, VertexTable

Bytes = NDArray[np.int64]
BATCH_BYTES = 16 * 2**20
_FEWEST_BYTES = 2**18
_READ_AT_ONCE = 1 << 20  # values: a millisecond, once for each column
_LONGEST: WeakKeyDictionary[Snapshot, dict[Hashable, int]] = WeakKeyDictionary()
_SHORT = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL, Kind.TEMPORAL})
_LIST = 16  # bytes: at least what an element costs besides its values


def parts(widths: Sequence[Bytes | None], rows: int, most: int) -> Iterator[tuple[int, int]]:
    """The begin and the length of parts of a batch of so many rows, none with more than `most` bytes but for a row
    that has more by itself. `widths`: by column, None where they do not matter."""
    known = [column for column in widths if column is not None]
    if not known or not rows:
        yield 0, rows
        return
    ends = np.cumsum(np.add.reduce(known))
    begin = 0
    while begin < rows:
        before = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield begin, end - begin
        begin = end


def batch_bytes(control: Control) -> int:
    """How many bytes the values of a batch may take."""
    limit = control.memory_limit
    return BATCH_BYTES if limit is None else max(_FEWEST_BYTES, min(BATCH_BYTES, limit // 16))


def average_width(snapshot: Snapshot, kind: Kind, column: Column) -> float:
    """About the bytes of one of the column's values."""
    tables: tuple[VertexTable | EdgeTable, ...] = snapshot.vertex_tables if kind is Kind.NODE else snapshot.edge_tables
    return max((sum(_average(values) for values in _columns(table, column)) for table in tables), default=0.0) + _LIST


def _average(values: pa.ChunkedArray) -> float:
    if pa.types.is_dictionary(values.type):
        return max((chunk.dictionary.nbytes / max(1, len(chunk.dictionary)) for chunk in values.chunks), default=0.0)
    return float(values.nbytes / max(1, len(values)))


def can_be_wide(type_: Type, gathered: bool) -> bool:
    """Whether the bytes matter that values of a type take: of columns that are gathered, or of whole elements."""
    return type_.kind not in _SHORT and (gathered or type_.kind is not Kind.STRING)


def widths_of(snapshot: Snapshot, kind: Kind, column: Column, ids: pa.Array, most: int) -> Bytes | None:
    """The bytes of a column's value for each id, about; None where all of them together cannot have `most`. The column
    of a whole element stands for all that the element has."""
    if column.type.kind in _SHORT or ids.null_count == len(ids):
        return None
    if len(ids) * _longest_of_all(snapshot, kind, column) < most:
        return None
    tables: tuple[VertexTable | EdgeTable, ...] = snapshot.vertex_tables if kind is Kind.NODE else snapshot.edge_tables
    numbers = snapshot.vertex_numbers if kind is Kind.NODE else snapshot.edges.numbers
    known = filled(ids, 0)
    columns = {table: _columns(tables[table], column) for table in numbers.tables_near(known)}
    longest = max(sum(_longest(snapshot, values) for values in stored) for stored in columns.values())
    if len(known) * longest < most:
        return None
    widths = np.full(len(known), _LIST, np.int64)
    for table, where, rows in numbers.parts(known):
        for values in columns[table]:
            widths[where] += _lengths(values, rows)
    return widths


def element_widths(snapshot: Snapshot, values: pa.Array, type_: Type, most: int) -> Bytes | None:
    """The bytes that whole elements in the values will take, also inside lists, maps and paths; None where there are
    none, or all together cannot have `most`."""
    match type_.kind:
        case Kind.ANY if pa.types.is_union(values.type):
            members = [element_widths(snapshot, values.field(at), each, most) for at, each in enumerate(type_.members)]
            return _added(members)
        case Kind.NODE | Kind.RELATIONSHIP:
            return widths_of(snapshot, type_.kind, Column(type_, Span(0, 0), "", Attribute.ELEMENT), values, most)
        case Kind.LIST if type_.item is not None and type_.arrow is None and pa.types.is_list(values.type):
            inside = element_widths(snapshot, values.flatten(), type_.item, most)
            if inside is None:
                return None
            ends = np.concatenate([[0], np.cumsum(inside)])
            bounds = np.concatenate([[0], np.cumsum(filled(values.value_lengths(), 0))])
            widths: Bytes = np.diff(ends[bounds]).astype(np.int64)
            return widths
        case Kind.PATH | Kind.MAP if type_.arrow is None and pa.types.is_struct(values.type):
            # Arrow aborts where it is to give a union, which holds no elements, the nulls of its map.
            fields = [(at, inner) for at, (_, inner) in enumerate(type_.fields) if inner.kind is not Kind.ANY]
            return _added(
                [element_widths(snapshot, pc.struct_field(values, [at]), inner, most) for at, inner in fields]
            )
    return None


def _added(widths: list[Bytes | None]) -> Bytes | None:
    known = [each for each in widths if each is not None]
    return np.add.reduce(known) if known else None


def _columns(table: VertexTable | EdgeTable, column: Column) -> list[pa.ChunkedArray]:
    """The stored columns behind a column whose values may be long."""
    if column.attribute is Attribute.ELEMENT:
        stored = [*table.columns.values(), *([table.ids] if isinstance(table, VertexTable) else [])]
    elif column.attribute in (Attribute.PROPERTY, Attribute.ID):
        stored = [values for values in [stored_column(table, column)] if values is not None]
    else:
        stored = []
    return [values for values in stored if not _is_short(values.type)]


def _longest_of_all(snapshot: Snapshot, kind: Kind, column: Column) -> int:
    """The bytes that no value of a column has more of, whatever table it is of: asked for each batch, and known."""
    known, asked = _LONGEST.setdefault(snapshot, {}), (kind, column.attribute, column.key)
    if asked not in known:
        tables: tuple[VertexTable | EdgeTable, ...]
        tables = snapshot.vertex_tables if kind is Kind.NODE else snapshot.edge_tables
        each = (sum(_longest(snapshot, values) for values in _columns(table, column)) for table in tables)
        known[asked] = max(each, default=0)
    return known[asked]


def _longest(snapshot: Snapshot, values: pa.ChunkedArray) -> int:
    """The bytes that no value of a stored column has more of. A long column is not read for this."""
    known = _LONGEST.setdefault(snapshot, {})
    if id(values) not in known:
        known[id(values)] = _found_longest(values)
    return known[id(values)]


def _found_longest(values: pa.ChunkedArray) -> int:
    if pa.types.is_dictionary(values.type):
        return max((int(chunk.dictionary.nbytes) for chunk in values.chunks), default=0)
    if len(values) > _READ_AT_ONCE or pa.types.is_nested(values.type):
        return int(values.nbytes)
    return pc.max(pc.binary_length(values)).as_py() or 0


def _is_short(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_primitive(arrow) or pa.types.is_null(arrow) or pa.types.is_decimal(arrow))


def _lengths(values: pa.ChunkedArray, positions: Ids) -> Bytes:
    if values.num_chunks == 1:
        return _chunk_lengths(values.chunk(0), positions)
    found = np.zeros(len(positions), np.int64)
    for number, where, inside in Numbering.consecutive(map(len, values.chunks)).parts(positions):
        found[where] = _chunk_lengths(values.chunk(number), inside)
    return found


def _chunk_lengths(chunk: pa.Array, positions: Ids) -> Bytes:
    types = pa.types
    if types.is_dictionary(chunk.type):
        codes = filled(chunk.indices.take(to_arrow(positions)), 0)
        inside = chunk.dictionary
        if not len(inside) or _is_short(inside.type):
            return np.full(len(positions), 8, np.int64)
        return _chunk_lengths(inside, codes)
    if types.is_string(chunk.type) or types.is_binary(chunk.type):
        return _differences(chunk, positions, np.int32)
    if types.is_large_string(chunk.type) or types.is_large_binary(chunk.type):
        return _differences(chunk, positions, np.int64)
    if types.is_string_view(chunk.type) or types.is_binary_view(chunk.type):
        return filled(pc.binary_length(chunk.take(to_arrow(positions))), 0).astype(np.int64)
    return np.full(len(positions), chunk.nbytes // max(1, len(chunk)), np.int64)  # lists and maps: the average


def _differences(chunk: pa.Array, positions: Ids, item: type[np.int32 | np.int64]) -> Bytes:
    offsets: NDArray[Any] = np.frombuffer(chunk.buffers()[1], item)[chunk.offset :]
    lengths: Bytes = offsets[1:].take(positions) - offsets.take(positions)
    return lengths
