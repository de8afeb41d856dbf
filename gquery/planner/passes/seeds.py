"""A pattern that begins with what earlier clauses have bound.

The distinct bindings are the seeds, and a seed is a vertex of its own kind: from each an edge leads to every query
vertex that it binds. The planner may begin with them or elsewhere, and needs to know nothing else of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gquery.planner.ir.query_graph import QueryEdge, QueryGraph, QueryVertex
from gquery.planner.ir.relations import SEED, Binding


def with_seeds(graph: QueryGraph, bound: Iterable[str]) -> QueryGraph:
    """The graph with a vertex for the seeds, which bind some of its vertices (variables); as it is where they bind
    none."""
    bound = tuple(bound)
    if not bound:
        return graph
    number = {vertex.variable: vertex.index for vertex in graph.vertices}
    seed = QueryVertex(len(graph.vertices), SEED, (), (), "(a seed)")
    bindings = tuple(
        QueryEdge(
            len(graph.edges) + place,
            f" seed {variable}",
            seed.index,
            number[variable],
            Binding(variable),
            True,
            (),
            f"(a seed)->({variable.strip()})",
        )
        for place, variable in enumerate(bound)
    )
    return replace(graph, vertices=(*graph.vertices, seed), edges=(*graph.edges, *bindings))
