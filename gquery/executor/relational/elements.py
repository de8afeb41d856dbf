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
    relationships}`. The properties are those of all tables; null where an element does not have them.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    def arrow_type(self, type_: Type) -> pa.DataType | None:
        """The Arrow type of an answer column; None when it is known only by its expression."""
        match type_.kind:
            case Kind.NODE:
                return pa.struct([("id", self._id_type), ("labels", pa.list_(pa.string())),
                                  ("properties", self._properties_type(True))])  # fmt: skip
            case Kind.RELATIONSHIP:
                return pa.struct([("type", pa.string()), ("start", self._id_type), ("end", self._id_type),
                                  ("properties", self._properties_type(False))])  # fmt: skip
            case Kind.PATH:
                nodes, relationships = self.arrow_type(Type(Kind.NODE)), self.arrow_type(Type(Kind.RELATIONSHIP))
                return pa.struct([("nodes", pa.list_(nodes)), ("relationships", pa.list_(relationships))])
            case Kind.LIST if type_.item is not None and holds_elements(type_):
                return pa.list_(self.arrow_type(type_.item))
        return None

    def write(self, values: pa.Array, type_: Type) -> pa.Array:
        """The column with ids replaced by elements; columns without elements are returned as they are."""
        if not holds_elements(type_):
            return values
        match type_.kind:
            case Kind.NODE:
                return self._nodes(values.cast(pa.int32()))
            case Kind.RELATIONSHIP:
                return self._relationships(values.cast(pa.int64()))
            case Kind.PATH:
                node_list = Type(Kind.LIST, None, Type(Kind.NODE))
                relationship_list = Type(Kind.LIST, None, Type(Kind.RELATIONSHIP))
                parts = [
                    self.write(values.field("vertices"), node_list), self.write(values.field("edges"), relationship_list)
                ]  # fmt: skip
                return pa.StructArray.from_arrays(parts, ["nodes", "relationships"], mask=values.is_null())
        assert type_.kind is Kind.LIST and type_.item is not None
        items = self.write(values.flatten(), type_.item)
        lengths = np.diff(values.offsets.to_numpy())
        if values.null_count:
            lengths = np.where(values.is_null().to_numpy(zero_copy_only=False), 0, lengths)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), items, mask=values.is_null() if values.null_count else None)

    @property
    def _id_type(self) -> pa.DataType:
        return common_type(table.id_type for table in self.snapshot.vertex_tables) or pa.string()

    def _property_types(self, of_vertices: bool) -> dict[str, pa.DataType]:
        schema = self.snapshot.schema
        types = schema.vertex_properties() if of_vertices else schema.edge_properties()
        return {name: common_type(found) or pa.string() for name, found in types.items()}

    def _properties_type(self, of_vertices: bool) -> pa.DataType:
        return pa.struct(list(self._property_types(of_vertices).items()))

    def _nodes(self, ids: pa.Array) -> pa.Array:
        columns = [
            take(self.snapshot.vertex_property(name, arrow), ids) for name, arrow in self._property_types(True).items()
        ]
        parts = [
            take(self.snapshot.vertex_ids(), ids).cast(self._id_type), labels_of(self.snapshot, ids),
            _struct(columns, self._properties_type(True), len(ids)),
        ]  # fmt: skip
        return pa.StructArray.from_arrays(parts, fields=list(self._fields(Kind.NODE)), mask=_nulls(ids))

    def _relationships(self, ids: pa.Array) -> pa.Array:
        source, target = (pa.array(end) for end in self.snapshot.ends)
        vertex_ids = self.snapshot.vertex_ids()
        columns = [
            take(self.snapshot.edge_property(name, arrow), ids) for name, arrow in self._property_types(False).items()
        ]
        parts = [
            types_of(self.snapshot, ids), take(vertex_ids, take(source, ids)).cast(self._id_type),
            take(vertex_ids, take(target, ids)).cast(self._id_type),
            _struct(columns, self._properties_type(False), len(ids)),
        ]  # fmt: skip
        return pa.StructArray.from_arrays(parts, fields=list(self._fields(Kind.RELATIONSHIP)), mask=_nulls(ids))

    def _fields(self, kind: Kind) -> pa.DataType:
        return self.arrow_type(Type(kind)) or pa.struct([])


def holds_elements(type_: Type) -> bool:
    """Whether values of the type are or contain nodes, relationships or paths."""
    if type_.kind is Kind.LIST and type_.item is not None:
        return holds_elements(type_.item)
    return type_.kind in (Kind.NODE, Kind.RELATIONSHIP, Kind.PATH)


def _struct(columns: list[pa.Array], type_: pa.DataType, count: int) -> pa.Array:
    if not columns:
        return pa.array([{}] * count, type_)
    return pa.StructArray.from_arrays(columns, fields=list(type_))


def _nulls(ids: pa.Array) -> pa.Array | None:
    return ids.is_null() if ids.null_count else None
