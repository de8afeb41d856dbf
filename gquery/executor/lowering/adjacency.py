"""The adjacency of a relation: the only place that asks for a relation's kind."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from gquery.executor.lowering.seeds import StandsFor
from gquery.executor.memory import Budget
from gquery.planner.ir.relations import Binding, Composed, End, Identity, Loops, Relation, Types, Valued
from gquery.storage.adjacency import Adjacency
from gquery.storage.graph import Snapshot
from gquery.storage.schema import Direction


def adjacency_of(
    relation: Relation,
    direction: Direction,
    snapshot: Snapshot,
    memory: Budget,
    seeds: Mapping[int, StandsFor] | None = None,
) -> Adjacency:
    """The adjacency of a relation, seen in a direction. The snapshot may forget it: who needs it holds it. seeds: what
    query vertices of no table stand for."""
    match relation:
        case Types(types):
            whole = snapshot.adjacency(types, direction, memory)
            return some_of(relation, whole, direction, snapshot, memory)
        case Identity():
            return snapshot.identity(memory)
        case Loops(types, number):
            return snapshot.loops(types, number, memory)
        case Composed(tables, hops):
            return snapshot.composed(tables, hops, direction, memory)
        case Binding(column) | Valued(column) | End(column):
            assert seeds is not None
            return next(each for each in seeds.values() if each.binds(column)).adjacency(column, direction)


def some_of(relation: Types, whole: Adjacency, direction: Direction, snapshot: Snapshot, memory: Budget) -> Adjacency:
    """What a relation has of the adjacency of all data edges of its types."""
    types, number, loops, repeats = relation
    found = snapshot.some_of(whole, types, direction, number, loops, memory)
    return found.as_simple() if repeats else found


def masked(adjacency: Adjacency, mask: NDArray[np.bool_]) -> Adjacency:
    """The adjacency of the edges in the mask, bool[edge_count]; rows stay where they are."""
    adjacency = adjacency.compact()
    return adjacency.kept(mask[adjacency.edges])
