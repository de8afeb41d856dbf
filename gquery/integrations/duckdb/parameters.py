"""The value of `params := ...` in SQL as Python's: a STRUCT, a MAP with text keys, or JSON text."""

from __future__ import annotations

import ctypes
import datetime
import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from gquery.errors import BindError

_POINTER = ctypes.c_void_p
_INDEX = ctypes.c_uint64

# DuckDB's numbers of types
_LIST, _STRUCT, _MAP = 24, 25, 26
_TEXT_TO_PYTHON: dict[int, Callable[[str], object]] = {
    1: lambda text: text == "true",
    **dict.fromkeys((2, 3, 4, 5, 6, 7, 8, 9, 16, 32), int),
    **dict.fromkeys((10, 11), float),
    **dict.fromkeys((12, 20, 21, 22, 31), datetime.datetime.fromisoformat),
    13: datetime.date.fromisoformat,
    14: datetime.time.fromisoformat,
    19: Decimal,
}


def parameters_of(value: object) -> dict[str, Any]:
    """Query parameters from a Python value. Raises BindError when it does not hold names and values."""
    if value is None:
        return {}
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise _unfit(f"`params` is not JSON: {error}") from error
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise _unfit("`params` does not hold names and values")
    return dict(value)


def _unfit(message: str) -> BindError:
    return BindError(message, hint="write params := {'name': value}, a MAP with text keys, or JSON text")


class ValueReader:
    """Reads DuckDB values through the function table of the extension API, by the places of its functions there."""

    def __init__(self, api: Any) -> None:
        self._api = api
        pointer, index = _POINTER, _INDEX
        self._free = self._function(25, None, pointer)
        self._destroy_value = self._function(92, None, ctypes.POINTER(pointer))
        self._type_of = self._function(136, pointer, pointer)
        self._text = self._function(142, pointer, pointer)
        self._map_size = self._function(146, index, pointer)
        self._map_key = self._function(147, pointer, pointer, index)
        self._map_value = self._function(148, pointer, pointer, index)
        self._is_null = self._function(149, ctypes.c_bool, pointer)
        self._list_size = self._function(151, index, pointer)
        self._list_child = self._function(152, pointer, pointer, index)
        self._struct_child = self._function(155, pointer, pointer, index)
        self._type_id = self._function(166, ctypes.c_int, pointer)
        self._field_count = self._function(178, index, pointer)
        self._field_name = self._function(179, pointer, pointer, index)

    def _function(self, place: int, result: Any, *arguments: Any) -> Any:
        return ctypes.CFUNCTYPE(result, *arguments)(self._api[place])

    def read(self, value: int) -> object:
        """The Python object of a DuckDB value, which stays the caller's."""
        if self._is_null(value):
            return None
        data_type = self._type_of(value)  # belongs to the value
        kind = self._type_id(data_type)
        if kind == _LIST:
            return [self._child(self._list_child, value, i) for i in range(self._list_size(value))]
        if kind == _MAP:
            places = range(self._map_size(value))
            return {self._child(self._map_key, value, i): self._child(self._map_value, value, i) for i in places}
        if kind == _STRUCT:
            places = range(self._field_count(data_type))
            return {
                self._taken(self._field_name(data_type, i)): self._child(self._struct_child, value, i) for i in places
            }
        text = self._taken(self._text(value))
        try:
            return _TEXT_TO_PYTHON.get(kind, str)(text)
        except ValueError as error:
            raise _unfit(f"`params` holds a value that Python cannot take: {text}") from error

    def _child(self, child_of: Callable[[int, int], int], value: int, place: int) -> Any:
        child = ctypes.c_void_p(child_of(value, place))
        try:
            return self.read(child.value or 0)
        finally:
            self._destroy_value(ctypes.byref(child))

    def _taken(self, address: int) -> str:
        """Text that DuckDB allocated for us."""
        try:
            return ctypes.string_at(address).decode()
        finally:
            self._free(address)
