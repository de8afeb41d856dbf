"""Between the backend and the relational tail: batches of matches as Arrow, counts as an answer."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.errors import ExecutionError
from gquery.executor.expand import Matches
from gquery.executor.progress import Control
from gquery.executor.relational.statement import WEIGHT
from gquery.executor.relational.tail import Tail
from gquery.planner.ir.expr import Aggregate, Call, Case, Constant, Expression, is_aggregated
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.segments import Projection, ProjectionItem


def id_batches(
    matches: Generator[Matches, None, None], graph: QueryGraph, variables: tuple[str, ...]
) -> Iterator[pa.RecordBatch]:
    """The match stream that the tail reads: int32 columns for vertices, int64 columns for edges, by variable. Closing
    it closes `matches`, which an error's traceback may keep alive."""
    vertex_of = {vertex.variable: vertex.index for vertex in graph.vertices}
    edge_of = {edge.variable: edge.index for edge in graph.edges}
    with closing(matches):
        for batch in matches:
            columns: dict[str, NDArray[Any]] = {
                name: batch.vertices[vertex_of[name]] if name in vertex_of else batch.edges[edge_of[name]]
                for name in variables
            }
            if batch.weights is not None:
                columns[WEIGHT] = batch.weights
            yield _batch(columns, batch.count)


def one_row() -> Iterator[pa.RecordBatch]:
    """The match stream of a query without a pattern."""
    yield _batch({}, 1)


def counted(projection: Projection, count: int, tail: Tail, control: Control) -> Iterator[pa.RecordBatch]:
    """The answer to a counting projection. Bare counts are the answer; expressions over them go through the tail."""
    if all(isinstance(item.expression, Aggregate) for item in projection.items):
        yield pa.record_batch([_exact(count) for _ in tail.schema], names=tail.schema.names)
        return
    if not count and not all(is_aggregated(item.expression) for item in projection.items):  # a constant is a key
        yield pa.RecordBatch.from_arrays([pa.nulls(0, each.type) for each in tail.schema], schema=tail.schema)
        return
    items = tuple(ProjectionItem(item.name, _with_count(item.expression, count)) for item in projection.items)
    yield from tail.replaced(replace(projection, items=items)).run(one_row(), control)


def _exact(count: int) -> pa.Array:
    """A count in the narrowest type that holds it: int64, then decimals. Raises ExecutionError beyond 10^76."""
    for arrow, limit in ((pa.int64(), 2**63), (pa.decimal128(38, 0), 10**38), (pa.decimal256(76, 0), 10**76)):
        if count < limit:
            return pa.array([count if arrow == pa.int64() else Decimal(count)], arrow)
    raise ExecutionError(f"the number of matches has {len(str(count))} digits, more than Arrow can hold")


def _with_count(expression: Expression, count: int) -> Expression:
    match expression:
        case Aggregate():
            return Constant(expression.type, expression.span, count)
        case Call():
            return replace(expression, arguments=tuple(_with_count(part, count) for part in expression.arguments))
        case Case():
            branches = tuple(
                (_with_count(test, count), _with_count(value, count)) for test, value in expression.branches
            )
            subject = expression.subject and _with_count(expression.subject, count)
            default = _with_count(expression.default, count)
            return replace(expression, branches=branches, default=default, subject=subject)
        case _:
            return expression


def _batch(columns: dict[str, NDArray[Any]], count: int) -> pa.RecordBatch:
    if not columns:
        columns = {" row": np.zeros(count, np.int8)}
    return pa.record_batch([pa.array(column) for column in columns.values()], names=list(columns))
