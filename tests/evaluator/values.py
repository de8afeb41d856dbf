"""openCypher's values: which are equal, which is the smaller, which comes first.

Null is None. Numbers are int (64 bits), float and Decimal; a datetime without tzinfo is local. Lists and dicts are
lists and maps. Numbers are compared by what they are, never rounded.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

Value = Any
Truth = bool | None


class Failure(Exception):
    """The language says that this is an error: an overflow, a division by zero, a negative length."""


class WrittenText(str):
    """A text that stands in the query or is a parameter. Compared with a date or a time it is read as one."""


@dataclass(frozen=True, eq=False)
class Vertex:
    """`id` is the user's. Only properties that are not null are held."""

    id: int | str
    labels: frozenset[str]
    properties: Mapping[str, Value]


@dataclass(frozen=True, eq=False)
class Edge:
    type: str
    source: Vertex
    target: Vertex
    properties: Mapping[str, Value]

    @property
    def labels(self) -> frozenset[str]:
        return frozenset({self.type})


@dataclass(frozen=True)
class Path:
    """Vertices and edges in turn, vertices at both ends."""

    elements: tuple[Vertex | Edge, ...]


@dataclass(frozen=True)
class Graph:
    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...]

    @cached_property
    def joined(self) -> set[tuple[Vertex, Vertex]]:
        """The ordered pairs of vertices between which there is an edge."""
        return {(edge.source, edge.target) for edge in self.edges}


# In the order in which ORDER BY puts values of different kinds.
FAMILIES = (
    "map", "node", "relationship", "list", "path", "datetime", "local datetime", "date", "time", "string", "boolean",
    "number", "null",
)  # fmt: skip
_BY_TYPE: tuple[tuple[type, str], ...] = (
    (dict, "map"), (Vertex, "node"), (Edge, "relationship"), (list, "list"), (Path, "path"),
    (datetime.datetime, "datetime"), (datetime.date, "date"), (datetime.time, "time"), (str, "string"),
    (bool, "boolean"), (int, "number"), (float, "number"), (Decimal, "number"), (type(None), "null"),
)  # fmt: skip


def family(value: Value) -> str:
    name = next(name for kind, name in _BY_TYPE if isinstance(value, kind))
    return "local datetime" if name == "datetime" and value.tzinfo is None else name


def is_nan(value: Value) -> bool:
    return isinstance(value, float) and math.isnan(value)


def equal(left: Value, right: Value) -> Truth:
    """`left = right`. Lists and maps are equal when all that they hold is; a null inside leaves it open."""
    if left is None or right is None:
        return None
    left, right = read_beside(left, right), read_beside(right, left)
    if family(left) != family(right):
        return False
    match left:
        case list():
            return len(left) == len(right) and all_of(map(equal, left, right))
        case dict():
            return left.keys() == right.keys() and all_of(equal(left[key], right[key]) for key in left)
        case bool() | str():
            return left == right
        case int() | float() | Decimal():
            return not is_nan(left) and not is_nan(right) and not numeric_order(left, right)
    return left == right


def read_beside(value: Value, other: Value) -> Value:
    """The value, or as what it is read beside a date or a time if it is one."""
    if not isinstance(value, WrittenText) or not isinstance(other, datetime.date | datetime.time):
        return value
    try:
        read = type(other).fromisoformat(value)
    except ValueError:
        return value
    zone = other.tzinfo if isinstance(other, datetime.datetime) and read.tzinfo is None else None
    return read.replace(tzinfo=zone) if zone else read


def all_of(truths: Any) -> Truth:
    found = list(truths)
    return False if False in found else None if None in found else True


def any_of(truths: Any) -> Truth:
    found = list(truths)
    return True if True in found else None if None in found else False


def member(value: Value, items: Value) -> Truth:
    """`value IN items`."""
    return None if items is None else any_of(equal(value, item) for item in items)


def numeric_order(left: Value, right: Value) -> int:
    """Below 0, 0 or above 0, for numbers that are no NaN."""
    first, second = exact(left), exact(right)
    return (first > second) - (first < second)


def exact(number: Value) -> Any:
    """What a finite number compares by; infinity and NaN as they are. A float is the number that it is written as, so
    that 0.57 is 0.57 beside a decimal; from 2^53 on it is the integer that it is."""
    if isinstance(number, float):
        written = Decimal(repr(number)) if abs(number) < 2**53 else number
        return Fraction(written) if math.isfinite(number) else number
    return Fraction(number)


def compare(left: Value, right: Value) -> float | None:
    """Below 0, 0 or above 0; NaN where neither is smaller nor are they equal; None where the two are not comparable."""
    left, right = read_beside(left, right), read_beside(right, left)
    if left is None or right is None or family(left) != family(right):
        return None
    match left:
        case list():
            found = (compare(*pair) for pair in zip(left, right, strict=False))
            return next((order for order in found if order != 0), len(left) - len(right))
        case bool() | str() | datetime.date() | datetime.time():
            return (left > right) - (left < right)
        case int() | float() | Decimal():
            return math.nan if is_nan(left) or is_nan(right) else numeric_order(left, right)
    return None


def sort_key(value: Value) -> tuple[Any, ...]:
    """Orders all values, and is the same for those that DISTINCT takes for one: nulls, NaNs, 1 and 1.0."""
    name = family(value)
    rank = FAMILIES.index(name)
    match name:
        case "null":
            return (rank,)
        case "number":
            return (rank, is_nan(value), 0 if is_nan(value) else exact(value))
        case "list":
            return (rank, tuple(map(sort_key, value)))
        case "map":
            return (rank, tuple((key, sort_key(value[key])) for key in sorted(value)))
        case "node" | "relationship":
            return (rank, id(value))
        case "path":
            return (rank, tuple(map(id, value.elements)))
    return (rank, value)
