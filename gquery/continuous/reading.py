"""Which properties a query reads: a change of others is none for it."""

from __future__ import annotations

from collections.abc import Iterator

from gquery.planner.ir.expr import Attribute, Column, Expression, walk
from gquery.planner.ir.segments import BoundQuery, Match, Project


def names_read(bound: BoundQuery) -> frozenset[str] | None:
    """The names of the properties; None where whole elements are read, and so all that they have."""
    names: set[str] = set()
    for expression in _expressions(bound):
        for each in walk(expression):
            if isinstance(each, Column) and each.attribute is Attribute.ELEMENT:
                return None
            if isinstance(each, Column) and each.key is not None:
                names.add(each.key)
    return frozenset(names)


def _expressions(bound: BoundQuery) -> Iterator[Expression]:
    for segment in bound.all_segments:
        if isinstance(segment, Project):
            yield from segment.projection.expressions
            yield from segment.where
        elif isinstance(segment, Match):
            yield from segment.predicates
            yield from segment.graph.predicates
            yield from (predicate for part in segment.graph.parts for predicate in part.predicates)
            yield from (predicate for vertex in segment.graph.vertices for predicate in vertex.predicates)
            yield from (predicate for edge in segment.graph.edges for predicate in edge.predicates)
