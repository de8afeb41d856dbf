"""Of which values Arrow knows what openCypher asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import pyarrow as pa

from gquery.executor.relational.gather import travelling_type
from gquery.planner.ir.expr import Kind, Type

Value: TypeAlias = "pa.Array | pa.Scalar"
Columns = Sequence[pa.Array]
Computed = Callable[[Columns], Value]
"""What an expression is for some rows; a scalar where it is the same for all."""


MOST_BYTES = 8 * 2**20  # that are made at once: of more, a statement makes a part at a time


def as_array(value: Value, rows: int) -> pa.Array:
    """A value for each of some rows. Raises ArrowException where these take too much."""
    if isinstance(value, pa.Array):
        return value
    one = pa.repeat(value, 1)
    if rows == 1:
        return one
    expect_room(one.nbytes * rows)
    return pa.repeat(value, rows)


def expect_room(size: int) -> None:
    """Raises ArrowException where so many bytes are too many."""
    if size > MOST_BYTES:
        raise pa.ArrowNotImplementedError("values that take so much are DuckDB's")


class Unsaid(Exception):
    """Arrow does not compute this, or not as openCypher does."""


_PLAIN = frozenset({Kind.NODE, Kind.RELATIONSHIP, Kind.INTEGER, Kind.STRING, Kind.BOOLEAN})
_CARRIED = frozenset({Kind.FLOAT, Kind.PATH})  # besides what is plain, and lists and maps
_UNITS = frozenset({"s", "ms", "us"})  # of points in time that compare in any year


def is_plain(type_: Type) -> bool:
    """Whether values are equal, and in an order, when Arrow says so."""
    if type_.kind is Kind.TEMPORAL:
        return is_day(type_) or is_moment(type_)
    return type_.kind in _PLAIN and not (type_.arrow is not None and pa.types.is_uint64(type_.arrow))


def is_day(type_: Type) -> bool:
    return type_.kind is Kind.TEMPORAL and type_.arrow is not None and bool(pa.types.is_date32(type_.arrow))


def is_moment(type_: Type) -> bool:
    """Whether values are points in time without a zone, which Arrow compares in units of their own."""
    arrow = type_.arrow if type_.kind is Kind.TEMPORAL else None
    return arrow is not None and pa.types.is_timestamp(arrow) and arrow.tz is None and arrow.unit in _UNITS


def is_whole(type_: Type) -> bool:
    return type_.kind is Kind.INTEGER and is_plain(type_)


def is_fraction(type_: Type) -> bool:
    """Whether values are floats, which Arrow compares: NaN is equal to nothing and in no order."""
    return type_.kind is Kind.FLOAT and pa.types.is_float64(travelling_type(type_))


def can_be_carried(type_: Type) -> bool:
    """Whether a column of such values may be put into another order, and rows left out of it."""
    if type_.kind is Kind.LIST and type_.item is not None:
        return can_be_carried(type_.item)
    if type_.kind is Kind.MAP and type_.arrow is None:
        return bool(type_.fields) and all(can_be_carried(field) for _, field in type_.fields)
    return is_plain(type_) or type_.kind in _CARRIED


def are_alike(one: Type, other: Type) -> bool:
    """Whether values of both types are of one Arrow type while they travel."""
    if not (is_plain(one) and is_plain(other)):
        return False
    return one.kind is other.kind and travelling_type(one) == travelling_type(other)
