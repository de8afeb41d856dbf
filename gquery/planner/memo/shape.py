"""What two queries have in common that differ in constants only, and about how large their candidate sets are."""

from __future__ import annotations

import math
from collections.abc import Hashable

from gquery.planner.ir.expr import Expression
from gquery.planner.ir.match_plan import Cardinalities
from gquery.planner.ir.problem import Problem
from gquery.planner.ir.rename import unnamed

_STEPS = 2  # sizes are taken as equal when they are nearest to the same power of 2 ** (1 / _STEPS)


def shape_of(problem: Problem, kept: frozenset[int]) -> Hashable:
    """The query graph with its tests and what is listed. Of predicates only which of them are the same."""
    graph = problem.graph
    numbers: dict[Expression, int] = {}

    def numbered(predicates: tuple[Expression, ...]) -> tuple[int, ...]:
        return tuple(numbers.setdefault(unnamed(predicate), len(numbers)) for predicate in predicates)

    return (
        kept,
        tuple((vertex.tables, numbered(vertex.predicates)) for vertex in graph.vertices),
        tuple((e.source, e.target, e.relation, e.directed, numbered(e.predicates)) for e in graph.edges),
        graph.scopes,
        tuple((part.kind, part.vertices, part.edges, part.within) for part in graph.parts),
        tuple((comparison.left, comparison.operator, comparison.right) for comparison in problem.comparisons),
        problem.constraints,
    )


def about(cardinalities: Cardinalities) -> Hashable:
    """The sizes, roughly."""
    sizes = (*cardinalities.vertices, *cardinalities.edges)
    return tuple(round(_STEPS * math.log2(max(size, 1e-9))) for size in sizes)
