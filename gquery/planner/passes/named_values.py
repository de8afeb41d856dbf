"""Vertices that cannot be the same one since a property of them, or the users' id, has other values: named ones, or
some that are compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from gquery.planner.ir.expr import Attribute, Call, Column, Constant, Expression, Kind, is_volatile
from gquery.planner.ir.problem import Comparison
from gquery.planner.ir.query_graph import QueryVertex
from gquery.planner.ir.rename import unnamed

Value = bool | int | str
Property = tuple[Attribute, str | None]

_COMPARED = {Kind.BOOLEAN: bool, Kind.INTEGER: int, Kind.STRING: str}
"""Kinds whose values are the same only if the constants are: floats and decimals are rounded to each other's."""


def differing(vertices: tuple[QueryVertex, ...]) -> Iterator[tuple[int, int]]:
    """Pairs of vertices (indices, the smaller first) whose predicates want different values of one property."""
    wanted: defaultdict[Property, dict[int, set[Value]]] = defaultdict(dict)
    for vertex in vertices:
        for asked, values in _wanted(vertex):
            before = wanted[asked].get(vertex.index, values)
            wanted[asked][vertex.index] = before & values
    for own in wanted.values():
        earlier: list[int] = []
        for index, values in own.items():
            yield from ((other, index) for other in earlier if values.isdisjoint(own[other]))
            earlier.append(index)


def compared_apart(comparisons: Iterable[Comparison]) -> Iterator[tuple[int, int]]:
    """Pairs of vertices of which one has a smaller value than the other, or another one, of the same."""
    for each in comparisons:
        alike = unnamed(each.left_value) == unnamed(each.right_value) and not is_volatile(each.left_value)
        if alike and each.operator in ("<", "<>"):
            yield each.left, each.right


def _wanted(vertex: QueryVertex) -> Iterator[tuple[Property, set[Value]]]:
    """Of `property = constant` and `property IN constants`: the property, and the values that it can have."""
    for predicate in vertex.predicates:
        match predicate:
            case Call(function="=", arguments=(Column() as column, Constant() as one)):
                constants: tuple[Expression, ...] = (one,)
            case Call(function="in", arguments=(Column() as column, Call(function="list", arguments=constants))):
                pass
            case _:
                continue
        compared = _COMPARED.get(column.type.kind)
        values = [each.value for each in constants if isinstance(each, Constant)]
        if len(values) == len(constants) and all(type(each) is compared for each in values):
            yield (column.attribute, column.key), set(values)  # type: ignore[arg-type]
