"""Arithmetic: integers have 64 bits and floats 53, and decimals all the digits that DuckDB has.

What these cannot hold is an error, never another number.
"""

from __future__ import annotations

from gquery.executor.relational.sql.time.arithmetic import calculated
from gquery.planner.ir.expr import Call, Kind, Type
from gquery.planner.ir.types.common_type import MOST_DIGITS, NUMBERS, digits_and_scale

_EXACT_POWERS = 22  # of ten, which floats have without an error


def arithmetic(call: Call, arguments: list[str]) -> str:
    """`+`, `-`, `*` or `%` of two numbers, or of durations and moments."""
    left, right = arguments
    if call.type.kind is Kind.TEMPORAL:
        return calculated(call, arguments)
    if call.type.kind is Kind.DECIMAL:
        one, other = (argument.type for argument in call.arguments)
        alike = max(digits_and_scale(each)[1] for each in (one, other)) if call.function == "%" else None
        left, right = _widened(left, one, alike), _widened(right, other, alike)
    return f"({left} {call.function} {right})"


def percentile(call: Call, arguments: list[str]) -> str:
    """The value below which a share of a group's numbers lies: one of them, or for `percentilecont` between two."""
    numbers, share = arguments
    ordered, place = f"list_sort({numbers})", f"{share}::DOUBLE * (len({numbers}) - 1)"
    if call.function == "percentiledisc":
        found = f"{ordered}[greatest(1, ceil({share}::DOUBLE * len({numbers}))::BIGINT)]"
    else:
        below, above = (f"{ordered}[{way}({place})::BIGINT + 1]::DOUBLE" for way in ("floor", "ceil"))
        part = f"({place} - floor({place}))"  # what lies between two infinite numbers is no number
        found = f"CASE WHEN {below} = {above} THEN {below} ELSE {below} * (1 - {part}) + {above} * {part} END"
    outside = f"WHEN NOT {share} BETWEEN 0 AND 1 THEN error('a percentile lies between 0.0 and 1.0')"
    return f"CASE {outside} WHEN {share} IS NOT NULL AND len({numbers}) > 0 THEN {found} END"


def rounded(call: Call, arguments: list[str]) -> str:
    """Halves go up; with a precision, away from zero, and they are halves as they are written: 1.005 is one between
    hundredths, although its float is less. What has no digits behind the last that is asked for stays as it is."""
    number = f"{arguments[0]}::DOUBLE"
    if len(arguments) == 1:
        below = f"floor({number})"  # adding a half first would round the sum
        return f"({below} + ({number} - {below} >= 0.5)::INTEGER)"
    places, size = arguments[1], f"abs({number})"
    unit = f"pow(10, abs({places}))"
    fine, coarse = f"floor({size} * {unit})", f"floor({size} / {unit})"
    nearest = (
        f"CASE WHEN {places} < 0 THEN ({coarse} + ({size} >= ({coarse} + 0.5) * {unit})::INTEGER) * {unit} "
        f"ELSE ({fine} + ({size} >= (2 * {fine} + 1) / (2 * {unit}))::INTEGER) / {unit} END"
    )
    whole = f"CASE WHEN {places} < 0 THEN {coarse} ELSE {fine} END >= {2**52}"
    near = f"round({number}, greatest(-400, least(400, {places}))::INTEGER)"
    return (
        f"CASE WHEN abs({places}) > {_EXACT_POWERS} THEN {near} "
        f"WHEN {whole} THEN {number} WHEN {number} < 0 THEN -({nearest}) ELSE {nearest} END"
    )


def _widened(number: str, type_: Type, scale: int | None) -> str:
    """With as many digits before the point as there can be: DuckDB gives a product no more digits than its factors.
    The scale is the number's own, where none is given: the remainder of two of unlike scales DuckDB has as a float."""
    own = digits_and_scale(type_)[1] if scale is None else scale
    return f"{number}::DECIMAL({MOST_DIGITS},{own})" if type_.kind in NUMBERS else number
