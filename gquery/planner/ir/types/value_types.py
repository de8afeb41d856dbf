"""Types of the values that come from outside: literals, parameters, Arrow columns."""

from __future__ import annotations

import datetime
import decimal
import zoneinfo
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any

import pyarrow as pa

from gquery.errors import BindError, Span, UnsupportedError
from gquery.planner.ir.expr import BOOLEAN, FLOAT, INTEGER, NULL, STRING, Kind, Type
from gquery.planner.ir.types.common_type import MOST_DIGITS, NARROW_INTEGER, TIME, decimal_of, unify
from gquery.stopping import Check, unchecked
from gquery.values.many import columns_of, in_parts, kinds_of
from gquery.values.moments import offset_text


def type_of_value(value: Any, span: Span, what: str = "the value", check: Check = unchecked) -> Type:
    """The type of a Python value; raises BindError for one that no Cypher value can hold."""
    match value:
        case None:
            return NULL
        case bool():
            return BOOLEAN
        case int():
            if not -(2**63) <= value < 2**63:
                raise BindError(f"{what} does not fit into 64 bits", span=span)
            return INTEGER
        case float():
            return FLOAT
        case decimal.Decimal():
            return _type_of_decimal(value, span, what)
        case str():
            return STRING
        case bytes():
            return Type(Kind.BYTES, pa.binary())
        case datetime.time() if value.tzinfo is not None:
            if value.utcoffset() is None:
                raise BindError(f"{what} is a time of the day in a zone, which has no offset without a date", span=span)
            return TIME
        case datetime.datetime() if value.tzinfo is not None:
            return Type(Kind.TEMPORAL, pa.timestamp("us", _zone_of(value, span, what)))
        case datetime.date() | datetime.time():
            return Type(Kind.TEMPORAL, pa.scalar(value).type)
        case pa.MonthDayNano():
            return Type(Kind.TEMPORAL, pa.month_day_nano_interval())
        case Mapping():
            expect_keys_apart(value, span)
            fields = tuple((str(key), type_of_value(item, span, what, check)) for key, item in value.items())
            return Type(Kind.MAP, None, None, fields)
        case list() | tuple() | set() | frozenset():
            return Type(Kind.LIST, None, _common_item(list(value), span, what, check))
    if hasattr(value, "tolist") and callable(value.tolist):  # a NumPy scalar or array, a pandas or Arrow column
        return type_of_value(value.tolist(), span, what, check)
    raise BindError(f"{what} is a {type(value).__name__}, which is no Cypher value", span=span)


def expect_keys_apart(keys: Collection[str], span: Span) -> None:
    """Raises UnsupportedError for keys that differ in case only, which DuckDB does not tell apart."""
    folded = {key.lower(): key for key in keys}
    twice = next((key for key in keys if folded[key.lower()] != key), None)
    if twice is not None:
        raise UnsupportedError(f"gquery has no maps whose keys differ in case only, such as `{twice}`", span=span)


def expect_told_apart(type_: Type, span: Span) -> None:
    """The same of the maps that values of the type are or hold, where one key is looked at: stored ones may have such
    keys, and are answered whole."""
    if type_.kind is Kind.MAP:
        expect_keys_apart([key for key, _ in type_.fields], span)
    for inner in (*type_.members, *(field for _, field in type_.fields), *([type_.item] if type_.item else [])):
        expect_told_apart(inner, span)


def _zone_of(moment: datetime.datetime, span: Span, what: str) -> str:
    """As Arrow spells it: the name of a zone, where it is one, else the offset."""
    offset = moment.utcoffset()
    if offset is None:
        raise BindError(f"{what} is in a zone that gives no offset", span=span)
    if not isinstance(moment.tzinfo, datetime.timezone):
        with suppress(zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            return zoneinfo.ZoneInfo(str(pa.scalar(moment).type.tz)).key
    seconds = int(offset.total_seconds())
    if seconds % 60:
        raise UnsupportedError("gquery has no points in time at an offset from UTC with seconds", span=span)
    return offset_text(seconds) if seconds else "UTC"


def _type_of_decimal(value: decimal.Decimal, span: Span, what: str) -> Type:
    found = decimal_of(value)
    if found is None:
        raise BindError(f"{what} has more than {MOST_DIGITS} digits", span=span)
    return found


def _common_item(items: list[Any], span: Span, what: str, check: Check) -> Type | None:
    """The type of the items of a list; whole numbers beside floats count as floats where these hold them exactly."""
    if not items:
        return None
    common = unify(type_ for part in in_parts(items, check) for type_ in _types_of(part, span, what, check))
    return INTEGER if common == NARROW_INTEGER else common


def _types_of(items: list[Any], span: Span, what: str, check: Check) -> Iterable[Type]:
    """The types of items: where they are alike the one that all of them have."""
    together = _type_together(items, span)
    if together is None:
        return (NARROW_INTEGER if _is_narrow(item) else type_of_value(item, span, what, check) for item in items)
    return (NARROW_INTEGER if together == INTEGER and all(map(_is_narrow, _extremes(items))) else together,)


def _is_narrow(item: Any) -> bool:
    return type(item) is int and abs(item) <= 2**53


def _type_together(items: list[Any], span: Span) -> Type | None:
    """The one type that the values have, seen without a look at each; None where that is not so simple."""
    kinds = kinds_of(items)
    if not kinds:
        return NULL
    if len(kinds) > 1:
        return None
    (kind,) = kinds
    if kind is int:
        return INTEGER if all(-(2**63) <= number < 2**63 for number in _extremes(items)) else None
    columns = columns_of(items)
    if columns is None:
        return _SIMPLE.get(kind)
    expect_keys_apart(columns, span)
    fields = {str(key): _type_together(values, span) for key, values in columns.items()}
    known = tuple((key, field) for key, field in fields.items() if field is not None)
    return Type(Kind.MAP, None, None, known) if len(known) == len(fields) else None


_SIMPLE = {bool: BOOLEAN, float: FLOAT, str: STRING}


def _extremes(numbers: list[int | None]) -> tuple[int, int]:
    known = [number for number in numbers if number is not None]
    return min(known), max(known)
