"""Whole nodes, relationships and paths: ids become structs at the very end, also inside lists and maps."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from gquery.arrays import filled, pc, to_arrow, to_numpy, truths
from gquery.errors import Span
from gquery.executor.relational.gather import PATH_IDS, gather, plain_type
from gquery.executor.relational.unions import cast, union_type, with_fields, with_items, with_members
from gquery.planner.ir.expr import NODE, RELATIONSHIP, STRING, Attribute, Column, Kind, Type
from gquery.planner.ir.types.common_type import list_of, type_of_stored
from gquery.storage.graph import Snapshot

_FORWARD = pa.list_(pa.bool_())


class ElementWriter:
    """Turns ids into elements, whose types say which tables they may come from.

    A node is `{id, labels, properties}`, a relationship `{type, start, end, properties}` (start and end are users'
    ids), a path `{nodes, relationships, forward}`: whether each relationship leads on, which ids do not tell where two
    labels have the same. `properties` has the properties of all the tables, null where an element does
    not have one; it is of type null when the tables have none at all.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    def arrow_type(self, type_: Type) -> pa.DataType:
        """The Arrow type of the answer's values."""
        match type_.kind:
            case Kind.NODE:
                fields = [("id", plain_type(self._id_type(type_.tables))), ("labels", pa.list_(pa.string()))]
                return pa.struct([*fields, ("properties", _struct(self._properties_of(type_)))])
            case Kind.RELATIONSHIP:
                end = plain_type(self._id_type())
                fields = [("type", pa.string()), ("start", end), ("end", end)]
                return pa.struct([*fields, ("properties", _struct(self._properties_of(type_)))])
            case Kind.LIST if type_.item is not None and type_.arrow is None:
                return pa.list_(self.arrow_type(type_.item))
            case Kind.PATH | Kind.MAP if type_.arrow is None:
                fields = [(key, self.arrow_type(value)) for key, value in type_.fields]
                return pa.struct([*fields, ("forward", _FORWARD)] if type_.kind is Kind.PATH else fields)
            case Kind.ANY:
                return union_type(type_, self.arrow_type)
            case _:
                return plain_type(type_)

    def write(self, values: pa.Array, type_: Type) -> pa.Array:
        """The values as the answer shows them: ids replaced by elements, everything else in its Arrow type."""
        wanted = self.arrow_type(type_)
        if pa.types.is_null(values.type):
            return pa.nulls(len(values), wanted)
        match type_.kind:
            case Kind.NODE:
                return self._nodes(cast(values, pa.int32()), type_)
            case Kind.RELATIONSHIP:
                return self._relationships(cast(values, pa.int64()), type_)
            case Kind.LIST if type_.item is not None and type_.arrow is None:
                return with_items(values, self.write(values.flatten(), type_.item), wanted)
            case Kind.PATH | Kind.MAP if type_.arrow is None:
                fields = [self.write(values.field(index), value) for index, (_, value) in enumerate(type_.fields)]
                fields += [self._forward(values)] if type_.kind is Kind.PATH else []
                return with_fields(values, fields, wanted)
            case Kind.ANY:
                children = [self.write(values.field(index), member) for index, member in enumerate(type_.members)]
                return with_members(values, children, wanted)
            case _:
                return cast(values, wanted)

    def _id_type(self, tables: tuple[int, ...] = ()) -> Type:
        """The type of the users' ids in some vertex tables, or in all."""
        chosen = [self.snapshot.vertex_tables[table] for table in tables] or self.snapshot.vertex_tables
        return type_of_stored(table.id_type for table in chosen)

    def _properties_of(self, type_: Type) -> dict[str, Type]:
        """The properties that elements of the type can have."""
        schema = self.snapshot.schema
        if type_.kind is Kind.NODE:
            found = schema.vertex_properties(type_.tables or None)
        else:
            types = {self.snapshot.edge_tables[table].type for table in type_.tables}
            found = schema.edge_properties(types or None)
        return {key: type_of_stored(types) for key, types in found.items()}

    def _nodes(self, ids: pa.Array, type_: Type) -> pa.Array:
        fields = [
            self._attribute(NODE, Attribute.ID, self._id_type(type_.tables), ids),
            self._attribute(NODE, Attribute.LABELS, list_of(STRING), ids),
            self._properties(type_, ids),
        ]
        return with_fields(ids, fields, self.arrow_type(type_))

    def _relationships(self, ids: pa.Array, type_: Type) -> pa.Array:
        start, end = (
            self._attribute(NODE, Attribute.ID, self._id_type(), ends_of(self.snapshot, ids, which)) for which in (0, 1)
        )
        types = self._attribute(RELATIONSHIP, Attribute.TYPE, STRING, ids)
        return with_fields(ids, [types, start, end, self._properties(type_, ids)], self.arrow_type(type_))

    def _forward(self, paths: pa.StructArray) -> pa.ListArray:
        """Of each relationship of paths whether it leads from the node before it to the one behind it."""
        nodes, edges = paths.field(0), paths.field(1)
        behind, lengths = (to_numpy(pc.fill_null(pc.list_value_length(each), 0)).cumsum() for each in (nodes, edges))
        counts = np.diff(lengths, prepend=0)
        first = np.repeat(behind - np.diff(behind, prepend=0) - (lengths - counts), counts)  # node, less first edge
        sources = to_numpy(ends_of(self.snapshot, edges.flatten(), 0))
        leads_on = sources == to_numpy(nodes.flatten())[first + np.arange(len(sources))]
        return with_items(edges, to_arrow(leads_on), _FORWARD)

    def _properties(self, owner: Type, ids: pa.Array) -> pa.Array:
        types = self._properties_of(owner)
        if not types:
            return pa.nulls(len(ids))
        columns = [self._attribute(owner, Attribute.PROPERTY, type_, ids, key) for key, type_ in types.items()]
        return with_fields(ids, columns, _struct(types))

    def _attribute(
        self, owner: Type, attribute: Attribute, type_: Type, ids: pa.Array, key: str | None = None
    ) -> pa.Array:
        column = Column(type_, Span(0, 0), "", attribute, key)
        return gather(self.snapshot, owner.kind, column, ids)


def ends_of(snapshot: Snapshot, edges: pa.Array, which: int) -> pa.Array:
    """The source (`which` 0) or target (1) of each edge id, int32; null stays null."""
    known = truths(edges.is_valid())
    found = np.zeros(len(known), np.int32)
    found[known] = snapshot.edges.ends_of(to_numpy(edges)[known])[which]
    return to_arrow(found, known)


def path_ids(vertices: list[pa.Array], edges: list[pa.Array]) -> pa.Array:
    """The paths of a batch as they travel: per row the ids of the vertices and of the edges; null where one of them
    is."""
    rows = len(vertices[0])
    present = np.ones(rows, np.bool_)
    parts = []
    for columns, item in ((vertices, np.int32), (edges, np.int64)):
        for column in columns:
            if column.null_count:
                present &= truths(column.is_valid())
        known = [filled(column, 0) for column in columns]
        flat = np.stack(known, axis=1).ravel() if columns else np.zeros(0, item)
        offsets = np.arange(rows + 1, dtype=np.int32) * len(columns)
        parts.append(pa.ListArray.from_arrays(to_arrow(offsets), to_arrow(flat)))
    mask = None if present.all() else to_arrow(~present)
    return pa.StructArray.from_arrays(parts, fields=list(PATH_IDS), mask=mask)


def _struct(types: Mapping[str, Type]) -> pa.DataType:
    return pa.struct([(key, plain_type(type_)) for key, type_ in types.items()]) if types else pa.null()
