"""Cypher's comparisons of values in plain Python, by the rules of docs/language.md."""

from __future__ import annotations

import datetime
import functools
import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

_FAMILIES = (datetime.date, str, bool, (int, float, Decimal))
"""Families of values in the order of ORDER BY; a bool is also an int to Python, so it comes first."""


def family(value: object) -> int:
    return next(index for index, types in enumerate(_FAMILIES) if isinstance(value, types))


def exact(value: object) -> Any:
    """What a value compares by. A float is the decimal that it is written as, from 2^53 on the integer that it is."""
    if isinstance(value, float) and math.isfinite(value):
        return Decimal(repr(value)) if abs(value) < 2**53 else Decimal(value)
    return Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else value


def compare(operator: str, left: object, right: object) -> bool | None:
    if left is None or right is None:
        return None
    if family(left) != family(right):
        return {"=": False, "<>": True}.get(operator)
    if is_nan(left) or is_nan(right):
        return operator == "<>"
    one, other = exact(left), exact(right)
    return {
        "=": one == other, "<>": one != other, "<": one < other, "<=": one <= other, ">": one > other,
        ">=": one >= other,
    }[operator]  # fmt: skip


def is_in(value: object, items: Iterable[object]) -> bool | None:
    answers = [compare("=", value, item) for item in items]
    if True in answers:
        return True
    return None if None in answers else False


def is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def group(value: object) -> object:
    """The same for values that DISTINCT takes for one."""
    if value is None:
        return None
    return family(value), "NaN" if is_nan(value) else exact(value)


def _order(left: object, right: object) -> int:
    if left is None or right is None:
        return (left is None) - (right is None)
    if family(left) != family(right):
        return family(left) - family(right)
    if is_nan(left) or is_nan(right):
        return is_nan(left) - is_nan(right)
    return (exact(left) > exact(right)) - (exact(left) < exact(right))


by_order = functools.cmp_to_key(_order)
"""The key of ORDER BY: families one after the other, NaN after the other numbers, nulls last."""
