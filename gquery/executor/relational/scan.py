"""Expressions over one element, evaluated as scans of its columns: the filters before matching starts.

A comparison of a stored column with a value is done by Arrow, in microseconds; everything else is DuckDB's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gquery.executor.progress import Control
from gquery.executor.relational import database
from gquery.executor.relational.gather import cast, gather, plain_type, stored_column, travelling_type
from gquery.executor.relational.growth import rows_at_once
from gquery.executor.relational.sql import SqlWriter, plain_value, quoted
from gquery.executor.relational.translation import translated
from gquery.planner.expr import Attribute, Call, Column, Constant, Expression, Kind, Parameter, columns
from gquery.storage.graph import Snapshot

Parameters = Mapping[str, object]


def select_vertices(
    snapshot: Snapshot, table: int, predicates: tuple[Expression, ...], parameters: Parameters, control: Control
) -> NDArray[np.bool_]:
    """bool[count of the table]: the vertices for which every predicate is true (null is not true)."""
    return _Scan(snapshot, Kind.NODE, parameters, control, table).select(predicates)


def select_edges(
    snapshot: Snapshot, table: int, predicates: tuple[Expression, ...], parameters: Parameters, control: Control
) -> NDArray[np.bool_]:
    """bool[count of the edge table]: the edges for which every predicate is true."""
    return _Scan(snapshot, Kind.RELATIONSHIP, parameters, control, table).select(predicates)


def vertex_values(
    snapshot: Snapshot, expression: Expression, vertices: NDArray[np.int32], parameters: Parameters, control: Control
) -> pa.Array:
    """The value of an expression over one vertex variable, for each of the internal vertices."""
    return _values(snapshot, Kind.NODE, expression, pa.array(vertices, pa.int32()), parameters, control)


def edge_values(
    snapshot: Snapshot, expression: Expression, edges: NDArray[np.int64], parameters: Parameters, control: Control
) -> pa.Array:
    """The value of an expression over one edge variable, for each of the internal edges."""
    return _values(snapshot, Kind.RELATIONSHIP, expression, pa.array(edges, pa.int64()), parameters, control)


def _values(
    snapshot: Snapshot, kind: Kind, expression: Expression, ids: pa.Array, parameters: Parameters, control: Control
) -> pa.Array:
    if isinstance(expression, Column):
        return gather(snapshot, kind, expression, ids)
    read = {column: gather(snapshot, kind, column, ids) for column in columns(expression)}
    found = _evaluate(expression, read, parameters, len(ids), control)
    return pa.concat_arrays(found.chunks) if found.num_chunks else pa.array([], found.type)


class _Scan:
    """Predicates over all elements of one table."""

    def __init__(self, snapshot: Snapshot, kind: Kind, parameters: Parameters, control: Control, table: int) -> None:
        self.snapshot = snapshot
        self.kind = kind
        self.parameters = parameters
        self.control = control
        vertices = kind is Kind.NODE
        self.table = (snapshot.vertex_tables if vertices else snapshot.edge_tables)[table]
        self.range = (snapshot.vertex_range if vertices else snapshot.edge_range)(table)

    def select(self, predicates: tuple[Expression, ...]) -> NDArray[np.bool_]:
        keep = np.ones(self.table.count, np.bool_)
        with translated():
            for predicate in predicates:
                self.control.check()
                if self.table.count:
                    values = self._compared(predicate)
                    keep &= _truths(self._computed(predicate) if values is None else values)
        return keep

    def _compared(self, predicate: Expression) -> pa.ChunkedArray | None:
        """`property operator value` by Arrow; None for every other shape."""
        match predicate:
            case Call(function=operator, arguments=(Column() as column, (Constant() | Parameter()) as other)):
                pass
            case _:
                return None
        stored = stored_column(self.table, column) if column.attribute in (Attribute.PROPERTY, Attribute.ID) else None
        if stored is None or pa.types.is_dictionary(stored.type) or pa.types.is_null(stored.type):
            return None
        value = other.value if isinstance(other, Constant) else self.parameters[other.name]
        wanted = travelling_type(column.type)
        if operator == "in" and other.type.item is not None and _alike(column, other.type.item.kind):
            return pc.is_in(stored, pa.array(value, wanted), skip_nulls=True)
        if operator in _COMPARE and _alike(column, other.type.kind):
            return _COMPARE[operator](stored, pa.scalar(plain_value(value), wanted))
        return None

    def _computed(self, predicate: Expression) -> pa.ChunkedArray:
        read = {column: self._column(column) for column in columns(predicate)}
        return _evaluate(predicate, read, self.parameters, self.table.count, self.control)

    def _column(self, column: Column) -> pa.Array | pa.ChunkedArray:
        if column.attribute is Attribute.PROPERTY or (column.attribute is Attribute.ID and self.kind is Kind.NODE):
            stored = stored_column(self.table, column)
            return pa.nulls(self.table.count, plain_type(column.type)) if stored is None else stored
        ids: Any = np.arange(*self.range, dtype=np.int32 if self.kind is Kind.NODE else np.int64)
        return gather(self.snapshot, self.kind, column, pa.array(ids))


_COMPARE = {
    "=": pc.equal, "<>": pc.not_equal, "<": pc.less, "<=": pc.less_equal, ">": pc.greater, ">=": pc.greater_equal
}  # fmt: skip


def _alike(column: Column, kind: Kind) -> bool:
    """Whether Arrow compares the column with values of the kind as Cypher does."""
    if column.type.kind is Kind.FLOAT:
        return kind in (Kind.FLOAT, Kind.INTEGER) and column.type.arrow == pa.float64()
    return column.type.kind is kind and kind in (Kind.INTEGER, Kind.STRING, Kind.BOOLEAN)


def _truths(values: pa.ChunkedArray) -> NDArray[np.bool_]:
    return np.asarray(cast(values, pa.bool_()).fill_null(False), np.bool_)


def _evaluate(
    expression: Expression,
    read: Mapping[Column, pa.Array | pa.ChunkedArray],
    parameters: Parameters,
    count: int,
    control: Control,
) -> pa.ChunkedArray:
    names = {column: f"c{index}" for index, column in enumerate(read)}
    relation = pa.table({names[column]: cast(values, travelling_type(column.type)) for column, values in read.items()})
    if not read:
        relation = pa.table({"row": np.zeros(count, np.int8)})
    writer = SqlWriter({column: quoted(name) for column, name in names.items()}, parameters)
    sql = f"SELECT {writer.write(expression)} FROM elements"
    return database.evaluate(sql, relation, writer.values, control, rows_at_once([expression]))
