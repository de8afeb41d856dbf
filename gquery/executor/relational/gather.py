"""Properties wait: attributes of vertices and edges, taken for the ids that travelled.

Values are taken table by table and chunk by chunk and cast afterwards, so that a stored column is never copied whole.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from gquery.arrays import of_values, pc, raised, to_arrow, to_numpy, truths
from gquery.executor.relational.unions import DURATION_PARTS, cast, union_of, union_type, with_fields, with_items
from gquery.lasting.properties import cached_property
from gquery.planner.ir.expr import Attribute, Column, Kind, Type
from gquery.planner.ir.types.common_type import MOST_DIGITS, holds_any, member_of, type_of_arrow
from gquery.storage.graph import Snapshot
from gquery.storage.numbering import Ids, Numbering, Where
from gquery.storage.tables import EdgeTable, VertexTable
from gquery.values.elements import holds_duration, tags_of

NO_KEY = " "  # the field of an empty map while it travels: DuckDB cannot spell the type of a struct without any
_LOOK = 64  # ids that are looked at for each row in the time that gathering it takes
_BESIDE = (
    1 << 10
)  # rows whose values are not copied where they stand beside each other: fewer would hold all of a column
PATH_IDS = pa.struct([("nodes", pa.list_(pa.int32())), ("relationships", pa.list_(pa.int64()))])


def gather(snapshot: Snapshot, kind: Kind, column: Column, ids: pa.Array) -> pa.Array:
    """The column's values for internal ids of vertices (`kind` NODE) or edges (RELATIONSHIP); null ids give null."""
    return Gathering(snapshot, kind, ids).values(column)


class Gathering:
    """The same for several columns: which rows of which tables the ids stand for is found once."""

    def __init__(self, snapshot: Snapshot, kind: Kind, ids: pa.Array) -> None:
        self._snapshot = snapshot
        self._kind = kind
        self._ids = ids
        self._numbers = snapshot.vertex_numbers if kind is Kind.NODE else snapshot.edges.numbers

    def values(self, column: Column) -> pa.Array:
        """The column's values; null ids give null."""
        if column.attribute in (Attribute.ELEMENT, Attribute.VALUE):
            return self._ids
        if column.attribute is Attribute.ID and self._kind is Kind.RELATIONSHIP:
            return self._ids
        if self._ids.null_count:
            return _expand(self._known.values(column), self._ids)
        if column.attribute is Attribute.TYPE:
            types = [table.type for table in self._snapshot.edge_tables]
            return _of_table(of_values(types, pa.string()), self._numbers, self._ids)
        if self._snapshot.deleted is not None:
            self._snapshot.deleted.expect_none(self._kind is Kind.NODE, to_numpy(self._ids))
        if column.attribute is Attribute.LABELS:
            labels = [list(table.labels) for table in self._snapshot.vertex_tables]
            return _of_table(of_values(labels, pa.list_(pa.string())), self._numbers, self._ids)
        return self._stored(column)

    @cached_property
    def _known(self) -> Gathering:
        """For the ids that are not null."""
        return Gathering(self._snapshot, self._kind, self._ids.drop_null())

    @cached_property
    def _parts(self) -> list[tuple[int, Where, pa.Array]]:
        """By table: where among the ids, and which of its rows."""
        parts = self._numbers.parts(to_numpy(self._ids))
        return [(table, where, to_arrow(rows)) for table, where, rows in parts]

    def _stored(self, column: Column) -> pa.Array:
        """Of a stored column."""
        nodes, snapshot, wanted = self._kind is Kind.NODE, self._snapshot, plain_type(column.type)
        tables: tuple[VertexTable | EdgeTable, ...] = snapshot.vertex_tables if nodes else snapshot.edge_tables

        def of_table(table: int, rows: pa.Array) -> pa.Array:
            first = first_id(tables[table], column, len(rows))
            if first is not None:
                return shown(to_arrow(raised(to_numpy(rows), first)), column.type)
            values = stored_column(tables[table], column)
            return pa.nulls(len(rows), wanted) if values is None else shown(_taken(values, rows), column.type)

        return _together([(where, of_table(table, rows)) for table, where, rows in self._parts], len(self._ids), wanted)


def first_id(table: VertexTable | EdgeTable, column: Column, rows: float) -> int | None:
    """The first of ids that count up, where so many rows are gathered that looking whether they do is little."""
    if not isinstance(table, VertexTable) or rows * _LOOK < table.count:
        return None
    is_id = column.attribute is Attribute.ID or (column.key is not None and column.key == table.id_name)
    return table.counts_from if is_id else None


def stored_column(table: VertexTable | EdgeTable, column: Column) -> pa.ChunkedArray | None:
    """The stored column behind a property or a user id; None when the table does not have it."""
    if column.attribute is Attribute.ID and isinstance(table, VertexTable):
        return table.ids
    return table.columns.get(column.key or "")


def tells_apart(column: Column, tables: Sequence[int], snapshot: Snapshot) -> bool:
    """Whether no two vertices of some tables have the same in a column: an id is one of a table's, but where labels
    have brought two together."""
    if column.attribute is Attribute.ELEMENT:
        return True
    if len(tables) != 1:
        return False
    table = snapshot.vertex_tables[tables[0]]
    is_id = column.attribute is Attribute.ID or (table.id_name is not None and column.key == table.id_name)
    return is_id and not table.ids_repeat


def take(values: pa.ChunkedArray, positions: Ids) -> pa.Array:
    """`values[positions]` as one array."""
    return _taken(values, to_arrow(positions))


def _taken(values: pa.ChunkedArray, positions: pa.Array) -> pa.Array:
    if count_up(to_numpy(positions)):
        part = values.slice(positions[0].as_py(), len(positions)).chunks
        return part[0] if len(part) == 1 else pa.concat_arrays(part)
    if values.num_chunks == 1:
        return values.chunk(0).take(positions)
    parts = Numbering.consecutive(map(len, values.chunks)).parts(to_numpy(positions))
    taken = [(where, values.chunk(part).take(to_arrow(inside))) for part, where, inside in parts]
    return _together(taken, len(positions), values.type)


def count_up(positions: Ids) -> bool:
    """Whether many positions each are one more than the one before, so that the values stand beside each other."""
    count = len(positions)
    if count < _BESIDE or positions[-1] - positions[0] != count - 1:
        return False
    return bool(np.all(positions[1:] - positions[:-1] == 1))


def shown(values: pa.Array, type_: Type) -> pa.Array:
    """Stored values as a column of the type has them: in its Arrow type, as the member that they are of several."""
    if pa.types.is_null(values.type):
        return pa.nulls(len(values), plain_type(type_))
    match type_.kind:
        case Kind.ANY:
            index = member_of(type_of_arrow(values.type), type_.members)
            return union_of(shown(values, type_.members[index]), index, plain_type(type_))
        case Kind.LIST if type_.arrow is None and type_.item is not None and _is_list(values.type):
            return with_items(values, shown(values.flatten(), type_.item), plain_type(type_))
        case Kind.MAP if type_.arrow is None:
            fields = [shown(values.field(index), field) for index, (_, field) in enumerate(type_.fields)]
            return with_fields(values, fields, plain_type(type_))
    return cast(values, plain_type(type_))


def _is_list(arrow: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_list(arrow) or types.is_large_list(arrow) or types.is_fixed_size_list(arrow))


def as_shown(values: pa.ChunkedArray, type_: Type) -> pa.ChunkedArray:
    """A stored column of values that carry their own types, as `shown` makes it; any other as it is."""
    if not holds_any(type_):
        return values
    return pa.chunked_array([shown(chunk, type_) for chunk in values.chunks], plain_type(type_))


def as_type(values: pa.Array, given: Type, wanted: Type) -> pa.Array:
    """Values of one type as they travel as values of another that holds them too."""
    arrow = travelling_type(wanted)
    if wanted.kind is not Kind.ANY or given.kind is Kind.NULL:
        return cast(values, arrow)
    if given.kind is not Kind.ANY:
        member = member_of(given, wanted.members)
        return union_of(cast(values, arrow.field(member).type), member, arrow)
    members = [member_of(member, wanted.members) for member in given.members]
    children = []
    for index, field in enumerate(arrow):
        held = [cast(values.field(at), field.type) for at, member in enumerate(members) if member == index]
        children.append(pc.coalesce(*held) if held else pa.nulls(len(values), field.type))
    tags = to_arrow(np.array(members, np.int8)[tags_of(values)])
    return pa.UnionArray.from_sparse(tags, children, [field.name for field in arrow])


def plain_type(type_: Type) -> pa.DataType:
    """The Arrow type in which values of a type are gathered and answered: as stored, but for dictionaries. Elements are
    ids, as in the rows between two segments."""
    arrow = type_.arrow
    if arrow is not None:
        return arrow.value_type if pa.types.is_dictionary(arrow) else arrow
    match type_.kind:
        case Kind.ANY:
            return union_type(type_, plain_type)
        case Kind.LIST:
            return pa.list_(plain_type(type_.item) if type_.item else pa.null())
        case Kind.MAP:
            return pa.struct([(key, plain_type(value)) for key, value in type_.fields] or [(NO_KEY, pa.int32())])
        case _:
            return _PLAIN[type_.kind]


def travelling_type(type_: Type) -> pa.DataType:
    """The Arrow type in which SQL sees values: elements as ids, and one integer and one float type as in Cypher,
    because narrower columns would overflow where Cypher does not."""
    match type_.kind:
        case Kind.NODE:
            return pa.int32()
        case Kind.RELATIONSHIP:
            return pa.int64()
        case Kind.PATH:
            return PATH_IDS
        case Kind.FLOAT:
            return pa.float64()
        case Kind.DECIMAL:
            assert type_.arrow is not None
            return pa.decimal128(min(type_.arrow.precision, MOST_DIGITS), type_.arrow.scale)
        case Kind.ANY:
            return union_type(type_, travelling_type)
        case Kind.TEMPORAL if pa.types.is_interval(plain_type(type_)):
            return DURATION_PARTS
        case Kind.LIST if type_.item is not None and holds_duration(plain_type(type_)):
            return pa.list_(travelling_type(type_.item))
        case Kind.MAP if holds_duration(plain_type(type_)):
            return pa.struct([(key, travelling_type(value)) for key, value in type_.fields])
        case Kind.INTEGER if not (type_.arrow is not None and pa.types.is_uint64(type_.arrow)):
            return pa.int64()
        case _:
            return plain_type(type_)


_PLAIN = {
    Kind.BOOLEAN: pa.bool_(), Kind.INTEGER: pa.int64(), Kind.FLOAT: pa.float64(), Kind.STRING: pa.string(),
    Kind.BYTES: pa.binary(), Kind.NULL: pa.null(), Kind.NODE: pa.int32(), Kind.RELATIONSHIP: pa.int64(),
    Kind.PATH: PATH_IDS,
}  # fmt: skip


def _together(parts: list[tuple[Where, pa.Array]], count: int, wanted: pa.DataType) -> pa.Array:
    """What was taken part by part (of a table, a chunk), in the order of the ids. Where: each part is among them."""
    if len(parts) < 2:
        return parts[0][1] if parts else pa.nulls(0, wanted)
    place = np.empty(count, np.int64)
    place[np.concatenate([where for where, _ in parts])] = np.arange(count)
    return pa.concat_arrays([taken for _, taken in parts]).take(to_arrow(place))


def _of_table(values: pa.Array, numbers: Numbering, ids: pa.Array) -> pa.Array:
    """The value of each id's table."""
    return values.take(to_arrow(numbers.tables_of(to_numpy(ids))))


def _expand(taken: pa.Array, ids: pa.Array) -> pa.Array:
    """Values of the ids that are not null, put back between the nulls."""
    missing = truths(ids.is_null())
    return taken.take(to_arrow(np.cumsum(~missing) - 1, ~missing))
