"""Many values of Python's at once: lists of millions are of one type most often, or of maps with the same keys.

What is asked of each item is then asked of a part of the list together, and of maps key by key.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from operator import itemgetter
from typing import Any

from gquery.stopping import Check

NO_VALUE = type(None)
_AT_ONCE = 4096  # items between two checks


def in_parts(items: Collection[Any], check: Check) -> Iterator[list[Any]]:
    """The items, some thousands at a time."""
    listed = items if isinstance(items, list) else list(items)
    for begin in range(0, len(listed), _AT_ONCE):
        check()
        yield listed[begin : begin + _AT_ONCE]


def kinds_of(items: list[Any]) -> set[type]:
    """Python's types of the values, but for nulls."""
    return set(map(type, items)) - {NO_VALUE}


def columns_of(items: list[Any]) -> dict[Any, list[Any]] | None:
    """The values of maps by key, where all are maps with the same keys in the same order; None elsewhere."""
    if set(map(type, items)) != {dict}:
        return None
    keys = tuple(items[0])
    if not all(map(keys.__eq__, map(tuple, items))):
        return None
    return {key: list(map(itemgetter(key), items)) for key in keys}
