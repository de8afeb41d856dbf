"""MERGE: rows for which a pattern was not found get it, those with the same values the same one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import comparable, to_arrow, to_numpy, truths
from gquery.errors import ExecutionError
from gquery.executor.relational.unions import cast, is_known
from gquery.executor.updates.creating import Columns, created
from gquery.executor.updates.rows import GivenRows
from gquery.planner.ir.updates import Merge
from gquery.storage.changes.batch import Batch
from gquery.storage.graph import Snapshot
from gquery.storage.sorting import grouped_columns


class Merged(NamedTuple):
    """made: the rows for which something was made, bool[rows]: of several with the same values the first."""

    batch: Batch
    columns: Columns
    made: NDArray[np.bool_]


def merged(merge: Merge, rows: GivenRows, snapshot: Snapshot) -> Merged:
    """What is made, and all columns of the pattern's elements. Raises ExecutionError for properties that are null: what
    has none is never found again."""
    for given in merge.create.properties:
        if not truths(is_known(rows.column(given.column))).all():
            raise ExecutionError(
                f"MERGE cannot look for `{given.key}`, which is null in a row",
                hint="leave such rows out before, or set the property afterwards",
            )
    missing = np.flatnonzero(~truths(rows.column(merge.create.made[0]).is_valid()))
    first, same = _distinct([rows.column(key).take(to_arrow(missing)) for key in merge.keys], len(missing))
    batch, new = created(merge.create, rows.take(missing[first]), snapshot)
    made = np.zeros(rows.count, np.bool_)
    made[missing[first]] = True
    place = np.full(rows.count, -1)
    place[missing] = same
    columns = {name: _filled(rows.column(name), values, place) for name, values in new.items()}
    return Merged(batch, columns, made)


def _filled(found: pa.Array, new: pa.Array, place: NDArray[np.int64]) -> pa.Array:
    """What was found, and elsewhere the new element of a place."""
    both = pa.concat_arrays([cast(found, new.type), new])
    return both.take(to_arrow(np.where(place < 0, np.arange(len(found)), len(found) + place)))


def _distinct(keys: list[pa.Array], count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first row of each of the different values, and for each row which of these has its values."""
    if not count:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    codes = np.array([_codes(key) for key in keys] or [np.zeros(count, np.int64)])
    first, same = grouped_columns(codes)
    order = np.argsort(first)  # in the order of rows
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return first[order], rank[same]


def _codes(values: pa.Array) -> NDArray[np.int64]:
    """A number for each value, equal where values are: NaN is equal to nothing, 0.0 to -0.0."""
    if pa.types.is_floating(values.type):
        return np.unique(to_numpy(values), return_inverse=True, equal_nan=False)[1]
    try:
        return to_numpy(values.dictionary_encode().indices).astype(np.int64)
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError):  # values that Arrow has no hash of, such as lists
        known: dict[object, int] = {}
        return np.array([known.setdefault(value, len(known)) for value in comparable(values)], np.int64)
