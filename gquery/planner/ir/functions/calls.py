"""Calls of functions, operators and aggregates: their types, and their arguments as they are taken.

Operators carry the names of the syntax tree; `list`, `index`, `slice`, `field` and `negate` are the calls behind
`[...]`, `x[i]`, `x[i..j]`, `x.key` and `-x`, `unwind` gives a row for each item,
`look up` is behind `map[key]`. The call `map` is behind `{...}`; its type has the keys, so the binder
makes it itself.
"""

from __future__ import annotations

import math

from gquery.errors import BindError, Span, did_you_mean
from gquery.planner.ir.expr import FLOAT, Call, Constant, Expression, Kind, Type
from gquery.planner.ir.functions.operators import AGGREGATES, OPERATORS
from gquery.planner.ir.functions.rules import LIST, NUMBER, SCALAR, TEMPORAL, Function, Signature
from gquery.planner.ir.functions.scalars import SCALARS, Scalar
from gquery.planner.ir.types.common_type import (
    NARROW_INTEGER,
    decimal_of,
    is_number,
    temporal_family,
    written_decimal,
)

_BOUND_OTHERWISE = ("id", "elementId", "labels", "type", "keys", "properties", "percentileCont", "percentileDisc")
_ORDERED = SCALAR | TEMPORAL | LIST | {Kind.ANY}


def find(name: str) -> Function | None:
    """The operator or function of this name, None for any other."""
    return OPERATORS.get(name) or SCALARS.get(name)


def resolve(name: str, arguments: tuple[Type, ...], span: Span) -> Type:
    """The type of a call. Raises BindError for an unknown name, a wrong number of arguments, types that do not fit."""
    function = find(name)
    signature = function.signature if function else AGGREGATES.get(name)
    if signature is None:
        known = (*(scalar.name for scalar in SCALARS.values()), *function_names())
        hint = _OF_OTHERS.get(name.rpartition(".")[2]) or did_you_mean(name, known)
        raise BindError(f"there is no function `{name}`", span=span, hint=hint)
    shown = _shown(name, function)
    hint = f"{function.written}: {function.says}" if isinstance(function, Scalar) else None
    if len(arguments) < signature.minimum or len(arguments) > (signature.maximum or len(arguments)):
        raise BindError(f"`{shown}` takes {_arity(signature)}, not {len(arguments)}", span=span, hint=hint)
    result = signature.rule(arguments)
    if result is None:
        listed = " and ".join(str(argument) for argument in arguments)
        several = any(argument.kind is Kind.ANY for argument in arguments)
        if name == "in":
            hint = "a list stands on its right, such as ['a', 'b']; CONTAINS looks for a part of a text"
        raise BindError(f"`{shown}` cannot take {listed}", span=span, hint=_NARROWING if several else hint)
    return result


def _shown(name: str, function: Function | None) -> str:
    """As users write it."""
    if isinstance(function, Scalar):
        return function.name
    return name if function is None else _SIGNS.get(name, name.upper())


_SIGNS = {"index": "[...]", "slice": "[..]", "field": ".", "negate": "-", "list": "[...]"}

_NARROWING = "say which values are meant by a label, or make them of one type by toInteger(), toFloat() or toString()"


_NULL_HINT = "write `x IS NULL`, or coalesce(x, other) for another value in its place"
_CASE_HINT = "write `CASE WHEN ... THEN ... ELSE ... END`"
_NOW_HINT = "did you mean `datetime()`, or `date()` for the day?"
_OF_OTHERS = {
    "concat": "texts are joined by `+`", "nvl": _NULL_HINT, "ifnull": _NULL_HINT, "isnull": _NULL_HINT,
    "isna": _NULL_HINT, "has": "write `x.key IS NOT NULL`", "len": "did you mean `size`?",
    "if": _CASE_HINT, "iif": _CASE_HINT, "now": _NOW_HINT, "current_date": _NOW_HINT, "current_timestamp": _NOW_HINT,
    "degree": "write COUNT { (a)--() }", "startswith": "write `text STARTS WITH 'a'`",
    "endswith": "write `text ENDS WITH 'a'`", "contains": "write `text CONTAINS 'a'`", "mean": "did you mean `avg`?",
}  # fmt: skip
"""What is written here for functions of SQL, Python and pandas."""


def prepared(name: str, arguments: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """The arguments as the function takes them: decimals and numbers of several types become floats where it knows
    no others, and a whole number that is written beside floats is one of them."""
    kinds = {each.type.kind for each in arguments}
    if name in _OF_COMMON_TYPE:
        return tuple(map(_written_narrow, arguments)) if Kind.FLOAT in kinds else arguments
    if name == "+" and Kind.LIST in kinds:
        return arguments
    if Kind.DECIMAL in kinds and (name in _COMPARISONS or name in _OF_DECIMALS):
        return tuple(map(_written_decimal, arguments))
    if kinds.isdisjoint(_TO_FLOATS):
        return arguments
    return tuple(
        Call(FLOAT, each.span, "tofloat", (each,)) if _becomes_float(name, each.type) else each for each in arguments
    )


_TO_FLOATS = frozenset({Kind.DECIMAL, Kind.ANY})


def _becomes_float(name: str, type_: Type) -> bool:
    if type_.kind is Kind.DECIMAL:
        return name not in _OF_DECIMALS and name not in _OF_ANY
    return type_.kind is Kind.ANY and is_number(type_) and name not in _OF_ANY


def _written_narrow(argument: Expression) -> Expression:
    if isinstance(argument, Constant) and type(argument.value) is int and abs(argument.value) <= 2**53:
        return Constant(NARROW_INTEGER, argument.span, argument.value)
    return argument


def _written_decimal(argument: Expression) -> Expression:
    """A number that is written beside a decimal is the decimal that stands there, not the float that is near it."""
    if isinstance(argument, Constant) and isinstance(argument.value, float) and math.isfinite(argument.value):
        value = written_decimal(argument.value)
        type_ = decimal_of(value)
        return argument if type_ is None else Constant(type_, argument.span, value)
    return argument


def is_aggregate(name: str) -> bool:
    return name in AGGREGATES


def is_operator(name: str) -> bool:
    return name in OPERATORS


def function_names() -> tuple[str, ...]:
    """The names that a user can call, aggregates among them, sorted."""
    return tuple(sorted((*SCALARS, *AGGREGATES, *_BOUND_OTHERWISE)))


def comparable(one: Type, other: Type) -> bool:
    """Whether `=` looks at the values: they can be equal, or null. Lists are compared item by item, whatever these
    are; maps when they have the same keys."""
    kinds = {one.kind, other.kind}
    if Kind.NULL in kinds or kinds <= NUMBER:
        return True
    if Kind.ANY in kinds:
        return any(comparable(left, right) for left in one.members or (one,) for right in other.members or (other,))
    if len(kinds) > 1:
        return False
    if one.kind is Kind.MAP:
        return {key for key, _ in one.fields} == {key for key, _ in other.fields}
    return one.kind is not Kind.TEMPORAL or temporal_family(one.arrow) == temporal_family(other.arrow)


def has_order(type_: Type) -> bool:
    """Whether `<` is asked of two values of the type at all."""
    return type_.kind in _ORDERED


def _arity(signature: Signature) -> str:
    if signature.maximum is None:
        return f"at least {signature.minimum} argument{'s' if signature.minimum > 1 else ''}"
    if signature.minimum == signature.maximum:
        return (
            "no arguments" if not signature.minimum else f"{signature.minimum} argument{'s' * (signature.minimum > 1)}"
        )
    return f"{signature.minimum} to {signature.maximum} arguments"


# --- decimals and values of several types ------------------------------------------------------------------------

_OF_COMMON_TYPE = frozenset({"coalesce", "list"})
_CONVERSIONS = frozenset({"tointeger", "tofloat", "toboolean", "tostring"})
_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">="})
_OF_ANY = _CONVERSIONS | _COMPARISONS | {"nullif", "is null", "is not null", "in", "count", "min", "max", "collect"}
_OF_DECIMALS = frozenset({"+", "-", "*", "%", "negate", "abs", "sign", "sum", "avg", "nullif", "percentiledisc"})
