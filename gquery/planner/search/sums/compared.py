"""The query with values compared, rather than met at: see `passes/rewriting/equal_values.py`.

Where a vertex is led to by a short row anyway, comparing the value of each candidate costs less than finding those that
are also among all that have the value.
"""

from __future__ import annotations

from gquery.planner.ir.filters import ValueFilter
from gquery.planner.ir.problem import Problem
from gquery.planner.ir.query_graph import Part
from gquery.planner.ir.query_plan import QueryPlan
from gquery.records import replace


def compared(plan: QueryPlan) -> Problem | None:
    """The query's problem without the vertices that stand for values, which are its last ones; None where there are
    none, or where they are listed between others."""
    values = {each.vertex: each.comparison for each in plan.filters if isinstance(each, ValueFilter)}
    if not values or plan.kept & values.keys():
        return None
    problem, first = plan.problem, min(values)
    edges = tuple(edge for edge in problem.graph.edges if edge.source < first)
    parts = tuple(_without(part, first, len(edges)) for part in problem.graph.parts)
    graph = replace(problem.graph, vertices=problem.graph.vertices[:first], edges=edges, parts=parts)
    comparisons = (*problem.comparisons, *values.values())
    merged, origins = problem.merged[:first], problem.edges[: len(edges)]
    return replace(problem, graph=graph, comparisons=comparisons, merged=merged, edges=origins)


def _without(part: Part, vertices: int, edges: int) -> Part:
    """The part with its vertices and edges of the first so many alone."""
    left = tuple(vertex for vertex in part.vertices if vertex < vertices)
    return replace(part, vertices=left, edges=tuple(edge for edge in part.edges if edge < edges))
