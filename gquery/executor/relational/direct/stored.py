"""Values that stored columns are compared with, as scalars of the type that is stored."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal

import pyarrow as pa

from gquery.arrays import of_values, pc, to_scalar
from gquery.planner.ir.types.common_type import written_decimal


def found_in(stored: pa.ChunkedArray, values: list[object]) -> pa.ChunkedArray | None:
    """Where a stored value is one of a list; None when Arrow cannot tell. What the stored type cannot hold is none."""
    if not (_holds_all(stored.type) and all(map(is_scalar, values))):
        return None
    same = all_stored(values, stored.type)
    if 0.0 in same and pa.types.is_floating(stored.type):
        same = [*same, 0.0, -0.0]  # which Arrow tells apart here
    return pc.is_in(stored, of_values(same, stored.type), skip_nulls=True)


def all_stored(values: list[object], stored: pa.DataType) -> list[object]:
    """Those of some scalars that are values of the stored type, as these."""
    if _are_stored(values, stored):
        return values
    return [each.as_py() for value in values if (each := as_stored(value, stored)) is not None]


def _are_stored(values: list[object], stored: pa.DataType) -> bool:
    """Whether all values are of the very type that is stored: there is no need then to look at each."""
    kinds = set(map(type, values))
    same = len(kinds) == 1 and _STORED.get(kinds.pop()) == stored
    return same and all(value == value for value in values)  # no NaN


_STORED: dict[type, pa.DataType] = {int: pa.int64(), str: pa.string(), float: pa.float64()}
_SCALARS = (bool, int, float, str, Decimal, type(None))


def is_scalar(value: object) -> bool:
    return type(value) is datetime.date or isinstance(value, _SCALARS)


def _holds_all(stored: pa.DataType) -> bool:
    """Whether `as_stored` finds every scalar that a stored value of the type can be equal to."""
    types = pa.types
    fits = (types.is_boolean, types.is_integer, types.is_float64, types.is_decimal, types.is_string,
            types.is_large_string, types.is_date32)  # fmt: skip
    return any(test(stored) for test in fits)


def as_stored(value: object, stored: pa.DataType) -> pa.Scalar | None:
    """A value as a scalar of the stored type, when both are of one family and it is there the very same value; then
    Arrow compares as Cypher does."""
    types = pa.types
    match value:
        case bool():
            return to_scalar(value, stored) if types.is_boolean(stored) else None
        case str():
            return to_scalar(value, stored) if types.is_string(stored) or types.is_large_string(stored) else None
        case int() | float() | Decimal():
            return _stored_number(value, stored)
        case datetime.datetime():
            return _stored_time(value, stored)
        case datetime.date():
            return to_scalar(value, stored) if types.is_date32(stored) else None
    return None


def _stored_time(value: datetime.datetime, stored: pa.DataType) -> pa.Scalar | None:
    """A point in time without a zone, where none is stored."""
    if value.tzinfo is not None or not pa.types.is_timestamp(stored) or stored.tz is not None:
        return None
    try:
        return to_scalar(value, pa.timestamp("us")).cast(stored)
    except pa.ArrowInvalid:  # a part of it, or the whole, is beyond what can be stored
        return None


def _stored_number(value: int | float | Decimal, stored: pa.DataType) -> pa.Scalar | None:
    types = pa.types
    try:
        if isinstance(value, int) and types.is_integer(stored):
            return to_scalar(value, stored)
        if not math.isfinite(value):
            return to_scalar(float(value), stored) if types.is_float64(stored) and not math.isnan(value) else None
        exact = written_decimal(value) if isinstance(value, float) else Decimal(value)
        if types.is_float64(stored):
            return to_scalar(float(value), stored) if written_decimal(float(value)) == exact else None
        if types.is_integer(stored):
            return to_scalar(int(exact), stored) if exact == int(exact) else None
        return to_scalar(exact, stored) if types.is_decimal(stored) else None
    except (pa.ArrowInvalid, OverflowError):  # a number beyond those that can be stored
        return None
