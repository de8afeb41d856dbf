"""Values of comparisons as ranks, so that kernels compare numbers whatever the type of the values is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gquery.executor.cpu.candidates.sets import CpuCandidates
from gquery.executor.cpu.search import packed
from gquery.executor.progress import Control
from gquery.executor.relational import scan
from gquery.executor.relational.gather import as_type
from gquery.executor.relational.unions import is_known
from gquery.planner.ir.common_type import unify
from gquery.planner.ir.expr import FLOAT, Expression, Type
from gquery.planner.ir.match_plan import Space
from gquery.planner.ir.problem import Comparison

Ranks = NDArray[np.int64]


def comparison_ranks(comparison: Comparison, candidates: CpuCandidates, space: Space) -> tuple[Ranks, Ranks]:
    """The ranks of both sides, int64 by position of their query vertices: equal values have equal ranks, order is kept,
    null is NULL_RANK."""
    left = _values(candidates, comparison.left, comparison.left_value)
    right = _values(candidates, comparison.right, comparison.right_value)
    ranks = _rank((left, right), (comparison.left_value.type, comparison.right_value.type), candidates.control)
    split = len(left)
    return (
        _by_position(candidates, comparison.left, ranks[:split], space),
        _by_position(candidates, comparison.right, ranks[split:], space),
    )


def _values(candidates: CpuCandidates, vertex: int, value: Expression) -> pa.Array:
    vertices = candidates.sets[vertex].vertices
    return scan.vertex_values(candidates.snapshot, value, vertices, candidates.parameters, candidates.control)


def _by_position(candidates: CpuCandidates, vertex: int, ranks: Ranks, space: Space) -> Ranks:
    candidate_set = candidates.sets[vertex]
    dense = space == "candidates" or candidate_set.everything
    size = len(ranks) if dense else candidate_set.universe
    candidates.control.memory.reserve(8 * size, "the values of a comparison")
    if dense:
        return np.ascontiguousarray(ranks)
    by_vertex = np.full(candidate_set.universe, packed.NULL_RANK, np.int64)
    by_vertex[candidate_set.vertices] = ranks
    return by_vertex


def _rank(sides: tuple[pa.Array, pa.Array], types: tuple[Type, Type], control: Control) -> Ranks:
    """The ranks of the values of both sides, one side after the other. NaN equals nothing: it ranks as null does."""
    alike = types[0].kind is types[1].kind
    common = FLOAT if not alike and all(map(_as_floats, sides)) else unify(types)
    assert common is not None
    both = pa.concat_arrays([as_type(values, type_, common) for values, type_ in zip(sides, types, strict=True)])
    present = is_known(both)
    for floats in _floats(both):
        present = pc.and_not(present, pc.fill_null(pc.is_nan(floats), False))
    return np.asarray(pc.if_else(present, _ranked(both, common, control), packed.NULL_RANK), np.int64)


def _as_floats(values: pa.Array) -> bool:
    """Whether the values are floats, or integers that floats hold exactly."""
    if not pa.types.is_integer(values.type):
        return bool(pa.types.is_floating(values.type))
    least, most = (bound.as_py() or 0 for bound in pc.min_max(values).values())
    return least >= -(2**53) and most <= 2**53


def _floats(values: pa.Array) -> list[pa.Array]:
    parts = [values.field(index) for index in range(values.type.num_fields)] if _is_union(values) else [values]
    return [part for part in parts if pa.types.is_floating(part.type)]


def _ranked(values: pa.Array, type_: Type, control: Control) -> pa.Array:
    if pa.types.is_null(values.type):
        return values.cast(pa.int64())
    if _is_union(values) or pa.types.is_interval(values.type):  # which Arrow does not sort
        return scan.dense_ranks(values, type_, control)
    if pa.types.is_int64(values.type) and pc.min(values).as_py() != packed.NULL_RANK:
        return values
    return pc.rank(values, sort_keys="ascending", tiebreaker="dense").cast(pa.int64())


def _is_union(values: pa.Array) -> bool:
    return bool(pa.types.is_union(values.type))
