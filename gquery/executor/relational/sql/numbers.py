"""Arithmetic: integers have 64 bits and floats 53, and decimals all the digits that DuckDB has.

What these cannot hold is an error, never another number.
"""

from __future__ import annotations

from gquery.planner.ir.expr import Call, Kind, Type
from gquery.planner.ir.types.common_type import MOST_DIGITS, NUMBERS, digits_and_scale


def arithmetic(call: Call, arguments: list[str]) -> str:
    """`+`, `-`, `*` or `%` of two numbers."""
    left, right = arguments
    if call.type.kind is Kind.DECIMAL:
        one, other = (argument.type for argument in call.arguments)
        left, right = _widened(left, one), _widened(right, other)
    return f"({left} {call.function} {right})"


def _widened(number: str, type_: Type) -> str:
    """With as many digits before the point as there can be: DuckDB gives a product no more digits than its factors."""
    return f"{number}::DECIMAL({MOST_DIGITS},{digits_and_scale(type_)[1]})" if type_.kind in NUMBERS else number
