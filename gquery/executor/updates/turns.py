"""Rows that change the same element, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.stopping import Check, unchecked


def turns_of(subjects: Sequence[pa.Array], count: int, check: Check = unchecked) -> list[NDArray[np.int64]]:
    """Rows in turns, such that no two of one turn have an element in common, and rows with one are in their order.
    subjects: columns of elements, each of its own kind; null is none."""
    if all(len(column.unique()) == count for column in subjects):
        return [np.arange(count)]
    next_turn: dict[object, int] = {}
    turns = np.zeros(count, np.int64)
    columns = [
        [(column.type, each) if each is not None else None for each in column.to_pylist()] for column in subjects
    ]
    for row, elements in enumerate(zip(*columns, strict=True)):
        check()
        there = [each for each in elements if each is not None]
        turns[row] = max((next_turn.get(each, 0) for each in there), default=0)
        next_turn.update(dict.fromkeys(there, int(turns[row]) + 1))
    return np.split(np.argsort(turns, kind="stable"), np.cumsum(np.bincount(turns))[:-1])
