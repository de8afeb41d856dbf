"""Binds what is asked of lists item by item: comprehensions, `all` and its kin, `reduce`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gquery.errors import BindError
from gquery.grammar import ast
from gquery.planner.ir.expr import (
    BOOLEAN,
    NULL,
    Comprehension,
    Expression,
    Kind,
    Reduce,
    Type,
)
from gquery.planner.ir.functions.calls import prepared
from gquery.planner.ir.types.common_type import list_of, unify

if TYPE_CHECKING:
    from gquery.planner.binding.expressions.binder import ExpressionBinder

_ROUNDS = 3  # in which the type of an accumulator has to settle


def bind_comprehension(binder: ExpressionBinder, tree: ast.Comprehension) -> Comprehension:
    """A list comprehension, or `all`, `any`, `none`, `single`."""
    items, item = _items(binder, tree.items, "a list comprehension" if tree.form == "list" else f"{tree.form}()")
    variable = binder.local(tree.variable.name, item, tree.variable.span)
    with binder.with_locals(variable):
        where = None if tree.where is None else binder.bind(tree.where)
        result = None if tree.result is None else binder.bind(tree.result)
    if where is not None and where.type.kind not in (Kind.BOOLEAN, Kind.NULL):
        raise BindError(f"WHERE needs a condition, not {where.type}", span=where.span)
    type_ = BOOLEAN if tree.form != "list" else list_of(item if result is None else result.type)
    return Comprehension(type_, tree.span, tree.form, variable, items, where, result)


def bind_reduce(binder: ExpressionBinder, tree: ast.Reduce) -> Reduce:
    """The accumulator has the type that its beginning and every step have in common."""
    items, item = _items(binder, tree.items, "reduce()")
    initial = binder.bind(tree.initial)
    wanted = initial.type
    for _ in range(_ROUNDS):
        accumulator = binder.local(tree.accumulator.name, wanted, tree.accumulator.span)
        variable = binder.local(tree.variable.name, item, tree.variable.span, 1)
        with binder.with_locals(accumulator, variable):
            step = binder.bind(tree.step)
        given, made = prepared("coalesce", (initial, step))
        common = unify((given.type, made.type))
        if common == wanted:
            return Reduce(common, tree.span, accumulator, initial, variable, items, step)
        wanted = common
    message = f"`{tree.accumulator.name}` begins as {initial.type} and becomes {step.type}"
    raise BindError(message, span=tree.step.span, hint="begin with a value of the type that the steps give")


def _items(binder: ExpressionBinder, tree: ast.Expression, what: str) -> tuple[Expression, Type]:
    """A list, and the type of its items."""
    items = binder.bind(tree)
    if items.type.kind not in (Kind.LIST, Kind.NULL):
        raise BindError(f"{what} takes a list, not {items.type}", span=tree.span)
    return items, items.type.item or NULL
