"""Vertices by a property or the users' id: those that have the values of some rows.

Each distinct value is looked up once, in an index where there is one; else the column is scanned once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import pc, ranges, to_arrow, to_numpy, truths
from gquery.executor.lowering.seeds import Bound
from gquery.executor.progress import Control
from gquery.executor.relational.gather import stored_column
from gquery.planner.ir.expr import Attribute, Column
from gquery.storage.adjacency import order_of_pairs
from gquery.storage.graph import Snapshot
from gquery.values.elements import tags_of

Numbers = NDArray[np.int64]

_BLOCK = 1 << 20  # rows of a column that are scanned between two looks at the clock


def vertices_with(
    snapshot: Snapshot, tables: tuple[int, ...], key: Column, values: pa.Array, control: Control
) -> tuple[Numbers, Bound]:
    """The vertices of the tables whose `key` has one of some values, which are whole numbers, texts or days, or of
    several such types: for each value, int64[n], the row of those that have it; -1 where none does, and for null."""
    numbers = np.full(len(values), -1, np.int64)
    own, vertices, count = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)], 0
    for places, plain in _by_type(values):
        encoded = plain.dictionary_encode()
        numbers[places] = count + to_numpy(encoded.indices)
        for table in tables:
            which, rows = _rows(snapshot, table, key, encoded.dictionary, control)
            own.append((count + which).astype(np.int32))
            vertices.append(snapshot.vertex_numbers.ids_at(table, rows).astype(np.int32))
        count += len(encoded.dictionary)
    of_value, found = np.concatenate(own), np.concatenate(vertices)
    lengths = np.bincount(of_value, minlength=count)
    named = np.append(lengths, 0)[numbers] > 0
    bound = Bound(np.concatenate([[0], np.cumsum(lengths)]), found[order_of_pairs(of_value, found)])
    return np.where(named, numbers, -1), bound


def _by_type(values: pa.Array) -> Iterator[tuple[Numbers, pa.Array]]:
    """The values that are not null, by type, and where they are."""
    members = [values]
    tags = np.zeros(len(values), np.int8)
    if pa.types.is_union(values.type):
        members = [values.field(index) for index in range(values.type.num_fields)]
        tags = tags_of(values)
    for tag, member in enumerate(members):
        places = np.flatnonzero((tags == tag) & truths(member.is_valid()))
        if len(places):
            yield places, member.take(to_arrow(places))


def _rows(
    snapshot: Snapshot, table: int, key: Column, wanted: pa.Array, control: Control
) -> tuple[Numbers, NDArray[np.int32]]:
    """The rows of a table that have one of some distinct values, and which of them each has."""
    stored = stored_column(snapshot.vertex_tables[table], key)
    type_ = None if stored is None else _comparable(stored.type, wanted.type)
    if stored is None or type_ is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int32)
    wanted = wanted.cast(type_)
    name = None if key.attribute is Attribute.ID else key.key
    index = snapshot.indexes.index(table, name, len(wanted), control.check, control.memory)
    if index is not None:
        begins, ends = index.places(wanted)
        return np.repeat(np.arange(len(wanted)), ends - begins), index.order[ranges(begins, ends)]
    which, rows = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for begin in range(0, len(stored), _BLOCK):
        control.check()
        places = pc.index_in(stored.slice(begin, _BLOCK).cast(type_), wanted)
        rows.append(np.flatnonzero(truths(places.is_valid())))
        which.append(to_numpy(places)[rows[-1]].astype(np.int64))
        rows[-1] += begin
    return np.concatenate(which), np.concatenate(rows).astype(np.int32)


def _comparable(stored: pa.DataType, wanted: pa.DataType) -> pa.DataType | None:
    """The type in which values of two types are equal when they are the same; None where they never are."""
    types = pa.types
    if types.is_dictionary(stored):
        return _comparable(stored.value_type, wanted)
    if types.is_integer(stored) and types.is_integer(wanted):
        return pa.int64()
    if _is_text(stored) and _is_text(wanted):
        return pa.large_string() if types.is_large_string(stored) else pa.string()
    return stored if types.is_date32(stored) and types.is_date32(wanted) else None


def _is_text(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_))
