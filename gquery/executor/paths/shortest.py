"""Shortest paths: breadth first from both ends where both are known, then back along the distances.

Between two vertices every walk of the smallest length is a path of any mode. From a vertex back to itself, beyond the
shortest lengths, and from two hops on, paths are listed length by length.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import numpy as np

from gquery.executor.paths.begun import Begun
from gquery.executor.paths.ends import Ends
from gquery.executor.paths.hops import Numbers, Vertices
from gquery.executor.paths.leading import by_source
from gquery.executor.paths.listing import Found
from gquery.executor.paths.several.by_length import by_length
from gquery.executor.paths.sides import Sides
from gquery.lasting.properties import cached_property


def shortest(begun: Begun) -> Iterator[Found]:
    """The shortest paths of each pair of a seed and an end."""
    segment, wanted = begun.segment, begun.ends.wanted
    if segment.least > 1 or segment.shortest not in (1, "all"):
        yield from by_length(begun)
        return
    here, others = begun.ends.fit(begun.seeds, begun.sources), begun.seeds
    if here.any():
        for seed in np.flatnonzero(here).tolist():
            yield from _closed(begun, seed)
        others = np.flatnonzero(~here)
    search = _Search(begun)
    if wanted is None:
        for seed in begun.seeds.tolist():
            yield from search.from_one(seed)
        return
    many, few = by_source(begun, others)
    for group in many:
        yield from search.to_several(group, wanted[group])
    if segment.shortest == 1:
        pairs = begun.pairs()
        yield from (pairs.measured if begun.measured else pairs.one_each)(few, begun.sources[few], wanted[few])
    else:
        for seed in few.tolist():
            yield from search.between(seed, int(wanted[seed]))


def counted(begun: Begun) -> Iterator[Found]:
    """How many shortest paths there are for each seed, which has both ends."""
    wanted = begun.ends.wanted
    assert wanted is not None
    for seed in begun.seeds[begun.sources == wanted].tolist():
        for paths in _closed(begun, seed):
            yield Found.none_yet(paths.seeds, paths.last, np.ones(len(paths.seeds), np.int64))
    many, few = by_source(begun, begun.seeds[begun.sources != wanted])
    search = _Search(begun, counting=True)
    for group in many:
        yield from search.numbers(group, wanted[group])
    numbers = begun.pairs().counted(begun.sources[few], wanted[few])
    there = numbers > 0
    yield Found.none_yet(few[there], wanted[few[there]], numbers[there])


def _closed(begun: Begun, seed: int) -> Iterator[Found]:
    """The shortest paths from a vertex back to itself."""
    segment, own = begun.segment, begun.beginnings(np.array([seed]))
    if segment.least == 0:
        yield own
        return
    length = None if segment.mode == "acyclic" else begun.rounds().length(int(own.last[0]))
    if length is None:
        return
    round_ = replace(begun, ends=Ends(begun.sources, None))
    with closing(round_.listing(length, length).paths(own)) as found:
        for paths in found:
            if segment.shortest != "all":
                yield paths.first()
                return
            yield paths


class _Search:
    """Searches from a seed, one after the other, hop by hop."""

    def __init__(self, begun: Begun, counting: bool = False) -> None:
        self._begun = begun
        self._counting = counting
        self._every = begun.segment.shortest == "all"

    @cached_property
    def _sides(self) -> Sides:
        return Sides(self._begun, self._counting)

    def between(self, seed: int, target: int) -> Iterator[Found]:
        """The shortest paths to another vertex."""
        sides = self._sides
        sides.begin(int(self._begun.sources[seed]), target)
        meeting = np.zeros(0, np.int32)
        while not len(meeting):
            if sides.length(0) + sides.length(1) == self._begun.segment.most:
                return
            side = int(len(sides.frontier(1)) < len(sides.frontier(0)))
            sides.advance(side)
            frontier = sides.frontier(side)
            if not len(frontier):
                return
            meeting = frontier[sides.has_met(1 - side, frontier)]
        begun = Found.none_yet(np.full(len(meeting), seed), meeting)
        for paths in sides.ways(0, begun, self._every):
            yield from sides.ways(1, paths.turned(), self._every)

    def to_several(self, seeds: Numbers, targets: Vertices) -> Iterator[Found]:
        """The shortest paths from one vertex to a target for each seed, other than it: breadth first once for all."""
        for here in self._arrivals(seeds, targets):
            for paths in self._sides.ways(0, Found.none_yet(seeds[here], targets[here]), self._every):
                yield paths.turned()

    def numbers(self, seeds: Numbers, targets: Vertices) -> Iterator[Found]:
        """How many these are."""
        for here in self._arrivals(seeds, targets):
            yield Found.none_yet(seeds[here], targets[here], self._sides.numbers(0, targets[here]))

    def _arrivals(self, seeds: Numbers, targets: Vertices) -> Iterator[Numbers]:
        """Hop by hop from the vertex that some seeds begin at, the places of those whose targets are met."""
        sides, left = self._sides, np.arange(len(seeds))
        sides.begin(int(self._begun.sources[seeds[0]]))
        while len(left) and len(sides.frontier(0)) and sides.length(0) != self._begun.segment.most:
            sides.advance(0)
            reached = sides.has_met(0, targets[left])
            here, left = left[reached], left[~reached]
            yield here

    def from_one(self, seed: int) -> Iterator[Found]:
        """The shortest paths to all other vertices where they may end."""
        sides, seeds = self._sides, np.array([seed])
        sides.begin(int(self._begun.sources[seed]))
        while len(frontier := sides.frontier(0)):
            fitting = frontier[self._begun.ends.fit(np.full(len(frontier), seed), frontier)]
            if sides.length(0) > 0 and len(fitting):
                begun = Found.none_yet(np.repeat(seeds, len(fitting)), fitting)
                for paths in sides.ways(0, begun, self._every):
                    yield paths.turned()
            if sides.length(0) == self._begun.segment.most:
                return
            sides.advance(0)
