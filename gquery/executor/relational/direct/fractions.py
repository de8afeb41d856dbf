"""Sums, differences and products of floating-point numbers, bit for bit what DuckDB makes of them."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from gquery.arrays import pc
from gquery.executor.relational.direct.types import Value
from gquery.planner.ir.expr import Call, Column, Constant, Expression

_OPERATIONS = {"+": "add", "-": "subtract", "*": "multiply", "negate": "negate"}


def is_of_fractions(expression: Expression) -> bool:
    match expression:
        case Column(type=type_):
            return bool(type_.arrow == pa.float64())
        case Constant(value=value):
            return isinstance(value, float)
        case Call(function=function, arguments=arguments):
            return function in _OPERATIONS and all(map(is_of_fractions, arguments))
    return False


def of_fractions(expression: Expression, columns: Mapping[Expression, pa.Array]) -> Value:
    """Of each row of the columns; a scalar where none is read."""
    if expression in columns:
        return columns[expression]
    if isinstance(expression, Call):
        arguments = [of_fractions(each, columns) for each in expression.arguments]
        return pc.call_function(_OPERATIONS[expression.function], arguments)
    assert isinstance(expression, Constant)
    return pa.scalar(expression.value, pa.float64())
