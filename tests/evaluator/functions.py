"""Functions, operators and aggregates, as functions of Python's values."""

import datetime
import math
import operator
import re
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial, reduce
from itertools import compress
from operator import attrgetter, itemgetter
from statistics import mean, pvariance, variance

from tests.evaluator.values import Failure, Truth, Value, all_of, any_of, compare, equal, exact, sort_key


def text_test(test: Callable[[str, str], bool]) -> Callable[[Value, Value], bool | None]:
    return lambda left, right: test(left, right) if isinstance(left, str) and isinstance(right, str) else None


def plus(left: Value, right: Value) -> Value:
    if isinstance(left, list) or isinstance(right, list):
        return (left if isinstance(left, list) else [left]) + (right if isinstance(right, list) else [right])
    if isinstance(left, str) or isinstance(right, str):
        return to_string(left) + to_string(right)
    return number(operator.add, left, right)


def number(calculate: Callable[[Value, Value], Value], left: Value, right: Value) -> Value:
    """Decimals with all their digits; floats when one is a float."""
    if isinstance(left, float) or isinstance(right, float):
        return calculate(float(left), float(right))
    with localcontext(prec=100):
        return calculate(left, right)


def quotient(left: Value, right: Value) -> Value:
    """Between integers towards zero; a float goes beyond all bounds."""
    if isinstance(left, float):
        return left / right if right else left * math.copysign(math.inf, right)
    return int(Fraction(left, right)) if isinstance(left, int) and isinstance(right, int) else left / right


def remainder(left: Value, right: Value) -> Value:
    return floating(math.fmod, left, right) if isinstance(left, float) else left - right * int(quotient(left, right))


def floating(function: Callable[..., float], *values: Value, at_zero: float = math.nan) -> float:
    """NaN outside of the function's domain but for zero, infinity beyond the greatest float."""
    try:
        return function(*map(float, values))
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan if values[0] else at_zero


def rounded(function: Callable[[Value], int]) -> Callable[[Value], float]:
    """A whole number as a float; what is not finite stays."""
    return lambda value: float(function(exact(value)) if math.isfinite(value) else value)


def cut(text: str, start: int, length: int | None = None) -> str:
    if start < 0 or (length or 0) < 0:
        raise Failure("a negative place or length")
    return text[start:] if length is None else text[start : start + length]


def at(items: Value, place: int) -> Value:
    return items[place] if -len(items) <= place < len(items) else None


def read_as(convert: Callable[[Value], Value], form: str) -> Callable[[Value], Value]:
    """A text of another form gives null."""
    return lambda value: None if isinstance(value, str) and not re.fullmatch(form, value) else convert(value)


def in_utc(moment: datetime.datetime) -> datetime.datetime:
    """A point in time whose zone is not said."""
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)


def to_string(value: Value) -> str:
    if isinstance(value, float) and math.isfinite(value) and value and not 1e-3 <= abs(value) < 1e7:
        first, *others = Decimal(repr(value)).normalize().as_tuple().digits
        sign, exponent = "-" if value < 0 else "", Decimal(repr(value)).adjusted()
        return f"{sign}{first}.{''.join(map(str, others)) or 0}E{exponent}"
    date = isinstance(value, datetime.date)
    return value.isoformat() if date else str(value).lower() if isinstance(value, bool) else str(value)


STRICT: dict[str, Callable[..., Value]] = {
    "+": plus, "-": partial(number, operator.sub), "*": partial(number, operator.mul),
    "/": partial(number, quotient), "%": partial(number, remainder), "negative": operator.neg, "index": at,
    "^": partial(floating, math.pow, at_zero=math.inf), "slice": lambda items, start, end: items[start:end],
    "starts with": text_test(str.startswith), "ends with": text_test(str.endswith),
    "contains": text_test(str.__contains__), "=~": text_test(lambda text, form: bool(re.fullmatch(form, text))),
    "id": attrgetter("id"), "type": attrgetter("type"), "labels": lambda vertex: sorted(vertex.labels),
    "startnode": attrgetter("source"), "endnode": attrgetter("target"), "nodes": lambda path: list(path[::2]),
    "relationships": lambda path: list(path[1::2]), "length": lambda path: len(path) // 2,
    "abs": abs, "sign": lambda value: (value > 0) - (value < 0), "ceil": rounded(math.ceil),
    "floor": rounded(math.floor), "round": rounded(lambda value: math.floor(value + Fraction(1, 2))),
    **{each.__name__: partial(floating, each) for each in (math.sqrt, math.exp, math.sin, math.cos, math.tan)},
    **{each.__name__: partial(floating, each) for each in (math.asin, math.acos, math.atan, math.atan2)},
    **{each.__name__: partial(floating, each, at_zero=-math.inf) for each in (math.log, math.log10)},
    "tolower": str.lower, "toupper": str.upper, "trim": str.strip, "ltrim": str.lstrip, "rtrim": str.rstrip,
    "replace": str.replace, "substring": cut, "left": lambda text, length: cut(text, 0, length),
    "right": lambda text, length: cut(text[::-1], 0, length)[::-1], "split": str.split,
    "reverse": itemgetter(slice(None, None, -1)), "tail": itemgetter(slice(1, None)), "size": len,
    "char_length": len, "character_length": len,
    "head": partial(at, place=0), "last": partial(at, place=-1), "pi": lambda: math.pi, "e": lambda: math.e,
    "range": lambda first, last, step=1: list(range(first, last + (1 if step > 0 else -1), step)),
    "date": lambda value: datetime.date.fromisoformat(value) if isinstance(value, str) else value.date(),
    "datetime": lambda text: in_utc(datetime.datetime.fromisoformat(text)),
    "localdatetime": datetime.datetime.fromisoformat,
    "tointeger": read_as(lambda value: int(Decimal(value)), r"\s*[+-]?\d+(\.\d*)?\s*"),
    "tofloat": read_as(float, r"(?i)\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*"), "tostring": to_string,
    "toboolean": read_as(lambda value: to_string(value).strip().lower() == "true", r"(?i)\s*(true|false)\s*"),
}  # fmt: skip


def ordered(holds: Callable[[float, int], bool]) -> Callable[[Value, Value], Truth]:
    return lambda left, right: None if (order := compare(left, right)) is None else holds(order, 0)


# What may give something else than null for a null.
WITH_NULL: dict[str, Callable[..., Value]] = {
    "and": lambda *truths: all_of(truths), "or": lambda *truths: any_of(truths),
    "not": lambda truth: None if truth is None else not truth,
    "xor": lambda left, right: None if left is None or right is None else left is not right,
    "=": equal, "<>": lambda left, right: WITH_NULL["not"](equal(left, right)),
    "in": lambda value, items: None if items is None else any_of(equal(value, item) for item in items),
    "<": ordered(operator.lt), "<=": ordered(operator.le), ">": ordered(operator.gt), ">=": ordered(operator.ge),
    "is null": lambda value: value is None, "is not null": lambda value: value is not None,
    "list": lambda *items: list(items), "case": lambda *parts: next(compress(parts[1::2], parts[:-1:2]), parts[-1]),
    "nullif": lambda value, other: None if equal(value, other) is True else value,
    "coalesce": lambda *values: next((value for value in values if value is not None), None),
}  # fmt: skip


def single(truths: list[Truth]) -> Truth:
    """Whether one is true and all others are false."""
    found, open_ = truths.count(True), truths.count(None)
    return False if found > 1 or not (found or open_) else None if open_ else True


QUANTIFIED: dict[str, Callable[[list[Truth]], Truth]] = {
    "all": all_of, "any": any_of, "none": lambda truths: WITH_NULL["not"](any_of(truths)), "single": single
}  # fmt: skip

TIME_FIELDS: dict[str, Callable[[Value], int]] = {
    "quarter": lambda time: (time.month + 2) // 3, "week": lambda time: time.isocalendar().week,
    "dayOfWeek": lambda time: time.isoweekday(), "ordinalDay": lambda time: time.timetuple().tm_yday,
    **{name: attrgetter(name) for name in ("year", "month", "day", "hour", "minute", "second")},
}  # fmt: skip


def total(values: list[Value]) -> Value:
    """Decimals and integers exactly; with one float among them a float."""
    floats = any(isinstance(value, float) for value in values)
    return float(sum(map(exact, values))) if floats else reduce(partial(number, operator.add), values, 0)


def deviation(squared: Callable[[list[Fraction]], Fraction], values: list[Value]) -> float:
    finite = all(map(math.isfinite, values))
    return 0.0 if len(values) < 2 else math.sqrt(squared(list(map(Fraction, values)))) if finite else math.nan


AGGREGATES: dict[str, Callable[[list[Value]], Value]] = {
    "count": len, "collect": list, "sum": total, "min": partial(min, key=sort_key, default=None),
    "max": partial(max, key=sort_key, default=None), "stdev": partial(deviation, variance),
    "stdevp": partial(deviation, pvariance), "avg": lambda values: float(mean(map(exact, values))) if values else None,
}  # fmt: skip
