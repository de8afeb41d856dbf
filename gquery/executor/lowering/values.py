"""The values that vertices or data edges have in common, as vertices of no table: see
`planner/passes/rewriting/equal_values.py`."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gquery.executor.lowering.data_edges import element_values
from gquery.executor.lowering.kept import Kept
from gquery.executor.lowering.ranks import equal_values
from gquery.executor.lowering.reading import Reading
from gquery.executor.lowering.seeds import Bound, Seeds, StandsFor
from gquery.planner.ir.expr import Expression
from gquery.planner.ir.filters import ValueFilter
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.relations import Valued
from gquery.storage.sorting import distinct, order_of

_BYTES = 32  # for each vertex, while its value is found


def values_of(
    graph: QueryGraph,
    step: ValueFilter,
    known: Mapping[int, Kept],
    stand_for: Mapping[int, StandsFor],
    reading: Reading,
) -> Seeds:
    """The values that vertices on both sides of the comparison have, and who has them. known: by query vertex, what is
    left of it so far; stand_for: what it stands for, where it is of no table."""
    compared = step.comparison
    expressions = compared.left_value, compared.right_value
    vertices: dict[str, NDArray[np.int32]] = {}
    values: dict[str, tuple[Expression, StandsFor | None]] = {}
    for edge, expression in zip(graph.incident[step.vertex], expressions, strict=True):
        assert isinstance(edge.relation, Valued)
        stands, column = stand_for.get(edge.target), edge.relation.column
        own = _left(graph, edge.target, known, reading) if stands is None else stands.candidates
        vertices[column] = _either(vertices[column], own) if column in vertices else own
        values[column] = expression, stands
    reading.control.memory.reserve(_BYTES * sum(map(len, vertices.values())), "the values that are compared")
    found = [
        element_values(expression, vertices[column], stands, reading) for column, (expression, stands) in values.items()
    ]
    numbers, known_ones = equal_values(found, [each.type for each, _ in values.values()], reading.control)
    begins = np.cumsum([0, *map(len, vertices.values())]).tolist()
    sides = [slice(*each) for each in pairwise(begins)]
    common = np.ones(int(numbers.max(initial=0)) + 1, np.bool_)
    for side in sides:
        common &= np.bincount(numbers[side][known_ones[side]], minlength=len(common)) > 0
    renumbered, count = np.cumsum(common) - 1, int(np.count_nonzero(common))
    bound = {}
    for side, (column, own) in zip(sides, vertices.items(), strict=True):
        there = np.flatnonzero(known_ones[side] & common[numbers[side]])
        of = renumbered[numbers[side][there]]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=count))])
        bound[column] = Bound(offsets, own[there][order_of(of)])
    return Seeds(count, {}, bound)


def _either(one: NDArray[np.int32], other: NDArray[np.int32]) -> NDArray[np.int32]:
    return one if np.array_equal(one, other) else distinct(np.concatenate([one, other]))


def _left(graph: QueryGraph, vertex: int, known: Mapping[int, Kept], reading: Reading) -> NDArray[np.int32]:
    if vertex in known:
        return known[vertex].vertices
    return reading.snapshot.vertex_numbers.ids(graph.vertices[vertex].tables, np.int32)
