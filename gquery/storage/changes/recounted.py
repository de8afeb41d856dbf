"""What is counted of a graph, after a batch: what was counted before, less what went and more what came.

It takes as long as looking at what changed. Two numbers are on the safe side then, since nobody looks at all others:
after deletions, the largest degree may be one that no vertex has any more, and edges may be called parallel that are
alone now (`invariants.py` says where a no can be wrong). Whoever counts anew knows better: saving does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set

import numpy as np
from numpy.typing import NDArray

from gquery.records import record
from gquery.stopping import Check
from gquery.storage.adjacency import Adjacency
from gquery.storage.changes.edge_delta import EdgeDelta, together
from gquery.storage.changes.edge_keys import edges_at, entries_of, has_entries
from gquery.storage.changes.rows import EdgeEnds
from gquery.storage.counted.counts import Between, Counts, DegreeSums, TypeCounts, Verify
from gquery.storage.edges import AdjacencyKey, Edges
from gquery.storage.graph import Snapshot
from gquery.storage.invariants import SIGNATURE_BITS, Kind
from gquery.storage.schema import Direction
from gquery.storage.sorting import changes, distinct, without

Ids = NDArray[np.int64]

_DIRECTIONS: tuple[Direction, ...] = ("out", "in")
_MOST_MOVED = 1 << 16  # vertices that go to other tables, before all is counted anew


def recounted(before: Snapshot, after: Snapshot, delta: EdgeDelta, moved: Ids) -> Counts | None:
    """The counts of a graph after a batch. moved: vertices that are in another table then. None where counting anew is
    better."""
    if len(moved) > _MOST_MOVED:
        return None
    types = {name for name in before.edges.types if name in delta.new or name in delta.gone or len(moved)}
    known = {name: counts for name, counts in before.counts.types.items() if name not in types}
    now: set[Kind] = set()
    for name in {*types, *delta.new}:
        each = _Type(name, before, after, delta, moved)
        known[name] = each.counts()
        now.update(kind for pair in each.joined for kind in ((name, "out", pair[1]), (name, "in", pair[0])))
    verify = before.counts.verify
    return Counts(
        tuple(table.count for table in after.vertex_tables),
        known,
        None if verify is None else _Unchanged.of(verify, frozenset(types) | frozenset(delta.new)),
        _kinds(before.invariants.kinds, now),
    )


def _kinds(before: Mapping[Kind, int], now: Set[Kind]) -> Mapping[Kind, int]:
    """The bits of signatures as they were, and others for kinds of neighbours that are new."""
    if now <= before.keys():
        return before
    kinds = dict(before)
    for kind in sorted(now - before.keys()):
        kinds[kind] = min(max(kinds.values(), default=-1) + 1, SIGNATURE_BITS - 1)
    return kinds


@record(frozen=True, slots=True)
class _Unchanged:
    """Verifies what was said of the types that have not changed since a graph was opened."""

    verify: Verify
    changed: frozenset[str]

    @classmethod
    def of(cls, verify: Verify, changed: frozenset[str]) -> _Unchanged:
        if isinstance(verify, cls):
            return cls(verify.verify, verify.changed | changed)
        return cls(verify, changed)

    def __call__(self, name: str, check: Check) -> None:
        if name not in self.changed:
            self.verify(name, check)


class _Type:
    """Edges of one type before and after. joined: pairs of tables with the first edges between them, once counted."""

    joined: Set[tuple[int, int]]

    def __init__(self, name: str, before: Snapshot, after: Snapshot, delta: EdgeDelta, moved: Ids) -> None:
        nothing = together(())
        self._was = before.counts.of_type(name)
        self._before, self._after = before, after
        self._name = name
        self._new, self._gone = delta.new.get(name, nothing), delta.gone.get(name, nothing)
        self._same = _at(before.edges, name, moved, self._gone[2])
        ends = (*self._new[:2], *self._gone[:2], *self._same[:2])
        self._vertices = distinct(np.concatenate(ends)).astype(np.int64)
        self._has_loops = any(row.loops for row in self._was.between) or bool(np.any(self._new[0] == self._new[1]))

    def counts(self) -> TypeCounts:
        simple, simple_both = self._simple()
        return TypeCounts(self._between(), self._degrees(), simple, simple_both)

    def _between(self) -> tuple[Between, ...]:
        """Those of the tables that have edges there, of which a batch touches few."""
        edges: Counter[tuple[int, int]] = Counter()
        loops: Counter[int] = Counter()
        for numbers, ends, sign in (
            (self._before.vertex_numbers, self._gone, -1),
            (self._before.vertex_numbers, self._same, -1),
            (self._after.vertex_numbers, self._same, 1),
            (self._after.vertex_numbers, self._new, 1),
        ):
            if not len(ends[0]):
                continue
            source, target = (numbers.tables_of(side).tolist() for side in ends[:2])
            for pair, count in Counter(zip(source, target, strict=True)).items():
                edges[pair] += sign * count
            is_loop = ends[0] == ends[1]
            if is_loop.any():
                for table, count in Counter(numbers.tables_of(ends[0][is_loop]).tolist()).items():
                    loops[table] += sign * count
        rows = {row[:2]: row for row in self._was.between}
        self.joined = {pair for pair, more in edges.items() if more > 0} - rows.keys()
        for pair, more in edges.items():
            was = rows.get(pair, Between(*pair, 0, 0))
            more_loops = loops[pair[0]] if pair[0] == pair[1] else 0
            rows[pair] = was._replace(edges=was.edges + more, loops=was.loops + more_loops)
        return tuple(sorted(row for row in rows.values() if row.edges))

    def _degrees(self) -> tuple[DegreeSums, ...]:
        sums = {row[:2]: list(row[2:]) for row in self._was.degrees}
        there = np.searchsorted(self._vertices, self._before.vertex_count)  # those that are new come behind
        tables_before = self._before.vertex_numbers.tables_of(self._vertices[:there])
        tables_after = self._after.vertex_numbers.tables_of(self._vertices)
        tables = np.concatenate([tables_before, tables_after])
        order = np.argsort(tables, kind="stable")
        first = np.flatnonzero(changes(tables[order]))  # of each table
        sign = np.where(order < there, -1, 1)
        for direction, before, after in self._each_degree():
            degrees = np.concatenate([before[:there], after])[order]
            signed = degrees * sign
            count, total, squares = (
                np.add.reduceat(each, first).tolist() for each in ((degrees > 0) * sign, signed, signed * degrees)
            )
            most = np.maximum.reduceat(degrees, first).tolist()
            for place, table in enumerate(tables[order[first]].tolist()):
                row = sums.setdefault((table, direction), [0, 0, 0, 0])
                row[0] += count[place]
                row[1] += total[place]
                row[2] += squares[place]
                row[3] = max(row[3], most[place])
        return tuple(DegreeSums(*key, *row) for key, row in sorted(sums.items()) if row[0])

    def _each_degree(self) -> Iterator[tuple[Direction, Ids, Ids]]:
        """The degrees of the touched vertices before and after, by direction."""
        kept = [_kept(self._before.edges, self._name, direction) for direction in _DIRECTIONS]
        out, into = (np.subtract(*adjacency.bounds(self._vertices)[::-1]) for adjacency in kept)
        loops = np.zeros_like(out)
        if self._has_loops:
            loops = np.subtract(*entries_of(kept[0], self._vertices, self._vertices)[::-1])
        more_out, more_into = (self._more(*sides) for sides in ((0, 0), (1, 1)))
        more_loops = self._more(0, 1) if self._has_loops else loops
        yield "out", out, out + more_out
        yield "in", into, into + more_into
        both = out + into - loops
        yield "both", both, both + more_out + more_into - more_loops

    def _more(self, side: int, other: int) -> Ids:
        """How many edges more each touched vertex has at both of these ends."""
        more = np.zeros(len(self._vertices), np.int64)
        for ends, sign in ((self._new, 1), (self._gone, -1)):
            if len(ends[0]):
                own = ends[side] if side == other else ends[side][ends[side] == ends[other]]
                np.add.at(more, np.searchsorted(self._vertices, own), sign)
        return more

    def _simple(self) -> tuple[bool, bool]:
        """Whether there are no parallel edges, and none in both directions: those that are new are looked up."""
        out = _kept(self._after.edges, self._name, "out")
        simple = self._was.simple and out.simple
        if not (simple and self._was.simple_both):
            return simple, False
        source, target = (side[self._new[0] != self._new[1]].astype(np.int64) for side in self._new[:2])
        return True, not has_entries(out, target, source).any()


def _kept(edges: Edges, name: str, direction: Direction) -> Adjacency:
    return edges.kept(AdjacencyKey((name,), direction))


def _at(edges: Edges, name: str, vertices: Ids, gone: Ids) -> EdgeEnds:
    """The edges of a type at some vertices, but for those that are gone."""
    if not len(vertices):
        return together(())
    ids = without(edges_at(edges, vertices, [name]), gone)
    return (*edges.ends_of(ids), ids)
