"""Rows that change the same element, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_numpy, truths
from gquery.stopping import Check, unchecked
from gquery.storage.sorting import changes, order_of

_AT_ONCE = 1 << 16  # rows between two looks at the clock


def turns_of(subjects: Sequence[pa.Array], count: int, check: Check = unchecked) -> list[NDArray[np.int64]]:
    """Rows in turns, such that no two of one turn have an element in common, and rows with one are in their order.
    subjects: columns of elements, each of its own kind; null is none."""
    if all(len(column.unique()) == count for column in subjects):
        return [np.arange(count)]
    check()
    turns = _times_before(subjects[0], check) if len(subjects) == 1 else _turns_of_several(subjects, count, check)
    check()
    return np.split(order_of(turns.copy()), np.cumsum(np.bincount(turns))[:-1])


def _times_before(column: pa.Array, check: Check) -> NDArray[np.int64]:
    """How often the element of each row was there before; 0 where there is none."""
    elements = to_numpy(column.dictionary_encode().indices.fill_null(-1)).astype(np.int64) + 1
    check()
    order = order_of(elements.copy())
    check()
    places = np.arange(len(column))
    first = np.maximum.accumulate(np.where(changes(elements[order]), places, 0))
    check()
    times = np.empty(len(column), np.int64)
    times[order] = places - first
    times[truths(column.is_null())] = 0
    return times


def _turns_of_several(subjects: Sequence[pa.Array], count: int, check: Check) -> NDArray[np.int64]:
    next_turn: dict[object, int] = {}
    turns = np.zeros(count, np.int64)
    for row, elements in enumerate(_rows_of(subjects, count, check)):
        there = [each for each in elements if each is not None]
        turns[row] = max((next_turn.get(each, 0) for each in there), default=0)
        next_turn.update(dict.fromkeys(there, int(turns[row]) + 1))
    return turns


def _rows_of(subjects: Sequence[pa.Array], count: int, check: Check) -> Iterator[tuple[object, ...]]:
    """The elements of each row, those of different kinds told apart."""
    for begin in range(0, count, _AT_ONCE):
        check()
        parts = [column.slice(begin, _AT_ONCE) for column in subjects]
        told = [[(part.type, each) if each is not None else None for each in part.to_pylist()] for part in parts]
        yield from zip(*told, strict=True)
