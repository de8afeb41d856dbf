"""Finds the predicates that the enumeration checks itself: comparisons of one vertex with another."""

from __future__ import annotations

from collections.abc import Iterator

from gquery.errors import UnsupportedError
from gquery.planner.ir.expr import Expression, Kind
from gquery.planner.ir.problem import Comparison, Pair, compared
from gquery.planner.ir.query_graph import Part, QueryGraph
from gquery.planner.passes.draft import Draft
from gquery.planner.search.context import Context
from gquery.records import replace


def split_predicates(draft: Draft, context: Context) -> Draft:
    """The spanning predicates as comparisons, pairs of vertices that must differ, and everything else, which is
    residual."""
    graph = draft.graph
    spanning = list(_spanning(graph))
    if not spanning:
        return draft
    index = {vertex.variable: vertex.index for vertex in graph.vertices}
    comparisons: list[Comparison] = []
    different: set[Pair] = set()
    rest: list[Expression] = []
    for predicate, part in spanning:
        comparison = compared(predicate, index)
        if comparison is None and part is not None:
            raise UnsupportedError(
                f"gquery cannot check this condition within {part.described}",
                span=predicate.span,
                hint="conditions there compare two elements with each other, or one with values",
            )
        if comparison is None:
            rest.append(predicate)
        elif comparison.operator == "<>" and comparison.left_value.type.kind is Kind.NODE:
            different.add((min(comparison.left, comparison.right), max(comparison.left, comparison.right)))
        else:
            comparisons.append(comparison)
    constraints = replace(draft.problem.constraints, different=frozenset(different))
    return replace(draft.with_problem(graph, constraints, tuple(comparisons)), residual=tuple(rest))


def _spanning(graph: QueryGraph) -> Iterator[tuple[Expression, Part | None]]:
    """The predicates that speak of several elements, each with the part that it belongs to."""
    yield from ((predicate, None) for predicate in graph.predicates)
    for part in graph.parts:
        yield from ((predicate, part) for predicate in part.predicates)
