"""How many bytes the values take that rows of ids stand for, so that a batch of huge texts is gathered in parts."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import filled, pc, to_arrow, to_numpy
from gquery.errors import Span
from gquery.executor.progress import Control
from gquery.executor.relational.elements import ElementWriter
from gquery.executor.relational.gather import count_up, stored_column
from gquery.planner.ir.expr import Attribute, Column, Kind, Type
from gquery.storage.graph import Snapshot
from gquery.storage.numbering import Ids, Numbering
from gquery.storage.tables import EdgeTable, VertexTable

Bytes = NDArray[np.int64]
BATCH_BYTES = 16 * 2**20
BATCH_ROWS = 1 << 15
_FEWEST_BYTES = 2**18
_READ_AT_ONCE = 1 << 20  # values: a millisecond, once for each column
_LONGEST: WeakKeyDictionary[Snapshot, dict[Hashable, int]] = WeakKeyDictionary()
_SHORT = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL, Kind.TEMPORAL})
_LIST = 16  # bytes: at least what a value costs besides its text or items
_OFFSET = 4  # bytes
_ITEMS_AT_ONCE = 1 << 16


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


def long_row(size: int, control: Control) -> AbstractContextManager[None]:
    """Counts the bytes of a row for a while, where they are more than those of a batch may be."""
    return control.memory.taken(size, "one row") if size > batch_bytes(control) else nullcontext()


def batch_bytes(control: Control) -> int:
    """How many bytes the values of a batch may take."""
    limit = control.memory_limit
    return BATCH_BYTES if limit is None else max(_FEWEST_BYTES, min(BATCH_BYTES, limit // 16))


class Copies:
    """Rows that are repeated, each as often as something belongs to it: in parts that take little, for a row may have a
    value of millions of bytes."""

    def __init__(self, rows: pa.Table, control: Control) -> None:
        self._control, self._most = control, batch_bytes(control)
        (whole,) = rows.to_batches()
        self._widths = np.maximum(sum(map(held_bytes, whole.columns)), self._most // BATCH_ROWS)
        self._longest = int(self._widths.max())

    def parts(self, places: NDArray[np.int64]) -> Iterator[slice]:
        """What of these places of rows is copied at once."""
        if len(places) * self._longest <= self._most:
            yield from [slice(0, len(places))] if len(places) else ()
            return
        widths = self._widths[places] if self._widths.ndim else np.full(len(places), self._longest)
        for begin, size in parts([widths], len(places), self._most):
            with long_row(int(widths[begin]) if size == 1 else 0, self._control):
                yield slice(begin, begin + size)


def held_bytes(values: pa.Array) -> Bytes | int:
    """The bytes that each value has, about; a number where all have the same."""
    types, arrow = pa.types, values.type
    if not len(values):
        return 0
    if types.is_null(arrow) or _is_short(arrow):
        return _fixed_bytes(arrow)
    if types.is_struct(arrow) or types.is_union(arrow):
        return sum((held_bytes(values.field(index)) for index in range(arrow.num_fields)), int(types.is_union(arrow)))
    if types.is_list(arrow):
        bounds = np.concatenate([[0], np.cumsum(filled(values.value_lengths(), 0))])
        inside = held_bytes(values.flatten())
        ends = bounds * inside if isinstance(inside, int) else np.concatenate([[0], np.cumsum(inside)])[bounds]
        widths: Bytes = np.diff(ends) + _OFFSET
        return widths
    return _chunk_lengths(values, np.arange(len(values))) + _OFFSET


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
    beside = _element_bytes(snapshot, column.type) if column.attribute is Attribute.ELEMENT else _LIST
    if len(ids) * (beside + _longest_of_all(snapshot, kind, column)) < most:
        return None
    tables: tuple[VertexTable | EdgeTable, ...] = snapshot.vertex_tables if kind is Kind.NODE else snapshot.edge_tables
    numbers = snapshot.vertex_numbers if kind is Kind.NODE else snapshot.edges.numbers
    known = filled(ids, 0)
    columns = {table: _columns(tables[table], column) for table in numbers.tables_near(known)}
    longest = max(sum(_longest(snapshot, values) for values in stored) for stored in columns.values())
    if len(known) * (beside + longest) < most:
        return None
    widths = np.full(len(known), beside, np.int64)
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
            widths = _copied_widths(snapshot, values, type_, most)
            shared = widths is not None and _are_stored_so(snapshot, type_, values)
            return np.full(len(values), _LIST + _name_bytes(snapshot, type_)) if shared else widths
        case Kind.LIST if type_.item is not None and type_.arrow is None and pa.types.is_list(values.type):
            return _list_widths(snapshot, values, type_.item, most)
        case Kind.PATH | Kind.MAP if type_.arrow is None and pa.types.is_struct(values.type):
            # Arrow aborts where it is to give a union, which holds no elements, the nulls of its map.
            fields = [(at, inner) for at, (_, inner) in enumerate(type_.fields) if inner.kind is not Kind.ANY]
            return _added(
                [element_widths(snapshot, pc.struct_field(values, [at]), inner, most) for at, inner in fields]
            )
    return None


def _copied_widths(snapshot: Snapshot, ids: pa.Array, type_: Type, most: int) -> Bytes | None:
    """Of elements whose properties are gathered."""
    return widths_of(snapshot, type_.kind, Column(type_, Span(0, 0), "", Attribute.ELEMENT), ids, most)


def _are_stored_so(snapshot: Snapshot, type_: Type, ids: pa.Array) -> bool:
    """Whether elements stand beside each other: what is stored of them goes out as it is then, and is not copied."""
    numbers = snapshot.vertex_numbers if type_.kind is Kind.NODE else snapshot.edges.numbers
    placed = [] if ids.null_count else [rows for _, _, rows in numbers.parts(to_numpy(ids))]
    return len(placed) == 1 and count_up(placed[0])


def _list_widths(snapshot: Snapshot, lists: pa.Array, item: Type, most: int) -> Bytes | None:
    """Of lists, some items after the others: one list may have as many as there is memory for."""
    items, found, lengths = lists.flatten(), None, filled(lists.value_lengths(), 0)
    is_element = item.kind in (Kind.NODE, Kind.RELATIONSHIP)
    if is_element and _are_stored_so(snapshot, item, items):
        return lengths * np.int64(_LIST + _name_bytes(snapshot, item))
    bounds, inside_of = np.concatenate([[0], np.cumsum(lengths)]), _copied_widths if is_element else element_widths
    for begin in range(0, len(items), _ITEMS_AT_ONCE):
        part = items.slice(begin, _ITEMS_AT_ONCE)
        inside = inside_of(snapshot, part, item, most * len(part) // len(items))
        if inside is not None:
            ends = np.concatenate([[0], np.cumsum(inside)])
            found = np.zeros(len(lists), np.int64) if found is None else found
            found += np.diff(ends[np.clip(bounds - begin, 0, len(part))])
    return found


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


def _element_bytes(snapshot: Snapshot, type_: Type) -> int:
    """The bytes of an element beside its texts and lists: it has room for the properties of all tables that it may come
    from."""
    known, asked = _LONGEST.setdefault(snapshot, {}), ("element", type_)
    if asked not in known:
        known[asked] = _name_bytes(snapshot, type_) + _fixed_bytes(ElementWriter(snapshot).arrow_type(type_))
    return known[asked]


def _name_bytes(snapshot: Snapshot, type_: Type) -> int:
    """The bytes of an element's labels, or of its type."""
    if type_.kind is Kind.NODE:
        names = [table.labels for table in snapshot.vertex_tables]
    else:
        names = [(table.type,) for table in snapshot.edge_tables]
    own = [names[table] for table in type_.tables] or names
    return max((sum(_OFFSET + len(name) for name in each) for each in own), default=0)


def _fixed_bytes(arrow: pa.DataType) -> int:
    """The bytes that each value of a type has, however short it is."""
    if pa.types.is_struct(arrow) or pa.types.is_union(arrow):
        return sum((_fixed_bytes(field.type) for field in arrow), int(pa.types.is_union(arrow)))
    if pa.types.is_null(arrow):
        return 0
    return -(-int(arrow.bit_width) // 8) if _is_short(arrow) else _OFFSET


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
