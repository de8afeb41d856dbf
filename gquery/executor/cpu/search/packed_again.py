"""A packed plan that runs on one snapshot after the other: what differs is where the rows of its adjacencies are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import Ranks
from gquery.executor.cpu.candidates.addresses import lists_of
from gquery.executor.cpu.candidates.sets import CandidateSets
from gquery.executor.cpu.machine.native import address
from gquery.executor.cpu.search import packed
from gquery.executor.cpu.search.pack import pack
from gquery.executor.cpu.search.packed import PackedPlan
from gquery.executor.lowering.program import Program, Rows
from gquery.planner.ir.relations import Relation
from gquery.records import record, replace
from gquery.storage.adjacency import Adjacency
from gquery.storage.graph import Snapshot
from gquery.storage.schema import Direction


class PackedPlans:
    """The packed plans of programs that run on one snapshot after the other."""

    to_come = 0

    def __init__(self) -> None:
        self._plans: dict[int, tuple[Program, _Unbound | None]] = {}  # by the id of a program, which is held

    def pack(
        self, program: Program, candidates: CandidateSets, ranks: Sequence[Ranks], pooled: bool
    ) -> tuple[CandidateSets, PackedPlan]:
        """As `pack.pack`, for ranks that are always the same for a program. pooled: it does not begin at all
        candidates. With the candidates that the plan is of."""
        _, known = self._plans.get(id(program), (program, None))
        plan = known.bound(candidates) if known is not None else None
        if plan is None:
            plan = pack(program, candidates, ranks)
            self._plans[id(program)] = program, _unbound(program, plan, candidates)
        return candidates, plan


@record(frozen=True, slots=True)
class _Unbound:
    """A packed plan without its adjacencies. places: for each kind of rows, whether they repeat no neighbour, and where
    the tables have addresses of theirs: int64[n, 4], or int64[n, 5] where edges are looked up."""

    plan: PackedPlan
    places: tuple[tuple[Rows, bool, NDArray[np.int64]], ...]

    def bound(self, candidates: CandidateSets) -> PackedPlan | None:
        """The plan with the adjacencies of a snapshot; None where one of them is no longer what the plan relies on."""
        tables, keep = self.plan.tables.copy(), list(self.plan.keep)
        known = _found.setdefault(candidates.snapshot, {})
        for rows, simple, places in self.places:
            key = rows.relation, rows.direction
            if key not in known:
                adjacency = candidates.adjacency(rows)
                known[key] = adjacency, (*lists_of(adjacency), address(adjacency.edges))
            adjacency, addresses = known[key]
            if adjacency.simple != simple:
                return None
            keep.append(adjacency)
            tables[places] = addresses[: places.shape[1]]
        slots = 24 * self.plan.slots + 8 * self.plan.marks
        candidates.control.memory.reserve(candidates.threads * slots, "remembered sums")
        return replace(self.plan, tables=tables, keep=tuple(keep))


_Addresses = tuple[int, ...]
"""`lists_of` an adjacency, and the address of its edges."""

_found: WeakKeyDictionary[Snapshot, dict[tuple[Relation, Direction], tuple[Adjacency, _Addresses]]] = (
    WeakKeyDictionary()
)


def _unbound(program: Program, plan: PackedPlan, candidates: CandidateSets) -> _Unbound | None:
    """None where something is made of the rows themselves before the search."""
    backward, absent = (plan.table(table, packed.ADJACENCY_COLUMNS) for table in (packed.BACKWARD, packed.ABSENT))
    written = bool(backward[:, packed.MATRIX].any() or absent[:, packed.MATRIX].any())
    if program.space != "vertices" or program.strategy == "push" or plan.folds or plan.inside is not None or written:
        return None
    found: dict[tuple[Rows, int], list[range]] = {}
    for rows, columns in _rows_of(program, plan):
        alike = rows._replace(level=0, tables=())
        found.setdefault((alike, len(columns)), []).append(columns)
    places = tuple((rows, candidates.adjacency(rows).simple, np.array(columns)) for (rows, _), columns in found.items())
    keep = tuple(each for each in plan.keep if not isinstance(each, Adjacency))
    return _Unbound(replace(plan, tables=plan.tables.copy(), keep=keep), places)


def _rows_of(program: Program, plan: PackedPlan) -> Iterator[tuple[Rows, range]]:
    """The rows that the tables have addresses of, with the places of these."""
    backward = [rows for level in program.levels for rows in level.backward]
    absent = [rows for level in program.levels for rows in level.absent]
    weights = [choice.rows for choice in program.weights]
    for table, columns, first, last, several in (
        (packed.BACKWARD, packed.ADJACENCY_COLUMNS, packed.FIRST, packed.NEIGHBOURS, backward),
        (packed.ABSENT, packed.ADJACENCY_COLUMNS, packed.FIRST, packed.NEIGHBOURS, absent),
        (packed.CHOICES, packed.CHOICE_COLUMNS, packed.CHOICE_FIRST, packed.CHOICE_EDGES, weights),
    ):
        begin, count = plan.tables[2 * table : 2 * table + 2].tolist()
        assert count == len(several)
        for number, rows in enumerate(several):
            start = begin + number * columns
            yield rows, range(start + first, start + last + 1)
