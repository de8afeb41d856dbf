"""What a clause that changes the graph computes of each row, before it changes anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gquery.errors import BindError
from gquery.grammar import ast
from gquery.planner.binding.subqueries.in_expressions import own_aggregates
from gquery.planner.ir.expr import Kind, Type
from gquery.planner.ir.segments import Variable
from gquery.planner.ir.updates import OWN, Given

Known = Mapping[str, Variable]
"""The rows that a clause changes the graph for, by name."""


@dataclass(slots=True)
class Computed:
    """Expressions and the columns that they are computed as. word: the clause, for messages."""

    word: str
    parameters: Mapping[str, object]
    items: list[ast.ProjectionItem] = field(default_factory=list)

    def column(self, value: ast.Expression) -> str:
        """The column of an expression. Raises BindError for an aggregate."""
        for node in own_aggregates(value):
            raise BindError(
                f"{node.name}() cannot stand in {self.word}, which is for each row",
                span=node.span,
                hint="cannot aggregate here: aggregates belong to WITH and RETURN",
            )
        name = f"{OWN}{len(self.items)}"
        self.items.append(ast.ProjectionItem(value, name, "", span=value.span))
        return name

    def entries(self, properties: ast.MapLiteral | ast.Parameter | None) -> tuple[Given, ...]:
        """The columns of a map that is written, or given as a parameter."""
        match properties:
            case None:
                return ()
            case ast.MapLiteral(entries=entries):
                last = {entry.key: entry.value for entry in entries}
                return tuple(Given(key, self.column(value)) for key, value in last.items())
        value = self.parameters.get(properties.name, {})
        if not isinstance(value, Mapping):
            raise BindError(f"{self.word} takes a map of properties", span=properties.span)
        self.column(properties)  # which says so where the parameter has no value
        span = properties.span
        held = (ast.Property(properties, key, key_span=span, span=span) for key in value)
        return tuple(Given(each.key, self.column(each)) for each in held)

    def expect_storable(self, given: tuple[Given, ...], known: Known) -> None:
        """Raises BindError for values that no property can have."""
        for each in given:
            item = next(item for item in self.items if item.alias == each.column)
            expect_storable(known[each.column].type, each.key, item)


def expect_storable(type_: Type, key: str, at: ast.Node) -> None:
    """Raises BindError where values of a type cannot be stored as a property."""
    if not _is_storable(type_):
        raise BindError(
            f"the property `{key}` cannot be {_described(type_)}",
            span=at.span,
            hint="properties are plain values, and lists of plain values of one type",
        )


_PLAIN = frozenset({
    Kind.NULL, Kind.BOOLEAN, Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL, Kind.STRING, Kind.TEMPORAL, Kind.BYTES
})  # fmt: skip


def _is_storable(type_: Type) -> bool:
    if type_.kind is Kind.ANY:
        return all(map(_is_storable, type_.members))
    if type_.kind is Kind.LIST:
        return type_.item is None or type_.item.kind in _PLAIN
    return type_.kind in _PLAIN


def _described(type_: Type) -> str:
    return f"a value of type {type_}"
