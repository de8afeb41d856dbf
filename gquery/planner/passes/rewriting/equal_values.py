"""Vertices that must have equal values meet at one that stands for the value.

`MATCH (a), (b) WHERE a.phone = b.phone` would compare each a with each b. An edge leads from every value to the
vertices that have it, so that matching goes from a to its phone and on to those who have that, too: what a hash join
does, for the planner an edge like others. Where an edge of the pattern joins both vertices anyway, they are compared.
"""

from __future__ import annotations

from gquery.planner.ir.expr import Kind, is_volatile
from gquery.planner.ir.problem import Comparison
from gquery.planner.ir.query_graph import Part, QueryEdge, QueryGraph, QueryVertex
from gquery.planner.ir.relations import Valued
from gquery.planner.ir.rename import unnamed
from gquery.planner.passes.draft import Draft
from gquery.planner.passes.reaching import is_named
from gquery.planner.search.context import Context
from gquery.records import replace


def meet_at_values(draft: Draft, context: Context) -> Draft:
    """The graph with a vertex for the value of each such comparison. A plan that is led begins with few vertices, and
    looks for no value of all."""
    if draft.segment.lead:
        return draft
    compared: list[Comparison] = []
    for comparison in draft.problem.comparisons:
        if _meets(draft, comparison, context):
            draft = _with_value(draft, comparison)
        else:
            compared.append(comparison)
    if not draft.values:
        return draft
    return draft.with_problem(draft.graph, draft.problem.constraints, tuple(compared))


def _meets(draft: Draft, comparison: Comparison, context: Context) -> bool:
    left, right, graph = comparison.left, comparison.right, draft.graph
    one, other = (context.statistics.vertex_count(graph.vertices[end].tables) for end in (left, right))
    if one * other < context.costs.meet:
        return False
    if comparison.operator != "=" or comparison.left_value.type.kind is Kind.NODE:
        return False
    if len(_parts_of(graph, comparison)) > 1:
        return False
    if is_volatile(comparison.left_value) or is_volatile(comparison.right_value):
        return False
    if any(is_named(graph.vertices[end], context.statistics) for end in (left, right)):
        return False  # one is compared with all others
    return all(edge.other(left) != right for edge in graph.incident[left])


def _with_value(draft: Draft, comparison: Comparison) -> Draft:
    graph, number = draft.graph, len(draft.values)
    value = QueryVertex(len(graph.vertices), f" value {number}", (), (), "(a value)")
    alike = unnamed(comparison.left_value) == unnamed(comparison.right_value)
    alike = alike and all(graph.vertices[end].tables for end in (comparison.left, comparison.right))  # of one numbering
    columns = f" value {number}", f" value {number}" if alike else f" other {number}"
    edges = tuple(
        QueryEdge(
            len(graph.edges) + place,
            f"{column} {place}",
            value.index,
            end,
            Valued(column),
            True,
            (),
            f"(a value)->{graph.vertices[end].described}",
        )
        for place, (column, end) in enumerate(zip(columns, (comparison.left, comparison.right), strict=True))
    )
    own = _parts_of(graph, comparison)
    parts = tuple(_with(part, value, edges) if number in own else part for number, part in enumerate(graph.parts))
    graph = replace(graph, vertices=(*graph.vertices, value), edges=(*graph.edges, *edges), parts=parts)
    found = draft.with_problem(graph, draft.problem.constraints, draft.problem.comparisons)
    return replace(found, values=(*draft.values, (value.index, comparison)))


def _parts_of(graph: QueryGraph, comparison: Comparison) -> set[int]:
    """The parts whose own vertices are compared: of one of them what is compared with a required vertex, too."""
    return {part for end in (comparison.left, comparison.right) if (part := graph.part_of(end)) is not None}


def _with(part: Part, value: QueryVertex, edges: tuple[QueryEdge, ...]) -> Part:
    own = (*part.edges, *(edge.index for edge in edges))
    return replace(part, vertices=(*part.vertices, value.index), edges=own)
