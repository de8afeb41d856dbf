"""The codes of a property: each of its values, where these are few, has a number, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, TypeGuard

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import filled, pc, to_arrow, to_numpy
from gquery.executor.progress import Control
from gquery.executor.relational.gather import gather, plain_type
from gquery.planner.ir.expr import Attribute, Column, Expression, Kind
from gquery.records import record
from gquery.storage.graph import Snapshot
from gquery.storage.numbering import Segment
from gquery.storage.tables import EdgeTable, VertexTable

ROW_BYTES = 128  # about what a row of different values takes
_CODED = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.STRING, Kind.TEMPORAL})  # kinds whose equal values are the same
_SORTED = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.STRING})  # by Arrow as by everybody else
_MOST_VALUES = 2**12  # of a property that gets codes
_AT_ONCE = 2**16  # elements that are given codes between two looks at the clock


def may_have_codes(part: Expression) -> TypeGuard[Column]:
    """Whether it is a property of a kind that codes are made for."""
    return isinstance(part, Column) and part.attribute is Attribute.PROPERTY and part.type.kind in _CODED


def have_order(column: Column) -> bool:
    """Whether codes are in the order of the values."""
    return column.type.kind in _SORTED


@record(frozen=True, slots=True)
class Codes:
    """codes uint8[] or uint16[], by internal id: where the value is among `values`, which ascend and end with null.
    longest: bytes of one. A property with too many values has no codes."""

    codes: pa.Array
    values: pa.Array
    longest: int

    @property
    def nbytes(self) -> int:
        return int(self.codes.nbytes + self.values.nbytes)

    def of(self, ids: pa.Array) -> NDArray[np.uint8] | NDArray[np.uint16]:
        """The code of each id; null ids have the null's."""
        taken = self.codes.take(ids)
        codes: NDArray[np.uint8] | NDArray[np.uint16] = filled(taken, len(self.values) - 1)
        return codes

    def column(self, ids: NDArray[Any]) -> tuple[int, ...]:
        """Those of ids, one below zero for none, as `kernels/lists/tally.py` has them."""
        known = to_numpy(self.codes)
        addresses = pa.py_buffer(known).address, pa.py_buffer(ids).address
        return addresses[0], known.itemsize, addresses[1], ids.itemsize, len(self.values), 0


def elements_with(snapshot: Snapshot, kind: Kind, column: Column) -> int:
    """How many elements may have the property, and would be given codes."""
    return sum(end - begin for begin, end, *_ in _segments(snapshot, kind, column))


def _segments(snapshot: Snapshot, kind: Kind, column: Column) -> list[Segment]:
    """The ids of elements that may have the property."""
    tables: Sequence[VertexTable | EdgeTable] = snapshot.vertex_tables if kind is Kind.NODE else snapshot.edge_tables
    numbers = snapshot.vertex_numbers if kind is Kind.NODE else snapshot.edges.numbers
    return numbers.of(number for number, table in enumerate(tables) if column.key in table.columns.types)


def codes_of(snapshot: Snapshot, kind: Kind, column: Column, control: Control) -> Codes | None:
    """The codes of a property, made when they are first asked for: without values where there are too many; None where
    there is no memory for them."""
    elements = snapshot.vertex_count if kind is Kind.NODE else snapshot.edge_count
    size, available = 4 * elements + _MOST_VALUES * ROW_BYTES, control.memory.available
    if available is not None and available < 2 * size:
        return None
    key = ("codes", kind, column.key, plain_type(column.type))
    make = partial(_made, snapshot, kind, column, elements, control)
    return snapshot.cache.get(key, make, size, "the codes of a property", control.memory)


def _made(snapshot: Snapshot, kind: Kind, column: Column, elements: int, control: Control) -> Codes:
    places, parts = [], []
    for begin, end, *_ in _segments(snapshot, kind, column):
        for first in range(begin, end, _AT_ONCE):
            control.check()
            last = min(first + _AT_ONCE, end)
            ids = np.arange(first, last, dtype=np.int32 if kind is Kind.NODE else np.int64)
            try:
                part = gather(snapshot, kind, column, to_arrow(ids)).dictionary_encode()
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                return _no_codes()  # a table that nobody asks for stores values of another type
            if len(part.dictionary) > _MOST_VALUES:
                return _no_codes()
            places.append(slice(first, last))
            parts.append(part)
    encoded = pa.chunked_array(parts, pa.dictionary(pa.int32(), plain_type(column.type))).unify_dictionaries().chunks
    values = encoded[0].dictionary if encoded else pa.nulls(0, plain_type(column.type))
    if len(values) > _MOST_VALUES:
        return _no_codes()
    ranks = np.arange(len(values) + 1)
    if have_order(column):
        order = filled(pc.sort_indices(values), 0)
        ranks[order], values = np.arange(len(values)), values.take(to_arrow(order))
    codes = np.full(elements, len(values), np.min_scalar_type(len(values)))
    for place, part in zip(places, encoded, strict=True):
        codes[place] = ranks[filled(part.indices, len(values))]
    longest = pc.max(pc.binary_length(values)).as_py() if column.type.kind is Kind.STRING else None
    return Codes(to_arrow(codes), pa.concat_arrays([values, pa.nulls(1, values.type)]), longest or ROW_BYTES)


def _no_codes() -> Codes:
    return Codes(pa.array([], pa.uint16()), pa.array([], pa.null()), 0)
