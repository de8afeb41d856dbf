"""Paths, listed hop by hop: depth first over pieces of bounded size, breadth first within each.

A path that cannot come to an end in time is given up where it is: the distance from its last vertex to the nearest end
is known beforehand, where ends are few.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gquery.executor.lowering.reading import Reading
from gquery.executor.paths.conditions import Conditions
from gquery.executor.paths.ends import Ends
from gquery.executor.paths.hops import Hops, Numbers, Vertices
from gquery.planner.ir.segments import PathMode
from gquery.records import record

PIECE = 1 << 19  # vertices of the paths that are made longer at once
FEWEST = 1 << 8  # paths of them


@record(frozen=True, slots=True)
class Found:
    """Paths of one length. seeds: int64[count], for which seed each is; vertices: int32[count, length + 1]; edges:
    int64[count, length]. weights: int64[count], how many paths each stands for where they are not listed; told:
    int64[count], how long each is where it is not listed."""

    seeds: Numbers
    vertices: NDArray[np.int32]
    edges: NDArray[np.int64]
    weights: Numbers | None = None
    told: Numbers | None = None

    @classmethod
    def none_yet(
        cls, seeds: Numbers, sources: Vertices, weights: Numbers | None = None, told: Numbers | None = None
    ) -> Found:
        """Paths of no edges, or the ends of some."""
        return cls(seeds, sources.reshape(-1, 1), np.zeros((len(seeds), 0), np.int64), weights, told)

    @classmethod
    def joined(cls, parts: Sequence[Found]) -> Found:
        """One after the other; there is one at least, and all are of one length."""
        return cls(
            np.concatenate([each.seeds for each in parts]),
            np.concatenate([each.vertices for each in parts]),
            np.concatenate([each.edges for each in parts]),
        )

    @property
    def length(self) -> int:
        return int(self.edges.shape[1])

    @property
    def lengths(self) -> Numbers:
        """How long each is."""
        return np.full(len(self.seeds), self.length) if self.told is None else self.told

    @property
    def last(self) -> Vertices:
        return self.vertices[:, -1]

    @property
    def nbytes(self) -> int:
        return self.seeds.nbytes + self.vertices.nbytes + self.edges.nbytes

    def chosen(self, which: Numbers | NDArray[np.bool_]) -> Found:
        return Found(self.seeds[which], self.vertices[which], self.edges[which])

    def first(self) -> Found:
        """The first of them alone."""
        return self.chosen(np.zeros(1, np.int64))

    def longer(self, origin: Numbers, vertices: Vertices, edges: Numbers) -> Found:
        """Some of the paths, each with one more edge at its end."""
        return Found(
            self.seeds[origin],
            np.concatenate([self.vertices[origin], vertices[:, None]], axis=1),
            np.concatenate([self.edges[origin], edges[:, None]], axis=1),
        )

    def turned(self) -> Found:
        """From their ends to their beginnings."""
        return replace(self, vertices=self.vertices[:, ::-1], edges=self.edges[:, ::-1])


class LostError(Exception):
    """So many paths have been made of which none ends that it is better to look for one in another way."""


@record(frozen=True, slots=True)
class Listing:
    """What is asked of paths. remaining: by vertex, how many hops lead to the nearest end at least, -1 where none do;
    None where that is not known. conditions: on the edges that make paths longer. patience: how many paths may be made
    between two that end before LostError is raised; None: any number."""

    hops: Hops
    ends: Ends
    least: int
    most: int | None
    mode: PathMode
    differ: bool
    remaining: NDArray[np.int32] | None
    conditions: Conditions | None
    reading: Reading
    patience: int | None = None

    def paths(self, begun: Found) -> Generator[Found, None, None]:
        """All paths that go on from those that are begun, in pieces."""
        memory, check = self.reading.control.memory, self.reading.control.check
        pending, held, made = [begun], 0, 0
        try:
            while pending:
                check()
                paths = pending.pop()
                memory.release(paths.nbytes if paths is not begun else 0)
                held -= paths.nbytes if paths is not begun else 0
                first, rest = self._cut(paths)
                if paths.length >= self.least:
                    fit = self.ends.fit(first.seeds, first.last)
                    if fit.any():
                        made = 0
                        yield first if fit.all() else first.chosen(fit)
                longer = None if paths.length == self.most else self._longer(first)
                made += 0 if longer is None else len(longer.seeds)
                if self.patience is not None and made > self.patience:
                    raise LostError
                for piece in (rest, longer):
                    if piece is not None and len(piece.seeds):
                        memory.reserve(piece.nbytes, "paths that are not at their end")
                        held += piece.nbytes
                        pending.append(piece)
        finally:
            memory.release(held)

    def _cut(self, paths: Found) -> tuple[Found, Found | None]:
        """The paths that are looked at and made longer at once, and the others."""
        most = max(FEWEST, self.reading.control.memory.rows(PIECE) // (paths.length + 1))
        ends = np.cumsum(self.hops.degrees(paths.last))
        count = max(1, int(np.searchsorted(ends, most, side="right")))
        if count >= len(paths.seeds):
            return paths, None
        return paths.chosen(np.arange(count)), paths.chosen(np.arange(count, len(paths.seeds)))

    def _longer(self, paths: Found) -> Found:
        if self.mode == "simple" and paths.length:
            paths = paths.chosen(paths.vertices[:, 0] != paths.last)
        led = self.hops.led(paths.last)
        kept = np.ones(len(led.origin), np.bool_)
        if self.remaining is not None:
            left = self.remaining[led.vertices]
            kept &= left >= 0
            if self.most is not None:
                kept &= left < self.most - paths.length
        if self.differ:
            kept &= ~(paths.edges[led.origin] == led.edges[:, None]).any(axis=1)
        if self.mode != "any":
            met = paths.vertices if self.mode == "acyclic" else paths.vertices[:, 1:]
            kept &= ~(met[led.origin] == led.vertices[:, None]).any(axis=1)
        longer = paths.longer(led.origin[kept], led.vertices[kept], led.edges[kept])
        if self.conditions is None:
            return longer
        before = longer.edges[:, -2] if paths.length else None
        return longer.chosen(self.conditions.hold(longer.seeds, before, longer.edges[:, -1]))
