"""Files in memory: mapped by the descriptor that was checked, whatever has taken the name since.

Arrow maps by name, and has the system go through the whole file for what to read ahead. Python's own map keeps a
descriptor open (before 3.13), and a graph has a file for every column.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from functools import cache
from typing import Any

import pyarrow as pa

_FAILED = ctypes.c_void_p(-1).value


def map_file(descriptor: int, size: int) -> pa.Buffer:
    """The first `size` bytes of an open file, to be read only. The descriptor may be closed afterwards; the map goes
    when nobody reads it any more. OSError when it cannot be mapped, such as an empty file."""
    if os.name != "posix":
        return pa.py_buffer(mmap.mmap(descriptor, size, access=mmap.ACCESS_READ))
    system: Any = _system()
    address = system.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
    if address == _FAILED:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return pa.foreign_buffer(address, size, _Pages(address, size, system.munmap))


class _Pages:
    """What the buffer holds on to."""

    def __init__(self, address: int, size: int, unmap: Any) -> None:
        self._address, self._size, self._unmap = address, size, unmap

    def __del__(self) -> None:
        self._unmap(self._address, self._size)


@cache
def _system() -> ctypes.CDLL:
    system = ctypes.CDLL(None, use_errno=True)
    number, size = ctypes.c_int, ctypes.c_size_t
    system.mmap.argtypes = (ctypes.c_void_p, size, number, number, number, ctypes.c_long)
    system.mmap.restype = ctypes.c_void_p
    system.munmap.argtypes = (ctypes.c_void_p, size)
    return system
