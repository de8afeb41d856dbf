"""Types of the values that come from outside: literals, parameters, Arrow columns."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from gquery.errors import BindError, Span
from gquery.planner.expr import BOOLEAN, FLOAT, INTEGER, NULL, STRING, Kind, Type
from gquery.planner.functions import unify


def type_of_arrow(arrow: pa.DataType) -> Type:
    """The type of an Arrow column's values."""
    types = pa.types
    if types.is_null(arrow):
        return NULL
    if types.is_boolean(arrow):
        return Type(Kind.BOOLEAN, arrow)
    if types.is_integer(arrow):
        return Type(Kind.INTEGER, arrow)
    if types.is_floating(arrow) or types.is_decimal(arrow):
        return Type(Kind.FLOAT, arrow)
    if types.is_string(arrow) or types.is_large_string(arrow) or types.is_string_view(arrow):
        return Type(Kind.STRING, arrow)
    if types.is_dictionary(arrow):
        return Type(type_of_arrow(arrow.value_type).kind, arrow)
    if types.is_list(arrow) or types.is_large_list(arrow) or types.is_fixed_size_list(arrow):
        return Type(Kind.LIST, arrow, type_of_arrow(arrow.value_type))
    if types.is_struct(arrow):
        return Type(Kind.MAP, arrow, None, tuple((field.name, type_of_arrow(field.type)) for field in arrow))
    if types.is_temporal(arrow):
        return Type(Kind.TEMPORAL, arrow)
    return Type(Kind.BYTES, arrow)


def type_of_value(value: Any, span: Span, what: str = "the value") -> Type:
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
            return Type(Kind.FLOAT, pa.scalar(value).type)
        case str():
            return STRING
        case bytes():
            return Type(Kind.BYTES, pa.binary())
        case datetime.date() | datetime.time() | datetime.timedelta():
            return Type(Kind.TEMPORAL, pa.scalar(value).type)
        case Mapping():
            fields = tuple((str(key), type_of_value(item, span, what)) for key, item in value.items())
            return Type(Kind.MAP, None, None, fields)
        case list() | tuple() | set() | frozenset():
            return Type(Kind.LIST, None, _common_item([type_of_value(item, span, what) for item in value], span, what))
    if hasattr(value, "tolist") and callable(value.tolist):  # a NumPy scalar or array, a pandas or Arrow column
        return type_of_value(value.tolist(), span, what)
    raise BindError(f"{what} is a {type(value).__name__}, which is no Cypher value", span=span)


def _common_item(items: list[Type], span: Span, what: str) -> Type | None:
    if not items:
        return None
    common = unify(items)
    if common is None:
        raise BindError(
            f"{what} mixes {' and '.join(dict.fromkeys(str(item) for item in items))} in one list", span=span
        )
    return common
