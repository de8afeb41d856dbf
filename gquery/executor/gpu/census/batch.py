"""The memory of graphs that are made and counted together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.census.counts import Tallies
from gquery.executor.census.graph import Coloured
from gquery.executor.census.links import Links, painted
from gquery.executor.census.null import Null
from gquery.executor.gpu.census.launching import COUNTERS, BatchWords, Kernels
from gquery.executor.gpu.device import DeviceArray

_SPARSE = 4  # places in the table of links for each that is in it
_PATH = 14  # words that a warp keeps; as in walk.cuh
_ORDER_BITS = 20
_LARGE = 30  # bits of codes of which a graph may have millions
_PARTS, _SETS_OF_TWO = 8, 4  # tasks of a pair of neighbours; motifs whose sets are such a pair
_TURNS = 8  # for each block: the last to end keep the others waiting
_ITSELF = -1  # the number of the graph that others are like
_MODELS = {"degrees": 0, "mutual": 0, "stubs": 1, "erdos-renyi": 2}  # as in census.cuh


class Given(NamedTuple):
    """What graphs are made from."""

    graph: Coloured
    links: Links
    null: Null

    @property
    def kinds(self) -> int:
        """Values of the colour and state of a neighbour."""
        layout = self.graph.layout
        return 1 << (layout.colour_bits + layout.state_bits)

    @property
    def places(self) -> int:
        """Of a table of links; a power of two."""
        both = int(self.links.symmetric[self.links.groups].sum())
        return 1 << (max(1, _SPARSE * (len(self.links.tails) + both)) - 1).bit_length()

    @property
    def words(self) -> int:
        """How many words there can be beside a set."""
        return min(1 << self.word_bits, self.links.vertices)

    @property
    def word_bits(self) -> int:
        layout = self.graph.layout
        return layout.colour_bits + (layout.size - 2) * layout.state_bits

    @property
    def large(self) -> bool:
        """Whether tallies have millions of codes."""
        return bool(self.graph.layout.positions[self.graph.layout.size] >= _LARGE)

    @property
    def parts(self) -> int:
        """Of what a pair of neighbours begins, where that is much and a set has a third vertex."""
        return _PARTS if self.large and self.graph.layout.size > _SETS_OF_TWO else 1

    @property
    def order_bits(self) -> int:
        """Of a set of two vertices less, where it is worth keeping all their orders."""
        bits = int(self.graph.layout.positions[self.graph.layout.size - 2])
        return bits if bits <= _ORDER_BITS else 0

    @property
    def scratch_size(self) -> int:
        """Bytes of a warp, as `room_of` in walk.cuh deals them out."""
        size = 4 * (2 * self.links.vertices + (1 << self.word_bits) + self.words * (3 + self.kinds))
        return -(-size // 16) * 16

    @property
    def bytes_each(self) -> int:
        """Of one graph, without its tally."""
        vertices, links = self.links.vertices, len(self.links.tails)
        return 4 * (12 * links + self.places + vertices * (4 + self.kinds)) + 64


class Batch:
    """Graphs on the device. words: what kernels take."""

    def __init__(self, kernels: Kernels, given: Given, graphs: int, slots: int) -> None:
        self._device = kernels.device
        self._held: dict[str, DeviceArray] = {}
        self.words = BatchWords()
        self.graphs = graphs
        self._empty_slot = self._device.xp.array([-1, 0])
        self._put_originals(given)
        self._make_room(given, graphs)
        self.grow(slots)
        self._blocks = kernels.blocks
        self._new("paths", (kernels.warps, _PATH), np.int64)
        self._new("scratch", (kernels.warps, given.scratch_size), np.uint8)
        self._new("at_work", (kernels.blocks,), np.int64)
        self._new("begun", (graphs,), np.int64)
        self._hold("orders", self._device.xp.full(1 << given.order_bits, -1, np.int64))
        self._set(order_bits=given.order_bits)
        self.counters = self._device.xp.zeros(len(COUNTERS), np.int64)

    def _set(self, **words: int) -> None:
        for name, word in words.items():
            setattr(self.words, name, word)

    def _hold(self, name: str, array: DeviceArray) -> None:
        self._held[name] = array
        self._set(**{name: self._device.address(array)})

    def _new(self, name: str, shape: tuple[int, ...], dtype: Any) -> None:
        self._hold(name, self._device.xp.zeros(shape, dtype))

    def _put_originals(self, given: Given) -> None:
        graph, links, null = given
        layout, paint = graph.layout, painted(graph.colours)
        for name in ("size", "types", "directed", "state_bits", "colour_bits"):
            setattr(self.words.layout, name, getattr(layout, name))
        self.words.layout.positions[: layout.size + 1] = layout.positions.tolist()
        originals = {
            "colours": graph.colours, "tails": links.tails, "heads": links.heads, "types": links.types,
            "group_of": links.groups, "begins": links.begins, "symmetric": links.symmetric,
            "turnable": links.turnable, "painted": paint.vertices, "paint_begins": paint.begins,
        }  # fmt: skip
        for name, array in originals.items():
            self._hold(name, self._device.xp.asarray(array))
        self._set(
            vertices=links.vertices, links=len(links.tails), groups=len(links.symmetric), places=given.places,
            kinds=given.kinds, apart=links.apart, model=_MODELS[null.model], seed=null.seed,
            attempts=null.attempts(len(links.tails)), words=given.words, scratch_size=given.scratch_size,
            parts=given.parts,
        )  # fmt: skip

    def _make_room(self, given: Given, graphs: int) -> None:
        vertices, links = given.links.vertices, len(given.links.tails)
        for name in ("own_tails", "own_heads", "own_types", "own_groups"):
            self._new(name, (graphs, links), np.int32)
        self._new("table", (graphs, given.places), np.int32)
        for name in ("chance", "made", "changed", "kept", "room"):
            self._new(name, (graphs,), np.int64)
        self._new("bound", (graphs,), np.float64)
        for name in ("offsets", "middles", "ends"):
            self._new(name, (graphs, vertices + 1), np.int32)
        for name in ("neighbours", "states", "rows", "order"):
            self._new(name, (graphs, 2 * links), np.int32)
        self._new("last", (graphs, vertices), np.int32)
        self._new("degrees", (graphs, vertices, given.kinds), np.int32)
        self._tasks = vertices if given.graph.layout.size == 3 else 2 * links * given.parts

    def turn_to(self, first: int, graphs: int) -> None:
        """Begins with graphs of these numbers, at most as many as there is room for."""
        self.graphs = graphs
        turns = min(self._tasks, -(-_TURNS * self._blocks // graphs))
        self._set(first=first, graphs=graphs, tasks=self._tasks, turns=max(1, turns))
        self._held["begun"].fill(0)
        self._held["at_work"].fill(-1)
        self._held["made"].fill(-1)
        self._held["bound"].fill(0)
        self.counters.fill(0)

    def share_of(self, turns: int) -> float:
        """Which share of the batch is begun when so many turns are taken."""
        return min(1.0, turns / (self.graphs * int(self.words.turns)))

    def grow(self, slots: int) -> None:
        """Empty tallies of so many slots, a power of two."""
        graphs = len(self._held["room"])
        self._held.pop("tallies", None)  # before there are others
        self._new("tallies", (graphs, slots, 2), np.int64)
        self._set(slots=slots)
        self.slots = slots
        self._empty(slice(None))

    def _empty(self, graphs: slice) -> None:
        self._held["tallies"][graphs] = self._empty_slot
        self._held["room"][graphs].fill(self.most_codes)

    @property
    def most_codes(self) -> int:
        """Of a graph, that there is room for."""
        return self.slots // 4 * 3

    def emptied(self, whole: bool, together: int) -> Iterator[Tallies]:
        """Reads and empties the tallies, about so many slots at a time: of some graphs, or a part of one graph's."""
        graphs, part = max(1, together // self.slots), min(together, self.slots)
        for begin in range(0, self.graphs, graphs):
            rows = slice(begin, min(begin + graphs, self.graphs))
            for low in range(0, self.slots, part):
                ended = low + part >= self.slots
                yield self._tallies(rows, slice(low, low + part), whole and ended)
            self._empty(rows)

    def _tallies(self, rows: slice, slots: slice, whole: bool) -> Tallies:
        codes, counts = self._held["tallies"][rows, slots, 0], self._held["tallies"][rows, slots, 1]
        there = codes >= 0
        found = self.read(there.sum(axis=1), codes[there], counts[there])
        begins = np.concatenate([[0], np.cumsum(found[0])]).astype(np.int64)
        return Tallies(int(self.words.first) + rows.start, begins, found[1], found[2], whole)

    def read(self, *arrays: DeviceArray) -> list[NDArray[Any]]:
        return self._device.copied(arrays)()

    def seen(self) -> dict[str, int]:
        """The counters; those of one launch begin anew."""
        numbers = dict(zip(COUNTERS, self.read(self.counters)[0].tolist(), strict=True))
        self.counters[1:] = 0
        return numbers

    def told(self) -> tuple[int, int, float]:
        """Of all random graphs: how many switches were made, how many links found no place; and the highest bound of
        the counts."""
        graphs = slice(int(self.words.first == _ITSELF), self.graphs)
        made = (self._held[name][graphs] for name in ("changed", "kept"))
        changed, kept, bound = self.read(*made, self._held["bound"][: self.graphs])
        return int(changed.sum()), int((self.words.links - kept).sum()), float(bound.max())

    def pointer(self) -> int:
        """Of the counters."""
        return self._device.address(self.counters)
