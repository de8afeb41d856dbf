"""Packed plans that stay from one run of a query to the next on the same snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gquery.executor.backend import Ranks
from gquery.executor.cpu.candidates.candidate_set import CandidateSet
from gquery.executor.cpu.candidates.ranked import Places, RankedRows, RankedSets, ranked
from gquery.executor.cpu.candidates.row_signatures import Signatures
from gquery.executor.cpu.candidates.sets import CandidateSets
from gquery.executor.cpu.search.pack import pack
from gquery.executor.cpu.search.packed import PackedPlan
from gquery.executor.lowering.program import Program
from gquery.executor.memory import Reserved, Taking
from gquery.records import record


@record(frozen=True, slots=True)
class _Once:
    """program: held, since it is known by its id. rows, places: of the candidates that it is of, where a vertex is its
    rank in these. reserved: by packing it. grown: bytes that the candidates have since then."""

    program: Program
    plan: PackedPlan
    rows: RankedRows | None
    places: Places | None
    reserved: Reserved
    grown: int


class PackedOnce:
    """By the id of a program. to_come: bytes that the candidates have of plans which have not begun in this run."""

    def __init__(self) -> None:
        self._plans: dict[int, _Once] = {}
        self._waiting: set[int] = set()
        self.to_come = 0

    def once_more(self) -> PackedOnce:
        """The same plans, for the next run."""
        self._waiting = set(self._plans)
        self.to_come = sum(each.grown for each in self._plans.values())
        return self

    def pack(
        self, program: Program, candidates: CandidateSets, ranks: Sequence[Ranks], pooled: bool
    ) -> tuple[CandidateSets, PackedPlan]:
        """As `pack.pack`, for ranks and a pool that are always the same for a program. With the candidates that the
        plan is of."""
        memory, known = candidates.control.memory, self._plans.get(id(program))
        if known is not None:
            candidates.control.check()
            known.reserved.again(memory, "what an earlier run has packed")
            if id(program) in self._waiting:
                self._waiting.discard(id(program))
                self.to_come -= known.grown
            sets = candidates if known.rows is None else RankedSets(candidates, known.rows, known.places)
            return sets, known.plan
        taking, before = Taking(memory), candidates.nbytes
        sets = candidates if pooled else ranked(program, candidates)
        plan = pack(program, sets, ranks)
        if plan.adapting is None:  # which takes memory of the query as it goes
            rows, places = (sets.ranked_rows, sets.places) if isinstance(sets, RankedSets) else (None, None)
            grown = candidates.nbytes - before
            self._plans[id(program)] = _Once(program, plan, rows, places, taking.reserved(), grown)
        return sets, plan

    @property
    def nbytes(self) -> int:
        """Of what is no adjacency, nor in a candidate set of the query's own."""
        arrays = {id(array): array.nbytes for each in self._plans.values() for array in _arrays(each.plan)}
        return sum(arrays.values())


def _arrays(plan: PackedPlan) -> Iterator[np.ndarray | CandidateSet]:
    yield plan.tables
    for fold in plan.folds:
        yield from (fold.vertices, fold.factors.sums, fold.factors.sizes)
    for kept in plan.keep:
        if isinstance(kept, np.ndarray):
            yield kept
        elif isinstance(kept, Signatures):
            yield kept.words
        elif isinstance(kept, list):
            yield from (each for each in kept if isinstance(each, CandidateSet))
