"""Columns of Arrow's types: checked when they come from outside, and brought to the few types that a graph holds."""

from __future__ import annotations

import os
import re
import uuid
import zoneinfo

import numpy as np
import pyarrow as pa

from gquery.arrays import pc
from gquery.errors import LoadError
from gquery.storage.schema import ZONED_TIME
from gquery.storage.tables import wrong_time

_OFFSET = re.compile(r"[+-]\d\d:?\d\d")
_DAY = 86_400_000_000  # microseconds
_INTERVAL = np.dtype([("months", "<i4"), ("days", "<i4"), ("nanoseconds", "<i8")])
_LEAST = 4  # bytes that a value takes in memory, more or less
_MAX_DIGITS = 38  # of a decimal of 128 bits


def check_size(rows: int, columns: int, file: str) -> None:
    """Raises LoadError for more rows than memory holds: a column of one value takes some bytes, however long it is."""
    if _LEAST * rows * columns > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"):
        reason = f"the table has {rows:,} rows of {columns} columns, which this machine's memory does not hold"
        raise LoadError(reason, file=file)


def checked(table: pa.Table, file: str) -> pa.Table:
    """The table itself. Raises LoadError for a column whose offsets, indices or texts are not valid: everything else
    trusts them, and a wild one reads somebody else's memory."""
    try:
        names = table.column_names
    except UnicodeDecodeError:
        raise LoadError("the name of a column is not UTF-8", file=file) from None
    check_size(table.num_rows, table.num_columns, file)
    for name, column in zip(names, table.columns, strict=True):
        try:
            column.validate(full=True)
        except (pa.ArrowException, ValueError, TypeError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise LoadError(f"the column is damaged: {reason}", file=file, column=name) from None
    return table


def normalise(column: pa.ChunkedArray, name: str, file: str) -> pa.ChunkedArray:
    """Integers become int64, floats double, decimals of 128 bits, every kind of text string, of list a list, of date
    date32, of time and timestamp microseconds (or nanoseconds, when it has them); durations become intervals, structs
    of a time and its offset in seconds times with an offset, a uuid text, a boolean of 8 bits one of one, another
    extension what it is made of, unless it is opaque.

    Raises LoadError for a type that no property can have, and for values that do not fit.
    """
    try:
        wanted = _normal_type(column.type)
        if _is_odd(column.type):
            chunks = [_plain(chunk) for chunk in column.chunks]
            column = pa.chunked_array(chunks) if chunks else pa.chunked_array([], wanted)
        if column.type != wanted:
            column = column.cast(wanted)
            column.validate()  # Arrow's casts of nested views are not all sound
        if wrong := wrong_time(column):
            raise LoadError(wrong, file=file, column=name)
        return column
    except _NoProperty as error:
        raise LoadError(f"a column of type {error} cannot be a property", file=file, column=name) from None
    except pa.ArrowInvalid as error:
        reason = re.split(r"[.\n]", str(error))[0]
        raise LoadError(f"the column does not fit into {wanted}: {reason}", file=file, column=name) from None
    except pa.ArrowNotImplementedError:
        raise LoadError(f"a column of type {column.type} cannot be a property", file=file, column=name) from None


class _NoProperty(Exception):
    pass


def _plain(array: pa.Array) -> pa.Array:
    """The array, and what it is made of, in types that a cast can start from."""
    type, types = array.type, pa.types
    if not _is_odd(type):
        return array
    if isinstance(type, pa.UuidType):
        texts = [None if value is None else str(uuid.UUID(bytes=value)) for value in array.storage.to_pylist()]
        return pa.array(texts, pa.string())
    if isinstance(type, pa.Bool8Type):
        return array.storage.cast(pa.bool_())
    if isinstance(type, pa.BaseExtensionType):
        return _plain(array.storage)
    if types.is_dictionary(type):
        return _plain(array.dictionary).cast(_normal_type(type.value_type)).take(array.indices)
    if types.is_run_end_encoded(type):
        values = _plain(array.values).cast(_normal_type(type.value_type))
        runs = pa.RunEndEncodedArray.from_arrays(array.run_ends, values)
        return pc.run_end_decode(runs.slice(array.offset, len(array)))
    if types.is_duration(type):
        return _intervals(array)
    if types.is_struct(type):
        parts = [_plain(part) for part in array.flatten()]
        fields = [pa.field(field.name, part.type) for field, part in zip(type, parts, strict=True)]
        return pa.StructArray.from_arrays(parts, fields=fields, mask=array.is_null())
    offsets = np.concatenate([[0], np.cumsum(pc.list_value_length(array).fill_null(0).to_numpy())])
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), _plain(array.flatten()), mask=array.is_null())


def _is_odd(type: pa.DataType) -> bool:
    """Whether Arrow's casts do not take the type, or what it is made of, as it is."""
    types = pa.types
    if isinstance(type, pa.BaseExtensionType) or types.is_run_end_encoded(type) or types.is_duration(type):
        return True
    if types.is_list_view(type) or types.is_large_list_view(type):
        return True
    if types.is_dictionary(type):
        value = type.value_type
        return types.is_string_view(value) or types.is_binary_view(value) or types.is_nested(value) or _is_odd(value)
    return types.is_nested(type) and any(_is_odd(type.field(index).type) for index in range(type.num_fields))


def _intervals(durations: pa.Array) -> pa.Array:
    """Durations as days and the rest, which together hold as many years as the longest duration has."""
    unit = durations.type.unit
    numbers = np.asarray(durations.cast(pa.int64()).fill_null(0))
    per_day = {"s": _DAY // 10**6, "ms": _DAY // 10**3, "us": _DAY, "ns": _DAY * 10**3}[unit]
    rest = np.fmod(numbers, per_day)
    parts = np.zeros(len(numbers), _INTERVAL)
    parts["days"] = (numbers - rest) // per_day
    parts["nanoseconds"] = rest * (_DAY * 10**3 // per_day)
    if not np.array_equal(parts["days"], (numbers - rest) // per_day):
        raise pa.ArrowInvalid("the duration is longer than five million years")
    valid = pa.array(durations.is_valid()).buffers()[1] if durations.null_count else None
    return pa.Array.from_buffers(pa.month_day_nano_interval(), len(numbers), [valid, pa.py_buffer(parts)])


def _normal_type(type: pa.DataType) -> pa.DataType:
    types = pa.types
    if isinstance(type, pa.UuidType):
        return pa.string()
    if isinstance(type, pa.Bool8Type):
        return pa.bool_()
    if isinstance(type, pa.OpaqueType):  # what it is made of, its maker alone can read
        raise _NoProperty(f"{type.type_name} of {type.vendor_name}")
    if isinstance(type, pa.BaseExtensionType):
        return _normal_type(type.storage_type)
    if types.is_dictionary(type) or types.is_run_end_encoded(type):
        return _normal_type(type.value_type)
    if types.is_integer(type):
        return pa.int64()
    if types.is_floating(type):
        return pa.float64()
    if types.is_string(type) or types.is_large_string(type) or types.is_string_view(type):
        return pa.string()
    if any(test(type) for test in (types.is_binary, types.is_large_binary, types.is_binary_view,
                                   types.is_fixed_size_binary)):  # fmt: skip
        return pa.binary()
    if types.is_decimal(type):
        return _normal_decimal(type)
    if types.is_nested(type):
        return _normal_nested(type)
    return _normal_time(type)


def _normal_decimal(type: pa.DataType) -> pa.DataType:
    digits, scale = type.precision, type.scale
    if scale < 0:
        digits, scale = digits - scale, 0
    if scale > _MAX_DIGITS:
        raise _NoProperty(str(type))
    return pa.decimal128(min(digits, _MAX_DIGITS), scale)


def _normal_nested(type: pa.DataType) -> pa.DataType:
    types = pa.types
    if any(test(type) for test in (types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_list_view,
                                   types.is_large_list_view)):  # fmt: skip
        return pa.list_(_normal_type(type.value_type))
    if types.is_struct(type) and _is_zoned_time(type):
        return ZONED_TIME
    names = [field.name for field in type] if types.is_struct(type) else []
    if names and len(names) == len(set(names)) and all(name and "\0" not in name for name in names):  # keys of a map
        return pa.struct([pa.field(field.name, _normal_type(field.type)) for field in type])
    raise _NoProperty(str(type))


def _is_zoned_time(struct: pa.StructType) -> bool:
    names = [field.name for field in struct]
    if names != [field.name for field in ZONED_TIME]:
        return False
    return bool(pa.types.is_time(struct[0].type) and pa.types.is_integer(struct[1].type))


def _normal_time(type: pa.DataType) -> pa.DataType:
    types = pa.types
    if types.is_date64(type):
        return pa.date32()
    if types.is_time32(type):
        return pa.time64("us")
    if types.is_duration(type):
        return pa.month_day_nano_interval()
    if types.is_timestamp(type):
        if type.tz is not None and not _is_zone(type.tz):
            raise _NoProperty(str(type))
        return pa.timestamp("ns" if type.unit == "ns" else "us", type.tz)
    return type


def _is_zone(name: str) -> bool:
    if _OFFSET.fullmatch(name):
        return True
    try:
        zoneinfo.ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return False
    return True


def cast(values: pa.ChunkedArray, type: pa.DataType, name: str, file: str) -> pa.ChunkedArray:
    """Values of an Arrow column as another type. Raises LoadError when that would lose something."""
    kinds = (pa.types.is_temporal, lambda t: pa.types.is_integer(t) or pa.types.is_floating(t), pa.types.is_nested)
    meant = type == pa.string() or any(test(type) and test(values.type) for test in kinds)  # 5 is no date, Arrow or not
    if not meant and values.type not in (type, pa.null()):
        raise LoadError(f"a column of type {values.type} does not fit into {type}", file=file, column=name)
    try:
        return values.cast(type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        reason = re.split(r"[.\n]", str(error))[0]
        raise LoadError(f"the column does not fit into {type}: {reason}", file=file, column=name) from None


def ids_of_values(column: pa.ChunkedArray, name: str, file: str) -> pa.ChunkedArray:
    """Ids of an Arrow column: int64 or string. Whole floats (a data frame's integers beside a gap) are taken."""
    values = normalise(column, name, file)
    if values.type in (pa.int64(), pa.string()):
        return values
    if pa.types.is_null(values.type):
        return values.cast(pa.int64())
    try:
        if pa.types.is_floating(values.type):
            return pc.if_else(pc.is_nan(values), pa.scalar(None, pa.float64()), values).cast(pa.int64())
        if pa.types.is_decimal(values.type):
            return values.cast(pa.int64())
    except pa.ArrowInvalid:
        pass
    reason = f"a column of type {column.type} cannot be an id"
    raise LoadError(reason, file=file, column=name, hint="ids are integers or strings")
