"""Parameters of a query as parameters of the statement: values in types that DuckDB takes, and their SQL.

A list of values of several types goes as structs with a field for each type, of which one is not null.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from gquery.errors import Span
from gquery.executor.relational.gather import NO_KEY
from gquery.executor.relational.sql.time.durations import is_duration
from gquery.executor.relational.sql.values import sql_type
from gquery.executor.relational.sql.words import literal, quoted
from gquery.executor.relational.unions import member_names
from gquery.planner.ir.expr import Kind, Type
from gquery.planner.ir.types.common_type import TIME, holds_any, member_of
from gquery.planner.ir.types.value_types import type_of_value


def given_value(value: object, type_: Type) -> object:
    """A parameter's value as it is given to the statement."""
    return value if _is_given_as_it_is(type_) else _by_member(value, type_)


def parameter_sql(slot: str, type_: Type) -> str:
    """The SQL of the parameter in a slot of the statement."""
    if holds_any(type_):
        return _joined(f"CAST(${slot} AS {_carrier(type_)})", type_, 0)
    known = _cast_to(type_)
    return f"CAST(${slot} AS {known})" if known else f"${slot}"


def _cast_to(type_: Type) -> str | None:
    """The DuckDB type of a parameter; None when its value says enough."""
    match type_.kind:
        case Kind.LIST:
            item = _cast_to(type_.item) if type_.item else None
            return f"{item}[]" if item else None
        case Kind.MAP:
            fields = [(key, _cast_to(value)) for key, value in type_.fields]
            if not fields:
                return sql_type(type_)
            whole = all(known for _, known in fields)
            return f"STRUCT({', '.join(f'{quoted(key)} {known}' for key, known in fields)})" if whole else None
        case Kind.TEMPORAL if is_duration(type_) or type_ == TIME:
            return sql_type(type_)
        case Kind.TEMPORAL if type_.arrow is not None:
            return "DATE" if pa.types.is_date(type_.arrow) else None
        case Kind.NULL | Kind.TEMPORAL:
            return None
    return sql_type(type_)


def _is_given_as_it_is(type_: Type) -> bool:
    """Whether `_by_member` would change nothing."""
    if type_.kind is Kind.LIST and type_.item is not None:
        return _is_given_as_it_is(type_.item)
    return type_.kind not in (Kind.ANY, Kind.MAP, Kind.TEMPORAL)


def _by_member(value: Any, type_: Type) -> Any:
    if value is None:
        return None
    match type_.kind:
        case Kind.ANY:
            index = member_of(type_of_value(value, Span(0, 0)), type_.members)
            held = _by_member(value, type_.members[index])
            return {name: held if at == index else None for at, name in enumerate(member_names(type_))}
        case Kind.LIST if type_.item is not None:
            return [_by_member(item, type_.item) for item in value]
        case Kind.MAP:
            return {key: _by_member(value[key], field) for key, field in type_.fields} or {NO_KEY: None}
        case Kind.TEMPORAL if isinstance(value, pa.MonthDayNano):
            return {"months": value.months, "days": value.days, "nanoseconds": value.nanoseconds}
        case Kind.TEMPORAL if type_ == TIME:
            return {"time": value.replace(tzinfo=None), "offset_seconds": int(value.utcoffset().total_seconds())}
    return value


def _carrier(type_: Type) -> str:
    """The type in which `_by_member` gives values."""
    match type_.kind:
        case Kind.ANY:
            fields = zip(member_names(type_), type_.members, strict=True)
            return f"STRUCT({', '.join(f'{name} {_carrier(member)}' for name, member in fields)})"
        case Kind.LIST if type_.item is not None:
            return f"{_carrier(type_.item)}[]"
        case Kind.MAP:
            held = (f"{quoted(key)} {_carrier(field)}" for key, field in type_.fields)
            return f"STRUCT({', '.join(held)})" if type_.fields else sql_type(type_)
    return sql_type(type_)


def _joined(sql: str, type_: Type, depth: int) -> str:
    """What came as `_by_member` made it, as the values themselves."""
    if not holds_any(type_):
        return sql
    match type_.kind:
        case Kind.ANY:
            union, parts = sql_type(type_), zip(member_names(type_), type_.members, strict=True)
            return "coalesce({})".format(", ".join(
                f"CASE WHEN {sql}.{name} IS NOT NULL "
                f"THEN union_value({name} := {_joined(f'{sql}.{name}', member, depth)})::{union} END"
                for name, member in parts
            ))  # fmt: skip
        case Kind.LIST if type_.item is not None:
            item = f'" item {depth}"'  # no column's name begins with a blank
            return f"list_transform({sql}, lambda {item}: {_joined(item, type_.item, depth + 1)})"
    fields = ((literal(key), field) for key, field in type_.fields)
    parts_of = (f"{key}: {_joined(f'struct_extract({sql}, {key})', field, depth)}" for key, field in fields)
    return f"{{{', '.join(parts_of)}}}"
