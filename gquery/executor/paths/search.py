"""One run of a relationship of variable length: from seeds, the distinct bindings of its ends, to rows.

It stands in front of every backend, like the joins between clauses: it reads the graph's adjacencies and no candidates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_arrow, to_numpy
from gquery.executor.chain.rows import Rows, batch_of
from gquery.executor.lowering.masks import masks_of
from gquery.executor.lowering.reading import Reading
from gquery.executor.lowering.seeds import Seeds
from gquery.executor.paths.ends import Ends, distances
from gquery.executor.paths.hops import Hops, Numbers, Vertices
from gquery.executor.paths.listing import Found, Listing
from gquery.executor.paths.rounds import Rounds
from gquery.executor.paths.shortest import Shortest, Side
from gquery.executor.paths.sweep import Sweep
from gquery.executor.relational.gather import PATH_IDS
from gquery.planner.ir.filters import EdgePredicateFilter
from gquery.planner.ir.query_plan import PathsPlan
from gquery.planner.ir.relations import SEED
from gquery.records import record
from gquery.storage.schema import Direction

SHARED = 16  # seeds with one vertex that their paths begin at, from which on these are looked for together
_TURNED: dict[Direction, Direction] = {"out": "in", "in": "out", "both": "both"}


class PathSearch:
    """One step of a chain."""

    def __init__(self, plan: PathsPlan, reading: Reading) -> None:
        self.plan = plan
        self._reading = reading

    def from_seeds(self, seeds: Seeds, listed: Sequence[str]) -> Rows:
        """Rows with the number of the seed in the column SEED, and what is listed of the path and the vertex at its
        end. What is reserved for it is given back when it is closed."""
        memory = self._reading.control.memory
        before = memory.used
        try:
            begun = _Begun.of(self.plan, seeds, self._reading)
            found = {"list": begun.listed, "shortest": begun.shortest, "sweep": begun.swept}[self.plan.way]()
            for paths in found:
                yield self._batch(paths, listed)
        finally:
            memory.release(memory.used - before)

    def from_anywhere(self, before: Rows) -> Rows:
        """A row for each vertex that paths lead to from what any of the rows binds, each once."""
        segment, memory = self.plan.segment, self._reading.control.memory
        name = segment.graph.vertices[segment.source].variable
        used = memory.used
        try:
            sources = self._bound(before, name)
            begun = _Begun.of(self.plan, Seeds(len(sources), {name: sources}), self._reading)
            for ends in begun.swept_together():
                yield batch_of({name: to_arrow(ends) for name in self.plan.rows}, len(ends))
        finally:
            memory.release(memory.used - used)

    def _bound(self, rows: Rows, name: str) -> Vertices:
        """What rows bind to a name, each vertex once."""
        control, found = self._reading.control, [np.zeros(0, np.int32)]
        with closing(rows):  # type: ignore[type-var]
            for batch in rows:
                control.check()
                column = batch.column(name)
                found.append(np.unique(to_numpy(column.drop_null() if column.null_count else column)))
                control.memory.reserve(found[-1].nbytes, "where paths begin")
        return found[1] if len(found) == 2 else np.unique(np.concatenate(found))

    def _batch(self, paths: Found, listed: Sequence[str]) -> pa.RecordBatch:
        segment = self.plan.segment
        columns: dict[str, pa.Array] = {}
        for name in listed:
            if name == segment.way:
                columns[name] = _path_ids(paths.turned() if segment.backwards else paths)
            else:
                columns[name] = to_arrow(np.ascontiguousarray(paths.last))
        return batch_of({**columns, SEED: to_arrow(paths.seeds)}, len(paths.seeds))


_Pair = tuple[int, int]
"""A seed and a vertex that paths end at."""


@record(frozen=True)
class _Begun:
    """A search over the edges that fit. sources: by seed; mask: of all edges, where not all of their types do."""

    plan: PathsPlan
    sources: Vertices
    ends: Ends
    mask: NDArray[np.bool_] | None
    reading: Reading

    @classmethod
    def of(cls, plan: PathsPlan, seeds: Seeds, reading: Reading) -> _Begun:
        segment = plan.segment
        edge, vertices = segment.edge, segment.graph.vertices
        masks = masks_of(segment.graph, (EdgePredicateFilter(0, edge.predicates),) if edge.predicates else (), reading)
        wanted, sources = (seeds.columns.get(vertices[end].variable) for end in (segment.target, segment.source))
        assert sources is not None
        return cls(plan, sources, Ends.of(segment, wanted, reading), masks.edges.get(0), reading)

    @cached_property
    def hops(self) -> Hops:
        segment = self.plan.segment
        return Hops.of(segment.edge, segment.direction, self.mask, self.reading)

    @cached_property
    def back(self) -> Hops:
        """The same edges, seen from their other end."""
        segment = self.plan.segment
        return Hops.of(segment.edge, _TURNED[segment.direction], self.mask, self.reading)

    # --- all paths ---------------------------------------------------------------------------------------------

    def listed(self) -> Iterator[Found]:
        """All paths of all seeds."""
        segment = self.plan.segment
        return self._listing(segment.least, segment.most).paths(self._beginnings(np.arange(len(self.sources))))

    def _beginnings(self, seeds: Numbers) -> Found:
        return Found.none_yet(seeds, self.sources[seeds])

    def _listing(self, least: int, most: int | None) -> Listing:
        ends = self.ends.all
        remaining = None
        if ends is not None:
            count = self.reading.snapshot.vertex_count
            remaining = distances(self.back, ends, None if most is None else most - 1, count, self.reading)
        segment = self.plan.segment
        return Listing(self.hops, self.ends, least, most, segment.mode, segment.differ, remaining, self.reading)

    # --- where paths lead --------------------------------------------------------------------------------------

    def swept(self) -> Iterator[Found]:
        """A row for each end of the paths of each seed."""
        segment = self.plan.segment
        back = segment.least > 0 and self._returns_another_way
        sweep = Sweep(self.hops, segment.most, back or segment.least == 0, self.reading)
        for reached in sweep.each(self.sources):
            places, vertices = reached.places, reached.vertices
            fit = self.ends.fit(places, vertices)
            if back:
                fit &= vertices != self.sources[places]
            yield _ends(places[fit], vertices[fit])
        if back:
            rounds = self._rounds(segment.most)
            seeds = np.arange(len(self.sources))
            own = seeds[self.ends.fit(seeds, self.sources)]
            closed = own[[rounds.length(int(self.sources[seed])) is not None for seed in own]] if len(own) else own
            yield _ends(closed, self.sources[closed])

    def swept_together(self) -> Iterator[Vertices]:
        """The ends of the paths of any seed."""
        segment = self.plan.segment
        allowed = self.ends.allowed
        for reached in Sweep(self.hops, segment.most, segment.least == 0, self.reading).together(self.sources):
            yield reached.vertices if allowed is None else reached.vertices[allowed[reached.vertices]]

    @property
    def _returns_another_way(self) -> bool:
        """Whether a walk back to where it began may be no path: without directions it may go back by its own edges."""
        return self.plan.segment.direction == "both" and self.plan.segment.differ

    def _rounds(self, most: int | None) -> Rounds:
        return Rounds(self.hops, self._returns_another_way, most, self.reading)

    # --- shortest paths ----------------------------------------------------------------------------------------

    def shortest(self) -> Iterator[Found]:
        """The shortest paths of each pair of a seed and an end."""
        segment = self.plan.segment
        if segment.least > 1 or segment.shortest not in (1, "all"):
            yield from self._by_length()
            return
        sides = Side(self.hops, self.back, self.reading), Side(self.back, self.hops, self.reading)
        shortest = Shortest(*sides, segment.shortest == "all", segment.most)
        round_ = self.ends.fit(np.arange(len(self.sources)), self.sources)
        for seed in np.flatnonzero(round_).tolist():
            yield from self._closed(seed)
        order = np.argsort(self.sources, kind="stable")
        for seeds in np.split(order, np.flatnonzero(np.diff(self.sources[order])) + 1) if len(order) else ():
            yield from self._from_source(shortest, seeds)

    def _from_source(self, shortest: Shortest, seeds: Numbers) -> Iterator[Found]:
        """The shortest paths of seeds with the same source to other vertices."""
        source = int(self.sources[seeds[0]])
        if self.ends.wanted is not None and len(seeds) >= SHARED:
            yield from shortest.to_several(seeds, source, self.ends.wanted[seeds])
            return
        for seed in seeds.tolist():
            target = None if self.ends.wanted is None else int(self.ends.wanted[seed])
            if target is None:
                yield from shortest.from_one(seed, source, self.ends)
            elif target != source:
                yield from shortest.between(seed, source, target)

    def _closed(self, seed: int) -> Iterator[Found]:
        """The shortest paths from a vertex back to itself."""
        segment = self.plan.segment
        seeds = np.array([seed])
        if segment.least == 0:
            yield self._beginnings(seeds)
        elif segment.mode != "acyclic":
            length = self._rounds(segment.most).length(int(self.sources[seed]))
            if length is None:
                return
            own = replace(self, ends=Ends(self.sources, None))
            with closing(own._listing(length, length).paths(self._beginnings(seeds))) as found:
                for paths in found:
                    yield paths if segment.shortest == "all" else paths.chosen(seeds[:1] - seed)
                    if segment.shortest != "all":
                        return

    def _by_length(self) -> Iterator[Found]:
        """Paths length by length, until every pair has as many as are asked for or there are no longer ones."""
        segment = self.plan.segment
        known: dict[_Pair, int] = {}
        seeds, length = np.arange(len(self.sources)), segment.least
        while len(seeds) and (segment.most is None or length <= segment.most):
            alive, new = [np.zeros(0, np.int64)], Counter[_Pair]()
            for paths in self._any_ends(length).paths(self._beginnings(seeds)):
                alive.append(paths.seeds)
                fitting = paths.chosen(self.ends.fit(paths.seeds, paths.last))
                pairs = list(zip(fitting.seeds.tolist(), fitting.last.tolist(), strict=True))
                kept = [place for place, pair in enumerate(pairs) if self._is_asked_for(pair, known, new)]
                yield fitting.chosen(np.array(kept, np.int64))
            for pair, count in new.items():
                known[pair] = known.get(pair, 0) + count
            length += 1
            seeds = np.unique(np.concatenate(alive))
            if self.ends.wanted is not None:
                ends = zip(seeds.tolist(), self.ends.wanted[seeds].tolist(), strict=True)
                seeds = seeds[[not self._has_enough(known.get(pair, 0)) for pair in ends]]

    def _has_enough(self, count: int) -> bool:
        shortest = self.plan.segment.shortest
        return count >= (shortest if isinstance(shortest, int) else 1)

    def _is_asked_for(self, pair: _Pair, known: dict[_Pair, int], new: Counter[_Pair]) -> bool:
        """Whether a pair lacks this path. new: how many it has of this length, this one too then."""
        before = known.get(pair, 0)
        if self._has_enough(before if self.plan.segment.shortest == "all" else before + new[pair]):
            return False
        new[pair] += 1
        return True

    def _any_ends(self, length: int) -> Listing:
        """All paths of one length that may go on to an end."""
        listing = self._listing(length, None)
        near = None if listing.remaining is None else np.minimum(listing.remaining, 0)
        return replace(listing, ends=Ends(None, None), most=length, remaining=near)


def _ends(seeds: Numbers, vertices: Vertices) -> Found:
    """Ends of paths that nobody lists."""
    return Found.none_yet(seeds, vertices)


def _path_ids(paths: Found) -> pa.StructArray:
    """Paths as they travel."""
    parts = []
    for ids in (paths.vertices, paths.edges):
        offsets = np.arange(len(ids) + 1, dtype=np.int32) * np.int32(ids.shape[1])
        parts.append(pa.ListArray.from_arrays(to_arrow(offsets), to_arrow(np.ascontiguousarray(ids).reshape(-1))))
    return pa.StructArray.from_arrays(parts, fields=list(PATH_IDS))
