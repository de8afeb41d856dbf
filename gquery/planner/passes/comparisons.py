"""Finds the predicates that the enumeration checks itself: comparisons of one vertex with another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gquery.errors import UnsupportedError
from gquery.planner.ir.expr import Attribute, Call, Column, Expression, Kind, Type, variables
from gquery.planner.ir.problem import Comparison, Pair
from gquery.planner.ir.query_graph import Part, QueryGraph
from gquery.planner.ir.types.common_type import is_number
from gquery.planner.passes.draft import Draft
from gquery.planner.search.context import Context

_MIRRORED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


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
        comparison = _comparison(predicate, index)
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


def _comparison(predicate: Expression, index: dict[str, int]) -> Comparison | None:
    if not (isinstance(predicate, Call) and predicate.function in _MIRRORED and len(predicate.arguments) == 2):
        return None
    left, right = predicate.arguments
    operator = predicate.function
    if operator in (">", ">="):
        left, right, operator = right, left, _MIRRORED[operator]
    ends = [next(iter(names)) if len(names) == 1 else None for names in (variables(left), variables(right))]
    if ends[0] == ends[1] or ends[0] not in index or ends[1] not in index:
        return None
    if not _comparable(left, right, operator):
        return None
    return Comparison(index[ends[0]], left, operator, index[ends[1]], right)


def _comparable(left: Expression, right: Expression, operator: str) -> bool:
    """Whether comparing ranks is comparing values. NaN differs from itself, and families of values have no order among
    them: `<>` where there may be NaN, and an order of several families, are left to the tail."""
    kinds = (left.type.kind, right.type.kind)
    if kinds == (Kind.NODE, Kind.NODE):
        plain = all(isinstance(side, Column) and side.attribute is Attribute.ELEMENT for side in (left, right))
        return plain and operator in ("=", "<>")
    if Kind.NULL in kinds:
        return False
    if operator == "<>" and any(Kind.FLOAT in _kinds(side.type) for side in (left, right)):
        return False
    if is_number(left.type) and is_number(right.type):
        return True
    if Kind.ANY in kinds:
        nested = any(_kinds(side.type) & _NESTED for side in (left, right))
        return operator in ("=", "<>") and not nested
    if kinds in ((Kind.STRING,) * 2, (Kind.BOOLEAN,) * 2):
        return True
    return kinds == (Kind.TEMPORAL, Kind.TEMPORAL) and left.type.arrow == right.type.arrow


_NESTED = frozenset({Kind.LIST, Kind.MAP, Kind.PATH, Kind.NODE, Kind.RELATIONSHIP})


def _kinds(type_: Type) -> frozenset[Kind]:
    return frozenset(member.kind for member in type_.members or (type_,))
