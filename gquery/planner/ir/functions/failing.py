"""Which expressions may be an error for some values: one that divides by zero, a text that is no day, a sum beyond 64
bits.

Conditions may be asked in any order, and of elements that no match has. `n.x <> 0 AND 10 / n.x > 1` is false where
`n.x` is 0 since parts that cannot fail are asked first; where one fails anyway it is asked of what matters alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from gquery.planner.ir.expr import Call, Constant, Expression, Kind, walk

_NEVER = frozenset({
    "=", "<>", "<", "<=", ">", ">=", "and", "or", "xor", "not", "is null", "is not null", "exists", "in",
    "starts with", "ends with", "contains", "coalesce", "nullif", "list", "map", "slice",
    "head", "last", "tail", "size", "isempty", "reverse", "nodes", "relationships", "length",
    "tolower", "lower", "toupper", "upper", "trim", "ltrim", "rtrim", "char_length", "character_length", "split",
    "tointeger", "tofloat", "toboolean", "isnan", "pi", "e",
})  # fmt: skip
_OF_ELEMENTS = frozenset({"field", "index", "labels", "type", "keys", "properties", "id", "startnode", "endnode"})
_SUMS = ("+", "-", "*", "negate")
_DIVISIONS = ("/", "%")


def may_fail(expression: Expression) -> bool:
    return any(isinstance(part, Call) and _is_failing(part) for part in walk(expression))


def _is_failing(call: Call) -> bool:
    if call.function in _OF_ELEMENTS:  # a value of several types may be none
        return call.arguments[0].type.kind is Kind.ANY
    return call.function not in _NEVER and not _divides_well(call) and not _is_of_floats(call)


def _is_of_floats(call: Call) -> bool:
    """Whether it adds or multiplies floats, which become infinite instead."""
    numbers = call.function in _SUMS and all(each.type.kind in (Kind.INTEGER, Kind.FLOAT) for each in call.arguments)
    return numbers and call.type.kind is Kind.FLOAT


def safe_first(expressions: Iterable[Expression]) -> tuple[list[Expression], list[Expression]]:
    """Those that cannot fail, and those that may, in their order."""
    safe: list[Expression] = []
    failing: list[Expression] = []
    for each in expressions:
        (failing if may_fail(each) else safe).append(each)
    return safe, failing


def _divides_well(call: Call) -> bool:
    """Whether it divides by a number that is written, and is neither 0 nor -1, by which -2^63 is beyond 64 bits."""
    divisor = call.arguments[-1] if call.function in _DIVISIONS else None
    return isinstance(divisor, Constant) and isinstance(divisor.value, int | float) and divisor.value not in (0, -1)
