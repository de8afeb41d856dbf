"""Queries of which an edge that comes may take rows away, since it is what must not be there, or what is optional.

Each of their rows has an *anchor*: what it has for the two ends of one relationship of the pattern that is asked for
first, or for the only node of that. The rows of an anchor can change only where one of the query's loose patterns is
found with that anchor and an edge of the change, in the old version with one that is lost or in the new one with one
that is gained. These anchors are found by terms; of them, and no others, the query is asked in both versions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gquery.continuous.loose import Loose, Place, UnboundError, loosened
from gquery.continuous.terms import Terms, term, together
from gquery.errors import Span
from gquery.executor.chain.sieve import Sieve
from gquery.planner.ir.expr import INTEGER, NODE, Attribute, Column
from gquery.planner.ir.query_graph import QueryEdge, QueryGraph
from gquery.planner.ir.segments import BoundQuery, Match, Project, Projection, ProjectionItem, Variable
from gquery.records import record
from gquery.storage.schema import Schema


@record(frozen=True, slots=True)
class Anchored:
    """names: of the anchor's vertices. touched: the anchors that edges of the change are near, int64 columns of these
    names; None where no edge makes a difference. alone: the tables of an anchor that is a vertex alone, which changes
    by itself, too. types: of the edges that make a difference. query: the rows of the anchors that it begins with."""

    names: tuple[str, ...]
    touched: Terms | None
    alone: bool
    types: frozenset[str]
    query: BoundQuery


def anchored(bound: BoundQuery, schema: Schema) -> Anchored:
    """The query by its anchors. Raises UnboundError where it has none."""
    match, *others = bound.segments
    if type(match) is not Match or match.input:
        raise UnboundError("it begins with no pattern of its own")
    patterns = loosened(bound.segments, tuple(sorted(schema.types)))
    begin = _anchor(match.graph, patterns)
    names = tuple(match.graph.vertices[index].variable for index in begin)
    rows = tuple(Variable(name, NODE) for name in names)
    output = (*rows, *(each for each in match.output if each.name not in names))
    query = replace(bound, segments=(replace(match, bound=names, input=rows, output=output), *others))
    changing = [(each.with_edge(edge), edge) for each in patterns for edge in each.changing]
    terms = [_led(graph, edge, rows) for graph, edge in changing]
    numbers = tuple(Variable(name, INTEGER) for name in names)
    items = tuple(ProjectionItem(name, Column(INTEGER, Span(0, 0), name, Attribute.VALUE)) for name in names)
    project = Project(Projection(items, True, (), None, None), (), rows, numbers)
    touched = Terms(BoundQuery((together(terms, rows), project)), Sieve(changing, schema)) if terms else None
    all_types = frozenset(type_ for _, edge in changing for type_ in edge.types)
    return Anchored(names, touched, len(names) == 1, all_types, query)


def _anchor(graph: QueryGraph, patterns: Sequence[Loose]) -> tuple[int, ...]:
    """The vertices of the first pattern that are nearest to all edges which make a difference."""
    required = patterns[0].graph
    joined = {(edge.source, edge.target) for edge in required.edges if edge.source != edge.target}
    found: list[tuple[int, ...]] = [*sorted(joined)] or [(0,)]
    own = {at: index for (_, index), at in patterns[0].vertices.items()}

    def far(places: tuple[int, ...]) -> int:
        return sum(_far(each, [(0, own[place]) for place in places]) for each in patterns)

    return tuple(own[place] for place in min(found, key=far))


def _far(pattern: Loose, anchor: Sequence[Place]) -> int:
    """How far the edges that make a difference are from an anchor, together."""
    distances = pattern.distances([pattern.vertices[place] for place in anchor])
    if len(distances) < len(pattern.graph.vertices):
        raise UnboundError("nothing joins all nodes of a pattern")
    return sum(min(distances[edge.source], distances[edge.target]) for edge in pattern.changing)


def _led(graph: QueryGraph, edge: QueryEdge, output: tuple[Variable, ...]) -> Match:
    """A loose pattern with an edge of the change for one of its edges, whose order begins there."""
    ends = dict.fromkeys((edge.source, edge.target))
    lead = tuple(graph.vertices[end].variable for end in ends)
    return Match(term(graph, edge.index), (), (), (), output, lead=lead)
