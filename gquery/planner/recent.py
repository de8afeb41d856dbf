"""A bounded memory of what has been worked out."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Values by key; what has not been asked for longest is forgotten. Safe from several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = Lock()

    def find(self, key: Hashable) -> Value | None:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def keep(self, key: Hashable, value: Value) -> None:
        with self._lock:
            self._values[key] = value
            if len(self._values) > self._most:
                self._values.popitem(last=False)

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of a key, made now when it is not known."""
        value = self.find(key)
        if value is None:
            value = make()
            self.keep(key, value)
        return value

    def __len__(self) -> int:
        return len(self._values)
