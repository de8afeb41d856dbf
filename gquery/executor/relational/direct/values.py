"""Expressions over columns of Arrow: those in which Arrow's values, nulls and order are openCypher's.

Ids, whole numbers, texts, truth values, days and points in time without a zone; what is compared, joined and chosen of
them. Whatever else an expression has is `Unsaid`, and DuckDB's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gquery.arrays import to_arrow, to_scalar
from gquery.executor.relational.gather import travelling_type
from gquery.planner.ir.expr import Call, Case, Column, Constant, Expression, Kind, Parameter, Type
from gquery.records import record

Value: TypeAlias = "pa.Array | pa.Scalar"
Columns = Sequence[pa.Array]
Computed = Callable[[Columns], Value]
"""What an expression is for some rows; a scalar where it is the same for all."""


class Unsaid(Exception):
    """Arrow does not compute this, or not as openCypher does."""


_PLAIN = frozenset({Kind.NODE, Kind.RELATIONSHIP, Kind.INTEGER, Kind.STRING, Kind.BOOLEAN})
_CARRIED = frozenset({Kind.FLOAT, Kind.PATH})  # besides what is plain, and lists and maps
_UNITS = frozenset({"s", "ms", "us"})  # of points in time that compare in any year


def is_plain(type_: Type) -> bool:
    """Whether values are equal, and in an order, when Arrow says so."""
    if type_.kind is Kind.TEMPORAL and type_.arrow is not None:
        return bool(pa.types.is_date32(type_.arrow)) or _is_moment(type_.arrow)
    return type_.kind in _PLAIN and not (type_.arrow is not None and pa.types.is_uint64(type_.arrow))


def _is_moment(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(arrow)) and arrow.tz is None and arrow.unit in _UNITS


def can_be_carried(type_: Type) -> bool:
    """Whether a column of such values may be put into another order, and rows left out of it."""
    if type_.kind is Kind.LIST and type_.item is not None:
        return can_be_carried(type_.item)
    if type_.kind is Kind.MAP and type_.arrow is None:
        return bool(type_.fields) and all(can_be_carried(field) for _, field in type_.fields)
    return is_plain(type_) or type_.kind in _CARRIED


def as_array(value: Value, rows: int) -> pa.Array:
    """A value for each of some rows."""
    return value if isinstance(value, pa.Array) else pa.repeat(value, rows)


@record(frozen=True, slots=True)
class Writer:
    """places: where each of the expressions that are there already is among the columns."""

    places: Mapping[Expression, int]
    parameters: Mapping[str, object]

    def write(self, expression: Expression) -> Computed:
        """Raises Unsaid."""
        if expression in self.places:
            if not can_be_carried(expression.type):
                raise Unsaid
            return partial(_column, self.places[expression])
        match expression:
            case Constant(value=value):
                return _constant(value, expression.type)
            case Parameter(name=name):
                return _constant(self.parameters[name], expression.type)
            case Case(subject=None):
                return self._case(expression)
            case Call(function="length", arguments=(Column(type=Type(kind=Kind.PATH)) as path,)):
                relationships = self.write(path)
                return lambda columns: _length(relationships(columns))
            case Call(function="map", arguments=arguments) if can_be_carried(expression.type):
                fields = list(map(self.write, arguments[1::2]))
                options = pc.MakeStructOptions([name for name, _ in expression.type.fields])
                return lambda columns: pc.call_function("make_struct", [field(columns) for field in fields], options)
            case Call(function=function, arguments=arguments):
                compute = _function(function, expression.type, [each.type for each in arguments])
                values = list(map(self.write, arguments))
                return lambda columns: compute(*[value(columns) for value in values])
        raise Unsaid

    def _case(self, case: Case) -> Computed:
        """The first value whose condition is true; conditions and values are computed for all rows."""
        if not is_plain(case.type):
            raise Unsaid
        tests = [self.write(test) for test, _ in case.branches]
        values = [self._as(value, case.type) for value in (*(value for _, value in case.branches), case.default)]

        def compute(columns: Columns) -> Value:
            *found, default = (value(columns) for value in values)
            for test, value in zip(reversed(tests), reversed(found), strict=True):
                default = pc.if_else(pc.fill_null(test(columns), False), value, default)
            return default

        return compute

    def _as(self, expression: Expression, wanted: Type) -> Computed:
        """A value of a type that holds it without a change; null is of every type."""
        if expression.type.kind is Kind.NULL:
            return _constant(None, wanted)
        if not _are_alike(expression.type, wanted):
            raise Unsaid
        return self.write(expression)


def _column(place: int, columns: Columns) -> Value:
    return columns[place]


def _constant(value: object, type_: Type) -> Computed:
    if not is_plain(type_):
        raise Unsaid
    try:
        scalar = pa.scalar(None, travelling_type(type_)) if value is None else to_scalar(value, travelling_type(type_))
    except (pa.ArrowException, OverflowError):
        raise Unsaid from None
    return lambda columns: scalar


def _length(path: pa.Array) -> pa.Array:
    """The relationships of each path."""
    return pc.list_value_length(pc.struct_field(path, "relationships")).cast(pa.int64())


def _are_alike(one: Type, other: Type) -> bool:
    """Whether values of both types are of one Arrow type while they travel, or are points in time."""
    if not (is_plain(one) and is_plain(other)):
        return False
    return one.kind is other.kind and travelling_type(one) == travelling_type(other)


def _function(function: str, type_: Type, given: Sequence[Type]) -> Callable[..., Value]:
    """What Arrow calls a function, for arguments of some types. Raises Unsaid."""
    alike = all(_are_alike(each, given[0]) for each in given)
    match function:
        case "=" | "<>" | "<" | "<=" | ">" | ">=" if alike or all(map(_may_differ, given)):
            if function in ("=", "<>") or given[0].kind in (Kind.INTEGER, Kind.STRING, Kind.TEMPORAL):
                return _COMPARISONS[function]
        case "and" | "or" | "not" if all(each.kind is Kind.BOOLEAN for each in given):
            return _LOGIC[function]
        case "is null" | "is not null" if can_be_carried(given[0]):
            return _LOGIC[function]
        case "coalesce" if alike and _are_alike(type_, given[0]):
            return pc.coalesce  # type: ignore[no-any-return]
        case "+" | "-" | "*" if len(given) == 2 and all(_is_whole(each) for each in given) and _is_whole(type_):
            return _ARITHMETIC[function]
        case "+" if len(given) == 2 and type_.kind is Kind.STRING and alike:
            return _joined
        case "head" if can_be_carried(given[0]):
            return lambda items: pc.list_element(items, 0)
        case "tostring" if _is_whole(given[0]):
            return lambda value: value.cast(pa.string())
    raise Unsaid


def _may_differ(type_: Type) -> bool:
    """Whether Arrow compares such values in units of their own."""
    return type_.kind is Kind.TEMPORAL and type_.arrow is not None and _is_moment(type_.arrow)


def _is_whole(type_: Type) -> bool:
    return type_.kind is Kind.INTEGER and is_plain(type_)


def _joined(one: Value, other: Value) -> Value:
    return pc.binary_join_element_wise(one, other, "")


_COMPARISONS: dict[str, Callable[..., Value]] = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
_LOGIC: dict[str, Callable[..., Value]] = {
    "and": pc.and_kleene,
    "or": pc.or_kleene,
    "not": pc.invert,
    "is null": pc.is_null,
    "is not null": pc.is_valid,
}
_ARITHMETIC: dict[str, Callable[..., Value]] = {  # an overflow is an error, which DuckDB words
    "+": pc.add_checked,
    "-": pc.subtract_checked,
    "*": pc.multiply_checked,
}


def truths_of(conditions: Sequence[Computed], columns: Columns, rows: int) -> pa.Array | None:
    """Where all conditions are true; None where there are none."""
    if not conditions:
        return None
    values = [as_array(condition(columns), rows) for condition in conditions]
    return reduce(pc.and_kleene, values)


def numbered(rows: int) -> pa.Array:
    """The rows' own numbers."""
    return to_arrow(np.arange(rows))
