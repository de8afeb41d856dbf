"""Texts: their parts, and other values as texts and back."""

from __future__ import annotations

from gquery.executor.relational.sql_temporal import text_of as text_of_time
from gquery.planner.expr import Call, Kind, Type

TEXT_TO_INTEGER = (
    r"CASE WHEN regexp_full_match({0}, '\s*[-+]?\d+\s*') THEN TRY_CAST({0} AS BIGINT) "
    "ELSE TRY_CAST(trunc(TRY_CAST({0} AS DOUBLE)) AS BIGINT) END"
)
TEXT_TO_BOOLEAN = "CASE WHEN lower(trim({0})) = 'true' THEN TRUE WHEN lower(trim({0})) = 'false' THEN FALSE END"

BLANKS = r"[\s\v\p{{Z}}]"  # in a template

_LONGEST = 2**31  # characters of a text, about; DuckDB takes no numbers beyond 2^32


def side(call: Call, arguments: list[str]) -> str:
    """left() and right(): a negative length is an error, where DuckDB counts it from the other end."""
    subject, length = arguments
    return _checked(call, arguments, f"{call.function}({subject}, {length})")


def substring(call: Call, arguments: list[str]) -> str:
    """Positions count from 0."""
    subject, *numbers = arguments
    start, *length = (
        f"CASE WHEN {number} > {_LONGEST} THEN {_LONGEST} ELSE {number} END" for number in numbers
    )
    return _checked(call, arguments, f"substring({', '.join([subject, f'{start} + 1', *length])})")


def _checked(call: Call, arguments: list[str], text: str) -> str:
    subject, *numbers = arguments
    negative = " OR ".join(f"{number} < 0" for number in numbers)
    message = f"error('{call.function}() takes no negative numbers')"
    return f"CASE WHEN {subject} IS NULL THEN NULL WHEN {negative} THEN {message} ELSE {text} END"


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
