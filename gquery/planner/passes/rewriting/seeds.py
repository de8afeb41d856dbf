"""A pattern that begins with what earlier clauses have bound, or with what their values name.

The distinct bindings are the seeds, and a seed is a vertex of its own kind: from each an edge leads to every query
vertex that it binds. The planner may begin with them or elsewhere, and needs to know nothing else of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from gquery.planner.ir.query_graph import QueryEdge, QueryGraph, QueryVertex
from gquery.planner.ir.relations import SEED, Binding
from gquery.planner.ir.segments import Lookup
from gquery.records import replace


def with_seeds(graph: QueryGraph, bound: Iterable[str], lookups: Iterable[Lookup] = ()) -> QueryGraph:
    """The graph with a vertex for the seeds, which bind some of its vertices (variables), or tell what is looked up for
    them; as it is where they do neither."""
    number = {vertex.variable: vertex.index for vertex in graph.vertices}
    relations = [Binding(variable) for variable in bound]
    relations += [Binding(lookup.vertex, functional=False) for lookup in lookups]
    if not relations:
        return graph
    seed = QueryVertex(len(graph.vertices), SEED, (), (), "(a seed)")
    bindings = tuple(
        QueryEdge(
            len(graph.edges) + place,
            f" seed {relation.column}",
            seed.index,
            number[relation.column],
            relation,
            True,
            (),
            f"(a seed)->({relation.column.strip()})",
        )
        for place, relation in enumerate(relations)
    )
    return replace(graph, vertices=(*graph.vertices, seed), edges=(*graph.edges, *bindings))
