"""The data graph on the device: adjacencies and label sets, copied when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import NamedTuple

import numpy as np

from gquery.executor.backend import Masks, VertexValues
from gquery.executor.gpu.candidates.candidate_set import CandidateSet
from gquery.executor.gpu.device import Device, DeviceArray
from gquery.executor.gpu.zeros import Zeros
from gquery.executor.lowering.adjacency import adjacency_of
from gquery.executor.lowering.orders import Ranking
from gquery.executor.lowering.program import Rows
from gquery.executor.memory import Budget
from gquery.executor.progress import Control
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.relations import Binding, End, Relation, Types, Valued
from gquery.storage.adjacency import Adjacency
from gquery.storage.graph import Snapshot
from gquery.storage.schema import Direction

_ORIENTED_HUBS = 4096  # rows that are there as bits, too: 2 MB, which the caches hold
_BYTES_OF_BITS = 1 << 24  # the same where all positions may be in them
_BITS = 32
_SPREAD = 2  # bytes of each, at most, while they are made: a fraction of what is free
_SORTING = 128  # bytes of an edge, while it is sorted into rows: a fraction of what is free
_COPYING = 32  # the same of an entry, while rows are made of others
_PIECE = 1 << 26  # entries that are renumbered at a time


class Bits(NamedTuple):
    """Rows that are there as bits, too: of the positions from `first_hub` on, so many words each, at an address."""

    first_hub: int
    hubs: int
    words: int
    address: int


NO_BITS = Bits(0, 0, 0, 0)


@dataclass(frozen=True, slots=True, eq=False)
class DeviceRows:
    """An adjacency on the device: as `Adjacency`, with the addresses of offsets int64[count + 1] and of neighbours
    int32[m]. simple: no row has equal neighbours. longest, entries: no row, and not all together, have more.
    held: what keeps them where they are. oriented, bits: see `Rows` in kernels/program.cuh."""

    first: int
    count: int
    offsets: int
    neighbours: int
    simple: bool
    longest: int
    entries: int
    held: object
    oriented: bool = False
    bits: Bits = NO_BITS

    @property
    def words(self) -> tuple[int, int, int, int]:
        """How operations take it."""
        return self.first, self.count, self.offsets, self.neighbours

    @property
    def words_in_program(self) -> tuple[int, ...]:
        """How a `Rows` of kernels/program.cuh has it."""
        return *self.words, int(self.oriented), *self.bits


Arrays = tuple[DeviceArray, DeviceArray]
"""Offsets and neighbours."""


class RankedRows(NamedTuple):
    """An adjacency among the ranks of vertices, and the vertex of each rank, int32[universe]."""

    rows: DeviceRows
    vertices: DeviceArray


class ResidentGraph:
    """What queries on a snapshot share: adjacencies and vertices of tables, copied when they are first asked for, and
    counters. make_room: frees so many bytes where others can do without."""

    def __init__(self, device: Device, make_room: Callable[[ResidentGraph, int], None]) -> None:
        self.device = device
        self._make_room = make_room
        self.zeros = Zeros(device)
        self._adjacencies: dict[tuple[Relation, Direction], DeviceRows] = {}
        self._ranked: dict[tuple[Relation, Direction, bool, bool], RankedRows] = {}
        self._edges: dict[tuple[Relation, Direction], DeviceArray] = {}
        self._tables: dict[tuple[int, ...], CandidateSet] = {}
        self._values: dict[Hashable, DeviceArray] = {}

    def adjacency(self, relation: Relation, direction: Direction, snapshot: Snapshot, memory: Budget) -> DeviceRows:
        key = (relation, direction)
        if key not in self._adjacencies:
            self._adjacencies[key] = self._placed_once(relation, direction, snapshot, memory)
        return self._adjacencies[key]

    def _placed_once(self, relation: Relation, direction: Direction, snapshot: Snapshot, memory: Budget) -> DeviceRows:
        if isinstance(relation, Types) and relation.repeats:
            whole = self.adjacency(relation._replace(repeats=False), direction, snapshot, memory)
            return replace(whole, simple=True)
        sorted_here = self._sorted_here(relation, direction, snapshot)
        return sorted_here or self.copied(adjacency_of(relation, direction, snapshot, memory))

    def _sorted_here(self, relation: Relation, direction: Direction, snapshot: Snapshot) -> DeviceRows | None:
        """An adjacency that the host has not built, which takes it far longer. None where it has, or has to."""
        if not (isinstance(relation, Types) and relation.is_whole) or snapshot.has_adjacency(relation.types, direction):
            return None
        source, target, _ = snapshot.edges.of_types(relation.types)
        size = _SORTING * len(source)
        self._make_room(self, size)
        if not size or size > self.device.free_bytes():
            return None
        xp = self.device.xp
        source, target = _seen(xp, xp.asarray(source), xp.asarray(target), direction)
        first = int(source.min())
        lengths = xp.bincount(source - np.int32(first))
        offsets = xp.zeros(len(lengths) + 1, np.int64)
        xp.cumsum(lengths, out=offsets[1:])
        pairs = source.astype(np.int64) << 32 | target
        pairs.sort()
        simple = not bool((pairs[1:] == pairs[:-1]).any())
        return self.placed(first, (offsets, (pairs & 0x7FFFFFFF).astype(np.int32)), simple, int(lengths.max()))

    def edges(self, relation: Relation, direction: Direction, snapshot: Snapshot, memory: Budget) -> DeviceArray:
        """The edge behind each entry of an adjacency, int64[m]."""
        key = (relation, direction)
        if key not in self._edges:
            self._edges[key] = self.device.xp.asarray(adjacency_of(*key, snapshot, memory).compact().edges)
        return self._edges[key]

    def values(self, values: VertexValues) -> DeviceArray:
        """A number for each vertex."""
        if values.key not in self._values:
            self._values[values.key] = self.device.xp.asarray(values.make())
        return self._values[values.key]

    def copied(self, adjacency: Adjacency) -> DeviceRows:
        adjacency = adjacency.compact()
        self._make_room(self, adjacency.offsets.nbytes + adjacency.neighbours.nbytes)
        offsets, neighbours = map(self.device.xp.asarray, (adjacency.offsets, adjacency.neighbours))
        longest = int(np.diff(adjacency.offsets).max(initial=0))
        return self.placed(adjacency.first, (offsets, neighbours), adjacency.simple, longest)

    def placed(self, first: int, arrays: Arrays, simple: bool, longest: int) -> DeviceRows:
        offsets, neighbours = map(self.device.address, arrays)
        rows, entries = len(arrays[0]) - 1, len(arrays[1])
        return DeviceRows(first, rows, offsets, neighbours, simple, longest, entries, arrays)

    def kept(self, whole: DeviceRows, kept: DeviceArray, simple: bool) -> DeviceRows:
        """The entries for which `kept` is true; rows stay where they are."""
        offsets, neighbours = _arrays(whole)
        passed = self.device.xp.zeros(len(kept) + 1, np.int64)
        self.device.xp.cumsum(kept, dtype=np.int64, out=passed[1:])
        return self.placed(whole.first, (passed[offsets], neighbours[kept]), simple, whole.longest)

    def ranked(self, ranking: Ranking, snapshot: Snapshot, memory: Budget) -> RankedRows:
        """Vertices by how many neighbours they have, and an adjacency that is the same from both ends among these
        ranks."""
        key = (ranking.rows.relation, ranking.rows.direction, ranking.descending, ranking.oriented)
        if key not in self._ranked:
            whole = self.adjacency(ranking.rows.relation, ranking.rows.direction, snapshot, memory)
            self._ranked[key] = self._by_rank(whole, snapshot.vertex_count, ranking)
        return self._ranked[key]

    def _by_rank(self, whole: DeviceRows, universe: int, ranking: Ranking) -> RankedRows:
        xp, (offsets, _) = self.device.xp, _arrays(whole)
        lengths = xp.zeros(universe, np.int64)
        lengths[whole.first : whole.first + whole.count] = xp.diff(offsets)
        keys = (whole.longest - lengths if ranking.descending else lengths) * universe + xp.arange(universe)
        vertices = xp.sort(keys) % universe
        rank = xp.empty(universe, np.int64)
        rank[vertices] = xp.arange(universe)
        pairs = self._ranked_pairs(whole, rank, ranking.oriented)
        begins = xp.searchsorted(pairs, xp.arange(universe + 1) * universe)
        pairs %= universe
        rows = self.placed(0, (begins, pairs.astype(np.int32)), whole.simple, int(xp.diff(begins).max()))
        rows = replace(self._with_bits(rows, ranking), oriented=ranking.oriented)
        return RankedRows(rows, vertices.astype(np.int32))

    def _ranked_pairs(self, whole: DeviceRows, rank: DeviceArray, oriented: bool) -> DeviceArray:
        """The ranks of both ends of each entry as one number, ascending. Made piece by piece: a large graph leaves
        little room."""
        xp, (offsets, neighbours) = self.device.xp, _arrays(whole)
        # Of two entries of an edge one leads to a smaller rank, and of a loop none.
        pairs, filled = xp.empty(len(neighbours) // 2 if oriented else len(neighbours), np.int64), 0
        for begin in range(0, len(neighbours), _PIECE):
            entries = xp.arange(begin, min(begin + _PIECE, len(neighbours)))
            source = rank[xp.searchsorted(offsets, entries, side="right") - 1 + whole.first]
            target = rank[neighbours[entries]]
            if oriented:
                source, target = source[target < source], target[target < source]
            pairs[filled : filled + len(source)] = source * len(rank) + target
            filled += len(source)
        pairs = pairs[:filled]
        pairs.sort()
        return pairs

    def _with_bits(self, rows: DeviceRows, ranking: Ranking) -> DeviceRows:
        """The rows of hubs as bits, too, if there is room: most that is looked for is looked for there."""
        xp, (offsets, neighbours) = self.device.xp, _arrays(rows)
        if ranking.oriented:
            hubs = width = min(_ORIENTED_HUBS, rows.count // _BITS * _BITS)
        else:
            width = -(-rows.count // _BITS) * _BITS
            hubs = min(rows.count, _BYTES_OF_BITS * 8 // width)
        if _SPREAD * hubs * width > self.device.free_bytes():
            return rows
        first = 0 if ranking.descending else rows.count - hubs
        begin, end = int(offsets[first]), int(offsets[first + hubs])
        source = xp.searchsorted(offsets, xp.arange(begin, end), side="right") - 1 - first
        joined = xp.zeros(hubs * width, np.bool_)
        joined[source * width + neighbours[begin:end]] = True
        bits = xp.packbits(joined, bitorder="little")
        found = Bits(first, hubs, width // _BITS, self.device.address(bits))
        return replace(rows, held=(offsets, neighbours, bits), bits=found)

    def of_tables(self, tables: tuple[int, ...], snapshot: Snapshot) -> CandidateSet:
        """The vertices of some tables."""
        if tables not in self._tables:
            vertices = snapshot.vertex_numbers.ids(tables, np.int32)
            self._tables[tables] = CandidateSet.of(self.device, vertices, snapshot.vertex_count)
        return self._tables[tables]


class QueryRows:
    """The rows that one query walks: those of the graph, of its seeds, and what masks leave of them."""

    def __init__(
        self,
        graph: ResidentGraph,
        query: QueryGraph,
        snapshot: Snapshot,
        masks: Masks,
        control: Control,
    ) -> None:
        self.graph = graph
        self.query = query
        self.device = graph.device
        self.snapshot = snapshot
        self.masks = masks
        self.control = control
        self._known: dict[Hashable, DeviceRows] = {}
        self._of_edges: dict[tuple[int, int], tuple[Rows, DeviceRows]] = {}

    def of_edge(self, edge: int, source: int) -> Rows:
        """The rows of a query edge, seen from query vertex `source`."""
        return self._of_edge(edge, source)[0]

    def along(self, edge: int, source: int) -> DeviceRows:
        """The same on the device."""
        return self._of_edge(edge, source)[1]

    def _of_edge(self, edge: int, source: int) -> tuple[Rows, DeviceRows]:
        """Made once, since filters, sweeps and counts all ask."""
        known = self._of_edges.get((edge, source))
        if known is None:
            query_edge = self.query.edges[edge]
            rows = Rows(query_edge.relation, query_edge.direction(source), (), source, self.masked(edge))
            known = self._of_edges[edge, source] = rows, self.of(rows)
        return known

    def masked(self, edge: int) -> int | None:
        """The edge whose mask says which data edges count."""
        return edge if edge in self.masks.edges else None

    def of(self, rows: Rows) -> DeviceRows:
        """The entries that the mask leaves."""
        return self._made((rows.relation, rows.direction, rows.edge, "entries"), lambda: self._entries(rows))

    def distinct(self, rows: Rows) -> DeviceRows:
        """The same with each neighbour once."""
        return self._made(
            (rows.relation, rows.direction, rows.edge, "distinct"), lambda: self._neighbours(self.of(rows))
        )

    def ranked(self, ranking: Ranking) -> RankedRows | None:
        """The rows among ranks; None where rows have equal neighbours, or there is no room."""
        if not self._has_copies(ranking.rows):
            return None
        return self.graph.ranked(ranking, self.snapshot, self.control.memory)

    def _has_copies(self, rows: Rows) -> bool:
        """Whether there may be others of the graph's rows, in which no neighbour stands twice."""
        whole = self.graph.adjacency(*self._asked(rows))
        return whole.simple and _COPYING * whole.entries < self.device.free_bytes()

    def edges(self, rows: Rows) -> DeviceArray:
        """The edge behind each of the entries, int64[m]."""
        whole = self.graph.edges(*self._asked(rows))
        return whole if rows.edge is None else whole[self._mask(rows, whole)]

    def _made(self, key: Hashable, make: Callable[[], DeviceRows]) -> DeviceRows:
        if key not in self._known:
            self.control.check()
            self._known[key] = make()
        return self._known[key]

    def _asked(self, rows: Rows) -> tuple[Relation, Direction, Snapshot, Budget]:
        return rows.relation, rows.direction, self.snapshot, self.control.memory

    def _mask(self, rows: Rows, edges: DeviceArray) -> DeviceArray:
        assert rows.edge is not None
        return self.device.xp.asarray(self.masks.edges[rows.edge].mask)[edges]

    def _entries(self, rows: Rows) -> DeviceRows:
        asked = self._asked(rows)
        if isinstance(rows.relation, Binding | Valued | End):
            return self.graph.copied(adjacency_of(*asked, self.masks.seeds))
        whole = self.graph.adjacency(*asked)
        if rows.edge is None:
            return whole
        return self.graph.kept(whole, self._mask(rows, self.graph.edges(*asked)), whole.simple)

    def _neighbours(self, whole: DeviceRows) -> DeviceRows:
        if whole.simple:
            return whole
        offsets, neighbours = _arrays(whole)
        first = self.device.xp.ones(len(neighbours), np.bool_)
        first[1:] = neighbours[1:] != neighbours[:-1]
        begins = offsets[:-1]
        first[begins[begins < len(first)]] = True
        return self.graph.kept(whole, first, True)


def _arrays(rows: DeviceRows) -> Arrays:
    """Of an adjacency that is no candidate graph's."""
    assert isinstance(rows.held, tuple)
    return rows.held[0], rows.held[1]


def _seen(xp: ModuleType, source: DeviceArray, target: DeviceArray, direction: Direction) -> Arrays:
    """As `seen` of storage/adjacency.py, on the device."""
    if direction == "both":
        turned = source != target
        return xp.concatenate([source, target[turned]]), xp.concatenate([target, source[turned]])
    return (target, source) if direction == "in" else (source, target)
