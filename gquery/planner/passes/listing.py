"""Decides which query vertices are listed; the others are summed out."""

from __future__ import annotations

from collections.abc import Iterable

from gquery.planner.ir.problem import Problem
from gquery.planner.ir.query_graph import QueryEdge, QueryGraph
from gquery.planner.ir.relations import Binding, Valued
from gquery.planner.passes.draft import Draft
from gquery.planner.passes.reaching import is_named
from gquery.planner.search.context import Context
from gquery.planner.search.sums.pairs import cases_of
from gquery.records import replace
from gquery.storage.statistics import Statistics


def keep_what_is_listed(draft: Draft, context: Context) -> Draft:
    """Which vertices are listed, and whether what is listed stands for several matches."""
    if draft.counting:
        return draft
    kept = _kept(draft.problem, draft.spoken_of, draft.limit, context.statistics)
    everything = len(kept) == len(draft.graph.vertices)
    alone = len(kept) == 2 and len(draft.graph.edges) == 1  # then each data edge is a row as soon as all are counted
    plain = everything and (alone or all(choice.listed for choice in draft.problem.constraints.choices))
    if cases := _cases(draft, context):
        return replace(draft, kept=_asked(draft.problem, draft.spoken_of), cases=cases)
    return replace(draft, kept=kept, weighted=draft.weighted and not plain)


def _cases(draft: Draft, context: Context) -> tuple[Problem, ...]:
    """What is listed where the answer speaks of two vertices that others join, of which it minds at most how many there
    are: these two alone."""
    graph, segment, asked = draft.graph, draft.segment, _asked(draft.problem, draft.spoken_of)
    if not (draft.weighted or draft.existence) or draft.limit is not None or len(asked) != 2:
        return ()
    if segment.input or segment.lead or not context.costs.effort.pairs:
        return ()
    if any(is_named(vertex, context.statistics) for vertex in graph.vertices if vertex.index not in asked):
        return ()  # there are no more ways than pairs
    return cases_of(draft.problem, asked, context.invariants)


def _asked(problem: Problem, spoken_of: frozenset[str]) -> frozenset[int]:
    """The vertices that the answer speaks of, the ends of such edges and of all that may collide with them."""
    listed = (choice.vertices for choice in problem.constraints.choices if choice.listed)
    named = (vertex.index for vertex in problem.graph.vertices if vertex.variable in spoken_of)
    return frozenset(named).union(*listed)


def _kept(problem: Problem, spoken_of: frozenset[str], limit: int | None, statistics: Statistics) -> frozenset[int]:
    """The vertices that are listed: those that the answer speaks of, the ends of such edges and of all that may collide
    with them, what connects them, and what they bind. With a limit, every required vertex: a sum would look at all
    matches."""
    graph = problem.graph
    values = [edge for edge in graph.edges if isinstance(edge.relation, Valued)]  # which many vertices share
    required = {vertex.index for vertex in graph.vertices if graph.part_of(vertex.index) is None}
    if limit is not None or not required:
        return frozenset(required)
    kept = set(_asked(problem, spoken_of))
    kept = _connected(graph, kept or {min(required)}, [edge for edge in graph.edges if edge not in values])
    kept = _connected(graph, kept, graph.edges)
    kept |= {edge.source for edge in values if all(other.target in kept for other in graph.incident[edge.source])}
    named = {vertex for vertex in required if is_named(graph.vertices[vertex], statistics)}
    return frozenset(kept | _single_beside(problem, kept, named))


def _single_beside(problem: Problem, kept: set[int], named: set[int]) -> set[int]:
    """The vertices of which there is one, next to others that are listed, or compared with those: what listed seeds
    bind, one each, and what a value names. They make no more rows, and leave fewer candidates of those beside them."""
    graph, incident = problem.graph, problem.graph.incident
    pairs = {(each.left, each.right) for each in problem.comparisons}
    pairs |= {(right, left) for left, right in pairs}
    bound = {edge.target: edge.source for edge in graph.bindings() if edge.source in kept and _is_one(edge)}
    single = {**dict.fromkeys(named), **bound}
    return {
        vertex
        for vertex, seed in single.items()
        if any(edge.other(vertex) in kept - {seed, vertex} for edge in incident[vertex])
        or any((vertex, other) in pairs for other in kept)
    }


def _is_one(binding: QueryEdge) -> bool:
    return isinstance(binding.relation, Binding) and binding.relation.functional


def _connected(graph: QueryGraph, kept: set[int], edges: Iterable[QueryEdge]) -> set[int]:
    """With the vertices on shortest ways between them: without these, unrelated candidates would be paired up."""
    near: dict[int, set[int]] = {
        vertex.index: set() for vertex in graph.vertices if graph.part_of(vertex.index) is None
    }
    for edge in edges:
        if edge.source in near and edge.target in near:
            near[edge.source].add(edge.target)
            near[edge.target].add(edge.source)
    reached = {min(kept)}
    while kept - reached:
        came_from = dict.fromkeys(reached, -1)
        frontier = list(reached)
        found = None
        while frontier and found is None:
            following = []
            for vertex in frontier:
                for other in sorted(near[vertex] - set(came_from)):
                    came_from[other] = vertex
                    following.append(other)
                    found = other if found is None and other in kept else found
            frontier = following
        if found is None:  # another component of the query graph
            reached.add(min(kept - reached))
            continue
        while found != -1:
            reached.add(found)
            found = came_from[found]
    return reached
