"""Binds the conditions of declared blocks: property maps, label tests, WHERE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gquery.errors import BindError, Span, UnsupportedError
from gquery.grammar import ast
from gquery.planner.binding.expressions.binder import ExpressionBinder, expect_boolean
from gquery.planner.binding.expressions.elements import bind_element_property
from gquery.planner.binding.labels import tables_of
from gquery.planner.binding.patterns import unusable
from gquery.planner.binding.scope import Block, Names, is_hidden
from gquery.planner.ir.expr import (
    RELATIONSHIP,
    STRING,
    Attribute,
    Call,
    Column,
    Constant,
    Expression,
    Kind,
    Type,
    columns,
    conjuncts,
)
from gquery.stopping import Check
from gquery.storage.schema import Schema


def bind_conditions(
    block: Block, names: Names, schema: Schema, parameters: Mapping[str, object], check: Check
) -> Iterator[Expression]:
    """The bound conjuncts of a block; every vertex must know its tables. Raises for variables out of reach."""
    binder = ExpressionBinder(schema, names, parameters, aggregates=False, place="WHERE", check=check)
    binder.aliases = {name: binder.bind(variable) for name, variable in block.own.items()}
    for condition in _bound(block, binder):
        for column in columns(condition):
            _check_use(column, block, names)
        yield condition


def _bound(block: Block, binder: ExpressionBinder) -> Iterator[Expression]:
    for known, again, span in block.same_edges:
        first, second = (Column(RELATIONSHIP, span, variable, Attribute.ELEMENT) for variable in (known, again))
        yield binder.call("=", (first, second), span)
    for element, variable in block.elements:
        if element.properties is None:
            continue
        subject = binder.variable(variable, element.span)
        for key, span, value in _entries(binder, element.properties):
            yield binder.call("=", (bind_element_property(binder, subject, key, span, span), value), span)
    for condition in block.conditions:
        if not _is_certain(condition, block, binder):
            yield from conjuncts(expect_boolean(binder.bind(condition), "WHERE"))


def _is_certain(condition: ast.Expression, block: Block, binder: ExpressionBinder) -> bool:
    """Whether a label test holds for everything in the tables that its node may come from."""
    if not (isinstance(condition, ast.LabelTest) and isinstance(condition.subject, ast.Variable)):
        return False
    variable = block.variable(condition.subject.name)
    vertex = binder.names.vertices.get(variable)
    if vertex is None or not (is_hidden(variable) or variable in block.visible):
        return False
    return set(vertex.tables) <= set(tables_of(binder.schema, [condition.labels]))


def _entries(
    binder: ExpressionBinder, properties: ast.MapLiteral | ast.Parameter
) -> Iterator[tuple[str, Span, Expression]]:
    """`{key: value}` gives its entries, a map parameter one entry for each of its keys."""
    match properties:
        case ast.MapLiteral(entries=entries):
            for entry in entries:
                yield entry.key, entry.span, binder.bind(entry.value)
        case ast.Parameter(name=name, span=span):
            parameter = binder.parameter(name, span)
            if parameter.type.kind is not Kind.MAP:
                raise BindError(f"parameter `${name}` must be a map here, not {parameter.type}", span=span)
            for key, field in parameter.type.fields:
                yield key, span, _field(parameter, key, field, span)


def _field(parameter: Expression, key: str, type: Type, span: Span) -> Expression:
    return Call(type, span, "field", (parameter, Constant(STRING, span, key)))


def _check_use(column: Column, block: Block, names: Names) -> None:
    """A condition may use what its clause and those before it bind, and of optional things only what it hangs on."""
    name = column.variable.strip()
    if not is_hidden(column.variable) and column.variable not in block.visible:
        raise BindError(
            f"variable `{name}` is not defined yet in this clause",
            span=column.span,
            hint="a MATCH below defines it; move the condition there",
        )
    if names.owners(column.variable).issubset(names.lineage(block.part)):
        return
    if names.filters(block.part):
        raise unusable(name, column.span)
    raise UnsupportedError(
        "gquery has no condition on a variable of another OPTIONAL MATCH",
        span=column.span,
        hint=f"if nothing is to match where `{name}` is null, use `{name}` in the pattern too",
    )
