"""What a change does to the matches of a pattern, as patterns.

The matches that use an edge of the change are those that find one for the first edge of the pattern, and for no later
one; and those that find one for the second, and for no later one; and so on. Each is a *term*: the same pattern, with
an edge of the change for one of its edges, any edge for those before it, and an edge that stays for those behind it.
No match is in two terms. Together they take the place of the pattern in its query: whatever comes after it, grouping
and sorting too, is done once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gquery.executor.chain.sieve import Sieve
from gquery.planner.ir.query_graph import QueryEdge, QueryGraph
from gquery.planner.ir.relations import Types
from gquery.planner.ir.segments import Apply, BoundQuery, Match, Project, Segment, Unwind, Variable
from gquery.records import record
from gquery.storage.parted.facts import apart_type
from gquery.storage.schema import Schema


def are_terms_all(bound: BoundQuery) -> bool:
    """Whether the terms of a change are all that changes: a match of the query's pattern stays one when other edges
    come or go, and each has rows of its own."""
    first, *others = bound.segments
    if type(first) is not Match or first.input or not all(isinstance(each, Project) for each in others):
        return False
    graph = first.graph
    joined = {end for edge in graph.edges for end in (edge.source, edge.target)}
    return (
        not graph.parts
        and len(joined) == len(graph.vertices)
        and all(isinstance(edge.relation, Types) for edge in graph.edges)
        and all(scope.mode != "induced" for scope in graph.scopes)
    )


def is_row_wise(segments: Iterable[Segment]) -> bool:
    """Whether each row that projections are given has rows of its own behind them, so that rows come and go with
    matches."""
    return all(
        isinstance(each, Unwind) or not (each.projection.is_grouped or _is_cut(each))
        for each in segments
        if isinstance(each, Project)
    )


def _is_cut(project: Project) -> bool:
    return project.projection.skip is not None or project.projection.limit is not None


def _led(match: Match, place: int, alone: bool = False) -> Match:
    """The term of the edge at a place, whose order begins there. alone: it is the only edge of the change."""
    edge, vertices = match.graph.edges[place], match.graph.vertices
    ends = dict.fromkeys((edge.source, edge.target))
    return replace(match, graph=term(match.graph, place, alone), lead=tuple(vertices[end].variable for end in ends))


def term(graph: QueryGraph, place: int, alone: bool = False) -> QueryGraph:
    """The term of the edge at a place."""
    edges = (replace(edge, relation=Types(_types(edge, place, alone))) for edge in graph.edges)
    return replace(graph, edges=tuple(edges))


def places_of(bound: BoundQuery) -> tuple[int, ...]:
    """Of all edges of the pattern."""
    match = bound.segments[0]
    assert isinstance(match, Match)
    return tuple(edge.index for edge in match.graph.edges)


def are_apart(graph: QueryGraph) -> bool:
    """Whether no data edge is in a match twice."""
    (mode, *modes) = (scope.mode for scope in graph.scopes)
    pairs = {frozenset((edge.source, edge.target)) for edge in graph.edges}
    return not modes and (mode == "different edges" or (mode == "different nodes" and len(pairs) == len(graph.edges)))


def of_one_edge(bound: BoundQuery, places: Iterable[int]) -> BoundQuery:
    """The query of what the change of one edge did, which is in no match twice: the terms of some edges, in which all
    others are edges that stay."""
    match, *others = bound.segments
    assert isinstance(match, Match)
    return replace(
        bound, segments=(together([_led(match, place, alone=True) for place in places], match.output), *others)
    )


def _types(edge: QueryEdge, place: int, alone: bool) -> tuple[str, ...]:
    if edge.index > place or (alone and edge.index < place):
        return edge.types
    apart = tuple(map(apart_type, edge.types))
    return tuple(sorted(apart if edge.index == place else (*apart, *edge.types)))


@record(frozen=True, slots=True)
class Terms:
    """query: what some edges make, by one term at least; sieve: for which of these an edge may be in a match."""

    query: BoundQuery
    sieve: Sieve

    @property
    def places(self) -> tuple[int, ...]:
        """Of all terms."""
        first = self.query.segments[0]
        return tuple(range(len(first.branches) if isinstance(first, Apply) else 1))


def terms_of(bound: BoundQuery, schema: Schema) -> Terms:
    """What a change did to the answer of a query, by the terms of all edges of its pattern."""
    match, *others = bound.segments
    assert isinstance(match, Match)
    found = together([_led(match, edge.index) for edge in match.graph.edges], match.output)
    sieve = Sieve(((match.graph, edge) for edge in match.graph.edges), schema)
    return Terms(replace(bound, segments=(found, *others)), sieve)


def together(terms: Sequence[Match], output: tuple[Variable, ...]) -> Segment:
    """What has the rows of all terms."""
    if len(terms) == 1:
        return terms[0]
    return Apply("rows", tuple((each,) for each in terms), None, False, (), output)
