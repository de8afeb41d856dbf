"""Random graphs and their subgraphs by code, batch after batch."""

from __future__ import annotations

from collections.abc import Iterator

from gquery.errors import MemoryLimitError, UnsupportedError
from gquery.executor.census.counts import Tallies, too_many
from gquery.executor.census.graph import Coloured
from gquery.executor.census.links import links_of
from gquery.executor.census.null import Null
from gquery.executor.gpu.census.batch import Batch, Given
from gquery.executor.gpu.census.launching import COUNT, MAKE, Kernels
from gquery.stopping import Check

_MOST_GRAPHS = 1 << 12  # of a batch
_FEWEST_SLOTS, _MOST_SLOTS = 1 << 10, 1 << 24
_SLOTS_FOR_WARP = 1 << 12  # that a warp may reserve for a set
_SLOTS_OF_LARGE = 1 << 22  # where a tally has millions of codes
_SLOT = 16  # bytes
_SHARE = 3  # of the free memory graphs take a third, tallies another: to read these takes memory, too
_AT_ONCE, _HOST_SHARE = 1 << 25, 64  # slots whose codes are read together; of a memory limit, bytes for each of them
_MOST_WORDS, _MOST_KINDS = 16, 8  # bits
_MOST = 2.0**62  # subgraphs, as often as they are found


class Tallying:
    """Counts a graph, and random graphs like it. changed, left_out: as of `Random`, of the graphs so far."""

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
        self.changed = self.left_out = 0

    def run(self, graphs: int) -> Iterator[Tallies]:
        """Those of the graph itself come first. Raises QueryTimeout, QueryCancelled, MemoryLimitError,
        UnsupportedError, and ExecutionError where the device fails."""
        with self._kernels.device.guarded():
            self._kernels.device.use()
            together = self._together(graphs + 1)
            batch = Batch(self._kernels, self._given, together, self._slots(together))
            for first in range(-1, graphs, together):
                batch.turn_to(first, min(together, graphs - first))
                yield from self._of_batch(batch)

    def _of_batch(self, batch: Batch) -> Iterator[Tallies]:
        while self._launched(batch, MAKE, self._kernels.attempts)["unmade"]:
            pass
        ended = False
        while not ended:
            seen = self._launched(batch, COUNT, self._kernels.looks)
            ended = not seen["undone"]
            if ended or seen["full"]:
                yield from batch.emptied(ended, self._read_together())
            if seen["full"]:
                self._make_room(batch, seen["wanted"])
        changed, left_out, bound = batch.told()
        if bound > _MOST:
            raise too_many()
        self.changed += changed
        self.left_out += left_out

    def _read_together(self) -> int:
        """Slots of the tallies, in the host's memory."""
        return _AT_ONCE if self._limit is None else max(1, min(_AT_ONCE, self._limit // _HOST_SHARE))

    def _launched(self, batch: Batch, name: str, budget: int) -> dict[str, int]:
        self._kernels.launch(name, batch.words, batch.pointer(), budget)
        seen = batch.seen()
        self._check()
        return seen

    def _together(self, graphs: int) -> int:
        """Graphs of a batch: as many as fit, in batches of about the same size."""
        free = self._kernels.device.free_bytes() // _SHARE
        slots = _SLOTS_OF_LARGE if self._given.large and free >= _SLOT * _SLOTS_OF_LARGE else _FEWEST_SLOTS
        most = min(_MOST_GRAPHS, free // max(self._given.bytes_each, _SLOT * slots))
        if not most:
            raise MemoryLimitError("the GPU has no room for a graph of this size", hint="use device='cpu'")
        return -(-graphs // -(-graphs // most))

    def _slots(self, graphs: int) -> int:
        """Of each tally: what all warps may want at once, as far as there is memory."""
        wanted = 1 << (_SLOTS_FOR_WARP * max(4, -(-self._kernels.warps // graphs)) - 1).bit_length()
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
