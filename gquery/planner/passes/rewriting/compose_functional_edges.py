"""Composes edges that lead to one vertex at most: where `(a)-[:LIVES_IN]->(x)-[:PART_OF]->(b)` closes a cycle, a, b and
the rest are matched with one edge from a to b, and x need not be.

Such edges are the columns of a relational schema written as edges: every person lives in one city, every city is part
of one country. A cycle through them ("in the same country") is otherwise searched vertex by vertex.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from gquery.planner.ir.problem import Problem
from gquery.planner.ir.query_graph import QueryEdge, QueryGraph
from gquery.planner.ir.relations import Composed
from gquery.planner.passes.draft import Draft
from gquery.planner.search.cardinality import kept_share
from gquery.planner.search.context import Context
from gquery.records import replace
from gquery.storage.invariants import Invariants
from gquery.storage.schema import Hop
from gquery.storage.statistics import Statistics


def compose(draft: Draft, context: Context) -> Draft:
    """The query without the vertices that nothing but two such edges speaks of. With a LIMIT, a few matches are found
    before the edges would be composed."""
    while draft.limit is None and not draft.graph.parts:
        context.check()
        found = next(_chains(draft, context), None)
        if found is None:
            break
        first, second, middle = found
        draft = _without(draft, middle, _as_one(draft.graph, first, second, middle, context))
    return draft


def _told(problem: Problem) -> set[int]:
    """The vertices that a test speaks of."""
    constraints = problem.constraints
    told = {vertex for pair in constraints.different for vertex in pair}
    told |= {vertex for quad in constraints.different_pairs for vertex in quad}
    told |= {vertex for one, other, *_ in constraints.absent for vertex in (one, other)}
    told |= {vertex for choice in constraints.choices for vertex in choice.vertices}
    told |= {vertex for comparison in problem.comparisons for vertex in (comparison.left, comparison.right)}
    return told | set(constraints.loopless)


def _chains(draft: Draft, context: Context) -> Iterator[tuple[QueryEdge, QueryEdge, int]]:
    """Two edges, the second from where the first leads to, that can be one, and the vertex in between."""
    graph, spoken_of, statistics = draft.graph, draft.spoken_of, context.statistics
    told, chosen = _told(draft.problem), {choice.edge for choice in draft.problem.constraints.choices}
    counts = ((statistics.vertex_count(vertex.tables), vertex.predicates) for vertex in graph.vertices)
    smallest = min((count * kept_share(predicates, count) for count, predicates in counts if predicates), default=inf)
    incident = graph.incident
    for middle in graph.vertices:
        edges = incident[middle.index]
        if len(edges) != 2 or middle.index in told or middle.predicates or middle.variable in spoken_of:
            continue
        if middle.variable in draft.segment.lead:
            continue
        if any(edge.predicates or edge.index in chosen or edge.variable in spoken_of for edge in edges):
            continue
        for first, second in (edges, edges[::-1]):
            begin, end = first.other(middle.index), second.other(middle.index)
            if middle.index in (begin, end) or begin == end:
                continue
            if not all(graph.vertices[each].tables for each in (begin, middle.index, end)):
                continue
            if statistics.vertex_count(graph.vertices[begin].tables) > context.costs.compose * smallest:
                continue
            lead_to_one = _leads_to_one(graph, first, begin, context.invariants) and _leads_to_one(
                graph, second, middle.index, context.invariants
            )
            if lead_to_one and _connected(incident, begin, end, middle.index):
                yield first, second, middle.index


def _leads_to_one(graph: QueryGraph, edge: QueryEdge, source: int, invariants: Invariants) -> bool:
    """Whether the edge leads to at most one vertex, by hops that can be followed."""
    tables, direction = graph.vertices[source].tables, edge.direction(source)
    if not edge.relation.as_hops(invariants, direction, tables, ()):
        return False
    bound = edge.relation.row_bound(invariants, direction, tables)
    return bound is not None and bound <= 1


def _connected(incident: Sequence[tuple[QueryEdge, ...]], begin: int, end: int, without: int) -> bool:
    """Whether there is another way from `begin` to `end`."""
    reached, pending = {begin, without}, [begin]
    while pending:
        vertex = pending.pop()
        for edge in incident[vertex]:
            if edge.other(vertex) not in reached:
                reached.add(edge.other(vertex))
                pending.append(edge.other(vertex))
    return end in reached


def _as_one(graph: QueryGraph, first: QueryEdge, second: QueryEdge, middle: int, context: Context) -> QueryEdge:
    """The edge that stands for both."""
    begin, end = first.other(middle), second.other(middle)
    tables = graph.vertices[begin].tables
    hops = _hops(graph, first, begin, tables, context.invariants)
    *_, (_, _, reached) = hops
    hops = (*hops, *_hops(graph, second, middle, reached, context.invariants))
    relation = Composed(tables, hops, _count(tables, hops, context.statistics))
    variable, described = f"{first.variable}{second.variable}", _described(first, second, middle)
    return QueryEdge(len(graph.edges), variable, begin, end, relation, True, (), described)


def _without(draft: Draft, middle: int, instead: QueryEdge) -> Draft:
    """The query without a vertex and its edges, but with another edge, and all that is left numbered anew."""
    graph, constraints = draft.graph, draft.problem.constraints
    vertices = [vertex for vertex in graph.vertices if vertex.index != middle]
    edges = [edge for edge in graph.edges if middle not in (edge.source, edge.target)]
    vertex = {old.index: new for new, old in enumerate(vertices)}
    edge = {old.index: new for new, old in enumerate(edges)}
    apart = frozenset(pair for pair in constraints.apart if middle not in pair)
    tests = replace(constraints, apart=apart).renumbered(vertex, edge)
    assert tests is not None  # no vertices became one
    scopes = tuple(
        replace(
            scope,
            vertices=tuple(vertex[each] for each in scope.vertices if each in vertex),
            edges=tuple(edge[each] for each in scope.edges if each in edge),
        )
        for scope in graph.scopes
    )
    left = replace(
        graph,
        vertices=tuple(replace(each, index=place) for place, each in enumerate(vertices)),
        edges=tuple(
            replace(each, index=place, source=vertex[each.source], target=vertex[each.target])
            for place, each in enumerate([*edges, instead])
        ),
        scopes=scopes,
    )
    starts = tuple(replace(each, vertex=vertex[each.vertex]) for each in draft.edges)
    compared = tuple(each.renumbered(vertex) for each in draft.problem.comparisons)
    return replace(draft.with_problem(left, tests, compared), edges=starts)


def _hops(
    graph: QueryGraph, edge: QueryEdge, source: int, tables: tuple[int, ...], invariants: Invariants
) -> tuple[Hop, ...]:
    """The edge as hops from vertices of the tables; only to tables that its edges lead to from there."""
    others = graph.vertices[edge.other(source)].tables
    return edge.relation.as_hops(invariants, edge.direction(source), tables, others)


def _count(tables: tuple[int, ...], hops: tuple[Hop, ...], statistics: Statistics) -> float:
    """About how many vertices of the tables the hops lead anywhere from."""
    count = float(statistics.vertex_count(tables))
    for types, direction, reached in hops:
        count *= statistics.degree(types, direction, tables).mean
        tables = reached
    return count


def _described(first: QueryEdge, second: QueryEdge, middle: int) -> str:
    if first.target == middle == second.source:
        return first.described + second.described[second.described.index(")") + 1 :]
    return f"{first.described} with {second.described}"
