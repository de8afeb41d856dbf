"""The one type that values of several types have in common.

Numbers meet in the type that holds every value of all of them exactly: INTEGER, DECIMAL or FLOAT. Where there is none,
as for 64-bit integers beside floats, or numbers beside texts, the common type is ANY: every value keeps its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from typing import Literal, get_args

import pyarrow as pa

from gquery.planner.ir.expr import BOOLEAN, FLOAT, INTEGER, NULL, STRING, Kind, Type
from gquery.records import replace
from gquery.storage.schema import ZONED_TIME

NUMBERS = frozenset({Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL})
DATE = Type(Kind.TEMPORAL, pa.date32())
DATETIME = Type(Kind.TEMPORAL, pa.timestamp("us", "UTC"))
LOCAL_DATETIME = Type(Kind.TEMPORAL, pa.timestamp("us"))
LOCAL_TIME = Type(Kind.TEMPORAL, pa.time64("us"))
TIME = Type(Kind.TEMPORAL, ZONED_TIME)
DURATION = Type(Kind.TEMPORAL, pa.month_day_nano_interval())
NARROW_INTEGER = Type(Kind.INTEGER, pa.int32())
MOST_DIGITS = 38  # of a decimal that DuckDB can calculate with

Family = Literal["datetime", "date", "time", "zoned time", "duration"]

_ELEMENTS = frozenset({Kind.NODE, Kind.RELATIONSHIP})
_ALONE = {Kind.BOOLEAN: BOOLEAN, Kind.FLOAT: FLOAT, Kind.STRING: STRING, Kind.BYTES: Type(Kind.BYTES, pa.binary())}
_ORDER = (Kind.MAP, Kind.NODE, Kind.RELATIONSHIP, Kind.LIST, Kind.PATH, Kind.TEMPORAL, Kind.BYTES, Kind.STRING,
          Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)  # fmt: skip
"""The families in the order in which ORDER BY puts their values; numbers are one."""
_TIMES = get_args(Family)
"""Likewise among times."""


@lru_cache(1024)
def type_of_arrow(arrow: pa.DataType) -> Type:
    """The type of an Arrow column's values: one for all columns, so that it is hashed once."""
    types = pa.types
    if types.is_null(arrow):
        return NULL
    if types.is_boolean(arrow):
        return Type(Kind.BOOLEAN, arrow)
    if types.is_integer(arrow):
        return Type(Kind.INTEGER, arrow)
    if types.is_floating(arrow):
        return Type(Kind.FLOAT, arrow)
    if types.is_decimal(arrow):
        return Type(Kind.DECIMAL, arrow)
    if types.is_string(arrow) or types.is_large_string(arrow) or types.is_string_view(arrow):
        return Type(Kind.STRING, arrow)
    if types.is_dictionary(arrow):
        return Type(type_of_arrow(arrow.value_type).kind, arrow)
    if types.is_list(arrow) or types.is_large_list(arrow) or types.is_fixed_size_list(arrow):
        return Type(Kind.LIST, arrow, type_of_arrow(arrow.value_type))
    if arrow.equals(ZONED_TIME):
        return TIME
    if types.is_struct(arrow):
        return Type(Kind.MAP, arrow, None, tuple((field.name, type_of_arrow(field.type)) for field in arrow))
    if types.is_temporal(arrow):
        return Type(Kind.TEMPORAL, arrow)
    if types.is_union(arrow):
        return any_of(type_of_arrow(field.type) for field in arrow)
    return Type(Kind.BYTES, arrow)


def type_of_stored(arrows: Iterable[pa.DataType]) -> Type:
    """The type of what several tables store under one name: every value keeps its own type, but numbers meet in one
    type that holds them all exactly, if there is one."""
    distinct = [each for each in dict.fromkeys(map(type_of_arrow, arrows)) if each.kind is not Kind.NULL]
    if len(distinct) <= 1:
        return distinct[0] if distinct else NULL
    number = common_number(distinct) if all(each.kind in NUMBERS for each in distinct) else None
    return number or any_of(distinct)


def unify(types: Iterable[Type]) -> Type:
    """The one type that values of all `types` can have; NULL gives way."""
    distinct = [each for each in dict.fromkeys(types) if each.kind is not Kind.NULL]
    if len(distinct) <= 1:
        return distinct[0] if distinct else NULL
    kinds = {each.kind for each in distinct}
    if kinds <= NUMBERS:
        return common_number(distinct) or any_of(distinct)
    kind = distinct[0].kind
    if len(kinds) > 1 or kind is Kind.ANY:
        return any_of(distinct)
    if kind is Kind.LIST:
        return list_of(unify(each.item or NULL for each in distinct))
    if kind is Kind.MAP:
        return _unify_maps(distinct) or any_of(distinct)
    if kind is Kind.TEMPORAL:
        return _unify_times(distinct) or any_of(distinct)
    if kind in _ELEMENTS:
        return _unify_elements(distinct)
    if kind is Kind.PATH:
        return replace(_unify_maps(distinct) or distinct[0], kind=kind)
    return Type(kind, STRING.arrow if kind is Kind.STRING else None)


def temporal_family(arrow: pa.DataType | None) -> Family:
    """What openCypher tells apart: a date, a point in time, a time of the day, a duration."""
    if arrow is not None and pa.types.is_dictionary(arrow):
        return temporal_family(arrow.value_type)
    if arrow is None or pa.types.is_timestamp(arrow):
        return "datetime"
    if pa.types.is_date(arrow):
        return "date"
    if pa.types.is_struct(arrow):
        return "zoned time"
    return "time" if pa.types.is_time(arrow) else "duration"


def common_time(type_: Type) -> Type | None:
    """The one type for times of one kind that keep the units and zones of their tables; None for other values."""
    members = type_.members or (type_,)
    return _unify_times(list(members)) if all(each.kind is Kind.TEMPORAL for each in members) else None


def list_of(item: Type) -> Type:
    return Type(Kind.LIST, None, item)


def any_of(types: Iterable[Type]) -> Type:
    """ANY with these members, or the member when there is but one."""
    members: list[Type] = []
    for each in types:
        for new in each.members or ((each,) if each.kind is not Kind.NULL else ()):
            _add(members, new)
    if len(members) == 1:
        return members[0]
    return Type(Kind.ANY, members=tuple(sorted(members, key=_place)))


def _place(member: Type) -> tuple[int, int, str]:
    """Where ORDER BY puts values of the type among others."""
    time = _TIMES.index(temporal_family(member.arrow)) if member.kind is Kind.TEMPORAL else 0
    return _ORDER.index(member.kind), time, str(member)


def holds_any(type_: Type) -> bool:
    """Whether values of the type carry types of their own, or hold values that do."""
    if type_.kind is Kind.ANY:
        return True
    return (type_.item is not None and holds_any(type_.item)) or any(holds_any(field) for _, field in type_.fields)


def is_number(type_: Type) -> bool:
    """Whether all values of the type are numbers, of one type or several."""
    return type_.kind in NUMBERS or (type_.kind is Kind.ANY and all(each.kind in NUMBERS for each in type_.members))


def family(member: Type, members: tuple[Type, ...]) -> int:
    """Which family of values a type belongs to, among the members of an ANY: numbers are one, points in time of
    whatever zone and unit are another, and so is every other member that it can become part of. Families are counted
    in the order in which ORDER BY puts their values."""
    return next(index for index, each in enumerate(members) if _are_alike(each, member))


def family_type(member: Type, members: tuple[Type, ...]) -> Type:
    """The type in which the values of a member's family are compared; numbers have none."""
    times = [each for each in members if each.kind is member.kind is Kind.TEMPORAL and _are_alike(each, member)]
    finest = next((each for each in times if getattr(each.arrow, "unit", "us") == "ns"), member)
    return _unify_times(times) or finest if times else member


def member_of(type_: Type, members: tuple[Type, ...]) -> int:
    """Which member of an ANY values of the type are, or become: a whole number a float, where it is one of a list."""
    places = range(len(members))
    same = (place for place in places if _merged(members[place], type_) is not None)
    alike = (place for place in reversed(places) if _are_alike(members[place], type_))
    return next(chain(same, alike))


def decimal(digits: int, scale: int) -> Type:
    return Type(Kind.DECIMAL, pa.decimal128(digits, scale))


def written_decimal(value: float) -> Decimal:
    """What a finite float is beside decimals: the number that it is written as, or from 2^53 on, where floats are
    whole, the number that it is."""
    return Decimal(repr(value)) if abs(value) < 2**53 else Decimal(value)


def decimal_of(value: Decimal) -> Type | None:
    """The narrowest type of a decimal; None when it has more digits than DuckDB can calculate with."""
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):  # NaN or infinite
        return FLOAT
    scale = max(0, -exponent)
    whole = max(1, len(digits) + exponent + scale, scale)
    return decimal(whole, scale) if whole <= MOST_DIGITS else None


def common_number(types: Iterable[Type]) -> Type | None:
    """The number type that holds every value of all these number types exactly; None when there is none."""
    distinct = tuple(dict.fromkeys(types))
    kinds = {each.kind for each in distinct}
    unsigned = [each for each in distinct if each.arrow is not None and pa.types.is_uint64(each.arrow)]
    if Kind.FLOAT in kinds:
        return FLOAT if Kind.DECIMAL not in kinds and all(map(_fits_float, distinct)) else None
    if kinds == {Kind.INTEGER} and len(unsigned) in (0, len(distinct)):
        return unsigned[0] if unsigned else INTEGER
    whole = max(digits - scale for digits, scale in map(digits_and_scale, distinct))
    scale = max(scale for _, scale in map(digits_and_scale, distinct))
    return decimal(whole + scale, scale) if whole + scale <= MOST_DIGITS else None


def digits_and_scale(number: Type) -> tuple[int, int]:
    """How many digits a whole number or decimal has at most, and how many of them after the point."""
    if number.kind is Kind.DECIMAL:
        assert number.arrow is not None
        return number.arrow.precision, number.arrow.scale
    return (20 if number.arrow is not None and pa.types.is_uint64(number.arrow) else 19), 0


def _fits_float(number: Type) -> bool:
    return number.kind is Kind.FLOAT or (number.arrow is not None and number.arrow.bit_width <= 32)


def _add(members: list[Type], new: Type) -> None:
    for index, member in enumerate(members):
        merged = _merged(member, new)
        if merged is not None:
            members[index] = merged
            return
    merged = _merged(new, new)
    members.append(new if merged is None else merged)


def _merged(one: Type, other: Type) -> Type | None:
    """One member for values of both types, when both are shown alike."""
    if one.kind is not other.kind:
        return None
    if one.kind in _ALONE:
        return _ALONE[one.kind]
    if one.kind in (Kind.INTEGER, Kind.DECIMAL):
        common = common_number((one, other))
        return common if common is not None and common.kind is one.kind else None
    if one == other:
        return replace(one, arrow=None) if one.kind is Kind.LIST else one
    if one.kind in (Kind.LIST, Kind.NODE, Kind.RELATIONSHIP, Kind.PATH):
        return unify((one, other))
    return _unify_maps([one, other]) if one.kind is Kind.MAP else None


def _are_alike(one: Type, other: Type) -> bool:
    if one.kind is other.kind is Kind.TEMPORAL:
        return temporal_family(one.arrow) == temporal_family(other.arrow)
    return {one.kind, other.kind} <= NUMBERS or _merged(one, other) is not None


def _unify_elements(types: list[Type]) -> Type:
    """Of the tables of all. One of no table has no values."""
    tables = {table for each in types for table in each.tables}
    return Type(types[0].kind, tables=tuple(sorted(tables)))


def _unify_maps(maps: list[Type]) -> Type | None:
    keys = [tuple(key for key, _ in each.fields) for each in maps]
    if len(set(keys)) > 1:
        return None
    values = [unify(column) for column in zip(*([value for _, value in each.fields] for each in maps), strict=True)]
    return Type(Kind.MAP, None, None, tuple(zip(keys[0], values, strict=True)))


def _unify_times(times: list[Type]) -> Type | None:
    """Zones that differ leave the instant, in UTC. A date is no point in time: each keeps its own type."""
    families = {temporal_family(each.arrow) for each in times}
    unit = "ns" if any(getattr(each.arrow, "unit", "us") == "ns" for each in times) else "us"
    if families == {"date"}:
        return DATE
    if families == {"time"}:
        return Type(Kind.TEMPORAL, pa.time64(unit))
    if families != {"datetime"}:
        return None
    zones = {getattr(each.arrow, "tz", None) for each in times}
    return Type(Kind.TEMPORAL, pa.timestamp(unit, zones.pop() if len(zones) == 1 else "UTC"))
