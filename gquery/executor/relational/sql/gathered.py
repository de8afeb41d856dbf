"""Attributes of elements that a statement computes, as in `head(collect(n)).name`: functions of ids, which gather."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import pyarrow as pa

from gquery.executor.relational.database.functions import Function
from gquery.executor.relational.elements import ends_of
from gquery.executor.relational.gather import gather, travelling_type
from gquery.executor.relational.sql.values import sql_type
from gquery.executor.relational.unions import cast
from gquery.planner.ir.expr import Attribute, Call, Column, Constant, Kind, Type
from gquery.planner.ir.types.elements import attribute_type
from gquery.storage.graph import Snapshot

_ATTRIBUTES: Mapping[str, Attribute] = {
    "field": Attribute.PROPERTY, "id": Attribute.ID, "labels": Attribute.LABELS, "type": Attribute.TYPE
}  # fmt: skip
_ENDS = ("startnode", "endnode")
_OF_NODES, _OF_RELATIONSHIPS = frozenset({"field", "id", "labels"}), frozenset({"field", "id", "type", *_ENDS})


def is_gathered(call: Call, subject: Type) -> bool:
    """Whether the call asks for what elements have."""
    if subject.kind is Kind.NODE:
        return call.function in _OF_NODES
    return subject.kind is Kind.RELATIONSHIP and call.function in _OF_RELATIONSHIPS


def gathering(call: Call, element: Type, snapshot: Snapshot) -> tuple[Function, Type]:
    """The function of elements that gives what the call asks for, and the type of that. No column has such a name."""
    if call.function in _ENDS:
        which, type_ = _ENDS.index(call.function), call.type
        return Function(f" {call.function}", sql_type(element), sql_type(type_), partial(_end, snapshot, which)), type_
    key = next((str(each.value) for each in call.arguments[1:] if isinstance(each, Constant)), None)
    attribute = _ATTRIBUTES[call.function]
    type_ = attribute_type(snapshot.schema, element, attribute, key)
    column = Column(type_, call.span, "", attribute, key)
    name = f" {call.function}" if key is None else f" .{key}"
    return Function(name, sql_type(element), sql_type(type_), partial(_gathered, snapshot, element.kind, column)), type_


def _end(snapshot: Snapshot, which: int, edges: pa.Array) -> pa.Array:
    return ends_of(snapshot, edges, which)


def _gathered(snapshot: Snapshot, kind: Kind, column: Column, ids: pa.Array) -> pa.Array:
    return cast(gather(snapshot, kind, column, ids), travelling_type(column.type))
