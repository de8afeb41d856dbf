"""A bounded memory of what has been worked out."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from gquery.lasting.locks import lasting_lock

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Values by key, each with its weight; what has not been asked for longest is forgotten as soon as all together
    weigh more than `most`. Safe from several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._lock = lasting_lock()
        self.weight = 0

    def find(self, key: Hashable) -> Value | None:
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def keep(self, key: Hashable, value: Value, weight: int = 1) -> None:
        """A value that alone weighs too much is not kept."""
        with self._lock:
            _, known = self._values.pop(key, (None, 0))
            self.weight -= known
            if weight > self._most:
                return
            self._values[key] = (value, weight)
            self.weight += weight
            while self.weight > self._most:
                _, (_, forgotten) = self._values.popitem(last=False)
                self.weight -= forgotten

    def get(self, key: Hashable, make: Callable[[], Value], weigh: Callable[[Value], int] = lambda _: 1) -> Value:
        """The value of a key, made now when it is not known."""
        value = self.find(key)
        if value is None:
            value = make()
            self.keep(key, value, weigh(value))
        return value

    def __len__(self) -> int:
        return len(self._values)
