"""Expressions over one element, evaluated as scans of its columns: the filters before matching starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.executor.relational.database import connection, translated
from gquery.executor.relational.gather import gather
from gquery.executor.relational.sql import SqlWriter, quoted
from gquery.planner.expr import Attribute, Column, Expression, columns
from gquery.storage.graph import Snapshot

Parameters = Mapping[str, object]


def select_vertices(
    snapshot: Snapshot, table: int, predicates: tuple[Expression, ...], parameters: Parameters
) -> NDArray[np.bool_]:
    """bool[count of the table]: the vertices for which every predicate is true (null is not true)."""
    ids = np.arange(*snapshot.vertex_range(table), dtype=np.int32)
    return _select(snapshot, ids, predicates, parameters, snapshot.vertex_range(table))


def select_edges(
    snapshot: Snapshot, table: int, predicates: tuple[Expression, ...], parameters: Parameters
) -> NDArray[np.bool_]:
    """bool[count of the edge table]: the edges for which every predicate is true."""
    ids = np.arange(*snapshot.edge_range(table), dtype=np.int64)
    return _select(snapshot, ids, predicates, parameters, snapshot.edge_range(table))


def vertex_values(
    snapshot: Snapshot, expression: Expression, vertices: NDArray[np.int32], parameters: Parameters
) -> pa.Array:
    """The value of an expression over one vertex variable, for each of the internal vertices."""
    if isinstance(expression, Column) and expression.attribute is not Attribute.PROPERTY:
        return gather(snapshot, expression, pa.array(vertices))
    return _evaluate(snapshot, expression, pa.array(vertices), parameters, None)


def _select(
    snapshot: Snapshot, ids: NDArray[Any], predicates: tuple[Expression, ...], parameters: Parameters,
    bounds: tuple[int, int],
) -> NDArray[np.bool_]:  # fmt: skip
    keep = np.ones(len(ids), np.bool_)
    for predicate in predicates:
        values = _evaluate(snapshot, predicate, pa.array(ids), parameters, bounds)
        keep &= np.asarray(values.cast(pa.bool_()).fill_null(False).to_numpy(zero_copy_only=False), np.bool_)
    return keep


def _evaluate(
    snapshot: Snapshot, expression: Expression, ids: pa.Array, parameters: Parameters, bounds: tuple[int, int] | None
) -> pa.Array:
    """The expression for each id. `bounds`: the ids are this whole range, so columns can be sliced, not gathered."""
    if len(ids) == 0:
        return pa.nulls(0)
    names = {column: f"c{index}" for index, column in enumerate(columns(expression))}
    writer = SqlWriter(lambda column: quoted(names[column]), parameters)
    text = writer.write(expression)
    arrays = {name: _column(snapshot, column, ids, bounds) for column, name in names.items()}
    relation = pa.table(arrays or {"row": ids})
    with connection() as cursor, translated():
        cursor.register("elements", relation)
        answer = cursor.sql(f"SELECT {text} AS value FROM elements", params=writer.values).to_arrow_table()
        return answer["value"].combine_chunks()


def _column(
    snapshot: Snapshot, column: Column, ids: pa.Array, bounds: tuple[int, int] | None
) -> pa.Array | pa.ChunkedArray:
    if bounds is None or column.attribute is not Attribute.PROPERTY:
        return gather(snapshot, column, ids)
    assert column.key is not None
    stored = snapshot.vertex_property if pa.types.is_int32(ids.type) else snapshot.edge_property
    return stored(column.key, column.type.arrow or pa.null()).slice(bounds[0], bounds[1] - bounds[0])
