"""Data edges for which predicates are true: as masks of query edges, and as vertices of no table where they are matched
as such (`planner/passes/rewriting/compared_edges.py`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.executor.lowering.kept import KeptEdges
from gquery.executor.lowering.reading import Reading
from gquery.executor.lowering.seeds import DataEdges, StandsFor
from gquery.executor.relational.scanning import scan
from gquery.planner.ir.expr import Expression
from gquery.planner.ir.filters import EdgesFilter
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.relations import End
from gquery.storage.edges import NumberedEdges

_RARE = 8  # of so many edges one is kept: then their adjacency is sorted anew sooner than picked out of that of all


def selected_edges(
    types: tuple[str, ...],
    predicates: tuple[Expression, ...],
    near: NDArray[np.int64] | None,
    described: str,
    reading: Reading,
) -> KeptEdges:
    """The edges of some types for which all predicates are true, of all or of some."""
    snapshot = reading.snapshot
    if near is not None:
        few = scan.edges_among(reading, predicates, near)
        return KeptEdges(snapshot.edge_count, few)
    reading.control.memory.reserve(snapshot.edge_count, f"the edge filter of {described}")
    mask = np.zeros(snapshot.edge_count, np.bool_)
    for index in snapshot.tables_of(types):
        selected = scan.select_edges(reading, index, predicates)
        for begin, end, _, row in snapshot.edges.numbers.of([index]):
            mask[begin:end] = selected[row : row + end - begin]
    mask[snapshot.edges.gone] = False
    rare = np.count_nonzero(mask) * _RARE < snapshot.edge_count
    return KeptEdges(snapshot.edge_count, np.flatnonzero(mask) if rare else None, mask)


def edges_of(graph: QueryGraph, steps: Sequence[EdgesFilter], reading: Reading) -> Mapping[int, DataEdges]:
    """By query vertex that stands for data edges: these, and their ends."""
    groups: dict[int, list[EdgesFilter]] = {}
    for step in steps:
        groups.setdefault(step.group, []).append(step)
    found: dict[int, DataEdges] = {}
    for group in groups.values():
        found |= _numbered_together(graph, group, reading)
    return found


def _numbered_together(graph: QueryGraph, steps: Sequence[EdgesFilter], reading: Reading) -> dict[int, DataEdges]:
    snapshot, memory, by_source = reading.snapshot, reading.control.memory, steps[0].by_source
    types = tuple(sorted({name for step in steps for name in step.types}))
    masks = [_mask(graph, step, types, reading) for step in steps]
    given = [mask for mask in masks if mask is not None]
    if len(given) == len(masks):
        whole = snapshot.adjacency(types, "out" if by_source else "in", memory).compact()
        numbered = NumberedEdges(whole.kept(np.logical_or.reduce(given)[whole.edges]), by_source)
        memory.reserve(numbered.nbytes, "the ends of the edges that are compared")
    else:
        numbered = snapshot.numbered_edges(types, by_source, memory)
    found = {}
    for step, mask in zip(steps, masks, strict=True):
        own = None if mask is None else mask[numbered.edges]
        chosen = None if own is None or own.all() else np.flatnonzero(own).astype(np.int32)
        relations = (edge.relation for edge in graph.incident[step.vertex] if isinstance(edge.relation, End))
        found[step.vertex] = DataEdges(numbered, chosen, {each.column: each.is_source for each in relations})
    return found


def _mask(graph: QueryGraph, step: EdgesFilter, types: tuple[str, ...], reading: Reading) -> NDArray[np.bool_] | None:
    """bool[edge_count]; None for all edges of the types."""
    if step.predicates:
        described = graph.vertices[step.vertex].described
        return selected_edges(step.types, step.predicates, None, described, reading).mask
    if step.types == types:
        return None
    snapshot = reading.snapshot
    mask = np.zeros(snapshot.edge_count, np.bool_)
    for begin, end, *_ in snapshot.edges.numbers.of(snapshot.tables_of(step.types)):
        mask[begin:end] = True
    return mask


def element_values(
    value: Expression, vertices: NDArray[np.int32], stands: StandsFor | None, reading: Reading
) -> pa.Array:
    """The value of an expression for each of some vertices, or of the data edges that they stand for."""
    if not isinstance(stands, DataEdges):
        return scan.vertex_values(reading, value, vertices)
    edges = stands.numbered.edges
    own = edges if len(vertices) == stands.count else edges[vertices]
    return scan.edge_values(reading, value, own)
