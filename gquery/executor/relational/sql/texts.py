"""Texts: their parts, and other values as texts and back."""

from __future__ import annotations

from gquery.executor.relational.sql.time.moments import text_of as text_of_time
from gquery.planner.ir.expr import Call, Constant, Kind, Type

_LONGEST = 2**31  # characters of a text, about; DuckDB takes no numbers beyond 2^32


def side(call: Call, arguments: list[str]) -> str:
    """left() and right(): a negative length is an error, where DuckDB counts it from the other end."""
    return f"{call.function}({arguments[0]}, {_count(call, arguments, 1)})"


def substring(call: Call, arguments: list[str]) -> str:
    """Positions count from 0."""
    start, *length = (_count(call, arguments, index) for index in range(1, len(arguments)))
    return f"substring({', '.join([arguments[0], f'{start} + 1', *length])})"


def _count(call: Call, arguments: list[str], index: int) -> str:
    """A number of characters, which is looked at where it is not known to be one, unless another argument is null."""
    match call.arguments[index]:
        case Constant(value=int() as known) if 0 <= known <= _LONGEST:
            return arguments[index]
    number = arguments[index]
    message = f"error('{call.function}() takes no negative numbers')"
    others = "".join(f" AND {other} IS NOT NULL" for other in arguments[:index] + arguments[index + 1 :])
    negative = f"WHEN {number} < 0{others} THEN {message}"
    return f"CASE {negative} WHEN {number} > {_LONGEST} THEN {_LONGEST} ELSE {number} END"


def joined_texts(left: str, one: Type, right: str, other: Type) -> str:
    return f"({text_of(left, one)} || {text_of(right, other)})"


def to_string(call: Call, arguments: list[str]) -> str:
    return text_of(arguments[0], call.arguments[0].type)


def text_of(subject: str, type_: Type) -> str:
    """A value as toString() gives it."""
    match type_.kind:
        case Kind.STRING:
            return subject
        case Kind.FLOAT:
            return _float_text(subject)
        case Kind.TEMPORAL:
            return text_of_time(subject, type_)
        case Kind.DECIMAL:  # where all digits are behind the point, DuckDB writes none before it
            return f"regexp_replace({subject}::VARCHAR, '^(-?)\\.', '\\10.')"
    return f"{subject}::VARCHAR"


def _float_text(number: str) -> str:
    """As Java prints a double, in the shortest digits that give it back: 0.001, 1234567.0, 1.0E7, 1.5E-4, Infinity."""
    text = f"{number}::VARCHAR"
    powered = rf"regexp_replace(regexp_replace({text}, 'e\+?(-?)0*', 'E\1'), '^(-?\d)E', '\1.0E')"
    digits = rf"regexp_replace(regexp_replace({text}, '(\d)(\d*)\.(\d+)$', '\1.\2\3'), '(\.\d+?)0+$', '\1')"
    great = rf"{digits} || 'E' || (strpos(ltrim({text}, '-'), '.') - 2)"
    small = rf"regexp_replace(regexp_replace({text}, '0\.000(\d)', '\1.'), '\.$', '.0') || 'E-4'"
    return (
        f"CASE WHEN {number} = 0 OR abs({number}) >= 0.001 AND abs({number}) < 10000000 THEN {text} "
        f"WHEN isnan({number}) THEN 'NaN' WHEN isinf({number}) THEN replace({text}, 'inf', 'Infinity') "
        f"WHEN contains({text}, 'e') THEN {powered} WHEN abs({number}) > 1 THEN {great} ELSE {small} END"
    )
