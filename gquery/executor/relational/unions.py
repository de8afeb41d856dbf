"""Values of several types as Arrow: sparse unions, with a member for every type that the query knows of.

A union has no nulls of its own: a null is a null of whichever member.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from gquery.arrays import filled, of_values, pc, to_arrow, truths
from gquery.planner.ir.expr import Kind, Type
from gquery.planner.ir.types.common_type import member_of, type_of_arrow
from gquery.values.elements import holds_duration, holds_union, tags_of

DURATION_PARTS = pa.struct([("months", pa.int32()), ("days", pa.int32()), ("nanoseconds", pa.int64())])
_INTERVAL = np.dtype([("months", np.int32), ("days", np.int32), ("nanoseconds", np.int64)])

_NAMES = {
    Kind.BOOLEAN: "boolean", Kind.INTEGER: "integer", Kind.FLOAT: "float", Kind.DECIMAL: "decimal",
    Kind.STRING: "string", Kind.BYTES: "bytes", Kind.LIST: "list", Kind.MAP: "map",
    Kind.NODE: "node", Kind.RELATIONSHIP: "relationship", Kind.PATH: "path",
}  # fmt: skip


def union_type(several: Type, of_member: Callable[[Type], pa.DataType]) -> pa.DataType:
    """The Arrow type of an ANY, given the Arrow types of its members."""
    names = member_names(several)
    fields = [pa.field(name, of_member(member)) for name, member in zip(names, several.members, strict=True)]
    return pa.sparse_union(fields)


def member_names(several: Type) -> tuple[str, ...]:
    """What the members of an ANY are called, in Arrow and in SQL: by kind, and numbered where a kind is there twice."""
    names: list[str] = []
    for member in several.members:
        name = _NAMES.get(member.kind) or _temporal_name(member.arrow)
        count = sum(other.rstrip("0123456789") == name for other in names)
        names.append(f"{name}{count + 1}" if count else name)
    return tuple(names)


def _temporal_name(arrow: pa.DataType) -> str:
    if pa.types.is_date(arrow):
        return "date"
    if pa.types.is_timestamp(arrow):
        return "datetime"
    if pa.types.is_struct(arrow):
        return "zoned_time"
    return "time" if pa.types.is_time(arrow) else "duration"


def union_of(values: pa.Array, member: int, wanted: pa.DataType) -> pa.Array:
    """A union of type `wanted` whose values are all of one member."""
    children = [pa.nulls(len(values), field.type) if index != member else values for index, field in enumerate(wanted)]
    tags = to_arrow(np.full(len(values), member, np.int8))
    return pa.UnionArray.from_sparse(tags, children, [field.name for field in wanted])


def is_known(values: pa.Array) -> pa.Array:
    """Where a value is not null. Arrow's own test does not look into the members of a union before its version 26."""
    if not pa.types.is_union(values.type):
        return values.is_valid()
    tags = tags_of(values)
    members = [truths(values.field(index).is_valid()) & (tags == index) for index in range(values.type.num_fields)]
    return to_arrow(np.logical_or.reduce(members))


def widened(values: pa.Array | pa.ChunkedArray, wanted: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """The values as `wanted`, whose unions have members for all types that they are of, and others."""
    if isinstance(values, pa.ChunkedArray):
        return pa.chunked_array([widened(chunk, wanted) for chunk in values.chunks], wanted)
    if pa.types.is_list(wanted) and pa.types.is_list(values.type) and values.type != wanted:
        return with_items(values, widened(values.flatten(), wanted.value_type), wanted)
    if pa.types.is_struct(wanted) and pa.types.is_struct(values.type) and values.type != wanted:
        return with_fields(values, [_widened_field(values, field) for field in wanted], wanted)
    if values.type == wanted or not pa.types.is_union(wanted) or pa.types.is_null(values.type):
        return cast(values, wanted)
    if not pa.types.is_union(values.type):
        (place,) = _places([values.type], wanted)
        return union_of(widened(values, wanted.field(place).type), place, wanted)
    places = _places([field.type for field in values.type], wanted)
    members = []
    for index, field in enumerate(wanted):
        held = [widened(values.field(at), field.type) for at, place in enumerate(places) if place == index]
        members.append(pc.coalesce(*held) if len(held) > 1 else held[0] if held else pa.nulls(len(values), field.type))
    tags = np.array(places, np.int8)[tags_of(values)]
    return pa.UnionArray.from_sparse(to_arrow(tags), members, [field.name for field in wanted])


def _places(types: Sequence[pa.DataType], wanted: pa.DataType) -> list[int]:
    """The members that values of some types are, or become: all lists are of one."""
    exact = {field.type: place for place, field in enumerate(wanted)}
    members = tuple(type_of_arrow(field.type) for field in wanted)
    return [exact[type_] if type_ in exact else member_of(type_of_arrow(type_), members) for type_ in types]


def _widened_field(values: pa.StructArray, wanted: pa.Field) -> pa.Array:
    """Nulls where the values have no such field."""
    if values.type.get_field_index(wanted.name) < 0:
        return pa.nulls(len(values), wanted.type)
    return widened(values.field(wanted.name), wanted.type)


def cast(values: pa.Array | pa.ChunkedArray, wanted: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """The values as `wanted`, unions within them member by member; values without any type are nulls."""
    if values.type == wanted:
        return values
    if isinstance(values, pa.ChunkedArray):
        return pa.chunked_array([cast(chunk, wanted) for chunk in values.chunks], wanted)
    if pa.types.is_null(values.type) or pa.types.is_null(wanted):
        return pa.nulls(len(values), wanted)
    if pa.types.is_interval(values.type) and pa.types.is_struct(wanted):
        return _parts_of(values)
    if pa.types.is_struct(values.type) and pa.types.is_interval(wanted):
        return _intervals_of(values)
    if pa.types.is_union(wanted):
        children = [cast(values.field(index), field.type) for index, field in enumerate(wanted)]
        return with_members(values, children, wanted)
    plain = _is_plain(wanted) and _is_plain(values.type)
    if pa.types.is_list(wanted) and not plain:
        return with_items(values, cast(values.flatten(), wanted.value_type), wanted)
    if pa.types.is_struct(wanted) and not plain:
        fields = [cast(values.field(index), field.type) for index, field in enumerate(wanted)]
        return with_fields(values, fields, wanted)
    return values.cast(wanted)


def in_parts(arrow: pa.DataType) -> pa.DataType:
    """The type with structs in place of durations: those of DuckDB have no nanoseconds, and a month of 30 days."""
    if pa.types.is_interval(arrow):
        return DURATION_PARTS
    if not holds_duration(arrow):
        return arrow
    if pa.types.is_list(arrow):
        return pa.list_(in_parts(arrow.value_type))
    fields = [field.with_type(in_parts(field.type)) for field in arrow]
    return pa.sparse_union(fields) if pa.types.is_union(arrow) else pa.struct(fields)


def _is_plain(wanted: pa.DataType) -> bool:
    """Whether Arrow's own cast makes values of the type: it knows no unions and durations, and makes no nulls of
    values."""
    if pa.types.is_nested(wanted):
        children = [wanted.field(index).type for index in range(wanted.num_fields)]
        return bool(children) and not pa.types.is_union(wanted) and all(map(_is_plain, children))
    return not (pa.types.is_null(wanted) or pa.types.is_interval(wanted))


def _parts_of(intervals: pa.Array) -> pa.Array:
    """Durations as structs."""
    buffer, begin = intervals.buffers()[1] or b"", intervals.offset * _INTERVAL.itemsize
    found = np.frombuffer(buffer, np.uint8)[begin : begin + len(intervals) * _INTERVAL.itemsize].view(_INTERVAL)
    fields = [pa.array(found[name]) for name in _INTERVAL.names or ()]
    return pa.StructArray.from_arrays(fields, fields=list(DURATION_PARTS), mask=_mask(intervals))


def _intervals_of(parts: pa.Array) -> pa.Array:
    """Structs as durations."""
    made = np.zeros(len(parts), _INTERVAL)
    for name, values in zip(_INTERVAL.names or (), parts.flatten(), strict=True):
        made[name] = values.fill_null(0).to_numpy(zero_copy_only=False)
    known = np.packbits(np.asarray(parts.is_valid()), bitorder="little")
    buffers = [pa.py_buffer(known.tobytes()), pa.py_buffer(made.tobytes())]
    return pa.Array.from_buffers(pa.month_day_nano_interval(), len(parts), buffers)


def unsliced(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with its unions copied to where no slice begins: DuckDB reads no others."""
    if not any(holds_union(field.type) for field in batch.schema):
        return batch
    columns = [pa.concat_arrays([column, column.slice(0, 0)]) if holds_union(column.type) else column
               for column in batch.columns]  # fmt: skip
    return pa.record_batch(columns, schema=batch.schema)


def with_items(values: pa.Array, items: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Lists as long as `values`, null where they are, with these items."""
    lengths = filled(pc.list_value_length(values), 0)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(to_arrow(offsets), items, type=wanted, mask=_mask(values))


def with_members(values: pa.Array, children: list[pa.Array], wanted: pa.DataType) -> pa.Array:
    """A union of the children, of the same members as `values`."""
    return pa.UnionArray.from_sparse(to_arrow(tags_of(values)), children, [field.name for field in wanted])


def with_fields(original: pa.Array, fields: list[pa.Array], wanted: pa.DataType) -> pa.Array:
    """A struct of the fields, null where `original` is."""
    if not fields:  # an empty map: Arrow could not tell how many there are
        return of_values([None if missing else {} for missing in original.is_null().to_pylist()], wanted)
    return pa.StructArray.from_arrays(fields, fields=list(wanted), mask=_mask(original))


def _mask(values: pa.Array) -> pa.Array | None:
    return values.is_null() if values.null_count else None
