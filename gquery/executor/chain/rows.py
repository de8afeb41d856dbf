"""Rows: Arrow batches whose columns are variables. Ids for elements and paths, values for what else has a name.

Rows may have a column WEIGHT too: of how many rows each of them stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from gquery.arrays import to_arrow, to_numpy
from gquery.errors import ExecutionError
from gquery.executor.expansion.expand import Matches
from gquery.executor.lowering.seeds import DataEdges, Seeds, StandsFor
from gquery.executor.progress import Control
from gquery.executor.relational.elements import path_ids
from gquery.executor.relational.selection import WEIGHT
from gquery.planner.ir.expr import NODE, PATH, RELATIONSHIP
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.relations import End
from gquery.planner.ir.segments import Variable

Rows = Iterator[pa.RecordBatch]

HANDED_ON = "what a clause hands on to the next"
_MOST = np.iinfo(np.int64).max


def hidden_variables(graph: QueryGraph) -> tuple[Variable, ...]:
    """The elements and paths of a pattern that no clause can name; what is left to check may speak of them."""
    matched = {edge.source for edge in graph.edges if isinstance(edge.relation, End)}  # edges, as vertices
    vertices = (Variable(each.variable, RELATIONSHIP if each.index in matched else NODE) for each in graph.vertices)
    edges = (Variable(edge.variable, RELATIONSHIP) for edge in graph.edges)
    paths = (Variable(path.name, PATH) for path in graph.paths)
    return tuple(variable for variable in (*vertices, *edges, *paths) if variable.name.startswith(" "))


def one_row() -> Rows:
    """The rows before the first segment."""
    yield batch_of({}, 1)


def rows_of(seeds: Seeds, names: Sequence[str]) -> pa.RecordBatch:
    """The rows that seeds are found for, with as much of some columns as there is; else what they bind."""
    if seeds.rows is None:
        return batch_of({name: to_arrow(column) for name, column in seeds.columns.items()}, seeds.count)
    columns = {name: seeds.rows[name].combine_chunks() for name in names if name in seeds.rows.column_names}
    return batch_of(columns, seeds.rows.num_rows)


def as_ids(
    graph: QueryGraph, variables: Sequence[str], seeds: Mapping[int, StandsFor]
) -> Callable[[Matches], pa.RecordBatch]:
    """What makes rows of matches: int32 columns for vertices, int64 columns for edges, by variable. seeds: what the
    query vertices of no table stand for."""
    stand_for = {vertex: each.numbered.edges for vertex, each in seeds.items() if isinstance(each, DataEdges)}
    vertex_of = {vertex.variable: vertex.index for vertex in graph.vertices}
    edge_of = {edge.variable: edge.index for edge in graph.edges}
    paths = {path.name: path for path in graph.paths}

    def ids(batch: Matches, name: str) -> pa.Array:
        if name not in vertex_of:
            return to_arrow(batch.edges[edge_of[name]])
        vertex = vertex_of[name]
        found = batch.vertices[vertex]
        return to_arrow(stand_for[vertex][found] if vertex in stand_for else found)

    def rows(batch: Matches) -> pa.RecordBatch:
        columns: dict[str, pa.Array] = {}
        for name in variables:
            if name in paths:
                path = paths[name]
                nodes, relationships = ([ids(batch, each) for each in part] for part in (path.vertices, path.edges))
                columns[name] = path_ids(nodes, relationships)
            else:
                columns[name] = ids(batch, name)
        if batch.weights is not None:
            columns[WEIGHT] = to_arrow(batch.weights)
        return batch_of(columns, batch.count)

    return rows


def batch_of(columns: dict[str, pa.Array], count: int) -> pa.RecordBatch:
    """A batch of so many rows, which Arrow cannot tell where there are no columns."""
    if not columns:
        columns = {" row": to_arrow(np.zeros(count, np.int8))}
    return pa.record_batch(list(columns.values()), names=list(columns))


def kept(before: Rows, control: Control, reserved: list[int]) -> pa.Table | None:
    """The rows as a table of one chunk; None where there are none. What is taken of the budget is added to
    `reserved`."""
    batches = []
    try:
        for batch in before:
            control.check()
            if batch.num_rows:
                control.memory.reserve(batch.nbytes, HANDED_ON)
                reserved[0] += batch.nbytes
                batches.append(batch)
    finally:
        close = getattr(before, "close", None)
        if close is not None:
            close()
    if not batches:
        return None
    return pa.Table.from_batches(batches) if len(batches) == 1 else _joined(batches, control)


def _joined(batches: list[pa.RecordBatch], control: Control) -> pa.Table:
    """All rows in one chunk, which is there beside the batches until it is done."""
    columns = []
    with control.memory.taken(sum(batch.nbytes for batch in batches), HANDED_ON):
        for index in range(batches[0].num_columns):
            control.check()
            columns.append(pa.concat_arrays([batch.column(index) for batch in batches]))
    return pa.Table.from_arrays(columns, names=batches[0].schema.names)


def repeated(times: int, rows: int) -> pa.Array:
    """One weight for so many rows. Raises ExecutionError beyond 2^63."""
    if times > _MOST:
        raise too_many()
    return to_arrow(np.full(rows, times, np.int64))


def product(weights: list[pa.Array]) -> pa.Array:
    """How many rows the pairs stand for. Raises ExecutionError beyond 2^63."""
    first, *others = map(to_numpy, weights)
    for other in others:
        if np.any(first > _MOST // np.maximum(other, 1)):
            raise too_many()
        first = first * other
    return to_arrow(first)


def too_many() -> ExecutionError:
    return ExecutionError("one row stands for more than 2^63 matches")
