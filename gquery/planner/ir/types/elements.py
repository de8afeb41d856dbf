"""Types of what nodes and relationships have: their properties, ids, labels and types."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from gquery.planner.ir.expr import INTEGER, STRING, Attribute, Kind, Type
from gquery.planner.ir.types.common_type import type_of_stored
from gquery.storage.schema import Schema

ELEMENTS = frozenset({Kind.NODE, Kind.RELATIONSHIP})


def stored_property(schema: Schema, element: Type, key: str) -> tuple[pa.DataType, ...]:
    """The types that elements of the type store a property in; none where they do not have it."""
    if element.kind is Kind.NODE:
        return schema.vertex_property(key, element.tables or None)
    return schema.edge_property(key, edge_types(schema, element) or None)


def stored_properties(schema: Schema, element: Type) -> Mapping[str, tuple[pa.DataType, ...]]:
    """All properties that elements of the type may have, and the types that they store these in."""
    if element.kind is Kind.NODE:
        return schema.vertex_properties(element.tables or None)
    return schema.edge_properties(edge_types(schema, element) or None)


def edge_types(schema: Schema, relationship: Type) -> list[str]:
    """The types of the relationships, sorted."""
    return sorted({schema.edge_tables[table].type for table in relationship.tables})


def attribute_type(schema: Schema, element: Type, attribute: Attribute, key: str | None = None) -> Type:
    """The type of an attribute of elements; of a property that they do not have it is NULL."""
    match attribute:
        case Attribute.LABELS:
            return Type(Kind.LIST, pa.list_(pa.string()), STRING)
        case Attribute.TYPE:
            return STRING
        case Attribute.ID if element.kind is Kind.RELATIONSHIP:
            return INTEGER
        case Attribute.ID:
            tables = [schema.vertex_tables[table] for table in element.tables] or schema.vertex_tables
            return type_of_stored(table.id_type for table in tables)
    return type_of_stored(stored_property(schema, element, key or ""))
