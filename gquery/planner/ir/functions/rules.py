"""What functions take and give: kinds of arguments, and rules from their types to the type of the call."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa

from gquery.planner.ir.expr import BOOLEAN, FLOAT, INTEGER, NULL, STRING, Kind, Type
from gquery.planner.ir.types.common_type import (
    DATE,
    DATETIME,
    DURATION,
    MOST_DIGITS,
    NUMBERS,
    decimal,
    digits_and_scale,
    list_of,
    temporal_family,
    unify,
)
from gquery.records import record

Rule = Callable[[tuple[Type, ...]], Type | None]
Kinds = frozenset[Kind]

ANY = frozenset(Kind)
NUMBER = NUMBERS
WHOLE = frozenset({Kind.INTEGER})
TEXT = frozenset({Kind.STRING})
TRUTH = frozenset({Kind.BOOLEAN})
LIST = frozenset({Kind.LIST})
TEMPORAL = frozenset({Kind.TEMPORAL})
PATH = frozenset({Kind.PATH})
EDGE = frozenset({Kind.RELATIONSHIP})
SCALAR = NUMBER | TEXT | TRUTH


@record(frozen=True, slots=True)
class Signature:
    """Between `minimum` and `maximum` arguments (None: any number); `rule` gives None when the types do not fit."""

    minimum: int
    maximum: int | None
    rule: Rule


@record(frozen=True, slots=True)
class Function:
    """sql: DuckDB's text of a call, in which {0} stands for the first argument, as often as it likes; or such a text
    for each kind of the first argument (its name in lower case, `other` for the rest); or None, where a function of
    `executor/relational/sql/calls.py` writes it."""

    signature: Signature
    sql: str | Mapping[str, str] | None


def fits(argument: Type, kinds: Kinds) -> bool:
    if argument.kind is Kind.ANY and Kind.ANY not in kinds:
        return all(member.kind in kinds for member in argument.members)
    return argument.kind is Kind.NULL or argument.kind in kinds


def fixed(result: Type, *parameters: Kinds, optional: int = 0) -> Signature:
    """Takes these kinds, the last `optional` of which may be left out, and always gives `result`."""

    def rule(arguments: tuple[Type, ...]) -> Type | None:
        fitting = all(fits(argument, kinds) for argument, kinds in zip(arguments, parameters, strict=False))
        return result if fitting else None

    return Signature(len(parameters) - optional, len(parameters), rule)


def same(kinds: Kinds) -> Signature:
    """One argument of these kinds, given back with its type."""

    def rule(arguments: tuple[Type, ...]) -> Type | None:
        (argument,) = arguments
        return argument if argument.kind is Kind.NULL or argument.kind in kinds else None

    return Signature(1, 1, rule)


def over(arguments: tuple[Type, ...]) -> Type | None:
    """A quotient of numbers, or of a duration and a number."""
    return times(arguments) if _family(arguments[0]) == "duration" else arithmetic(arguments)


def less(arguments: tuple[Type, ...]) -> Type | None:
    """No moment is taken from a duration."""
    if Kind.TEMPORAL not in {each.kind for each in arguments}:
        return arithmetic(arguments)
    result = shifted(arguments)
    return result if _family(arguments[0]) != "duration" or result in (DURATION, NULL) else None


def arithmetic(arguments: tuple[Type, ...]) -> Type | None:
    if not all(fits(argument, NUMBER) for argument in arguments):
        return None
    kinds = {argument.kind for argument in arguments}
    if Kind.FLOAT in kinds:
        return FLOAT
    if Kind.DECIMAL in kinds:
        return decimal(MOST_DIGITS, max(digits_and_scale(each)[1] for each in arguments if each.kind in NUMBERS))
    return INTEGER if Kind.INTEGER in kinds else NULL


def times(arguments: tuple[Type, ...]) -> Type | None:
    """Digits after the point add up; too many for a decimal make a float. A duration takes any number."""
    durations = [each for each in arguments if _family(each) == "duration"]
    if durations:
        others = [each for each in arguments if each not in durations]
        return DURATION if len(durations) == 1 and all(fits(each, NUMBER) for each in others) else None
    result = arithmetic(arguments)
    if result is None or result.kind is not Kind.DECIMAL:
        return result
    scale = sum(digits_and_scale(each)[1] for each in arguments if each.kind in NUMBERS)
    return decimal(MOST_DIGITS, scale) if scale <= MOST_DIGITS else FLOAT


def plus(arguments: tuple[Type, ...]) -> Type | None:
    """Numbers add; strings join with strings and numbers; lists join with lists and take an item at either end. Beside
    null, which may be any of these, there is no telling, and it is null."""
    left, right = arguments
    kinds = {left.kind, right.kind}
    if Kind.NULL in kinds:
        return NULL
    if Kind.LIST in kinds:
        items = [each.item or NULL if each.kind is Kind.LIST else each for each in arguments]
        return list_of(unify(items))
    if Kind.TEMPORAL in kinds:
        durations = [each for each in arguments if _family(each) == "duration"]
        return shifted(arguments) if durations else None
    if Kind.STRING in kinds:
        return STRING if kinds <= TEXT | NUMBER else None
    return arithmetic(arguments)


def percentile(arguments: tuple[Type, ...]) -> Type | None:
    """One of a list of numbers, given a share of it."""
    numbers, share = arguments
    fitting = fits(numbers, LIST) and fits(numbers.item or NULL, NUMBER) and fits(share, NUMBER)
    return numbers.item or NULL if fitting else None


def interpolated(arguments: tuple[Type, ...]) -> Type | None:
    return None if percentile(arguments) is None else FLOAT


def membership(arguments: tuple[Type, ...]) -> Type | None:
    return BOOLEAN if fits(arguments[1], LIST) else None


def list_type(arguments: tuple[Type, ...]) -> Type:
    return Type(Kind.LIST, None, unify(arguments) if arguments else None)


def item(arguments: tuple[Type, ...]) -> Type | None:
    """An item of the list that comes first; an index, if any, is a whole number."""
    subject, *index = arguments
    if not fits(subject, LIST) or not all(fits(argument, WHOLE) for argument in index):
        return None
    return subject.item or NULL


def slice_type(arguments: tuple[Type, ...]) -> Type | None:
    subject, *bounds = arguments
    return subject if fits(subject, LIST) and all(fits(bound, WHOLE) for bound in bounds) else None


def part_of_path(name: str) -> Signature:
    """nodes() and relationships(): the type of a path has a field for each."""

    def rule(arguments: tuple[Type, ...]) -> Type | None:
        (path,) = arguments
        return NULL if path.kind is Kind.NULL else dict(path.fields).get(name) if path.kind is Kind.PATH else None

    return Signature(1, 1, rule)


def path_type(arguments: tuple[Type, ...]) -> Type | None:
    """Of two paths, of which one begins where the other ends."""
    return unify(arguments) if all(each.kind is Kind.PATH for each in arguments) else None


def datetime_type(arguments: tuple[Type, ...]) -> Type | None:
    """A point in time keeps its zone; what has none is UTC's."""
    (subject,) = arguments or (STRING,)
    family = _family(subject)
    if family == "datetime":
        arrow = subject.arrow
        known = arrow is not None and not pa.types.is_dictionary(arrow) and arrow.tz is not None
        return subject if known else Type(Kind.TEMPORAL, pa.timestamp(_unit(subject), "UTC"))
    return DATETIME if family in ("text", "date") else None


def local_datetime_type(arguments: tuple[Type, ...]) -> Type | None:
    (subject,) = arguments or (STRING,)
    fits_ = _family(subject) in ("text", "date", "datetime")
    return Type(Kind.TEMPORAL, pa.timestamp(_unit(subject))) if fits_ else None


def local_time_type(arguments: tuple[Type, ...]) -> Type | None:
    (subject,) = arguments or (STRING,)
    family = _family(subject)
    unit = "ns" if family == "text" else _unit(subject)
    return Type(Kind.TEMPORAL, pa.time64(unit)) if family in ("text", "time", "zoned time", "datetime") else None


def date_type(arguments: tuple[Type, ...]) -> Type | None:
    return DATE if not arguments or _family(arguments[0]) in ("text", "date", "datetime") else None


def _family(subject: Type) -> str | None:
    """Of a time, or `text`; a null may be any of them."""
    if subject.kind in (Kind.STRING, Kind.NULL):
        return "text"
    return temporal_family(subject.arrow) if subject.kind is Kind.TEMPORAL else None


def _unit(subject: Type) -> str:
    arrow = subject.arrow
    fine = arrow is not None and (getattr(arrow, "unit", "us") == "ns" or pa.types.is_struct(arrow))
    return "ns" if fine and subject.kind is Kind.TEMPORAL else "us"


def shifted(arguments: tuple[Type, ...]) -> Type | None:
    """A moment and a duration give a moment, two durations or two moments of one kind a duration; None of others.
    Beside null there is no telling which, and it is null."""
    if Kind.NULL in {each.kind for each in arguments}:
        return NULL
    families = [_family(each) for each in arguments]
    moments = [each for each, family in zip(arguments, families, strict=True) if family != "duration"]
    if None in families or "text" in families:
        return None
    if "duration" in families:
        return moments[0] if moments else DURATION
    return DURATION if len(set(families)) == 1 and families[0] in ("date", "datetime") else None


def sum_type(arguments: tuple[Type, ...]) -> Type | None:
    result = arithmetic(arguments)
    return INTEGER if result is NULL else result
