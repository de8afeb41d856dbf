"""LOC signatures: which kinds of neighbours each vertex has, in 64 bits (G-Morph, section 3.1).

A *kind* is an edge type, its direction as seen from the vertex, and the neighbour's table. G-Morph hashes kinds to
bits; here the 63 kinds with most edges have bits of their own, so that asking for one is exact, and the others share
the last. Saved graphs hold signatures: other bits need another version of the format.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gquery.arrays import ranges
from gquery.lasting.locks import lasting_lock
from gquery.storage.counted.copies import PrivateCopies
from gquery.storage.schema import Direction
from gquery.storage.sorting import distinct

if TYPE_CHECKING:
    from gquery.storage.graph import Snapshot

_BYTES = 8
_NOBODY = np.zeros(0, np.int64)


class CountedSignatures:
    """Signatures that are counted when first asked for; snapshots that have the same edges share them. A vertex that is
    newer than they are has none of its bits. Safe from several threads."""

    def __init__(self, base: PrivateCopies | None = None, touched: NDArray[np.int64] = _NOBODY) -> None:
        """base: the signatures of a snapshot that had the same bits. touched: the vertices that may have others now."""
        self._base = base
        self._touched = touched
        self._words: NDArray[np.uint64] | None = None
        self._lock = lasting_lock()

    def __call__(self, bits: int, snapshot: Snapshot) -> NDArray[np.uint64]:
        """All bits, whichever are asked for."""
        with self._lock:
            if self._words is None:
                self._words = self._made(snapshot)
            return self._words

    def _made(self, snapshot: Snapshot) -> NDArray[np.uint64]:
        if self._base is None:
            return count_signatures(snapshot)
        words = self._base.copy(snapshot.vertex_count)
        words[self._touched] = signatures_of(self._touched, snapshot)
        return words

    def changed(self, touched: NDArray[np.int64], most: int) -> CountedSignatures:
        """Those of a graph in which vertices may have others. most: so many are not looked at one by one."""
        with self._lock:
            if self._base is None and self._words is not None:
                self._base = PrivateCopies(self._words)
            every = distinct(np.concatenate([self._touched, touched]))
            return (
                CountedSignatures() if self._base is None or len(every) > most else CountedSignatures(self._base, every)
            )


def signatures_of(vertices: NDArray[np.int64], snapshot: Snapshot) -> NDArray[np.uint64]:
    """The signatures of some vertices, by their rows."""
    found = np.zeros(len(vertices), np.uint64)
    bits: dict[tuple[str, Direction], NDArray[np.uint64]] = {}
    for (type_, direction, table), bit in snapshot.invariants.kinds.items():
        of_tables = bits.setdefault((type_, direction), np.zeros(len(snapshot.vertex_tables), np.uint64))
        of_tables[table] |= np.uint64(1) << np.uint64(bit)
    for (type_, direction), of_tables in bits.items():
        adjacency = snapshot.adjacency([type_], direction)
        begins, ends = adjacency.bounds(vertices)
        others = adjacency.neighbours[ranges(begins, ends)]
        rows = np.repeat(np.arange(len(vertices)), ends - begins)
        np.bitwise_or.at(found, rows, of_tables[snapshot.vertex_numbers.tables_of(others)])
    return found


def count_signatures(snapshot: Snapshot) -> NDArray[np.uint64]:
    """The signature of every vertex, uint64[vertices]. Eight kinds at a time, each edge sets a flag at both ends."""
    sides = [side for type_ in snapshot.schema.types for side in _sides(snapshot, type_)]
    found = np.zeros((snapshot.vertex_count, _BYTES), np.uint8)
    for byte in sorted({byte for _, bits in sides for byte in distinct(bits >> 3).tolist()}):
        flags = np.zeros((snapshot.vertex_count, 8), np.bool_)
        for vertices, bits in sides:
            here = bits >> 3 == byte
            if len(bits) > 1:
                flags[vertices[here], bits[here] & 7] = True
            elif here[0]:
                flags[vertices, bits[0] & 7] = True
        found[:, byte] = np.packbits(flags, axis=1, bitorder="little")[:, 0]
    return found.view("<u8")[:, 0].astype(np.uint64, copy=False)


def has_bit(words: NDArray[np.uint64], bit: int, snapshot: Snapshot) -> bool:
    """Whether one bit of signatures says what the edges say. There may be fewer words than vertices of the snapshot:
    those behind have no edges."""
    tables_of: dict[tuple[str, Direction], list[int]] = {}
    for (type_, direction, table), place in snapshot.invariants.kinds.items():
        if place == bit:
            tables_of.setdefault((type_, direction), []).append(table)
    found = np.zeros(len(words), np.bool_)
    for (type_, direction), tables in tables_of.items():
        for edges in snapshot.edge_tables:
            if edges.type == type_ and edges.count:
                own, others = edges.ends if direction == "out" else edges.ends[::-1]
                found[_leading_into(own, others, tables, snapshot)] = True
    return np.array_equal(words >> np.uint64(bit) & np.uint64(1), found)


def _leading_into(
    own: NDArray[np.int32], others: NDArray[np.int32], tables: list[int], snapshot: Snapshot
) -> NDArray[np.int32]:
    """The vertices whose edges lead to one of the tables."""
    numbers = snapshot.vertex_numbers
    wanted = np.isin(numbers.tables, tables)  # by segment
    first, last = numbers.segments_of([others.min(), others.max()])
    if wanted[first : last + 1].all():
        return own
    inside: NDArray[np.int32] = own[wanted[numbers.segments_of(others)]]
    return inside


def _sides(snapshot: Snapshot, of_type: str) -> Iterator[tuple[NDArray[np.int32], NDArray[np.uint8]]]:
    """The vertices at either end of the edges of a type, and the bits of what is at the other: one bit when it is
    always the same."""
    source, target, _ = snapshot.edges.of_types({of_type})
    if not len(source):
        return
    kinds, numbers = snapshot.invariants.kinds, snapshot.vertex_numbers
    for direction, vertices, others in (("out", source, target), ("in", target, source)):
        segments = numbers.segments_of([others.min(), others.max()])
        segments = numbers.segments_of(others) if segments[0] < segments[1] else segments[:1]
        bit_of = np.zeros(len(snapshot.vertex_tables), np.uint8)
        for (type_, seen, table), bit in kinds.items():
            if (type_, seen) == (of_type, direction):
                bit_of[table] = bit
        yield vertices, bit_of[numbers.tables][segments]
