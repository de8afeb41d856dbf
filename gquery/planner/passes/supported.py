"""Refuses what gquery cannot match or answer yet."""

from __future__ import annotations

from gquery.errors import UnsupportedError
from gquery.planner.ir.expr import columns
from gquery.planner.passes.draft import Draft
from gquery.planner.search.context import Context


def supported(draft: Draft, context: Context) -> Draft:
    """Raises when everything is optional, and when the answer speaks of what an OPTIONAL MATCH binds."""
    graph, projection = draft.graph, draft.bound.projection
    if graph.parts and all(graph.part_of(vertex.index) is not None for vertex in graph.vertices):
        raise UnsupportedError(f"gquery needs a MATCH before {graph.parts[0].described}")
    expressions = [item.expression for item in projection.items] + [item.expression for item in projection.order_by]
    optional = {graph.vertices[vertex].variable for part in graph.parts for vertex in part.vertices}
    optional |= {graph.edges[edge].variable for part in graph.parts for edge in part.edges}
    optional |= {path.name for path in graph.paths if optional.intersection((*path.vertices, *path.edges))}
    for expression in expressions:
        for column in columns(expression):
            if column.variable in optional:
                raise UnsupportedError(
                    f"gquery cannot return `{column.variable}`, which an OPTIONAL MATCH binds",
                    span=column.span,
                    hint="count(*) and whatever the clauses before it bind can be returned",
                )
    return draft
