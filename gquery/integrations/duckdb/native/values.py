"""Reads DuckDB's own values, as the C extension gets them, through the function table of the extension API."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gquery.integrations.duckdb.parameters import leaf, unfit

_POINTER = ctypes.c_void_p
_INDEX = ctypes.c_uint64

# DuckDB's numbers of types
_VARCHAR, _LIST, _STRUCT, _MAP, _ARRAY = 17, 24, 25, 26, 33
_KINDS = {
    1: "BOOLEAN", 2: "TINYINT", 3: "SMALLINT", 4: "INTEGER", 5: "BIGINT", 6: "UTINYINT", 7: "USMALLINT", 8: "UINTEGER",
    9: "UBIGINT", 10: "FLOAT", 11: "DOUBLE", 12: "TIMESTAMP", 13: "DATE", 14: "TIME", 15: "INTERVAL", 16: "HUGEINT",
    17: "VARCHAR", 18: "BLOB", 19: "DECIMAL", 20: "TIMESTAMP_S", 21: "TIMESTAMP_MS", 22: "TIMESTAMP_NS", 23: "ENUM",
    27: "UUID", 28: "UNION", 29: "BIT", 30: "TIME WITH TIME ZONE", 31: "TIMESTAMP WITH TIME ZONE", 32: "UHUGEINT",
    35: "BIGNUM", 36: "NULL",
}  # fmt: skip


class ValueReader:
    """Values as Python's, by the places of the functions in the table."""

    def __init__(self, api: Any) -> None:
        self._api = api
        pointer, index = _POINTER, _INDEX
        self._free = self._function(25, None, pointer)
        self._destroy_value = self._function(92, None, ctypes.POINTER(pointer))
        self._new_text = self._function(94, pointer, ctypes.c_char_p, index)
        self._type_of = self._function(136, pointer, pointer)
        self._text = self._function(142, pointer, pointer)
        self._new_struct = self._function(143, pointer, pointer, ctypes.POINTER(pointer))
        self._new_list = self._function(144, pointer, pointer, ctypes.POINTER(pointer), index)
        self._map_size = self._function(146, index, pointer)
        self._map_key = self._function(147, pointer, pointer, index)
        self._map_value = self._function(148, pointer, pointer, index)
        self._is_null = self._function(149, ctypes.c_bool, pointer)
        self._list_size = self._function(151, index, pointer)
        self._list_child = self._function(152, pointer, pointer, index)
        self._struct_child = self._function(155, pointer, pointer, index)
        self._new_type = self._function(156, pointer, ctypes.c_int)
        self._alias = self._function(157, pointer, pointer)
        self._list_type = self._function(159, pointer, pointer)
        self._struct_type = self._function(
            163, pointer, ctypes.POINTER(pointer), ctypes.POINTER(ctypes.c_char_p), index
        )
        self._type_id = self._function(166, ctypes.c_int, pointer)
        self._array_item = self._function(174, pointer, pointer)
        self._field_count = self._function(178, index, pointer)
        self._field_name = self._function(179, pointer, pointer, index)
        self._destroy_type = self._function(184, None, ctypes.POINTER(pointer))

    def _function(self, place: int, result: Any, *arguments: Any) -> Any:
        return ctypes.CFUNCTYPE(result, *arguments)(self._api[place])

    def read(self, value: int | None) -> object:
        """The Python object of a DuckDB value, which stays the caller's; None for none.

        Raises BindError for a value that no parameter can be.
        """
        if not value or self._is_null(value):
            return None
        if self._holds_nul(value):
            raise unfit("an argument holds the character NUL", hint="give params as JSON text and write it as \\u0000")
        return self._read(value, outermost=True)

    def _read(self, value: int, outermost: bool = False) -> object:
        if self._is_null(value):
            return None
        data_type = self._type_of(value)  # belongs to the value
        kind = self._type_id(data_type)
        if kind == _LIST:
            return [self._child(self._list_child, value, i) for i in range(self._list_size(value))]
        if kind == _ARRAY:
            return self._array(value, data_type)
        if kind == _MAP:
            places = range(self._map_size(value))
            return {self._child(self._map_key, value, i): self._child(self._map_value, value, i) for i in places}
        if kind == _STRUCT:
            places = range(self._field_count(data_type))
            return {
                self._taken(self._field_name(data_type, i)): self._child(self._struct_child, value, i) for i in places
            }
        alias = self._alias(data_type) if kind == _VARCHAR and not outermost else None
        name = "JSON" if alias and self._taken(alias) == "JSON" else _KINDS.get(kind, f"value of type {kind}")
        return leaf(name, self._taken(self._text(value)))

    def _array(self, value: int, data_type: int) -> object:
        """An ARRAY has no functions of its own, but becomes a list as an item of a list of lists."""
        with (
            self._owned(self._array_item(data_type), self._destroy_type) as item,
            self._owned(self._list_type(item), self._destroy_type) as items,
            self._owned(self._new_list(items, (_POINTER * 1)(value), 1), self._destroy_value) as lists,
        ):
            return self._child(self._list_child, lists.value or 0, 0)

    def _holds_nul(self, value: int) -> bool:
        """DuckDB hands out texts that end at the first NUL: what is written behind it is lost, which shows."""
        return self._text_with(value, b"x") == self._text_with(value, b"y")

    def _text_with(self, value: int, mark: bytes) -> str:
        """The text of a struct of the value and a mark."""
        with self._owned(self._new_type(_VARCHAR), self._destroy_type) as text_type:
            types = (_POINTER * 2)(self._type_of(value), text_type.value)
            made = self._struct_type(types, (ctypes.c_char_p * 2)(b"value", b"mark"), 2)
            with (
                self._owned(made, self._destroy_type) as pair_type,
                self._owned(self._new_text(mark, 1), self._destroy_value) as marked,
                self._owned(
                    self._new_struct(pair_type, (_POINTER * 2)(value, marked.value)), self._destroy_value
                ) as pair,
            ):
                return self._taken(self._text(pair))

    def _child(self, child_of: Callable[[int, int], int], value: int, place: int) -> Any:
        with self._owned(child_of(value, place), self._destroy_value) as child:
            return self._read(child.value or 0)

    @contextmanager
    def _owned(self, address: int, destroy: Callable[[Any], None]) -> Iterator[ctypes.c_void_p]:
        """An object of DuckDB's that is ours to destroy."""
        held = ctypes.c_void_p(address)
        try:
            yield held
        finally:
            destroy(ctypes.byref(held))

    def _taken(self, address: int) -> str:
        """Text that DuckDB allocated for us."""
        try:
            return ctypes.string_at(address).decode("utf-8", "replace")
        finally:
            self._free(address)
