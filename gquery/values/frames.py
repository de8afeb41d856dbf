"""Columns of an answer as pandas and Polars have them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from gquery.values.elements import outside_of_years


def series_of(column: pa.ChunkedArray, pandas: Any) -> Any:
    """A series; what pandas has no values for, as Python objects. Raises ExecutionError for dates in years beyond
    Python's."""
    try:
        if _would_change(column.type):
            return pandas.Series(column.to_pylist(), dtype=object)
        return column.to_pandas(integer_object_nulls=pa.types.is_nested(column.type))
    except (OverflowError, ValueError) as error:
        raise outside_of_years(error) from None


def _would_change(arrow: pa.DataType) -> bool:
    """Whether Arrow's own way to pandas changes values. In maps an integer becomes a float where another is null, and a
    point in time with nanoseconds a number; lists lose their zone; values of several types and finer times are errors.
    """
    if pa.types.is_list(arrow):
        item = arrow.value_type
        return _would_change(item) or (pa.types.is_timestamp(item) and item.tz is not None)
    return bool(pa.types.is_nested(arrow)) or arrow == pa.time64("ns")


def named_zones(table: pa.Table) -> pa.Table:
    """The table as Polars takes it, which knows zones by name alone: points in time at an offset are in UTC."""
    return table.cast(pa.schema([field.with_type(_named_zone(field.type)) for field in table.schema]))


def _named_zone(arrow: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(arrow):
        return pa.struct([field.with_type(_named_zone(field.type)) for field in arrow])
    if pa.types.is_list(arrow):
        return pa.list_(arrow.value_field.with_type(_named_zone(arrow.value_type)))
    is_offset = pa.types.is_timestamp(arrow) and arrow.tz is not None and arrow.tz[0] in "+-"
    return pa.timestamp(arrow.unit, "UTC") if is_offset else arrow
