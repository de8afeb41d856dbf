"""The shortest walks of pairs, where nothing has to differ: so many of each pair, or from two hops on.

What a walk has met does not matter for what comes behind, so that of each vertex as many walks are kept as are asked
for: a longer one is in none of the shortest. Of those that are too short to count, so many of each length are kept.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gquery.executor.paths.begun import Begun
from gquery.executor.paths.hops import Numbers, Vertices
from gquery.executor.paths.listing import Found
from gquery.storage.sorting import order_of


def walks(begun: Begun) -> Iterator[Found]:
    """The shortest walks of each seed."""
    count = begun.reading.snapshot.vertex_count
    begun.reading.control.memory.reserve(8 * count, "how many walks lead to each vertex")
    for seed in begun.seeds.tolist():
        yield from _from_one(begun, seed, np.zeros(count, np.int64))


def _from_one(begun: Begun, seed: int, numbers: Numbers) -> Iterator[Found]:
    """numbers: of each vertex how many walks lead to it that are long enough."""
    segment, ends = begun.segment, begun.ends
    target = None if ends.wanted is None else ends.wanted[seed]
    every = segment.shortest == "all"
    asked = segment.shortest if isinstance(segment.shortest, int) else 1
    paths = begun.beginnings(np.array([seed]))
    while True:
        enough = paths.length >= segment.least
        if enough or not every:
            known = numbers[paths.last] + (0 if every else _ranks(paths.last)) if enough else _ranks(paths.last)
            paths = paths.chosen(known < asked)
        if enough:
            np.add.at(numbers, paths.last, 1)
            yield paths.chosen(ends.fit(paths.seeds, paths.last))
        done = target is not None and numbers[target] >= asked
        if done or paths.length == segment.most or not len(paths.seeds):
            return
        paths = _longer(begun, paths)


def _ranks(vertices: Vertices) -> Numbers:
    """How often each vertex stands before the place where it stands."""
    order = order_of(vertices.astype(np.int64))
    _, lengths = np.unique(vertices, return_counts=True)
    ranks = np.empty(len(vertices), np.int64)
    ranks[order] = np.arange(len(vertices)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return ranks


def _longer(begun: Begun, paths: Found) -> Found:
    """All walks of one edge more; what was reserved for them is given back with the next ones."""
    memory, check = begun.reading.control.memory, begun.reading.control.check
    found = []
    for part in begun.along.pieces(paths.last):
        check()
        led = begun.along.led(paths.last[part])
        found.append(paths.chosen(np.arange(part.start, part.stop)).longer(led.origin, led.vertices, led.edges))
        memory.reserve(found[-1].nbytes, "walks that are not at their end")
    longer = Found.joined(found)
    memory.release(longer.nbytes)
    return longer
