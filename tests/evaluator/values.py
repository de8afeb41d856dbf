"""openCypher's values, null as None and maps as dicts: which are equal, which is the smaller, which comes first."""

import datetime
import math
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

Value = Any
Truth = bool | None
Binding = dict[str, Value]


class Failure(Exception):
    """The language says that this is an error: an overflow, a division by zero, a negative length."""


class WrittenText(str):
    """A text that stands in the query or is a parameter. Compared with a date or a time it is read as one."""


@dataclass(frozen=True, eq=False)
class Vertex:
    id: int | str  # the user's
    labels: frozenset[str]
    properties: dict[str, Value]  # those that are not null


@dataclass(frozen=True, eq=False)
class Edge:
    type: str
    source: Vertex
    target: Vertex
    properties: dict[str, Value]


class Path(tuple[Vertex | Edge, ...]):
    """Vertices and edges in turn, vertices at both ends."""


class Graph(NamedTuple):
    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...]


# In the order in which ORDER BY puts values of different kinds.
_KINDS = (dict, Vertex, Edge, list, Path, datetime.datetime, datetime.date, datetime.time, str, bool,
          (int, float, Decimal), type(None))  # fmt: skip
_TRUTHS = (False, None, True)
all_of = partial(min, key=_TRUTHS.index, default=True)
any_of = partial(max, key=_TRUTHS.index, default=False)


def kind(value: Value) -> tuple[int, bool]:
    """A datetime without a zone is of another kind than one with a zone, and comes after it."""
    local = isinstance(value, datetime.datetime) and value.tzinfo is None
    return next(place for place, types in enumerate(_KINDS) if isinstance(value, types)), local


def equal(left: Value, right: Value) -> Truth:
    """`left = right`. Lists and maps are equal when all that they hold is; a null inside leaves it open."""
    left, right = read_beside(left, right), read_beside(right, left)
    if left is None or right is None or kind(left) != kind(right):
        return None if left is None or right is None else False
    match left:
        case list():
            return len(left) == len(right) and all_of(map(equal, left, right))
        case dict():
            return left.keys() == right.keys() and all_of(equal(left[key], right[key]) for key in left)
    return bool(exact(left) == exact(right))


def compare(left: Value, right: Value) -> float | None:
    """Below 0, 0 or above 0; NaN where neither is smaller nor are they equal; None where the two are not comparable."""
    left, right = read_beside(left, right), read_beside(right, left)
    if left is None or kind(left) != kind(right) or isinstance(left, dict | Vertex | Edge | Path):
        return None
    if isinstance(left, list):
        return next((order for order in map(compare, left, right) if order != 0), len(left) - len(right))
    first, second = exact(left), exact(right)
    return (first > second) - (first < second) if first == first and second == second else math.nan


def read_beside(value: Value, other: Value) -> Value:
    """The value, or as what it is read beside a date or a time if it is one."""
    if isinstance(value, WrittenText) and isinstance(other, datetime.date | datetime.time):
        with suppress(ValueError):
            read = type(other).fromisoformat(value)
            return read if type(read) is datetime.date or read.tzinfo else read.replace(tzinfo=other.tzinfo)
    if isinstance(value, datetime.datetime) and isinstance(other, datetime.datetime) and value.tzinfo is None:
        return value.replace(tzinfo=other.tzinfo and datetime.UTC)  # what has no zone is UTC's beside what has one
    return value


def as_written(value: Value) -> Value:
    """A float as the number that it is written as, 0.57 say; from 2^53 on as the integer that it is."""
    finite = isinstance(value, float) and math.isfinite(value)
    return (Decimal(repr(value)) if abs(value) < 2**53 else Decimal(value)) if finite else value


def exact(value: Value) -> Any:
    """What a value compares by: numbers by what they are, however they are stored."""
    value = as_written(value)
    return Fraction(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else value


def sort_key(value: Value) -> tuple[Any, ...]:
    """Orders all values, and is the same for those that DISTINCT takes for one: nulls, NaNs, 1 and 1.0."""
    match value:
        case list() | Path():
            key: Any = tuple(map(sort_key, value))
        case dict():
            key = tuple((name, sort_key(value[name])) for name in sorted(value))
        case Vertex() | Edge():
            key = id(value)
        case _:
            key = (value != value, 0 if value != value else exact(value))
    return (*kind(value), key)
