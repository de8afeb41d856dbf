"""From users' ids to internal vertices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import pc
from gquery.storage import sorting
from gquery.storage.load.rejects import Rows
from gquery.storage.load.text.values import integers_where_canonical

ABSENT = -1
_SPARSE = 4  # a table over the whole range of integer ids may be this many times longer than there are ids


class Lookup:
    """Finds vertices by id. `ids`: int64 or string without nulls; `vertices`: int32, the vertex of each id.

    Where an id occurs more than once the first one is found.
    """

    def __init__(self, ids: pa.ChunkedArray, vertices: NDArray[np.int32]) -> None:
        self._ids = ids
        self._vertices = vertices
        self._least = 0
        self._dense: NDArray[np.int32] | None = None
        if ids.type == pa.int64() and len(ids):
            numbers = ids.to_numpy()
            least, greatest = int(numbers.min()), int(numbers.max())
            if greatest - least < _SPARSE * len(ids) + (1 << 16):
                self._least = least
                self._dense = np.full(greatest - least + 1, ABSENT, np.int32)
                self._dense[numbers[::-1] - least] = vertices[::-1]  # backwards, so that the first one stays

    def find(self, ids: pa.ChunkedArray) -> NDArray[np.int32]:
        """The vertex of each id, ABSENT where there is none."""
        ids = as_type(ids, self._ids.type)
        if len(ids) == 0 or len(self._ids) == 0:
            return np.full(len(ids), ABSENT, np.int32)
        if self._dense is not None and ids.null_count == 0:
            numbers = ids.to_numpy()
            if int(numbers.min()) >= self._least and int(numbers.max()) < self._least + len(self._dense):
                dense: NDArray[np.int32] = self._dense[numbers - self._least]
                return dense
        positions = pc.fill_null(pc.index_in(ids, value_set=self._ids), ABSENT).to_numpy()
        return np.where(positions < 0, np.int32(ABSENT), self._vertices[positions])


def as_type(ids: pa.ChunkedArray, type: pa.DataType) -> pa.ChunkedArray:
    """Ids as int64 or string; null where a string is no integer."""
    if ids.type == type:
        return ids
    return integers_where_canonical(ids) if type == pa.int64() else ids.cast(type)


def concat_ids(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """All ids one after another: strings as soon as some are."""
    types = {column.type for column in columns}
    type = pa.string() if pa.string() in types else pa.int64()
    return pa.chunked_array([chunk for column in columns for chunk in column.cast(type).chunks], type)


def repeats(ids: pa.ChunkedArray) -> Rows:
    """Positions whose id occurred before, int64[k]."""
    if _are_distinct(ids):
        return np.zeros(0, np.int64)
    first = pc.index_in(ids, value_set=ids).to_numpy()
    return np.flatnonzero(first != np.arange(len(ids)))


def _are_distinct(ids: pa.ChunkedArray) -> bool:
    if ids.type != pa.int64():
        return bool(pc.count_distinct(ids).as_py() == len(ids))
    numbers = np.sort(ids.to_numpy())  # far faster than a hash of each
    return bool(np.all(numbers[1:] > numbers[:-1]))


def distinct(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Each id once: integers ascending, strings in the order in which they first appear."""
    ids = concat_ids(columns)
    if ids.type == pa.string() or len(ids) == 0:
        return pa.chunked_array([pc.unique(ids)], ids.type)
    numbers = ids.to_numpy()
    least, greatest = int(numbers.min()), int(numbers.max())
    if greatest - least < _SPARSE * len(numbers) + (1 << 16):
        present = np.zeros(greatest - least + 1, np.bool_)
        present[numbers - least] = True
        return pa.chunked_array([pa.array(np.flatnonzero(present) + least)])
    return pa.chunked_array([pa.array(sorting.distinct(numbers))])
