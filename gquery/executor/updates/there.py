"""Whether elements that rows hold are still there, and what is known of their types."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import fields_of, to_numpy
from gquery.errors import ExecutionError
from gquery.planner.ir.expr import Kind, Type
from gquery.planner.ir.segments import Variable
from gquery.storage.graph import Snapshot
from gquery.storage.numbering import HOLE, Ids
from gquery.storage.sorting import distinct


def is_gone(snapshot: Snapshot, kind: Kind, ids: Ids) -> NDArray[np.bool_]:
    """Which vertices (`kind` NODE) or edges were deleted."""
    if kind is Kind.NODE:
        return np.equal(snapshot.vertex_numbers.tables_of(ids), HOLE)
    return np.isin(ids, snapshot.edges.gone)


def expect_there(snapshot: Snapshot, kind: Kind, ids: Ids) -> None:
    """Raises ExecutionError where one of the elements was deleted."""
    if len(ids) and is_gone(snapshot, kind, ids).any():
        what = "node" if kind is Kind.NODE else "relationship"
        raise ExecutionError(f"a {what} that was deleted before in the statement cannot be changed")


def seen(variable: Variable, values: pa.Array, snapshot: Snapshot) -> Variable:
    """The variable as its values are in a snapshot."""
    return replace(variable, type=_typed(variable.type, values, snapshot), nullable=values.null_count > 0)


def _typed(type_: Type, values: pa.Array, snapshot: Snapshot) -> Type:
    """The type with the tables that elements are in now; where there are none, those that it had."""
    match type_.kind:
        case Kind.NODE | Kind.RELATIONSHIP:
            node = type_.kind is Kind.NODE
            numbers = snapshot.vertex_numbers if node else snapshot.edges.numbers
            known = values.drop_null()
            tables = distinct(numbers.tables_of(to_numpy(known))) if len(known) else np.array(type_.tables)
            return replace(type_, tables=tuple(tables[tables != HOLE].tolist()))
        case Kind.LIST if type_.arrow is None and type_.item is not None:
            return replace(type_, item=_typed(type_.item, values.flatten(), snapshot))
        case Kind.PATH | Kind.MAP if type_.arrow is None:
            fields = zip(type_.fields, fields_of(values.drop_null()), strict=False)
            return replace(type_, fields=tuple((key, _typed(part, own, snapshot)) for (key, part), own in fields))
        case Kind.ANY:
            members = (_typed(member, values.field(place), snapshot) for place, member in enumerate(type_.members))
            return replace(type_, members=tuple(members))
    return type_
