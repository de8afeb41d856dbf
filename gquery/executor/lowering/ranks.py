"""Values of comparisons as ranks, so that kernels compare numbers whatever the type of the values is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import pc, to_arrow, to_numpy, truths
from gquery.executor.backend import Candidates, Ranks
from gquery.executor.lowering.data_edges import element_values
from gquery.executor.lowering.program import NULL_RANK
from gquery.executor.lowering.reading import Reading
from gquery.executor.lowering.seeds import StandsFor
from gquery.executor.progress import Control
from gquery.executor.relational.gather import as_type
from gquery.executor.relational.scanning import scan
from gquery.executor.relational.unions import is_known
from gquery.planner.ir.expr import FLOAT, Type
from gquery.planner.ir.match_plan import MatchPlan
from gquery.planner.ir.types.common_type import unify


def ranks_of(
    plan: MatchPlan, candidates: Candidates, seeds: Mapping[int, StandsFor], reading: Reading
) -> tuple[Ranks, ...]:
    """The ranks of every comparison of the plan. seeds: what the query vertices of no table stand for."""
    found = []
    for comparison in plan.comparisons:
        groups = [plan.problem.merged[vertex] for vertex in (comparison.left, comparison.right)]
        places, stands = [candidates.vertices(group) for group in groups], [seeds.get(group[0]) for group in groups]
        expressions = (comparison.left_value, comparison.right_value)
        one, other = (element_values(*each, reading) for each in zip(expressions, places, stands, strict=True))
        types, ordered = (expressions[0].type, expressions[1].type), comparison.operator in ("<", "<=")
        ranks = _rank((one, other), types, ordered, reading.control)
        left, right = (_placed(*each, plan, reading) for each in zip(ranks, places, stands, strict=True))
        found.append((left, right))
    return tuple(found)


def _placed(
    ranks: NDArray[np.int64], vertices: NDArray[np.int32], stands: StandsFor | None, plan: MatchPlan, reading: Reading
) -> NDArray[np.int64]:
    """The ranks of some candidates by their position: where the raw adjacency is walked, that is the vertex."""
    universe = reading.snapshot.vertex_count if stands is None else stands.count
    dense = plan.space == "candidates" or len(vertices) == universe
    reading.control.memory.reserve(8 * (len(ranks) if dense else universe), "the values of a comparison")
    if dense:
        return np.ascontiguousarray(ranks)
    by_vertex = np.full(universe, NULL_RANK, np.int64)
    by_vertex[vertices] = ranks
    return by_vertex


def equal_values(
    sides: Sequence[pa.Array], types: Sequence[Type], control: Control
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Numbers from 0 on for the values of all sides, one side after the other, the same for those that are equal; and
    which of them equal any: null and NaN do not."""
    both, common = _joined(sides, types)
    if pa.types.is_floating(both.type):
        both = pc.add(both, 0.0)  # so that zeros have one sign
    numbers = both.dictionary_encode().indices if _is_hashed(both) else _ranked(both, common, False, control)
    return to_numpy(pc.fill_null(numbers, 0)).astype(np.int64), _equals_any(both)


def _rank(
    sides: tuple[pa.Array, pa.Array], types: tuple[Type, Type], ordered: bool, control: Control
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ranks of the values of both sides."""
    if all(pa.types.is_int64(each.type) and pc.min(each).as_py() != NULL_RANK for each in sides):
        one, other = (to_numpy(pc.fill_null(each, NULL_RANK)) for each in sides)  # which are their own ranks
        return one, other
    both, common = _joined(sides, types)
    ranks = np.where(_equals_any(both), to_numpy(_ranked(both, common, ordered, control)), np.int64(NULL_RANK))
    return ranks[: len(sides[0])], ranks[len(sides[0]) :]


def _joined(sides: Sequence[pa.Array], types: Sequence[Type]) -> tuple[pa.Array, Type]:
    """The values of all sides as ones of a common type."""
    alike = len({type_.kind for type_ in types}) == 1
    common = FLOAT if not alike and all(map(_as_floats, sides)) else unify(tuple(types))
    return pa.concat_arrays(
        [as_type(values, type_, common) for values, type_ in zip(sides, types, strict=True)]
    ), common


def _equals_any(values: pa.Array) -> NDArray[np.bool_]:
    """Which values are equal to themselves."""
    present = truths(is_known(values))
    for floats in _floats(values):
        present &= ~truths(pc.is_nan(floats))
    return present


def _as_floats(values: pa.Array) -> bool:
    """Whether the values are floats, or integers that floats hold exactly."""
    if not pa.types.is_integer(values.type):
        return bool(pa.types.is_floating(values.type))
    least, most = (bound.as_py() or 0 for bound in pc.min_max(values).values())
    return least >= -(2**53) and most <= 2**53


def _floats(values: pa.Array) -> list[pa.Array]:
    parts = [values.field(index) for index in range(values.type.num_fields)] if _is_union(values) else [values]
    return [part for part in parts if pa.types.is_floating(part.type)]


def _ranked(values: pa.Array, type_: Type, ordered: bool, control: Control) -> pa.Array:
    """A rank for each value but null and NaN, which have any. Sorting is what takes longest."""
    if pa.types.is_null(values.type):
        return values.cast(pa.int64())
    if _is_union(values) or pa.types.is_struct(values.type):  # which Arrow does not sort
        return scan.dense_ranks(values, type_, control)
    if pa.types.is_int64(values.type) and pc.min(values).as_py() != NULL_RANK:
        return values
    if pa.types.is_float64(values.type):
        return to_arrow(_as_integers(to_numpy(pc.fill_null(values, 0.0))))
    if not ordered and _is_hashed(values):
        return values.dictionary_encode().indices.cast(pa.int64())
    return pc.rank(values, sort_keys="ascending", tiebreaker="dense").cast(pa.int64())


def _as_integers(floats: NDArray[np.float64]) -> NDArray[np.int64]:
    """Integers in the order of some floats: their bits, those below the sign turned where it is negative; both zeros
    are one."""
    bits = (floats + 0.0).view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(2**63 - 1))


def _is_hashed(values: pa.Array) -> bool:
    return not (_is_union(values) or pa.types.is_struct(values.type) or pa.types.is_null(values.type))


def _is_union(values: pa.Array) -> bool:
    return bool(pa.types.is_union(values.type))
