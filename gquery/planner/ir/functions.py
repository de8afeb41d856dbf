"""Functions, operators and aggregates: what each takes and what type it gives.

The binder asks `resolve`; the relational tail knows the SQL of every name that stands here. Operators carry the names
of the syntax tree; `list`, `index`, `slice`, `field` and `negate` are the calls behind `[...]`, `x[i]`, `x[i..j]`,
`x.key` and `-x`. The call `map` is behind `{...}`; its type has the keys, so the binder makes it itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from gquery.errors import BindError, Span, did_you_mean
from gquery.planner.ir.common_type import (
    DATE,
    DATETIME,
    MOST_DIGITS,
    NARROW_INTEGER,
    NUMBERS,
    decimal,
    decimal_of,
    digits_and_scale,
    is_number,
    list_of,
    temporal_family,
    unify,
    written_decimal,
)
from gquery.planner.ir.expr import (
    BOOLEAN,
    FLOAT,
    INTEGER,
    NODE,
    NULL,
    STRING,
    Call,
    Constant,
    Expression,
    Kind,
    Type,
)  # fmt: skip

Rule = Callable[[tuple[Type, ...]], Type | None]
Kinds = frozenset[Kind]


_ANY = frozenset(Kind)
_NUMBER = NUMBERS
_INTEGER = frozenset({Kind.INTEGER})
_TEXT = frozenset({Kind.STRING})
_TRUTH = frozenset({Kind.BOOLEAN})
_LIST = frozenset({Kind.LIST})
_TEMPORAL = frozenset({Kind.TEMPORAL})
_PATH = frozenset({Kind.PATH})
_EDGE = frozenset({Kind.RELATIONSHIP})
_SCALAR = _NUMBER | _TEXT | _TRUTH


@dataclass(frozen=True, slots=True)
class Function:
    """Between `minimum` and `maximum` arguments (None: any number); `rule` gives None when the types do not fit."""

    minimum: int
    maximum: int | None
    rule: Rule


def resolve(name: str, arguments: tuple[Type, ...], span: Span) -> Type:
    """The type of a call. Raises BindError for an unknown name, a wrong number of arguments, types that do not fit."""
    function = _OPERATORS.get(name) or _FUNCTIONS.get(name) or _AGGREGATES.get(name)
    if function is None:
        raise BindError(f"there is no function `{name}`", span=span, hint=did_you_mean(name, function_names()))
    if len(arguments) < function.minimum or len(arguments) > (function.maximum or len(arguments)):
        raise BindError(f"`{name}` takes {_arity(function)}, not {len(arguments)}", span=span)
    result = function.rule(arguments)
    if result is None:
        listed = " and ".join(str(argument) for argument in arguments)
        several = any(argument.kind is Kind.ANY for argument in arguments)
        raise BindError(f"`{name}` cannot take {listed}", span=span, hint=_NARROWING if several else None)
    return result


_NARROWING = "say which values are meant by a label, or make them of one type by toInteger(), toFloat() or toString()"


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
    return tuple(
        Call(FLOAT, each.span, "tofloat", (each,)) if _becomes_float(name, each.type) else each for each in arguments
    )


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
    return name in _AGGREGATES


def is_operator(name: str) -> bool:
    return name in _OPERATORS


def function_names() -> tuple[str, ...]:
    """The names that a user can call, aggregates among them, sorted."""
    return tuple(sorted((*_FUNCTIONS, *_AGGREGATES, *_BOUND_AS_COLUMNS)))


def comparable(one: Type, other: Type) -> bool:
    """Whether `=` looks at the values: they can be equal, or null. Lists are compared item by item, whatever these
    are; maps when they have the same keys."""
    kinds = {one.kind, other.kind}
    if Kind.NULL in kinds or kinds <= _NUMBER:
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


def _arity(function: Function) -> str:
    if function.maximum is None:
        return f"at least {function.minimum} argument{'s' if function.minimum > 1 else ''}"
    if function.minimum == function.maximum:
        return "no arguments" if not function.minimum else f"{function.minimum} argument{'s' * (function.minimum > 1)}"
    return f"{function.minimum} to {function.maximum} arguments"


# --- rules -------------------------------------------------------------------------------------------------------


def _fits(argument: Type, kinds: Kinds) -> bool:
    if argument.kind is Kind.ANY and Kind.ANY not in kinds:
        return all(member.kind in kinds for member in argument.members)
    return argument.kind is Kind.NULL or argument.kind in kinds


def _fixed(result: Type, *parameters: Kinds, optional: int = 0) -> Function:
    """Takes these kinds, the last `optional` of which may be left out, and always gives `result`."""

    def rule(arguments: tuple[Type, ...]) -> Type | None:
        fitting = all(_fits(argument, kinds) for argument, kinds in zip(arguments, parameters, strict=False))
        return result if fitting else None

    return Function(len(parameters) - optional, len(parameters), rule)


def _same(kinds: Kinds) -> Function:
    """One argument of these kinds, given back with its type."""

    def rule(arguments: tuple[Type, ...]) -> Type | None:
        (argument,) = arguments
        return argument if argument.kind is Kind.NULL or argument.kind in kinds else None

    return Function(1, 1, rule)


def _arithmetic(arguments: tuple[Type, ...]) -> Type | None:
    if not all(_fits(argument, _NUMBER) for argument in arguments):
        return None
    kinds = {argument.kind for argument in arguments}
    if Kind.FLOAT in kinds:
        return FLOAT
    if Kind.DECIMAL in kinds:
        return decimal(MOST_DIGITS, max(digits_and_scale(each)[1] for each in arguments if each.kind in NUMBERS))
    return INTEGER if Kind.INTEGER in kinds else NULL


def _times(arguments: tuple[Type, ...]) -> Type | None:
    """Digits after the point add up; too many for a decimal make a float."""
    result = _arithmetic(arguments)
    if result is None or result.kind is not Kind.DECIMAL:
        return result
    scale = sum(digits_and_scale(each)[1] for each in arguments if each.kind in NUMBERS)
    return decimal(MOST_DIGITS, scale) if scale <= MOST_DIGITS else FLOAT


def _plus(arguments: tuple[Type, ...]) -> Type | None:
    """Numbers add; strings join with strings and numbers; lists join with lists and take an item at either end."""
    left, right = arguments
    kinds = {left.kind, right.kind}
    if Kind.LIST in kinds:
        if Kind.NULL in kinds:
            return left if left.kind is Kind.LIST else right
        items = [each.item or NULL if each.kind is Kind.LIST else each for each in arguments]
        item = unify(items)
        return None if item is None else list_of(item)
    if Kind.STRING in kinds:
        return STRING if kinds <= _TEXT | _NUMBER | {Kind.NULL} else None
    return _arithmetic(arguments)


def _membership(arguments: tuple[Type, ...]) -> Type | None:
    return BOOLEAN if _fits(arguments[1], _LIST) else None


def _list(arguments: tuple[Type, ...]) -> Type | None:
    item = unify(arguments)
    return None if item is None else Type(Kind.LIST, None, item if arguments else None)


def _item(arguments: tuple[Type, ...]) -> Type | None:
    """An item of the list that comes first; an index, if any, is a whole number."""
    subject, *index = arguments
    if not _fits(subject, _LIST) or not all(_fits(argument, _INTEGER) for argument in index):
        return None
    return subject.item or NULL


def _slice(arguments: tuple[Type, ...]) -> Type | None:
    subject, *bounds = arguments
    return subject if _fits(subject, _LIST) and all(_fits(bound, _INTEGER) for bound in bounds) else None


def _part_of_path(name: str) -> Function:
    """nodes() and relationships(): the type of a path has a field for each."""
    return Function(1, 1, lambda arguments: dict(arguments[0].fields).get(name) if _fits(arguments[0], _PATH) else None)


def _datetime(arguments: tuple[Type, ...]) -> Type | None:
    """A point in time keeps its zone."""
    (subject,) = arguments
    if subject.kind is Kind.TEMPORAL and temporal_family(subject.arrow) == "datetime":
        return subject
    return DATETIME if _fits(subject, _TEXT | _TEMPORAL) else None


_COMPARISON = _fixed(BOOLEAN, _ANY, _ANY)
_TEXT_TEST = _fixed(BOOLEAN, _TEXT, _TEXT)
_LOGIC = _fixed(BOOLEAN, _TRUTH, _TRUTH)
_TEXT_TO_TEXT = _fixed(STRING, _TEXT)
_TO_FLOAT = _fixed(FLOAT, _NUMBER)
_ARITHMETIC = Function(2, 2, _arithmetic)
_FIRST_ITEM = Function(1, 1, _item)

_OPERATORS: dict[str, Function] = {
    "or": _LOGIC, "xor": _LOGIC, "and": _LOGIC, "not": _fixed(BOOLEAN, _TRUTH),
    "=": _COMPARISON, "<>": _COMPARISON, "<": _COMPARISON, "<=": _COMPARISON, ">": _COMPARISON, ">=": _COMPARISON,
    "is null": _fixed(BOOLEAN, _ANY), "is not null": _fixed(BOOLEAN, _ANY), "in": Function(2, 2, _membership),
    "=~": _TEXT_TEST, "starts with": _TEXT_TEST, "ends with": _TEXT_TEST, "contains": _TEXT_TEST,
    "+": Function(2, 2, _plus), "-": _ARITHMETIC, "*": Function(2, 2, _times), "/": _ARITHMETIC, "%": _ARITHMETIC,
    "^": _fixed(FLOAT, _NUMBER, _NUMBER), "negate": Function(1, 1, _arithmetic),
    "list": Function(0, None, _list), "index": Function(2, 2, _item), "slice": Function(3, 3, _slice),
    "field": _fixed(INTEGER, _TEMPORAL, _TEXT),
}  # fmt: skip

_FUNCTIONS: dict[str, Function] = {
    "abs": Function(1, 1, _arithmetic), "sign": _fixed(INTEGER, _NUMBER),
    "ceil": _TO_FLOAT, "floor": _TO_FLOAT, "round": _fixed(FLOAT, _NUMBER, _INTEGER, optional=1),
    "sqrt": _TO_FLOAT, "exp": _TO_FLOAT, "log": _TO_FLOAT, "log10": _TO_FLOAT,
    "sin": _TO_FLOAT, "cos": _TO_FLOAT, "tan": _TO_FLOAT, "asin": _TO_FLOAT, "acos": _TO_FLOAT, "atan": _TO_FLOAT,
    "atan2": _fixed(FLOAT, _NUMBER, _NUMBER), "pi": _fixed(FLOAT), "e": _fixed(FLOAT), "rand": _fixed(FLOAT),
    "tointeger": _fixed(INTEGER, _SCALAR), "tofloat": _fixed(FLOAT, _NUMBER | _TEXT),
    "toboolean": _fixed(BOOLEAN, _TRUTH | _TEXT | _INTEGER), "tostring": _fixed(STRING, _SCALAR | _TEMPORAL),
    "tolower": _TEXT_TO_TEXT, "toupper": _TEXT_TO_TEXT, "lower": _TEXT_TO_TEXT, "upper": _TEXT_TO_TEXT,
    "trim": _TEXT_TO_TEXT, "ltrim": _TEXT_TO_TEXT, "rtrim": _TEXT_TO_TEXT,
    "replace": _fixed(STRING, _TEXT, _TEXT, _TEXT), "substring": _fixed(STRING, _TEXT, _INTEGER, _INTEGER, optional=1),
    "left": _fixed(STRING, _TEXT, _INTEGER), "right": _fixed(STRING, _TEXT, _INTEGER),
    "split": _fixed(list_of(STRING), _TEXT, _TEXT), "reverse": _same(_TEXT | _LIST),
    "size": _fixed(INTEGER, _TEXT | _LIST), "length": _fixed(INTEGER, _TEXT | _LIST | _PATH),
    "coalesce": Function(1, None, unify), "head": _FIRST_ITEM, "last": _FIRST_ITEM, "tail": _same(_LIST),
    "range": _fixed(list_of(INTEGER), _INTEGER, _INTEGER, _INTEGER, optional=1),
    "date": _fixed(DATE, _TEXT | _TEMPORAL), "datetime": Function(1, 1, _datetime),
    "nodes": _part_of_path("nodes"), "relationships": _part_of_path("relationships"),
    "startnode": _fixed(NODE, _EDGE), "endnode": _fixed(NODE, _EDGE),
}  # fmt: skip


# --- aggregates --------------------------------------------------------------------------------------------------

_BOUND_AS_COLUMNS = ("id", "labels", "type")
_ORDERED = _SCALAR | _TEMPORAL | _LIST | {Kind.ANY}


def _sum(arguments: tuple[Type, ...]) -> Type | None:
    result = _arithmetic(arguments)
    return INTEGER if result is NULL else result


_AGGREGATES: dict[str, Function] = {
    "count": _fixed(INTEGER, _ANY),
    "sum": Function(1, 1, _sum),
    "avg": _TO_FLOAT, "stdev": _TO_FLOAT, "stdevp": _TO_FLOAT,
    "min": _same(_ORDERED), "max": _same(_ORDERED),
    "collect": Function(1, 1, lambda arguments: list_of(arguments[0])),
}  # fmt: skip


# --- decimals and values of several types ------------------------------------------------------------------------

_OF_COMMON_TYPE = frozenset({"coalesce", "list"})
_CONVERSIONS = frozenset({"tointeger", "tofloat", "toboolean", "tostring"})
_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">="})
_OF_ANY = _CONVERSIONS | _COMPARISONS | {"is null", "is not null", "in", "count", "min", "max", "collect"}
_OF_DECIMALS = frozenset({"+", "-", "*", "%", "negate", "abs", "sign", "sum", "avg"})
