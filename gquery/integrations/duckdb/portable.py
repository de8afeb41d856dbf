"""Arrow types that DuckDB's side does not take, and what they are cast to.

The C part knows booleans, integers, floats, decimals up to 38 digits, strings, bytes, dates, times, timestamps,
intervals, and lists, structs, maps and sparse unions of them.
"""

from __future__ import annotations

import pyarrow as pa

from gquery.arrays import pc
from gquery.errors import ExecutionError, UnsupportedError
from gquery.values.elements import tags_of

_KNOWN = (
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_float32,
    pa.types.is_float64,
    pa.types.is_decimal128,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_date32,
)


def portable_schema(schema: pa.Schema) -> pa.Schema:
    """The same columns in types that DuckDB takes."""
    return pa.schema([pa.field(field.name, portable(field.type)) for field in schema])


def conform(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch in the types of `schema`; columns that have them already are not copied."""
    if batch.schema.types == schema.types or not schema:
        return batch
    columns = [_cast(column, field.type) for column, field in zip(batch.columns, schema, strict=True)]
    return pa.record_batch(columns, schema=schema)


def written_schema(schema: pa.Schema) -> pa.Schema:
    """The columns of a portable schema with text in place of what JSON cannot hold exactly. A value of several types
    keeps its tag, which DuckDB writes beside it."""
    return pa.schema([pa.field(field.name, _written(field.type)) for field in schema])


def _written(data_type: pa.DataType) -> pa.DataType:
    if pa.types.is_union(data_type):
        return pa.sparse_union([pa.field(field.name, _written(field.type)) for field in data_type])
    if pa.types.is_map(data_type):
        return pa.map_(_written(data_type.key_type), _written(data_type.item_type))
    if pa.types.is_list(data_type) or pa.types.is_large_list(data_type):
        return pa.list_(_written(data_type.value_type))
    if pa.types.is_struct(data_type):
        return pa.struct([pa.field(field.name, _written(field.type)) for field in data_type])
    exact = pa.types.is_boolean(data_type) or pa.types.is_integer(data_type) or pa.types.is_floating(data_type)
    return data_type if exact else pa.string()


def _cast(column: pa.Array, target: pa.DataType) -> pa.Array:
    if column.type == target:
        return column
    if _is_empty_struct(column.type):
        return pa.nulls(len(column), target)
    if pa.types.is_union(target):
        children = [_cast(column.field(i), field.type) for i, field in enumerate(target)]
        return pa.UnionArray.from_sparse(pa.array(tags_of(column)), children, [field.name for field in target])
    try:  # finer times than DuckDB's are cut, not refused
        return column.cast(options=pc.CastOptions(target, allow_time_truncate=True))
    except pa.ArrowInvalid as error:
        raise ExecutionError(f"a value does not fit into the type that DuckDB was told, {target}: {error}") from None
    except pa.ArrowNotImplementedError as error:
        raise UnsupportedError(f"DuckDB cannot take {column.type}: {error}") from None


def portable(data_type: pa.DataType) -> pa.DataType:
    """The nearest type that DuckDB takes."""
    if any(known(data_type) for known in _KNOWN):
        return data_type
    if pa.types.is_nested(data_type):
        return _portable_nested(data_type)
    if pa.types.is_dictionary(data_type) or pa.types.is_run_end_encoded(data_type):
        return portable(data_type.value_type)
    if pa.types.is_temporal(data_type):
        return _portable_time(data_type)
    if isinstance(data_type, pa.BaseExtensionType):
        return portable(data_type.storage_type)
    if pa.types.is_null(data_type):
        return pa.int32()  # what DuckDB makes of an untyped NULL
    if pa.types.is_fixed_size_binary(data_type) or pa.types.is_binary_view(data_type):
        return pa.binary()
    if pa.types.is_floating(data_type):
        return pa.float64()
    if pa.types.is_decimal256(data_type):
        return pa.decimal128(38, data_type.scale)
    if pa.types.is_decimal(data_type):
        return pa.decimal128(data_type.precision, data_type.scale)
    return pa.string()


def _portable_nested(data_type: pa.DataType) -> pa.DataType:
    if pa.types.is_union(data_type):
        return pa.sparse_union([pa.field(field.name, portable(field.type)) for field in data_type])
    if pa.types.is_struct(data_type):
        fields = [pa.field(field.name, portable(field.type)) for field in data_type if not _is_empty_struct(field.type)]
        return pa.struct(fields) if fields else pa.int32()  # DuckDB has no struct without fields
    if pa.types.is_map(data_type):
        return pa.map_(portable(data_type.key_type), portable(data_type.item_type))
    if pa.types.is_large_list(data_type):
        return pa.large_list(portable(data_type.value_type))
    if pa.types.is_list(data_type) or pa.types.is_fixed_size_list(data_type) or "list_view" in str(data_type):
        return pa.list_(portable(data_type.value_type))
    return pa.string()


def _portable_time(data_type: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(data_type):
        return data_type if data_type.tz is None else pa.timestamp("us", data_type.tz)
    if pa.types.is_date(data_type):
        return pa.date32()
    if pa.types.is_time(data_type):
        return pa.time64("us")
    return pa.duration("us") if pa.types.is_duration(data_type) else data_type


def _is_empty_struct(data_type: pa.DataType) -> bool:
    return bool(pa.types.is_struct(data_type)) and not [
        field for field in data_type if not _is_empty_struct(field.type)
    ]
