"""Columns that lie on a card as Arrow's C device interface hands them over, with nothing copied."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import pyarrow as pa


class _DeviceArray(ctypes.Structure):
    """The beginning of Arrow's `ArrowDeviceArray`, after the ten words of its `ArrowArray`. No event: what reads the
    columns need not wait for any."""

    _fields_ = (
        ("array", ctypes.c_int64 * 10),
        ("device_id", ctypes.c_int64),
        ("device_type", ctypes.c_int32),
        ("sync_event", ctypes.c_void_p),
    )


def device_capsules(schema: pa.Schema, columns: Sequence[Any]) -> tuple[object, object]:
    """The capsules that `__arrow_c_device_array__` returns, of columns without nulls as arrays that tell their device
    as DLPack does, whose numbers Arrow uses. The arrays live as long as the capsule does, or who has taken it over."""
    arrays = [
        pa.Array.from_buffers(field.type, len(column), [None, _buffer(column)], null_count=0)
        for field, column in zip(schema, columns, strict=True)
    ]
    of_schema, capsule = pa.record_batch(arrays, schema).__arrow_c_device_array__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    address = pointer(capsule, b"arrow_device_array")
    assert address is not None
    # Arrow takes all memory for the host's; it does not look at any here.
    exported = _DeviceArray.from_address(address)
    for column in columns:
        exported.device_type, exported.device_id = column.__dlpack_device__()
    return of_schema, capsule


def _buffer(column: Any) -> pa.Buffer:
    """The memory of a column, wherever it is."""
    address = column.ctypes.data if hasattr(column, "ctypes") else column.data.ptr
    return pa.foreign_buffer(address, column.nbytes, column)
