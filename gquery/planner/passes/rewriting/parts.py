"""Brings the parts of a query graph (OPTIONAL MATCH, patterns as conditions) into two plain shapes.

A part without vertices of its own that only says that an edge exists, or does not, becomes a test. Every other part
gets what it tests into vertices of its own: where it speaks of earlier vertices alone, it speaks of copies of them
afterwards, tied to the originals by an edge that leads from each vertex to itself.
"""

from __future__ import annotations

from gquery.planner.ir.expr import variables
from gquery.planner.ir.problem import Absence, Constraints
from gquery.planner.ir.query_graph import Part, QueryEdge, QueryGraph, Scope
from gquery.planner.ir.relations import Identity
from gquery.planner.ir.rename import copied, renamed
from gquery.planner.passes.draft import Draft
from gquery.planner.search.context import Context
from gquery.records import replace


def plain_parts(draft: Draft, context: Context) -> Draft:
    """The graph with plain parts, and the edges that must be absent between vertices matched anyway."""
    graph = draft.graph
    if not graph.parts:
        return draft
    for number in range(len(graph.parts)):
        context.check()
        if not _is_test(graph, number):
            graph = _with_copies(graph, number)
    graph, absent = _without_absent_edges(graph)
    return draft.with_problem(graph, Constraints(absent=absent), ())


def _is_test(graph: QueryGraph, number: int) -> bool:
    """Whether a part is one edge, there or not, between vertices that are matched whenever it is looked for."""
    part = graph.parts[number]
    if part.kind == "optional" or part.vertices or part.predicates or len(part.edges) != 1:
        return False
    edge = graph.edges[part.edges[0]]
    if edge.source == edge.target or (part.kind == "absent" and edge.predicates):
        return False
    modes = {scope.mode for scope in graph.scopes if scope.part == number}
    if not modes.isdisjoint(("different nodes", "induced")):
        return False
    return part.within is None or bool({edge.source, edge.target} & set(graph.parts[part.within].vertices))


def _with_copies(graph: QueryGraph, number: int) -> QueryGraph:
    """The graph where the part speaks of copies of those earlier vertices that it restricts by itself."""
    part = graph.parts[number]
    index = {vertex.variable: vertex.index for vertex in graph.vertices}
    own = set(part.vertices)
    copied: set[int] = set()
    for predicate in part.predicates:
        spoken_of = {index[name] for name in variables(predicate) if name in index}
        if not spoken_of & own:
            copied |= spoken_of
    for edge in part.edges:
        if not {graph.edges[edge].source, graph.edges[edge].target} & own:
            copied.add(graph.edges[edge].target)
    for scope in graph.scopes:
        earlier = sorted(set(scope.vertices) - own - copied)
        if scope.part == number and scope.mode == "induced":
            copied |= set(earlier)  # even a self-loop of one vertex is forbidden
        elif scope.part == number and (scope.mode == "different nodes" or len(scope.edges) > 1):
            copied |= set(earlier[1:])
    for vertex in sorted(copied):
        graph = _with_copy(graph, number, vertex)
    return graph


def _with_copy(graph: QueryGraph, number: int, vertex: int) -> QueryGraph:
    original = graph.vertices[vertex]
    new = len(graph.vertices)
    variable = copied(original.variable, number)
    part = graph.parts[number]
    names = {original.variable: variable}
    predicates = tuple(renamed(each, lambda name: names.get(name, name)) for each in part.predicates)
    alone = tuple(predicate for predicate in predicates if variables(predicate) == {variable})
    copy = replace(original, index=new, variable=variable, predicates=alone)

    def moved(edge: QueryEdge) -> QueryEdge:
        source, target = (new if end == vertex else end for end in (edge.source, edge.target))
        return replace(edge, source=source, target=target)

    edges = [moved(edge) if edge.index in part.edges else edge for edge in graph.edges]
    described = f"({original.variable.strip()}) again"
    edges.append(QueryEdge(len(edges), f"{variable} =", vertex, new, Identity(), True, (), described))
    scopes = tuple(
        replace(scope, vertices=tuple(new if member == vertex else member for member in scope.vertices))
        if scope.part == number
        else scope
        for scope in graph.scopes
    )
    changed = replace(
        part,
        vertices=(*part.vertices, new),
        edges=(*part.edges, len(edges) - 1),
        predicates=tuple(predicate for predicate in predicates if predicate not in alone),
    )
    parts = tuple(changed if index == number else other for index, other in enumerate(graph.parts))
    return replace(graph, vertices=(*graph.vertices, copy), edges=tuple(edges), scopes=scopes, parts=parts)


def _without_absent_edges(graph: QueryGraph) -> tuple[QueryGraph, tuple[Absence, ...]]:
    """Takes the parts out that are one absent edge."""
    absent = {
        part.edges[0]: graph.edges[part.edges[0]] for part in graph.parts if part.kind == "absent" and not part.vertices
    }
    kept = [edge for edge in graph.edges if edge.index not in absent]
    number = {edge.index: place for place, edge in enumerate(kept)}
    left = [index for index, part in enumerate(graph.parts) if not (part.edges and part.edges[0] in absent)]
    parts = [graph.parts[index] for index in left]
    places = {index: place for place, index in enumerate(left)}

    def part_of(part: Part) -> Part:
        within = None if part.within is None else places[part.within]
        return replace(part, edges=tuple(number[edge] for edge in part.edges), within=within)

    def scope_of(scope: Scope) -> Scope:
        part = None if scope.part is None else places[scope.part]
        return replace(scope, edges=tuple(number[edge] for edge in scope.edges), part=part)

    rewritten = replace(
        graph,
        edges=tuple(replace(edge, index=place) for place, edge in enumerate(kept)),
        scopes=tuple(scope_of(scope) for scope in graph.scopes if scope.part is None or scope.part in places),
        parts=tuple(part_of(part) for part in parts),
    )
    absences: list[Absence] = [
        (edge.source, edge.target, "out" if edge.directed else "both", edge.types) for edge in absent.values()
    ]
    return rewritten, tuple(absences)
