"""Values of comparisons as ranks, so that kernels compare numbers whatever the type of the values is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gquery.executor import packed
from gquery.executor.cpu.candidates import CpuCandidates
from gquery.executor.relational import scan
from gquery.planner.expr import Expression
from gquery.planner.physical import Comparison, Space
from gquery.storage.schema import common_type

Ranks = NDArray[np.int64]


def comparison_ranks(comparison: Comparison, candidates: CpuCandidates, space: Space) -> tuple[Ranks, Ranks]:
    """The ranks of both sides, int64 by position of their query vertices: equal values have equal ranks, order is kept,
    null is NULL_RANK."""
    left = _values(candidates, comparison.left, comparison.left_value)
    right = _values(candidates, comparison.right, comparison.right_value)
    ranks = _rank(left, right)
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


def _rank(left: pa.Array, right: pa.Array) -> Ranks:
    joint = common_type([left.type, right.type])
    both = pa.concat_arrays([left.cast(joint), right.cast(joint)])
    if pa.types.is_null(both.type):
        return np.full(len(both), packed.NULL_RANK)
    if pa.types.is_floating(both.type):
        both = pc.if_else(pc.is_nan(both), None, both)
    if pa.types.is_integer(both.type):
        ranks = both.cast(pa.int64())
    else:
        ranks = pc.rank(both, sort_keys="ascending", tiebreaker="dense").cast(pa.int64())
    ranks = pc.if_else(pc.is_valid(both), ranks, packed.NULL_RANK)
    return np.asarray(ranks.to_numpy(zero_copy_only=False), np.int64)
