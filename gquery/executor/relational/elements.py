"""Whole nodes, relationships and paths: ids become structs at the very end, also inside lists and maps."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from gquery.executor.relational.gather import labels_of, take, types_of
from gquery.planner.expr import Kind, Type
from gquery.storage.graph import Snapshot
from gquery.storage.schema import common_type


class ElementWriter:
    """Turns ids into nodes, relationships and paths of one snapshot.

    A node is `{id, labels, properties}`, a relationship `{type, start, end, properties}`, a path `{nodes,
    relationships}`. The properties are those of the tables that an element may come from; null where it has none.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    def arrow_type(self, type_: Type) -> pa.DataType | None:
        """The Arrow type of a column of elements, or lists of them; None for every other type."""
        match type_.kind:
            case Kind.NODE:
                return pa.struct([("id", self._id_type(type_)), ("labels", pa.list_(pa.string())),
                                  ("properties", self._properties_type(type_))])  # fmt: skip
            case Kind.RELATIONSHIP:
                return pa.struct([("type", pa.string()), ("start", self._id_type()), ("end", self._id_type()),
                                  ("properties", self._properties_type(type_))])  # fmt: skip
            case Kind.PATH:
                return pa.struct([(name, self.arrow_type(part)) for name, part in type_.fields])
            case Kind.LIST if type_.item is not None and holds_elements(type_):
                return pa.list_(self.arrow_type(type_.item))
        return None

    def write(self, values: pa.Array, type_: Type) -> pa.Array:
        """The column with ids replaced by elements; columns without elements are returned as they are."""
        if not holds_elements(type_):
            return values
        match type_.kind:
            case Kind.NODE:
                return self._nodes(values.cast(pa.int32()), type_)
            case Kind.RELATIONSHIP:
                return self._relationships(values.cast(pa.int64()), type_)
            case Kind.PATH:
                ids = {"nodes": values.field("vertices"), "relationships": values.field("edges")}
                parts = [self.write(ids[name], part) for name, part in type_.fields]
                return pa.StructArray.from_arrays(parts, [name for name, _ in type_.fields], mask=_nulls(values))
        assert type_.item is not None
        items = self.write(values.flatten(), type_.item)
        lengths = values.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), items, mask=_nulls(values))

    def _id_type(self, type_: Type | None = None) -> pa.DataType:
        tables = self.snapshot.schema.vertex_tables
        chosen = tables if type_ is None else [tables[index] for index in type_.tables]
        return common_type(table.id_type for table in chosen) or pa.string()

    def _property_types(self, type_: Type) -> dict[str, pa.DataType]:
        schema = self.snapshot.schema
        if type_.kind is Kind.NODE:
            found = schema.vertex_properties(type_.tables)
        else:
            found = schema.edge_properties(schema.edge_tables[index].type for index in type_.tables)
        return {name: common_type(types) or pa.string() for name, types in found.items()}

    def _properties_type(self, type_: Type) -> pa.DataType:
        return pa.struct(list(self._property_types(type_).items()))

    def _nodes(self, ids: pa.Array, type_: Type) -> pa.Array:
        columns = [
            take(self.snapshot.vertex_property(name, arrow), ids) for name, arrow in self._property_types(type_).items()
        ]
        parts = [
            take(self.snapshot.vertex_ids(), ids).cast(self._id_type(type_)), labels_of(self.snapshot, ids),
            _struct(columns, self._properties_type(type_), len(ids)),
        ]  # fmt: skip
        return pa.StructArray.from_arrays(parts, fields=list(self.arrow_type(type_) or ()), mask=_nulls(ids))

    def _relationships(self, ids: pa.Array, type_: Type) -> pa.Array:
        source, target = (pa.array(end) for end in self.snapshot.ends)
        vertex_ids = self.snapshot.vertex_ids()
        columns = [
            take(self.snapshot.edge_property(name, arrow), ids) for name, arrow in self._property_types(type_).items()
        ]
        parts = [
            types_of(self.snapshot, ids), take(vertex_ids, take(source, ids)).cast(self._id_type()),
            take(vertex_ids, take(target, ids)).cast(self._id_type()),
            _struct(columns, self._properties_type(type_), len(ids)),
        ]  # fmt: skip
        return pa.StructArray.from_arrays(parts, fields=list(self.arrow_type(type_) or ()), mask=_nulls(ids))


def holds_elements(type_: Type) -> bool:
    """Whether values of the type are or contain nodes, relationships or paths."""
    if type_.kind is Kind.LIST and type_.item is not None:
        return holds_elements(type_.item)
    return type_.kind in (Kind.NODE, Kind.RELATIONSHIP, Kind.PATH)


def _struct(columns: list[pa.Array], type_: pa.DataType, count: int) -> pa.Array:
    if not columns:
        return pa.array([{}] * count, type_)
    return pa.StructArray.from_arrays(columns, fields=list(type_))


def _nulls(values: pa.Array) -> pa.Array | None:
    return values.is_null() if values.null_count else None
