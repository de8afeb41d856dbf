"""Values as a column that is there already can hold them: as what they are, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import pyarrow as pa

Values = TypeVar("Values", pa.Array, pa.ChunkedArray)


def held(values: Values, type_: pa.DataType) -> Values | None:
    """The same values in a column of a type; None where it does not hold them all. Whole numbers may be narrower or
    wider there, and texts written otherwise; a number is never made another, nor anything a text."""
    given = values.type
    if given == type_:
        return values
    alike = pa.types.is_null(given) or values.null_count == len(values) or _family(given) == _family(type_) is not None
    try:
        return values.cast(type_) if alike else None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return _nulls(values, type_) if values.null_count == len(values) else None


def _family(type_: pa.DataType) -> str | None:
    types = pa.types
    if types.is_dictionary(type_):
        return _family(type_.value_type)
    if types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_):
        return "text"
    return "number" if types.is_integer(type_) else None


def _nulls(values: Values, type_: pa.DataType) -> Values:
    nulls = pa.nulls(len(values), type_)
    return pa.chunked_array([nulls]) if isinstance(values, pa.ChunkedArray) else nulls


def held_or_null(values: Values, type_: pa.DataType) -> Values:
    """As `held`; nulls where the type does not hold the values, since others are to come in their place."""
    found = held(values, type_)
    return _nulls(values, type_) if found is None else found


def as_ids(ids: pa.ChunkedArray, type_: pa.DataType) -> pa.ChunkedArray:
    """As `held_or_null`; but numbers that were given out are written down where ids are texts."""
    return ids.cast(type_) if pa.types.is_integer(ids.type) else held_or_null(ids, type_)


def in_a_row(arrays: Sequence[pa.Array], type_: pa.DataType) -> pa.Array:
    """Arrays of one type, one after the other."""
    if pa.types.is_dictionary(type_):
        return pa.chunked_array(arrays, type_).unify_dictionaries().combine_chunks()
    return pa.concat_arrays(arrays)
