"""Bound expressions as a user would write them: texts for plans, cut where they are long."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from gquery.planner.ir.expr import (
    Aggregate,
    Attribute,
    Call,
    Case,
    Column,
    Comprehension,
    Constant,
    Expression,
    Local,
    Parameter,
    Reduce,
)
from gquery.planner.ir.functions.scalars import SCALARS

LONGEST = 80  # characters of one text

_FUNCTIONS = {Attribute.ID: "id", Attribute.LABELS: "labels", Attribute.TYPE: "type"}
_READ = ("read", "read there", "moment")  # a text or a parameter as a date

# How tightly operators bind. What binds no tighter than what it stands in is written in brackets.
_TIGHTNESS = {
    name: tightness
    for tightness, names in enumerate(
        (
            ("",), ("or",), ("xor",), ("and",), ("not",), ("=", "<>", "<", "<=", ">", ">="),
            ("in", "=~", "contains", "starts with", "ends with", "is null", "is not null"),
            ("+", "-"), ("*", "/", "%"), ("^",), ("negate",), ("index", "slice", "field"),
        )
    )
    for name in names
}  # fmt: skip
_TIGHTEST = len(_TIGHTNESS)


def written(conditions: Iterable[Expression]) -> str:
    """Conditions that all must hold, as one text. No more of it is made than fits."""
    parts = tuple(conditions)
    text = ""
    for part in _joined(" AND ", (_within("and" if len(parts) > 1 else "", each) for each in parts)):
        text += part if part.isprintable() else "".join(map(_printable, part))
        if len(text) > LONGEST:
            return text[: LONGEST - 1].rstrip() + "…"
    return text


def _written(expression: Expression) -> Iterator[str]:
    match expression:
        case Constant(value=value):
            yield _literal(value)
        case Parameter(name=name):
            yield f"${name}"
        case Column(variable=variable, attribute=attribute, key=key):
            name = _name(re.sub(r"^ (\d+ )*", "", variable))  # a space begins the names that no user wrote
            wrapped = _FUNCTIONS.get(attribute)
            yield f"{wrapped}({name})" if wrapped else f"{name}.{_name(key)}" if key else name
        case Call():
            yield from _call(expression.function, expression.arguments)
        case Case(branches=branches, default=default, subject=subject):
            yield "CASE"
            yield from [] if subject is None else chain([" "], _written(subject))
            for when, then in branches:
                yield from chain([" WHEN "], _written(when), [" THEN "], _written(then))
            yield from chain([" ELSE "], _written(default), [" END"])
        case Local(name=name):
            yield _name(name)
        case Comprehension():
            yield from _comprehension(expression)
        case Reduce(accumulator=accumulator, initial=initial, variable=variable, items=items, step=step):
            yield f"reduce({_name(accumulator.name)} = "
            yield from chain(_written(initial), [f", {_name(variable.name)} IN "], _written(items), [" | "])
            yield from chain(_written(step), [")"])
        case Aggregate(function=function, argument=argument, distinct=distinct):
            yield f"{function}({'DISTINCT ' if distinct else ''}"
            yield from chain(["*"] if argument is None else _written(argument), [")"])


def _comprehension(expression: Comprehension) -> Iterator[str]:
    yield "[" if expression.form == "list" else f"{expression.form}("
    yield from chain([f"{_name(expression.variable.name)} IN "], _written(expression.items))
    if expression.where is not None:
        yield from chain([" WHERE "], _written(expression.where))
    if expression.result is not None:
        yield from chain([" | "], _written(expression.result))
    yield "]" if expression.form == "list" else ")"


def _call(function: str, arguments: tuple[Expression, ...]) -> Iterator[str]:
    first = arguments[0] if arguments else None
    match function:
        case "list":
            return chain(["["], _joined(", ", map(_written, arguments)), ["]"])
        case "map":
            pairs = zip(map(_key, arguments[::2]), map(_written, arguments[1::2]), strict=True)
            return chain(["{"], _joined(", ", (chain([f"{key}: "], value) for key, value in pairs)), ["}"])
        case "index" | "slice" if first:
            return chain(_within(function, first), ["["], _joined("..", map(_written, arguments[1:])), ["]"])
        case "field" if first:
            return chain(_within(function, first), [f".{_key(arguments[1])}"])
        case "negate" | "not" if first:
            return chain(["-" if function == "negate" else "NOT "], _within(function, first))
        case "is null" | "is not null" if first:
            return chain(_within(function, first), [f" {function.upper()}"])
        case "read" | "read there" | "moment" if first:
            return _written(first)
        case "calculate":
            return chain([f"{_key(arguments[0])}("], _joined(", ", map(_written, arguments[1:])), [")"])
        case _ if function in _TIGHTNESS:
            return _joined(f" {function.upper()} ", (_within(function, each) for each in arguments))
        case _:
            name = SCALARS[function].name if function in SCALARS else function
            return chain([f"{name}("], _joined(", ", map(_written, arguments)), [")"])


def _within(function: str, operand: Expression) -> Iterator[str]:
    """An operand of an operator."""
    while isinstance(operand, Call) and operand.function in _READ:
        operand = operand.arguments[0]
    inner = operand.function if isinstance(operand, Call) else None
    chained = inner == function and function in ("and", "or", "xor")
    bare = inner is None or chained or _TIGHTNESS.get(inner, _TIGHTEST) > _TIGHTNESS[function]
    return _written(operand) if bare else chain(["("], _written(operand), [")"])


def _joined(separator: str, texts: Iterable[Iterator[str]]) -> Iterator[str]:
    for place, text in enumerate(texts):
        if place:
            yield separator
        yield from text


def _name(name: str) -> str:
    name = name.strip()  # what begins with a blank nobody has named
    return name if name.isidentifier() else f"`{name.replace('`', '``')}`"


def _printable(character: str) -> str:
    """A plan is one line a step, whatever a text holds."""
    return character if character.isprintable() else repr(character)[1:-1]


def _key(expression: Expression) -> str:
    return str(expression.value) if isinstance(expression, Constant) else "?"


def _literal(value: object) -> str:
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
