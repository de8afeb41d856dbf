"""Keys that are large."""

from __future__ import annotations

from collections.abc import Hashable


class Hashed:
    """A key that is hashed once: those of large patterns hold thousands of tests."""

    __slots__ = ("_hash", "_value")

    def __init__(self, value: Hashable) -> None:
        self._value = value
        self._hash = hash(value)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Hashed) and self._hash == other._hash and self._value == other._value
        )

    def __reduce__(self) -> tuple[object, ...]:
        return Hashed, (self._value,)  # other processes hash texts in other ways
