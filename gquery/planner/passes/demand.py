"""What the answer asks of the matches: which variables it speaks of, and whether it minds how often a row comes."""

from __future__ import annotations

from gquery.planner.ir.expr import (
    Aggregate,
    Attribute,
    Column,
    Expression,
    children,
    columns,
    is_aggregated,
    is_volatile,
    walk,
)
from gquery.planner.ir.problem import Problem
from gquery.planner.ir.segments import BoundQuery, Projection

_WEIGHED = ("count", "sum", "avg")  # aggregates that can be computed from distinct rows with their numbers
_UNREPEATED = ("min", "max")  # aggregates that a repeated row does not change


def is_counted(projection: Projection) -> bool:
    """Whether every item is made of `count(*)` or of counts of elements, which are never null, and of constants."""
    plain = not projection.distinct and not projection.order_by and projection.skip is None and projection.limit is None
    counts = any(is_aggregated(item.expression) for item in projection.items)
    return plain and counts and all(_is_count(item.expression) for item in projection.items)


def _is_count(expression: Expression) -> bool:
    if isinstance(expression, Aggregate):
        argument = expression.argument
        never_null = isinstance(argument, Column) and argument.attribute is Attribute.ELEMENT
        return expression.function == "count" and not expression.distinct and (argument is None or never_null)
    if isinstance(expression, Column) or is_volatile(expression):
        return False
    return all(_is_count(child) for child in children(expression))


def weighs_repeats(projection: Projection) -> bool:
    """Whether the answer is grouped, and can be computed from rows that come once with the number of times."""
    return _is_grouped(projection) and all(
        aggregate.distinct or aggregate.function in (*_WEIGHED, *_UNREPEATED) for aggregate in _aggregates(projection)
    )


def ignores_repeats(projection: Projection) -> bool:
    """Whether the answer is the same however often a row comes."""
    return _is_grouped(projection) and all(
        aggregate.distinct or aggregate.function in _UNREPEATED for aggregate in _aggregates(projection)
    )


def _is_grouped(projection: Projection) -> bool:
    return projection.distinct or any(is_aggregated(item.expression) for item in projection.items)


def _aggregates(projection: Projection) -> list[Aggregate]:
    return [node for expression in _expressions(projection) for node in walk(expression) if isinstance(node, Aggregate)]


def _expressions(projection: Projection) -> list[Expression]:
    return [*(item.expression for item in projection.items), *(item.expression for item in projection.order_by)]


def variables_of(bound: BoundQuery, residual: tuple[Expression, ...]) -> frozenset[str]:
    """The elements that the answer or a residual predicate speaks of, directly or through a path."""
    expressions = (*_expressions(bound.projection), *residual)
    spoken_of = {column.variable for expression in expressions for column in columns(expression)}
    for path in bound.query_graph.paths:
        if path.name in spoken_of:
            spoken_of.update((*path.vertices, *path.edges))
    return frozenset(spoken_of)


def kept_vertices(problem: Problem, spoken_of: frozenset[str], limit: int | None) -> frozenset[int]:
    """The vertices that have to be listed: those that the answer speaks of, the ends of such edges and of all that may
    collide with them, and what connects them. With a limit, every required vertex: a sum would look at all matches."""
    graph = problem.graph
    required = {vertex.index for vertex in graph.vertices if graph.part_of(vertex.index) is None}
    if limit is not None or not required:
        return frozenset(required)
    kept = {vertex.index for vertex in graph.vertices if vertex.variable in spoken_of}
    for choice in problem.constraints.choices:
        if choice.listed:
            kept.update(choice.vertices)
    return frozenset(_connected(problem, kept or {min(required)}))


def _connected(problem: Problem, kept: set[int]) -> set[int]:
    """With the vertices on shortest ways between them: without these, unrelated candidates would be paired up."""
    graph = problem.graph
    near: dict[int, set[int]] = {
        vertex.index: set() for vertex in graph.vertices if graph.part_of(vertex.index) is None
    }
    for edge in graph.edges:
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
