"""Where a pattern that is counted falls apart.

Without a *cut vertex* a pattern falls into several pieces; each of these with the cut vertex is a *branch*. Where no
element of a graph can be in two branches of one match, the matches with a certain vertex there are the product of what
each branch has with that vertex. So it is enough to follow these numbers (`kept.py`), as views of a query are
maintained by views of its parts (Koch et al., DBToaster, VLDB Journal 2014; for products Nikolic and Olteanu, F-IVM,
SIGMOD 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product

from gquery.errors import Span
from gquery.planner.ir.expr import INTEGER, NODE, Aggregate, Attribute, Column
from gquery.planner.ir.query_graph import QueryEdge, QueryGraph, Scope
from gquery.planner.ir.segments import BoundQuery, Match, Project, Projection, ProjectionItem, Variable
from gquery.records import record
from gquery.settings import MatchMode

VERTEX, MATCHES = " vertex", " matches"  # no name of a user's begins with a space


@record(frozen=True, slots=True)
class Branches:
    """queries: for each branch one that tells how many matches it has with each vertex at the cut vertex that has any:
    columns VERTEX and MATCHES, int64. described: where the pattern falls apart, and into what."""

    queries: tuple[BoundQuery, ...]
    described: str


def branches_of(bound: BoundQuery) -> Branches | None:
    """Of a query that counts the matches of one MATCH; None where its pattern does not fall apart. Of several cut
    vertices that with the smallest largest branch."""
    match, *others = bound.segments
    if type(match) is not Match or not only_counts(others):
        return None
    graph = match.graph
    if graph.predicates or graph.parts or len(graph.scopes) != 1:
        return None
    found = [(vertex.index, pieces) for vertex in graph.vertices if len(pieces := _pieces(graph, vertex.index)) > 1]
    found = [(vertex, pieces) for vertex, pieces in found if _are_apart(graph, pieces)]
    if not found:
        return None
    at, pieces = min(found, key=lambda each: max(map(len, each[1])))
    described = " times ".join(", ".join(edge.described for edge in piece) for piece in pieces)
    queries = tuple(_counted(graph, at, piece) for piece in pieces)
    return Branches(queries, f"{graph.vertices[at].described}: {described}")


def only_counts(segments: Sequence[object]) -> bool:
    """Whether all that comes behind the pattern is `RETURN count(*)`."""
    if len(segments) != 1 or type(segments[0]) is not Project or segments[0].where:
        return False
    projection = segments[0].projection
    if len(projection.items) != 1 or projection.skip is not None or projection.limit is not None:
        return False
    shown = projection.items[0].expression
    return isinstance(shown, Aggregate) and shown.function == "count" and shown.argument is None


Piece = tuple[QueryEdge, ...]


def _pieces(graph: QueryGraph, without: int) -> list[Piece]:
    """The edges of what is still joined without a vertex, each piece with those that lead there. An edge from that
    vertex to itself is a piece of its own."""
    root = list(range(len(graph.vertices)))

    def found(vertex: int) -> int:
        while root[vertex] != vertex:
            vertex = root[vertex]
        return vertex

    for edge in graph.edges:
        if without not in (edge.source, edge.target):
            root[found(edge.source)] = found(edge.target)
    pieces: dict[int, list[QueryEdge]] = {}
    for edge in graph.edges:
        pieces.setdefault(found(edge.other(without) if edge.target == without else edge.target), []).append(edge)
    return [tuple(piece) for piece in pieces.values()]


def _are_apart(graph: QueryGraph, pieces: Sequence[Piece]) -> bool:
    """Whether the matches of different pieces never share what the mode lets a match have once."""
    (scope,) = graph.scopes
    return all(_can_meet[scope.mode](graph, *pair) is False for pair in combinations(pieces, 2))


def _nodes_can_meet(graph: QueryGraph, one: Piece, other: Piece) -> bool:
    """But for the cut vertex, which is in both. Where vertices differ, edges do."""
    ends, others = ({end for edge in piece for end in (edge.source, edge.target)} for piece in (one, other))
    return any(_may_be_same(graph, *pair) for pair in product(ends - others, others - ends))


def _edges_can_meet(graph: QueryGraph, one: Piece, other: Piece) -> bool:
    return any(_may_be_one(graph, *pair) for pair in product(one, other))


def _may_be_one(graph: QueryGraph, one: QueryEdge, other: QueryEdge) -> bool:
    """Whether an edge of the data may be at both query edges."""
    if not set(one.types) & set(other.types):
        return False
    ahead = _may_be_same(graph, one.source, other.source) and _may_be_same(graph, one.target, other.target)
    turned = _may_be_same(graph, one.source, other.target) and _may_be_same(graph, one.target, other.source)
    return ahead or (turned and not (one.directed and other.directed))


def _may_be_same(graph: QueryGraph, one: int, other: int) -> bool:
    """Whether a vertex of the data may be at both query vertices."""
    return bool(set(graph.vertices[one].tables) & set(graph.vertices[other].tables))


_can_meet = {
    "repeatable elements": lambda *_: False,
    "different edges": _edges_can_meet,
    "different nodes": _nodes_can_meet,
    "induced": lambda *_: True,
}


def _counted(graph: QueryGraph, at: int, piece: Piece) -> BoundQuery:
    """The number of matches of a piece by the cut vertex."""
    vertices = sorted({end for edge in piece for end in (edge.source, edge.target)})
    place = {vertex: index for index, vertex in enumerate(vertices)}
    edges = tuple(
        replace(edge, index=index, source=place[edge.source], target=place[edge.target])
        for index, edge in enumerate(piece)
    )
    mode: MatchMode = graph.scopes[0].mode
    scope = Scope(mode, tuple(range(len(vertices))), tuple(range(len(edges))))
    own = QueryGraph(
        tuple(replace(graph.vertices[each], index=place[each]) for each in vertices), edges, (scope,), (), ()
    )
    variable = Variable(graph.vertices[at].variable, NODE)
    nowhere = Span(0, 0)
    items = (
        ProjectionItem(VERTEX, Column(INTEGER, nowhere, variable.name, Attribute.VALUE)),
        ProjectionItem(MATCHES, Aggregate(INTEGER, nowhere, "count", None, False)),
    )
    project = Project(
        Projection(items, False, (), None, None),
        (),
        (variable,),
        tuple(Variable(item.name, INTEGER) for item in items),
    )
    return BoundQuery((Match(own, (), (), (), (variable,)), project))
