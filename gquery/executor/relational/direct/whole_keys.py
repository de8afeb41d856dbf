"""Groups by ids and other whole numbers: sorted as one number each, in less time than Arrow's groups take to begin."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import filled, to_arrow, to_numpy, truths
from gquery.storage.sorting import Positions, grouped

_BITS = 62  # of all keys together


def groups_of(keys: Sequence[pa.Array]) -> tuple[Positions, Positions] | None:
    """The first row of each group, in the order of these rows, and for each row the number of its group; None where a
    key is no whole number, is null, or all are too large together."""
    if not all(pa.types.is_integer(key.type) and not pa.types.is_uint64(key.type) for key in keys):
        return None
    if any(key.null_count for key in keys) or not len(keys[0]):
        return None
    code, most = np.zeros(len(keys[0]), np.int64), 1
    for key in keys:
        numbers = to_numpy(key)
        least = int(numbers.min())
        span = int(numbers.max()) - least + 1
        most *= span
        if most.bit_length() > _BITS:
            return None
        code = code * span + (numbers.astype(np.int64) - least)
    first, which = grouped(code)
    order = np.argsort(first)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return first[order], place[which]


def _numbers(values: pa.Array | None, which: Positions, groups: int) -> NDArray[np.int64]:
    return np.bincount(which, minlength=groups)


def _known(values: pa.Array | None, which: Positions, groups: int) -> NDArray[np.int64]:
    assert values is not None
    return np.bincount(which[truths(values.is_valid())] if values.null_count else which, minlength=groups)


def _sums(values: pa.Array | None, which: Positions, groups: int) -> NDArray[np.int64]:
    assert values is not None
    sums = np.zeros(groups, np.int64)
    np.add.at(sums, which, filled(values, 0))
    return sums


_MEASURES: dict[str, Callable[[pa.Array | None, Positions, int], NDArray[np.int64]]] = {
    "count_all": _numbers,
    "count": _known,
    "sum": _sums,
}


def groups_and_counts(
    keys: Sequence[pa.Array], names: Sequence[str], values: Sequence[pa.Array | None]
) -> tuple[pa.Array, list[pa.Array]] | None:
    """The first row of each group, and what functions of Arrow's groups, by their names, make of values; None where
    these are left to do it."""
    if not all(name in _MEASURES for name in names):
        return None
    found = groups_of(keys)
    if found is None:
        return None
    first, which = found
    made = [_MEASURES[name](value, which, len(first)) for name, value in zip(names, values, strict=True)]
    return to_arrow(first), [to_arrow(each) for each in made]
