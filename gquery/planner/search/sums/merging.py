"""Problems in which query vertices are one: what inclusion and exclusion count apart.

An edge between two of them leads from a vertex to itself. A query graph has no such edge for a search to follow: it
becomes one to a vertex of its own, along the self-loops alone (`Loops`), and is counted and folded like any other.
"""

from __future__ import annotations

from gquery.planner.ir.problem import Constraints, Pair, Problem
from gquery.planner.ir.query_graph import QueryEdge, QueryGraph, QueryVertex
from gquery.planner.ir.relations import Loops, Types
from gquery.planner.search.sums.equal_edges import choices_of
from gquery.records import replace

Groups = tuple[tuple[int, ...], ...]


def groups_of(problem: Problem, *pairs: Pair) -> Groups | None:
    """The vertices when those of each pair become one, as groups. None when the absence of an edge, a comparison or an
    edge of which not each data edge counts would be left within a group: it would speak of one vertex."""
    leader = list(range(len(problem.graph.vertices)))
    for one, other in pairs:
        low, high = sorted((leader[one], leader[other]))
        leader = [low if vertex == high else vertex for vertex in leader]
    links = [(edge.source, edge.target) for edge in problem.graph.edges if not _may_loop(problem, edge)]
    links += [(one, other) for one, other, *_ in problem.constraints.absent]
    links += [(comparison.left, comparison.right) for comparison in problem.comparisons]
    if any(one != other and leader[one] == leader[other] for one, other in links):
        return None
    members: dict[int, list[int]] = {}
    for vertex, first in enumerate(leader):
        members.setdefault(first, []).append(vertex)
    return tuple(tuple(members[first]) for first in sorted(members))


def _may_loop(problem: Problem, edge: QueryEdge) -> bool:
    """Whether an edge may become one from a vertex to itself, whose data edges are counted."""
    in_part = any(edge.index in part.edges for part in problem.graph.parts)
    return edge.relation.of_data_edges and problem.edges[edge.index] is not None and not edge.predicates and not in_part


def merge(problem: Problem, constraints: Constraints, groups: Groups, twin: int | None = None) -> Problem | None:
    """The problem with the vertices of each group made one, to be taken away; None when that contradicts another test.
    twin: an edge that is the same data edge as another."""
    graph = problem.graph
    renumbered = {vertex: index for index, group in enumerate(groups) for vertex in group}
    vertices = [_one_vertex(graph, index, group) for index, group in enumerate(groups)]
    stands_for = [tuple(sorted(v for vertex in group for v in problem.merged[vertex])) for group in groups]
    chosen = {choice.edge for choice in constraints.choices}
    counted: set[int] = set()  # the same, by what they become
    edges: list[QueryEdge] = []
    origins: list[int | None] = []
    moved: dict[int, int] = {}
    part_of = {edge: number for number, part in enumerate(graph.parts) for edge in part.edges}
    between: dict[tuple[int | None, frozenset[int]], list[QueryEdge]] = {}  # by part and ends
    for edge in graph.edges:
        if edge.index == twin:
            continue
        ends = (renumbered[edge.source], renumbered[edge.target])
        turned = replace(edge, index=len(edges), source=ends[0], target=ends[1])
        if ends[0] == ends[1] and edge.source != edge.target:
            turned = _to_itself(turned, len(vertices))
            vertices.append(replace(vertices[ends[0]], index=len(vertices)))
            stands_for.append(stands_for[ends[0]])
        others = between.setdefault((part_of.get(edge.index), frozenset(ends)), [])
        plain = edge.index not in chosen
        if plain and any(_implies(other, turned) for other in others):
            continue
        wider = next((each for each in others if plain and each.index not in counted and _implies(turned, each)), None)
        if wider is not None:
            others.remove(wider)
            others.append(replace(turned, index=wider.index))
            edges[wider.index], origins[wider.index] = others[-1], problem.edges[edge.index]
            continue
        if not plain:
            counted.add(turned.index)
        others.append(turned)
        moved[edge.index] = turned.index
        edges.append(turned)
        origins.append(problem.edges[edge.index])
    tests = constraints.renumbered(renumbered, moved)
    if tests is None:
        return None
    parts = tuple(
        replace(
            part,
            vertices=tuple(renumbered[vertex] for vertex in part.vertices),
            edges=tuple(moved[edge] for edge in part.edges if edge in moved),
        )
        for part in graph.parts
    )
    graph = replace(graph, vertices=tuple(vertices), edges=tuple(edges), parts=parts)
    return Problem(
        graph,
        replace(tests, choices=tuple(choices_of(graph, {each.edge: each.collides for each in tests.choices}))),
        tuple(comparison.renumbered(renumbered) for comparison in problem.comparisons),
        tuple(stands_for),
        tuple(origins),
        -problem.coefficient,
    )


def _to_itself(edge: QueryEdge, end: int) -> QueryEdge:
    """The edge from a vertex to itself as one to a vertex of its own."""
    assert isinstance(edge.relation, Types), "no other relation has self-loops that are counted"
    loops = Loops(edge.types, edge.relation.number)
    return replace(edge, target=end, relation=loops, directed=True, described=f"self-loops of {edge.described}")


def _one_vertex(graph: QueryGraph, index: int, group: tuple[int, ...]) -> QueryVertex:
    first = graph.vertices[group[0]]
    if len(group) == 1:
        return replace(first, index=index)
    tables = set(first.tables).intersection(*(graph.vertices[vertex].tables for vertex in group))
    predicates = tuple(predicate for vertex in group for predicate in graph.vertices[vertex].predicates)
    described = " = ".join(graph.vertices[vertex].described for vertex in group)
    return QueryVertex(index, first.variable, tuple(sorted(tables)), predicates, described)


def _implies(one: QueryEdge, other: QueryEdge) -> bool:
    """Whether there is always the other of two edges without predicates of their own where there is the one."""
    if (one.directed, one.predicates, other.predicates) != (other.directed, (), ()):
        return False
    if one.relation != other.relation:
        kinds = (one.relation, other.relation)
        if not (isinstance(kinds[0], Types) and isinstance(kinds[1], Types) and kinds[0].lies_in(kinds[1])):
            return False
    ends, other_ends = (one.source, one.target), (other.source, other.target)
    return ends == other_ends or (not one.directed and ends == other_ends[::-1])
