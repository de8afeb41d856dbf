"""Signatures of rows: 32 bits that tell most pairs of short rows apart without a look at either.

Bit i of a row's signature says whether any of its neighbours is i modulo 32 (as G-Morph's LOC hashes what is around a
vertex, section 3). Two rows whose signatures have no bit in common have no neighbour in common.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.candidates.addresses import address_of_rows
from gquery.executor.cpu.candidates.sets import CandidateSets
from gquery.executor.cpu.kernels.sorted_rows import bounds
from gquery.executor.cpu.machine.compile import kernel
from gquery.executor.cpu.machine.native import address, load_int32
from gquery.records import record
from gquery.storage.adjacency import Adjacency

_BITS = 32  # twice as many tell hardly more pairs apart, and miss the caches more often
_BYTES = _BITS // 8
_PURPOSE = "signatures of rows"
_WRITE, _TEST, _SAVED = 1.5, 4.0, 25.0  # nanoseconds: for a row or an entry; for a pair; that a pair apart saves


@record(frozen=True, slots=True)
class Signatures:
    """words: uint32[rows]. Known by the adjacency, which therefore has to last as long."""

    adjacency: Adjacency
    words: NDArray[np.uint32]

    @property
    def nbytes(self) -> int:
        return self.words.nbytes + self.adjacency.nbytes


def signatures(pair: Sequence[Adjacency], pairs: float, candidates: CandidateSets) -> tuple[Signatures, ...]:
    """Of the rows of two adjacencies, of which about so many `pairs` are looked for neighbours in common; nothing where
    that does not pay or there is no space for them."""
    either = {id(adjacency): adjacency for adjacency in pair}
    missing = [each for each in either.values() if not _is_kept(each, candidates)]
    available = candidates.control.memory.available
    if available is not None and sum(_BYTES * each.rows for each in missing) > available // 8:
        return ()
    shared = math.prod(each.entries / max(1, each.rows) for each in pair)
    saved = pairs * (_SAVED * math.exp(-shared / _BITS) - _TEST)
    if sum(_WRITE * (each.rows + each.entries) for each in missing) > saved:
        return ()
    found = {key: _signatures(each, candidates) for key, each in either.items()}
    return tuple(found[id(each)] for each in pair)


def _is_kept(adjacency: Adjacency, candidates: CandidateSets) -> bool:
    cache = candidates.cache_of(adjacency)
    return cache is not None and cache.has((_PURPOSE, id(adjacency)))


def _signatures(adjacency: Adjacency, candidates: CandidateSets) -> Signatures:
    size, memory, cache = _BYTES * adjacency.rows, candidates.control.memory, candidates.cache_of(adjacency)

    def written() -> Signatures:
        words = np.empty(adjacency.rows, np.uint32)
        lists = address_of_rows(adjacency), address(adjacency.neighbours)
        candidates.sliced(adjacency.rows, lambda first, last: write_signatures(words, first, last, *lists))
        return Signatures(adjacency, words)

    if cache is None:
        memory.reserve(size, _PURPOSE)
        return written()
    return cache.get((_PURPOSE, id(adjacency)), written, size, _PURPOSE, memory)


@kernel
def write_signatures(words, first, last, offsets, neighbours):  # type: ignore[no-untyped-def]
    """The signatures of the rows `first .. last - 1`."""
    for index in range(first, last):
        low, high = bounds(offsets, index)
        word = np.uint32(0)
        for entry in range(low, high):
            word |= np.uint32(1 << (load_int32(neighbours, entry) & (_BITS - 1)))
        words[index] = word
