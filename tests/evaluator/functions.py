"""The functions, operators and aggregates that give null for a null, as functions of Python's values."""

from __future__ import annotations

import datetime
import math
import operator
import re
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial, reduce
from typing import Any

from tests.evaluator.values import Edge, Failure, Path, Value, Vertex, exact, is_nan, sort_key


def text_test(test: Callable[[str, str], bool]) -> Callable[[Value, Value], bool | None]:
    return lambda left, right: test(left, right) if isinstance(left, str) and isinstance(right, str) else None


def plus(left: Value, right: Value) -> Value:
    if isinstance(left, list) or isinstance(right, list):
        return (left if isinstance(left, list) else [left]) + (right if isinstance(right, list) else [right])
    if isinstance(left, str) or isinstance(right, str):
        return to_string(left) + to_string(right)
    return number(operator.add, left, right)


def number(calculate: Callable[[Any, Any], Value], left: Value, right: Value) -> Value:
    """Decimals with all their digits; floats when one is a float."""
    if isinstance(left, float) or isinstance(right, float):
        return calculate(float(left), float(right))
    with localcontext(prec=100):
        return calculate(left, right)


def divide(left: Value, right: Value) -> Value:
    """Between integers towards zero; a float goes beyond all bounds."""
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
        if right:
            return left / right
        return math.nan if left == 0 or is_nan(left) else math.copysign(math.inf, left) * math.copysign(1, right)
    if right == 0:
        raise Failure("division by zero")
    return int(Fraction(left, right)) if isinstance(left, int) and isinstance(right, int) else left / right


def remainder(left: Value, right: Value) -> Value:
    if isinstance(left, float) or isinstance(right, float):
        return math.fmod(left, right) if right and math.isfinite(left) else math.nan
    return left - right * divide(left, right)


def floating(function: Callable[..., float]) -> Callable[..., float]:
    """NaN outside of the function's domain, infinity beyond the greatest float."""

    def guarded(*values: Value) -> float:
        try:
            return function(*map(float, values))
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return guarded


def power(left: float, right: float) -> float:
    return math.inf if left == 0 and right < 0 else math.pow(left, right)


def logarithm(function: Callable[[float], float]) -> Callable[..., float]:
    return floating(lambda value: function(value) if value else -math.inf)


def rounded(function: Callable[[Any], int]) -> Callable[[Value], float]:
    """A whole number as a float; what is not finite stays."""
    return lambda value: float(function(exact(value))) if is_finite(value) else float(value)


def is_finite(value: Value) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def cut(text: str, start: int, length: int | None = None) -> str:
    if start < 0 or (length is not None and length < 0):
        raise Failure("a negative place or length")
    return text[start:] if length is None else text[start : start + length]


def numbers_between(first: int, last: int, step: int = 1) -> list[int]:
    if step == 0:
        raise Failure("a step of zero")
    return list(range(first, last + (1 if step > 0 else -1), step))


def at(items: Value, place: int) -> Value:
    return items[place] if -len(items) <= place < len(items) else None


def to_integer(value: Value) -> int | None:
    if isinstance(value, str):
        return to_integer(Decimal(value.strip())) if re.fullmatch(r"\s*[+-]?\d+(\.\d*)?\s*", value) else None
    if not is_finite(value) or not -(2**63) <= value < 2**63:
        raise Failure("no integer of 64 bits")
    return int(value)


def to_float(value: Value) -> float | None:
    if isinstance(value, str) and not re.fullmatch(r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*", value, re.IGNORECASE):
        return None
    return float(value)


def to_boolean(value: Value) -> bool | None:
    return {"true": True, "false": False}.get(value.strip().lower()) if isinstance(value, str) else bool(value)


def to_string(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


def ends(path: Path) -> list[Vertex]:
    return [element for element in path.elements if isinstance(element, Vertex)]


def edges(path: Path) -> list[Edge]:
    return [element for element in path.elements if isinstance(element, Edge)]


STRICT: dict[str, Callable[..., Value]] = {
    "+": plus, "-": partial(number, operator.sub), "*": partial(number, operator.mul), "/": divide,
    "%": remainder, "^": floating(power), "negative": lambda value: -value, "index": at,
    "starts with": text_test(str.startswith), "ends with": text_test(str.endswith),
    "contains": text_test(str.__contains__), "=~": text_test(lambda text, form: bool(re.fullmatch(form, text))),
    "id": lambda element: element.id, "labels": lambda vertex: sorted(vertex.labels), "type": lambda edge: edge.type,
    "startnode": lambda edge: edge.source, "endnode": lambda edge: edge.target, "nodes": ends, "relationships": edges,
    "length": lambda path: len(edges(path)),
    "abs": abs, "sign": lambda value: (value > 0) - (value < 0), "ceil": rounded(math.ceil),
    "floor": rounded(math.floor), "round": rounded(lambda value: math.floor(value + Fraction(1, 2))),
    "sqrt": floating(math.sqrt), "exp": floating(math.exp), "log": logarithm(math.log),
    "log10": logarithm(math.log10), "sin": floating(math.sin), "cos": floating(math.cos), "tan": floating(math.tan),
    "asin": floating(math.asin), "acos": floating(math.acos), "atan": floating(math.atan),
    "atan2": floating(math.atan2), "pi": lambda: math.pi, "e": lambda: math.e,
    "tolower": str.lower, "toupper": str.upper, "trim": str.strip, "ltrim": str.lstrip, "rtrim": str.rstrip,
    "replace": str.replace, "substring": cut, "left": lambda text, length: cut(text, 0, length),
    "right": lambda text, length: cut(text[::-1], 0, length)[::-1], "split": str.split,
    "reverse": lambda value: value[::-1], "size": len, "head": lambda items: at(items, 0),
    "last": lambda items: at(items, -1), "tail": lambda items: items[1:], "range": numbers_between,
    "date": lambda value: datetime.date.fromisoformat(value) if isinstance(value, str) else value.date(),
    "datetime": datetime.datetime.fromisoformat,
    "tointeger": to_integer, "tofloat": to_float, "toboolean": to_boolean, "tostring": to_string,
}  # fmt: skip

TIME_FIELDS: dict[str, Callable[[Any], int]] = {
    "quarter": lambda time: (time.month + 2) // 3, "week": lambda time: time.isocalendar().week,
    "dayOfWeek": lambda time: time.isoweekday(), "ordinalDay": lambda time: time.timetuple().tm_yday,
    "year": lambda time: time.year, "month": lambda time: time.month, "day": lambda time: time.day,
    "hour": lambda time: time.hour, "minute": lambda time: time.minute, "second": lambda time: time.second,
}  # fmt: skip


def total(values: list[Value]) -> Value:
    """Decimals and integers exactly; with one float among them a float."""
    if any(isinstance(value, float) for value in values):
        parts = [float(value) for value in values]
        return math.fsum(parts) if all(map(math.isfinite, parts)) else sum(parts)
    result = reduce(partial(number, operator.add), values, 0)
    if isinstance(result, int) and not -(2**63) <= result < 2**63:
        raise Failure("beyond 64 bits")
    return result


def mean(values: list[Value]) -> float | None:
    if not values:
        return None
    return float(sum(map(exact, values)) / len(values)) if all(map(is_finite, values)) else float(total(values))


def deviation(values: list[Value], fewer: int) -> float:
    if len(values) < 2:
        return 0.0
    if not all(map(is_finite, values)):
        return math.nan
    middle = Fraction(sum(map(Fraction, values))) / len(values)
    return math.sqrt(sum((Fraction(value) - middle) ** 2 for value in values) / (len(values) - fewer))


AGGREGATES: dict[str, Callable[[list[Value]], Value]] = {
    "count": len, "sum": total, "avg": mean, "collect": list,
    "min": lambda values: min(values, key=sort_key, default=None),
    "max": lambda values: max(values, key=sort_key, default=None),
    "stdev": lambda values: deviation(values, 1), "stdevp": lambda values: deviation(values, 0),
}  # fmt: skip
