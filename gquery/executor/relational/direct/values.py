"""Expressions over columns of Arrow: those in which Arrow's values, nulls and order are openCypher's.

Ids, numbers, texts, truth values, days and points in time without a zone; what is compared, joined and chosen of
them, and lists and maps of them. Whatever else an expression has is `Unsaid`, and DuckDB's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa

from gquery.arrays import pc, to_arrow, to_scalar
from gquery.executor.relational.direct.functions import function_of
from gquery.executor.relational.direct.lists import given_list
from gquery.executor.relational.direct.parts import part_of
from gquery.executor.relational.direct.types import (
    Columns,
    Computed,
    Unsaid,
    Value,
    are_alike,
    as_array,
    can_be_carried,
    is_fraction,
    is_plain,
)
from gquery.executor.relational.gather import travelling_type
from gquery.planner.ir.expr import Call, Case, Constant, Expression, Kind, Parameter, Type
from gquery.records import record

_LONGEST = 64  # characters


@record(frozen=True, slots=True)
class Writer:
    """places: where each of the expressions that are there already is among the columns."""

    places: Mapping[Expression, int]
    parameters: Mapping[str, object]

    def write(self, expression: Expression) -> Computed:
        """Raises Unsaid."""
        if expression in self.places:
            if not can_be_carried(expression.type):
                raise Unsaid
            return partial(_column, self.places[expression])
        match expression:
            case Constant(value=value):
                return _constant(value, expression.type)
            case Parameter(name=name, type=Type(kind=Kind.LIST)) if can_be_carried(expression.type):
                return _given(self.parameters[name], expression.type)
            case Parameter(name=name):
                return _constant(self.parameters[name], expression.type)
            case Case(subject=None):
                return self._case(expression)
            case Call(function="map", arguments=arguments) if can_be_carried(expression.type):
                fields = list(map(self.write, arguments[1::2]))
                return partial(_map, [name for name, _ in expression.type.fields], fields)
            case Call(function="field", arguments=(subject, Constant(value=str() as key))):
                parts, compute = part_of(subject, key, expression.type)
                return _computed(compute, list(map(self.write, parts)))
            case Call(function=function, arguments=arguments):
                compute = function_of(function, expression.type, [each.type for each in arguments])
                return _computed(compute, list(map(self.write, arguments)))
        raise Unsaid

    def _case(self, case: Case) -> Computed:
        """The first value whose condition is true; conditions and values are computed for all rows."""
        if not is_plain(case.type):
            raise Unsaid
        tests = [self.write(test) for test, _ in case.branches]
        values = [self._as(value, case.type) for value in (*(value for _, value in case.branches), case.default)]

        def compute(columns: Columns) -> Value:
            *found, default = (value(columns) for value in values)
            for test, value in zip(reversed(tests), reversed(found), strict=True):
                default = pc.if_else(pc.fill_null(test(columns), False), value, default)
            return default

        return compute

    def _as(self, expression: Expression, wanted: Type) -> Computed:
        """A value of a type that holds it without a change; null is of every type."""
        if expression.type.kind is Kind.NULL:
            return _constant(None, wanted)
        if not are_alike(expression.type, wanted):
            raise Unsaid
        return self.write(expression)


def _column(place: int, columns: Columns) -> Value:
    return columns[place]


def _computed(compute: Callable[..., Value], arguments: Sequence[Computed]) -> Computed:
    return lambda columns: compute(*[argument(columns) for argument in arguments])


def _map(names: list[str], fields: Sequence[Computed], columns: Columns) -> Value:
    values = [field(columns) for field in fields]
    if any(isinstance(value, pa.ListScalar) for value in values):
        raise pa.ArrowNotImplementedError("a list that all rows share would be in each of them")
    return pc.call_function("make_struct", values, pc.MakeStructOptions(names))


def _constant(value: object, type_: Type) -> Computed:
    """A value that all rows share; a text that is short, since it may come to stand in each of them."""
    if not (is_plain(type_) or is_fraction(type_)) or (isinstance(value, str) and len(value) > _LONGEST):
        raise Unsaid
    try:
        scalar = pa.scalar(None, travelling_type(type_)) if value is None else to_scalar(value, travelling_type(type_))
    except (pa.ArrowException, OverflowError):
        raise Unsaid from None
    return lambda columns: scalar


def _given(values: Any, type_: Type) -> Computed:
    """A list that all rows share, made when the first of them is seen."""
    made = cache(lambda: given_list(values, travelling_type(type_)))
    return lambda columns: made()


def truths_of(conditions: Sequence[Computed], columns: Columns, rows: int) -> pa.Array | None:
    """Where all conditions are true; None where there are none."""
    if not conditions:
        return None
    values = [as_array(condition(columns), rows) for condition in conditions]
    return reduce(pc.and_kleene, values)


def numbered(rows: int) -> pa.Array:
    """The rows' own numbers."""
    return to_arrow(np.arange(rows))
