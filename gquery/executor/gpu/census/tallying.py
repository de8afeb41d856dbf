"""Random graphs and their subgraphs by code, batch after batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gquery.errors import MemoryLimitError, UnsupportedError
from gquery.executor.census.counts import Tallies, too_many
from gquery.executor.census.graph import Coloured
from gquery.executor.census.links import links_of
from gquery.executor.census.null import Null
from gquery.executor.gpu.census.batch import Batch, Given
from gquery.executor.gpu.census.handing import Handing
from gquery.executor.gpu.census.launching import COUNT, MAKE, Kernels
from gquery.stopping import Check

_MOST_GRAPHS, _MOST_LARGE = 1 << 12, 100  # of a batch; of one with large tallies: what is read meanwhile is less
_BATCHES = 2  # one is counted, one read
_FEWEST_SLOTS, _MOST_SLOTS = 1 << 10, 1 << 24
_SLOTS_FOR_WARP = 1 << 12  # that a warp may reserve for a set
_SLOTS_OF_LARGE = 1 << 23  # where a tally has millions of codes
_SLOT = 16  # bytes
_SHARE = 6  # of the free memory the graphs of a batch take a sixth, its tallies another; reading takes memory, too
_AT_ONCE, _HOST_SHARE = 1 << 25, 64  # slots whose codes are read together; of a memory limit, bytes for each of them
_MOST_WORDS, _MOST_KINDS = 16, 8  # bits
_MOST = 2.0**62  # subgraphs, as often as they are found


class Tallying:
    """Counts a graph, and random graphs like it. done: the share that is counted. changed, left_out: as of `Random`, of
    the graphs so far."""

    def __init__(self, kernels: Kernels, graph: Coloured, null: Null, memory_limit: int | None, check: Check) -> None:
        """memory_limit: of the host, bytes. Raises UnsupportedError for more labels and types than a warp has room
        for."""
        self._kernels = kernels
        self._limit, self._check = memory_limit, check
        links = links_of(graph.arcs, graph.colours, bool(graph.layout.directed), null.model == "mutual")
        self._given = Given(graph, links, null)
        if self._given.word_bits > _MOST_WORDS or self._given.kinds > 1 << _MOST_KINDS:
            raise UnsupportedError(
                f"motifs of {graph.layout.size} vertices have too many labels or types for the GPU",
                hint="use device='cpu', or leave the colours out",
            )
        self.done, self.changed, self.left_out = 0.0, 0, 0

    def run(self, graphs: int, hand: Handing) -> None:
        """Hands on tallies, those of the graph itself first. Those of a batch are read while the next is counted, as
        they are wanted: to bring them to their classes takes the host about as long. Raises QueryTimeout,
        QueryCancelled, MemoryLimitError, UnsupportedError, and ExecutionError where the device fails."""
        with self._kernels.device.guarded():
            self._kernels.device.use()
            together, batches = self._together(graphs + 1), list[Batch]()
            left: Iterator[Tallies] = iter(())
            for turn, first in enumerate(range(-1, graphs, together)):
                if turn < _BATCHES:
                    batches.append(Batch(self._kernels, self._given, together, self._slots(together, batches)))
                batch = batches[turn % _BATCHES]
                batch.turn_to(first, min(together, graphs - first))
                for share in self._counted(batch, hand):
                    self.done = (first + 1 + share * batch.graphs) / (graphs + 1)
                    self._check()
                    hand.offer(left)
                hand.give(left)
                left = batch.emptied(True, self._read_together())
            hand.give(left)

    def _counted(self, batch: Batch, hand: Handing) -> Iterator[float]:
        """Counts a batch, in steps; says which share of it is done."""
        while self._launched(batch, MAKE, self._kernels.attempts)["unmade"]:
            yield 0.0
        while (seen := self._launched(batch, COUNT, self._kernels.looks))["undone"]:
            if seen["full"]:
                hand.give(batch.emptied(False, self._read_together()))
                self._make_room(batch, seen["wanted"])
            yield batch.share_of(seen["next"])
        changed, left_out, bound = batch.told()
        if bound > _MOST:
            raise too_many()
        self.changed += changed
        self.left_out += left_out
        yield 1.0

    def _read_together(self) -> int:
        """Slots of the tallies, in the host's memory."""
        return _AT_ONCE if self._limit is None else max(1, min(_AT_ONCE, self._limit // _HOST_SHARE))

    def _launched(self, batch: Batch, name: str, budget: int) -> dict[str, int]:
        self._kernels.launch(name, batch.words, batch.pointer(), budget)
        return batch.seen()

    def _together(self, graphs: int) -> int:
        """Graphs of a batch: as many as fit, in batches of about the same size."""
        free = self._kernels.device.free_bytes() // _SHARE
        large = self._given.large and free >= _SLOT * _SLOTS_OF_LARGE
        slots, most = (_SLOTS_OF_LARGE, _MOST_LARGE) if large else (_FEWEST_SLOTS, _MOST_GRAPHS)
        most = min(most, free // max(self._given.bytes_each, _SLOT * slots))
        if not most:
            raise MemoryLimitError("the GPU has no room for a graph of this size", hint="use device='cpu'")
        return -(-graphs // -(-graphs // most))

    def _slots(self, graphs: int, before: Sequence[Batch]) -> int:
        """Of each tally: what all warps may want at once, or what batches before have come to, as far as there is
        memory."""
        wanted = 1 << (_SLOTS_FOR_WARP * max(4, -(-self._kernels.warps // graphs)) - 1).bit_length()
        wanted = max(wanted, *(batch.slots for batch in before), 0)
        return max(_FEWEST_SLOTS, min(wanted, self._most_slots(graphs)))

    def _most_slots(self, graphs: int) -> int:
        fitting = self._kernels.device.free_bytes() // _SHARE // (_SLOT * graphs)
        return min(_MOST_SLOTS, 1 << max(0, fitting.bit_length() - 1))

    def _make_room(self, batch: Batch, wanted: int) -> None:
        """In tallies that are empty: twice as many slots where there is memory, and as many as a set wants."""
        most = max(batch.slots, self._most_slots(batch.graphs))
        slots = min(most, max(2 * batch.slots, 1 << (wanted * 4 // 3).bit_length()))
        if slots > batch.slots:
            batch.grow(slots)
        if wanted > batch.most_codes:
            raise MemoryLimitError("the GPU has no room for the motifs of a set of vertices", hint="use device='cpu'")
