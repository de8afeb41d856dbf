"""Numbers between NumPy and Arrow, as they are.

Arrow's own conversions begin with importing pandas, where it is installed, and masked arrays: that would be a third of
the time in which a process answers its first query. Numbers without nulls lie in memory alike on both sides. Importing
Arrow's functions takes a twentieth of that time, and a count does without.
"""

from __future__ import annotations

import importlib
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.imports import CONVERSION, import_apart
from gquery.stopping import unchecked


class _Functions:
    """`pyarrow.compute`, imported when the first of its functions is asked for."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(importlib.import_module("pyarrow.compute"), name)
        setattr(self, name, found)
        return found


pc = _Functions()


def to_arrow(numbers: NDArray[Any], known: NDArray[np.bool_] | None = None) -> pa.Array:
    """Numbers or booleans of one dimension; numbers are copied only where they are not side by side. known: where there
    are no nulls."""
    present = None if known is None or known.all() else _packed(known)
    if numbers.dtype == np.bool_:
        return pa.Array.from_buffers(pa.bool_(), len(numbers), [present, _packed(numbers)])
    values = np.ascontiguousarray(numbers)
    return pa.Array.from_buffers(_arrow_type(values.dtype), len(values), [present, pa.py_buffer(values)])


def _packed(booleans: NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(booleans, bitorder="little"))


def to_numpy(numbers: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """Numbers, copied only where they are in several pieces; where a null is, any number."""
    if isinstance(numbers, pa.ChunkedArray):
        pieces = [to_numpy(chunk) for chunk in numbers.chunks]
        return pieces[0] if len(pieces) == 1 else np.concatenate([np.zeros(0, _dtype(numbers.type)), *pieces])
    dtype = _dtype(numbers.type)
    *_, buffer = numbers.buffers()
    if not len(numbers) or buffer is None:
        return np.zeros(len(numbers), dtype)
    return np.frombuffer(buffer, dtype, len(numbers), numbers.offset * dtype.itemsize)


def room(count: int, dtype: np.dtype[Any] | type[Any]) -> NDArray[Any]:
    """An array in Arrow's memory: its pages are large, those of NumPy are made one by one."""
    dtype = np.dtype(dtype)
    return np.frombuffer(pa.allocate_buffer(dtype.itemsize * count), dtype, count)


def raised(numbers: NDArray[Any], by: int) -> NDArray[np.int64]:
    """Numbers and another one as int64."""
    made = room(len(numbers), np.int64)
    np.add(numbers, by, out=made, dtype=np.int64)
    return made


def filled(numbers: pa.Array, number: int) -> NDArray[Any]:
    """Numbers, with another one where a null is."""
    found = to_numpy(numbers)
    return np.where(truths(numbers.is_valid()), found, found.dtype.type(number)) if numbers.null_count else found


def fields_of(structs: pa.StructArray) -> list[pa.Array]:
    """Of structs none of which is null. `flatten` of Arrow 26 ends the process where a field is a union."""
    return [structs.field(index) for index in range(structs.type.num_fields)]


def truths(values: pa.Array | pa.ChunkedArray) -> NDArray[np.bool_]:
    """Where booleans are true; null is not."""
    if not isinstance(values, pa.ChunkedArray):
        return _truths(values)
    if values.num_chunks == 1:
        return _truths(values.chunk(0))
    return np.concatenate([np.zeros(0, np.bool_), *map(_truths, values.chunks)])


def _truths(values: pa.BooleanArray) -> NDArray[np.bool_]:
    if not len(values):
        return np.zeros(0, np.bool_)
    present, true = (None if buffer is None else _bits(buffer, values) for buffer in values.buffers())
    assert true is not None
    return true if present is None else true & present


def _bits(buffer: pa.Buffer, values: pa.Array) -> NDArray[np.bool_]:
    begin, end = values.offset, values.offset + len(values)
    bits = np.unpackbits(np.frombuffer(buffer, np.uint8), count=end, bitorder="little")
    return bits[begin:].view(np.bool_)


def ranges(begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers from each begin up to its end, one range after the other."""
    lengths = ends - begins
    skipped = begins - np.cumsum(lengths) + lengths
    return np.repeat(skipped, lengths) + np.arange(int(lengths.sum()))


def to_scalar(value: Any, type: pa.DataType) -> pa.Scalar:
    """A value of Python's. Raises ArrowInvalid, ArrowTypeError or OverflowError where the type does not have it."""
    if isinstance(value, str) and type == pa.string():
        text = value.encode()
        return pa.StringArray.from_buffers(1, pa.py_buffer(np.array([0, len(text)], np.int32)), pa.py_buffer(text))[0]
    if (isinstance(value, int) and type == pa.int64()) or (isinstance(value, float) and type == pa.float64()):
        return to_arrow(np.array([value], _dtype(type)))[0]
    import_apart(CONVERSION, unchecked)
    return pa.scalar(value, type)


def of_values(values: list[Any], type: pa.DataType) -> pa.Array:
    """Values of Python's, converted by Arrow."""
    import_apart(CONVERSION, unchecked)
    return pa.array(values, type)


def comparable(values: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Values of Python's, which can be hashed, and are equal where openCypher finds those of a column equal: 1 is 1.0,
    and not true. Dates and times are numbers beside their type: Python has not all of them, and no nanoseconds."""
    types, known = pa.types, values.type
    if isinstance(values, pa.ChunkedArray):
        return [each for chunk in values.chunks for each in comparable(chunk)]
    if types.is_dictionary(known):
        return comparable(values.dictionary_decode())
    if types.is_union(known):
        members = [comparable(values.field(index)) for index in range(known.num_fields)]
        tags = np.frombuffer(values.buffers()[1] or b"", np.int8)[values.offset : values.offset + len(values)]
        return [members[tag][row] for row, tag in enumerate(tags.tolist())]
    if types.is_struct(known):
        columns = [[(name, each) for each in comparable(values.field(name))] for name in sorted(known.names)]
        rows = zip(values.is_valid().to_pylist(), *columns, strict=True)
        return [tuple(row) if there else None for there, *row in rows]
    if types.is_nested(known):
        items, lengths = iter(comparable(values.flatten())), values.value_lengths().to_pylist()
        return [None if length is None else tuple(islice(items, length)) for length in lengths]
    if types.is_boolean(known):
        return [None if each is None else (known, each) for each in values.to_pylist()]
    if types.is_temporal(known) and not types.is_interval(known):
        kind, unit = _finest(known)
        numbers = values.view(pa.int32() if known.bit_width == 32 else pa.int64()).to_pylist()
        return [None if each is None else (kind, unit * each) for each in numbers]
    return values.to_pylist()  # type: ignore[no-any-return]


@cache
def _finest(known: pa.DataType) -> tuple[pa.DataType, int]:
    """The type of all dates and times like those of a type, and the nanoseconds that one more is there."""
    if pa.types.is_date(known):
        return pa.date32(), 86_400 * _UNITS["s"] if known == pa.date32() else _UNITS["ms"]
    unit = _UNITS[known.unit]
    if pa.types.is_timestamp(known):
        return pa.timestamp("ns", None if known.tz is None else "UTC"), unit
    return pa.time64("ns") if pa.types.is_time(known) else pa.duration("ns"), unit


_UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


@cache
def _dtype(type: pa.DataType) -> np.dtype[Any]:
    dtype: np.dtype[Any] = np.dtype(np.int64 if pa.types.is_null(type) else type.to_pandas_dtype())
    return dtype


_arrow_type = cache(pa.from_numpy_dtype)
