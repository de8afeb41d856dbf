"""Which edges of a change may be in a match at some places of patterns, for all places in one pass.

An edge that fits a place has the type and the labels, and around it the neighbours that the rest of the pattern asks
for (`planner/ir/filters.py`). Most small changes have none for most places: what begins there need not run. What is
found around an edge is kept with its version, for whatever else stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from gquery.executor.lowering.reading import AHEAD, BACK, Leads
from gquery.executor.progress import Control
from gquery.planner.ir.filters import Near, Seen, nearby
from gquery.planner.ir.query_graph import QueryEdge, QueryGraph
from gquery.storage.adjacency import Adjacency
from gquery.storage.parted.snapshot import Parted
from gquery.storage.schema import Schema

_MOST = 1 << 20  # edges: what is found around so many takes a hundred megabytes, and some of them will fit
_FEW = 1 << 8  # edges that need not be put together by class: each is a class of its own
_SLICE = 1 << 13  # edges between two looks at the clock
_LOOPS = 4  # as in the kernel
_BITS = 64  # that tables share, where there are more

Sign = tuple[Seen, Seen | None]
"""What is asked around an edge: of one of its ends, or of that one and the other."""


class Sieve:
    """For some edges of patterns, each a place. Safe from several threads."""

    def __init__(self, places: Iterable[tuple[QueryGraph, QueryEdge]], schema: Schema) -> None:
        signs: dict[Sign, int] = {}
        asks: list[tuple[int, int, int]] = []
        rows: list[tuple[int, ...]] = []
        for graph, edge in places:
            begin = len(asks)
            for sign, turned, bits in map(_ask, nearby(graph, edge)):
                asks.append((signs.setdefault(sign, len(signs)), turned, bits))
            rows.append((*_place(graph, edge, schema), begin, len(asks)))
        self._signs = tuple(signs)
        self._asks = np.array(asks, np.int64).reshape(-1, 3)
        self._places = np.array(rows, np.int64).reshape(-1, 6)

    def leads(self, parted: Parted, control: Control) -> Mapping[int, Leads | None]:
        """The edges that may be at each place, by its number; none for places where none may be, and None where all
        may be, as far as anybody has looked."""
        count = len(parted.apart)
        if count > _MOST:
            return dict.fromkeys(range(len(self._places)))
        from gquery.executor.cpu.kernels.nearby import fits_any, sift  # Numba takes half a second to import

        around = _around.get(parted)
        if around is None:
            around = _around.setdefault(parted, _Around(parted))
        if not fits_any(self._places, around.classes):
            return {}
        signs = np.array([around.sign(sign, control) for sign in self._signs], np.int64).reshape(-1, 11)
        ways = np.zeros((len(self._places), count), np.uint8)
        for begin in range(0, count, _SLICE):
            control.check()
            end = min(begin + _SLICE, count)
            sift(self._places, self._asks, signs, around.ends, around.classes, around.segments, begin, end, ways)
        return {place: Leads(around.ends, ways[place]) for place in np.flatnonzero(ways.any(axis=1)).tolist()}


_Ask = tuple[Sign, int, int]
"""A sign, whether it is asked of the edge turned, and the bits of which it has one."""


def _place(graph: QueryGraph, edge: QueryEdge, schema: Schema) -> tuple[int, ...]:
    """The ways in which data edges are looked at, and the bits of their tables and of those of their ends."""
    ways = AHEAD | (0 if edge.directed else BACK) | (_LOOPS if edge.source == edge.target else 0)
    of_types = (number for number, table in enumerate(schema.edge_tables) if table.type in edge.types)
    source, target = (graph.vertices[end].tables for end in (edge.source, edge.target))
    return ways, _bits(of_types), _bits(source), _bits(target)


def _ask(near: Near) -> _Ask:
    bits = _bits(near.tables)
    if near.source is not None:
        return (near.source, near.target), 0, bits
    assert near.target is not None
    return (near.target, None), 1, bits


def _bits(tables: Iterable[int]) -> int:
    """As a signed number of 64 bits."""
    found = 0
    for table in tables:
        found |= 1 << table % _BITS
    return found - (found >> _BITS - 1 << _BITS)


_Lists = tuple[int, int, int, int]
_NO_LISTS: _Lists = (0, 0, 0, 0)


def _bit_of(tables: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same of one table each."""
    bits: NDArray[np.int64] = np.left_shift(1, tables & _BITS - 1)
    return bits


class _Around:
    """What there is around the edges that are apart, as the kernel reads it."""

    def __init__(self, parted: Parted) -> None:
        numbers = parted.vertex_numbers
        self.ends = np.stack(parted.ends_apart)
        tables = np.empty(shape=(3, len(parted.apart)), dtype=np.int64)
        tables[0], tables[1:] = parted.edges.numbers.tables_of(parted.apart), numbers.tables_of(self.ends)
        begins = np.arange(len(parted.apart))
        if len(begins) > _FEW:
            order = np.lexsort(tables)
            tables, self.ends = tables[:, order], self.ends[:, order]
            begins = np.flatnonzero(np.append(True, (tables[:, 1:] != tables[:, :-1]).any(axis=0)))
        self.classes = np.empty((4, len(begins) + 1), np.int64)
        self.classes[0, :-1], self.classes[0, -1] = begins, len(parted.apart)
        self.classes[1:, :-1] = _bit_of(tables[:, begins])
        self.segments = np.empty((2, len(numbers.starts)), np.int64)
        self.segments[0], self.segments[1, :-1] = numbers.starts, _bit_of(numbers.tables)
        self._whole = parted.whole
        self._signs: dict[Sign, tuple[int, ...]] = {}
        self._rows: dict[Seen, _Lists] = {}
        self._keep: list[NDArray[np.uint64] | Adjacency] = []

    def sign(self, sign: Sign, control: Control) -> tuple[int, ...]:
        """Where its words are and what they are made of: a row of the kernel's `signs`."""
        if sign not in self._signs:
            from gquery.executor.cpu.machine.native import address

            one, other = sign
            both = np.zeros((2, 2 * self.ends.shape[1]), np.uint64)
            self._keep.append(both)
            words, lists = address(both), self._lists(one, control)
            others = _NO_LISTS if other is None else self._lists(other, control)
            self._signs[sign] = words, words + both.nbytes // 2, int(other is not None), *lists, *others
        return self._signs[sign]

    def _lists(self, seen: Seen, control: Control) -> _Lists:
        if seen not in self._rows:
            from gquery.executor.cpu.candidates.addresses import lists_of

            adjacency = self._whole.adjacency(*seen, control.memory)
            self._keep.append(adjacency)
            self._rows[seen] = lists_of(adjacency)
        return self._rows[seen]


_around: WeakKeyDictionary[Parted, _Around] = WeakKeyDictionary()
