"""What narrows the candidates of query vertices and edges before any matching. Indices are those of the query graph."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gquery.planner.ir.expr import Expression
from gquery.planner.ir.problem import Comparison
from gquery.planner.ir.query_graph import QueryEdge, QueryGraph
from gquery.planner.ir.relations import Types
from gquery.records import record
from gquery.storage.schema import Direction


@record(frozen=True, slots=True)
class LabelFilter:
    """C(vertex) starts as the vertices of these tables."""

    vertex: int
    tables: tuple[int, ...]


@record(frozen=True, slots=True)
class SeedFilter:
    """C(vertex) starts as the rows of the seeds."""

    vertex: int


@record(frozen=True, slots=True)
class ValueFilter:
    """C(vertex) starts as the values that vertices of both sides of a comparison have, which says that they are
    equal."""

    vertex: int
    comparison: Comparison


@record(frozen=True, slots=True)
class EdgesFilter:
    """C(vertex) starts as the data edges of some types for which all predicates are true. Those of all such vertices of
    one group are numbered together, so that equal numbers are one data edge: in the order of their sources, or of their
    targets."""

    vertex: int
    types: tuple[str, ...]
    predicates: tuple[Expression, ...]
    group: int
    by_source: bool


@record(frozen=True, slots=True)
class LookupFilter:
    """C(vertex) starts as the vertices of these tables for which the predicate is true: a property or the users' id is
    one of some values, which are looked up in an index of the column where there is one."""

    vertex: int
    tables: tuple[int, ...]
    predicate: Expression


@record(frozen=True, slots=True)
class BindingFilter:
    """Keeps the vertices that some seed binds: the edge leads from the seeds to them. by: the condition that they were
    looked up by, None where the rows have the vertices themselves."""

    vertex: int
    edge: int
    by: Expression | None = None


@record(frozen=True, slots=True)
class PredicateFilter:
    """Keeps the vertices for which all predicates are true: a column scan of each table."""

    vertex: int
    predicates: tuple[Expression, ...]


@record(frozen=True, slots=True)
class ReachedFilter:
    """Keeps the vertices that the edge leads to from those that predicates and seeds leave of its other end, where
    `most` entries of its adjacency or fewer lead there; keeps all otherwise. A column scan costs more than these.
    rows: about how many vertices stay, where that is known."""

    vertex: int
    edge: int
    most: int
    rows: float = math.inf


@record(frozen=True, slots=True)
class EndsFilter:
    """Keeps the vertices that the edge leads from or to, as it is seen: it is of types of which there are few. rows:
    about how many vertices stay. near: the vertices that the ends of the edge have as neighbours, without which a data
    edge is left out, where that is told beforehand (`nearby`)."""

    vertex: int
    edge: int
    rows: float
    near: tuple[int, ...] = ()


@record(frozen=True, slots=True)
class LoopFilter:
    """Keeps the vertices with (`present`) or without an edge to themselves among `types`."""

    vertex: int
    types: tuple[str, ...]
    present: bool
    edge: int | None


@record(frozen=True, slots=True)
class NeighbourFilter:
    """Keeps the vertices with at least `required` entries of the edge's adjacency that lead to vertices with the
    labels and predicates of the other end: EGSM's neighbour-label count (section 4.2, step 1), typed and directed.
    alike: all query edges at the vertex that ask for the same. share: of the vertices that are thought to stay.
    signature: bits of which a vertex's signature has one exactly when it stays (G-Morph section 3); None: the rows have
    to be looked at."""

    vertex: int
    edge: int
    required: int
    alike: tuple[int, ...] = ()
    share: float = 1.0
    signature: int | None = None


@record(frozen=True, slots=True)
class EdgePredicateFilter:
    """Only the data edges for which all predicates are true are candidates of the query edge. near: the vertex of which
    the edges at what is left are asked, where they are `most` or fewer; else all of the types are."""

    edge: int
    predicates: tuple[Expression, ...]
    near: int | None = None
    most: int = 0


Filter = (
    LabelFilter
    | SeedFilter
    | ValueFilter
    | EdgesFilter
    | LookupFilter
    | BindingFilter
    | ReachedFilter
    | EndsFilter
    | PredicateFilter
    | LoopFilter
    | NeighbourFilter
    | EdgePredicateFilter
)

Seen = tuple[tuple[str, ...], Direction]
"""Edge types, and how edges are seen from the vertex that they lead away from."""


@record(frozen=True, slots=True)
class Near:
    """A neighbour of one of some vertex tables: of the source, of the target, or of both where both are named."""

    source: Seen | None
    target: Seen | None
    tables: tuple[int, ...]


def nearby(graph: QueryGraph, edge: QueryEdge) -> tuple[Near, ...]:
    """What every match has around one of its edges, in whatever mode, so that a data edge without it is in none there:
    LOC and TRI signatures (G-Morph, section 3) as an edge has them. What one end has alone comes first."""
    if graph.parts:
        return ()
    from_source, from_target = (dict(_others(graph, edge, end)) for end in (edge.source, edge.target))
    tables = {vertex.index: vertex.tables for vertex in graph.vertices}
    found = [Near(seen, None, tables[other]) for other, seen in from_source.items()]
    found += [Near(None, seen, tables[other]) for other, seen in from_target.items()]
    found += [
        Near(seen, from_target[other], tables[other]) for other, seen in from_source.items() if other in from_target
    ]
    return tuple(dict.fromkeys(found))


def around(graph: QueryGraph, edge: QueryEdge) -> tuple[int, ...]:
    """The vertices, ascending, that are such neighbours."""
    if graph.parts:
        return ()
    return tuple(sorted({other for end in (edge.source, edge.target) for other, _ in _others(graph, edge, end)}))


def _others(graph: QueryGraph, edge: QueryEdge, end: int) -> Iterator[tuple[int, Seen]]:
    """The vertices that other edges lead to from an end of an edge, without its ends."""
    for each in graph.edges:
        if isinstance(each.relation, Types) and end in (each.source, each.target):
            other = each.other(end)
            if other not in (edge.source, edge.target):
                yield other, (each.types, each.direction(end))
