"""Which edges of a change may be in a match at some places of patterns, for all places in one pass.

An edge that fits a place has the type and the labels, and around it the neighbours that the rest of the pattern asks
for (`planner/ir/filters.py`). Most small changes have none for most places: what begins there need not run. What is
found around an edge is kept with its version, for whatever else stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
_SLICE = 1 << 13  # edges between two looks at the clock
_LOOPS = 4  # as in the kernel
_BITS = 64  # that tables share, where there are more

Sign = tuple[Seen | None, Seen | None] | None
"""What is asked around an edge: of its source, of its target or of both; None for what it is itself."""


class Sieve:
    """For some edges of patterns, each a place. Safe from several threads."""

    def __init__(self, places: Iterable[tuple[QueryGraph, QueryEdge]], schema: Schema) -> None:
        signs: dict[Sign, int] = {}
        asks: list[tuple[int, int, int]] = []
        rows: list[tuple[int, int, int]] = []
        for graph, edge in places:
            begin = len(asks)
            for sign, turned, bits in _asks(graph, edge, schema):
                asks.append((signs.setdefault(sign, len(signs)), turned, bits))
            ways = AHEAD | (0 if edge.directed else BACK) | (_LOOPS if edge.source == edge.target else 0)
            rows.append((begin, len(asks), ways))
        self._signs = tuple(signs)
        self._asks = np.array(asks, np.int64).reshape(-1, 3)
        self._places = np.array(rows, np.int64).reshape(-1, 3)

    def leads(self, parted: Parted, control: Control) -> Mapping[int, Leads | None]:
        """The edges that may be at each place, by its number; none for places where none may be, and None where all
        may be, as far as anybody has looked."""
        count = len(parted.apart)
        if count > _MOST:
            return dict.fromkeys(range(len(self._places)))
        from gquery.executor.cpu.kernels.nearby import sift  # Numba takes half a second to import

        around = _around.get(parted)
        if around is None:
            around = _around.setdefault(parted, _Around(parted))
        signs = np.array([around.sign(sign, control) for sign in self._signs], np.int64)
        ways = np.zeros((len(self._places), count), np.uint8)
        for begin in range(0, count, _SLICE):
            control.check()
            end = min(begin + _SLICE, count)
            sift(self._places, self._asks, signs, around.ends, around.segments, begin, end, ways)
        return {place: Leads(around.ends, ways[place]) for place in np.flatnonzero(ways.any(axis=1)).tolist()}


_Ask = tuple[Sign, int, int]
"""A sign, whether it is asked of the edge turned, and the bits of which it has one."""


def _asks(graph: QueryGraph, edge: QueryEdge, schema: Schema) -> Iterator[_Ask]:
    """What is told soonest comes first."""
    of_types = [place for place, table in enumerate(schema.edge_tables) if table.type in edge.types]
    yield (None, None), 0, _bits(graph.vertices[edge.source].tables)
    yield (None, None), 1, _bits(graph.vertices[edge.target].tables)
    yield None, 0, _bits(of_types)
    for near in nearby(graph, edge):
        yield _ask(near)


def _ask(near: Near) -> _Ask:
    bits = _bits(near.tables)
    if near.source is None:
        return (near.target, None), 1, bits
    return (near.source, near.target), 0, bits


def _bits(tables: Iterable[int]) -> int:
    """As a signed number of 64 bits."""
    found = 0
    for table in tables:
        found |= 1 << table % _BITS
    return found - (found >> _BITS - 1 << _BITS)


class _Around:
    """What there is around the edges that are apart, as the kernel reads it."""

    def __init__(self, parted: Parted) -> None:
        numbers = parted.vertex_numbers
        bits = np.array([_bits([table]) for table in range(max(len(parted.vertex_tables), len(parted.edge_tables)))])
        self._whole = parted.whole
        self.ends = np.stack(parted.edges.ends_of(parted.apart))
        self.segments = np.stack([numbers.starts, np.append(bits[numbers.tables], 0)])
        tables = parted.edges.numbers.tables_of(parted.apart)
        self._signs: dict[Sign, tuple[int, ...]] = {}
        self._keep: list[NDArray[np.int64] | Adjacency] = []
        self._known((None, None), bits[numbers.tables_of(self.ends)])
        self._known(None, bits[np.stack([tables, tables])])

    def sign(self, sign: Sign, control: Control) -> tuple[int, ...]:
        """Where its words are and what they are made of: a row of the kernel's `signs`."""
        if sign not in self._signs:
            assert sign is not None
            one, other = (self._lists(seen, control) for seen in sign)
            count = self.ends.shape[1]
            self._keep_sign(sign, np.zeros((2, count), np.int64), np.zeros((2, count), np.int64), one, other)
        return self._signs[sign]

    def _known(self, sign: Sign, words: NDArray[np.int64]) -> None:
        self._keep_sign(sign, words, np.ones_like(words), _NO_LISTS, _NO_LISTS)

    def _keep_sign(
        self, sign: Sign, words: NDArray[np.int64], known: NDArray[np.int64], one: _Lists, other: _Lists
    ) -> None:
        from gquery.executor.cpu.machine.native import address

        self._keep += [words, known]
        self._signs[sign] = address(words), address(known), int(other is not _NO_LISTS), *one, *other

    def _lists(self, seen: Seen | None, control: Control) -> _Lists:
        if seen is None:
            return _NO_LISTS
        from gquery.executor.cpu.candidates.addresses import lists_of

        adjacency = self._whole.adjacency(*seen, control.memory)
        self._keep.append(adjacency)
        return lists_of(adjacency)


_Lists = tuple[int, int, int, int]
_NO_LISTS: _Lists = (0, 0, 0, 0)

_around: WeakKeyDictionary[Parted, _Around] = WeakKeyDictionary()
