"""Predicates of single elements and bindings of earlier clauses as masks: evaluated once, before every backend."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import Masks
from gquery.executor.lowering.adjacency import adjacency_of
from gquery.executor.lowering.data_edges import edges_of, selected_edges
from gquery.executor.lowering.kept import Kept, KeptEdges
from gquery.executor.lowering.reading import Reading
from gquery.executor.lowering.seeds import StandsFor
from gquery.executor.lowering.values import values_of
from gquery.executor.relational.scanning import scan
from gquery.planner.ir.expr import Expression, is_volatile
from gquery.planner.ir.filters import (
    BindingFilter,
    EdgePredicateFilter,
    EdgesFilter,
    EndsFilter,
    Filter,
    LookupFilter,
    PredicateFilter,
    ReachedFilter,
    SeedFilter,
    ValueFilter,
)
from gquery.planner.ir.query_graph import QueryEdge, QueryGraph
from gquery.planner.ir.relations import Binding
from gquery.planner.ir.rename import unnamed

Vertices = NDArray[np.int32]

_MANY = 32  # of so many vertices of the graph one is asked: then a bit for each is written as soon as the ids of some


def masks_of(graph: QueryGraph, filters: tuple[Filter, ...], reading: Reading) -> Masks:
    """What the predicates of the filters leave. Raises what their evaluation raises."""
    kept, edges = {}, {}
    alike: dict[object, KeptEdges] = {}  # by types and predicates that are asked of all data edges, or by edge
    seeds: dict[int, StandsFor] = {}
    values: list[ValueFilter] = []
    compared: list[EdgesFilter] = []
    known: dict[int, Kept] = {}  # by query vertex: what is left of it so far
    for place, step in enumerate(filters):
        match step:
            case SeedFilter(vertex=vertex):
                assert reading.seeds is not None
                seeds[vertex] = reading.seeds
            case ValueFilter():
                values.append(step)
            case EdgesFilter():
                compared.append(step)
            case LookupFilter(vertex=vertex):
                kept[place] = known[vertex] = Kept(_looked_up(step, reading))
            case BindingFilter(vertex=vertex, edge=edge):
                kept[place] = known[vertex] = Kept(_bound(graph, step, known.get(vertex), reading))
            case EndsFilter(vertex=vertex):
                kept[place] = known[vertex] = Kept(_at_ends(graph, step, known.get(vertex), reading))
            case ReachedFilter(vertex=vertex):
                reached = _reached(graph, step, known, reading)
                if reached is not None:
                    kept[place] = known[vertex] = Kept(reached)
            case PredicateFilter(vertex=vertex, predicates=predicates) if vertex in known:
                kept[place] = known[vertex] = Kept(scan.among(reading, predicates, known[vertex].vertices))
            case PredicateFilter(vertex=vertex, predicates=predicates):
                kept[place] = known[vertex] = _selected_vertices(graph.vertices[vertex].tables, predicates, reading)
            case EdgePredicateFilter(edge=edge):
                asked = graph.edges[edge]
                near = _edges_near(asked, step, known, reading)
                alone = near is not None or any(map(is_volatile, step.predicates))
                key = edge if alone else (asked.types, *map(unnamed, step.predicates))
                if key not in alike:
                    alike[key] = selected_edges(asked.types, step.predicates, near, asked.described, reading)
                edges[edge] = alike[key]
    seeds |= edges_of(graph, compared, reading)
    for each in values:  # of what all others leave
        seeds[each.vertex] = values_of(graph, each, known, seeds, reading)
    return Masks(kept, edges, seeds)


def _looked_up(step: LookupFilter, reading: Reading) -> Vertices:
    """The vertices that the predicate names."""
    snapshot, found = reading.snapshot, []
    for table in step.tables:
        rows = scan.look_up(reading, table, step.predicate)
        found.append(snapshot.vertex_numbers.ids_at(table, rows).astype(np.int32, copy=False))
    return found[0] if len(found) == 1 else np.sort(np.concatenate([np.zeros(0, np.int32), *found]))


def _bound(graph: QueryGraph, step: BindingFilter, before: Kept | None, reading: Reading) -> Vertices:
    """The vertices of the query vertex's tables that a seed binds to it."""
    relation = graph.edges[step.edge].relation
    assert isinstance(relation, Binding)
    assert reading.seeds is not None
    bound = _of_tables(reading.seeds.bound(relation.column), graph.vertices[step.vertex].tables, reading)
    return bound if before is None else np.intersect1d(before.vertices, bound, assume_unique=True)


def at_ends(graph: QueryGraph, vertex: int, edge: int, reading: Reading) -> Vertices:
    """The vertices, ascending, of a query vertex's tables that data edges which fit one of its edges lead from or
    to, of those that are left of it."""
    query_edge = graph.edges[edge]
    if reading.leads is not None:
        ends = reading.leads.at(vertex == query_edge.source)
    else:
        ends = reading.snapshot.at_ends(query_edge.types, query_edge.direction(vertex))
    return _of_tables(ends, graph.vertices[vertex].tables, reading)


def _at_ends(graph: QueryGraph, step: EndsFilter, before: Kept | None, reading: Reading) -> Vertices:
    ends = at_ends(graph, step.vertex, step.edge, reading)
    return ends if before is None else np.intersect1d(before.vertices, ends, assume_unique=True)


def _reached(graph: QueryGraph, step: ReachedFilter, known: Mapping[int, Kept], reading: Reading) -> Vertices | None:
    """The vertices of the query vertex's tables that the edge leads to; None when they are not few."""
    edge = graph.edges[step.edge]
    other = edge.other(step.vertex)
    if other not in known or len(known[other]) > step.most:
        return None
    adjacency = adjacency_of(edge.relation, edge.direction(other), reading.snapshot, reading.control.memory)
    reached = adjacency.reached(known[other].vertices, step.most)
    return None if reached is None else _of_tables(reached, graph.vertices[step.vertex].tables, reading)


def _of_tables(vertices: Vertices, tables: tuple[int, ...], reading: Reading) -> Vertices:
    """Those of the vertices, ascending, that are of the tables."""
    return reading.snapshot.vertex_numbers.of_tables(vertices, tables)


def _selected_vertices(tables: tuple[int, ...], predicates: tuple[Expression, ...], reading: Reading) -> Kept:
    snapshot, numbers = reading.snapshot, reading.snapshot.vertex_numbers
    masks = {table: scan.select_vertices(reading, table, predicates) for table in tables}
    asked = sum(map(len, masks.values()))
    if asked * _MANY < snapshot.vertex_count:
        return Kept(numbers.ids(tables, np.int32)[numbers.by_id(masks, np.bool_)])
    true = np.zeros(((snapshot.vertex_count >> 6) + 1) << 6, np.bool_)
    for begin, end, table, row in numbers.of(tables):
        true[begin:end] = masks[table][row : row + end - begin]
    return Kept(None, np.packbits(true, bitorder="little").view(np.uint64))


def _edges_near(
    edge: QueryEdge, step: EdgePredicateFilter, known: Mapping[int, Kept], reading: Reading
) -> NDArray[np.int64] | None:
    """The data edges at what is left of one end, ascending, or those of the types; None when they are not few."""
    few = reading.snapshot.few_edges(edge.types)
    if few is not None:
        return few
    if step.near is None or step.near not in known or len(known[step.near]) > step.most:
        return None
    adjacency = adjacency_of(edge.relation, edge.direction(step.near), reading.snapshot, reading.control.memory)
    return adjacency.edges_at(known[step.near].vertices, step.most)
