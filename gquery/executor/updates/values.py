"""Values that become properties: in columns of one type each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_arrow
from gquery.storage.sorting import distinct, grouped_columns
from gquery.values.elements import tags_of

Places = NDArray[np.int64]


def parts_of(values: pa.Array) -> Iterator[tuple[Places, pa.Array]]:
    """Where the values of each of their types are, and these; all of them where they have one type."""
    if not pa.types.is_union(values.type):
        yield np.arange(len(values)), values
        return
    tags = tags_of(values)
    for tag in distinct(tags).tolist():
        places = np.flatnonzero(tags == tag)
        yield places, values.field(tag).take(to_arrow(places))


def tables_of(columns: Mapping[str, pa.Array], count: int) -> Iterator[tuple[Places, pa.Table]]:
    """Rows of properties as tables whose columns have one type each, and where the rows of each are."""
    tags = [tags_of(values) for values in columns.values() if pa.types.is_union(values.type)]
    first, kind_of = grouped_columns(np.array(tags, np.int64).reshape(len(tags), count))
    for kind in range(len(first)):
        places = np.flatnonzero(kind_of == kind)
        yield places, _table({key: _taken(values, places) for key, values in columns.items()}, len(places))


def _table(columns: Mapping[str, pa.Array], count: int) -> pa.Table:
    """Without properties that none of the rows has."""
    there = {key: values for key, values in columns.items() if values.null_count < count}
    if there:
        return pa.table(there)
    return pa.table({"": pa.nulls(count)}).select([])


def _taken(values: pa.Array, places: Places) -> pa.Array:
    """Values that have one type at these places."""
    if not pa.types.is_union(values.type):
        return values if len(places) == len(values) else values.take(to_arrow(places))
    (tag,) = distinct(tags_of(values)[places]).tolist()
    return values.field(tag).take(to_arrow(places))
