"""One run of a program on the CPU: packed once, searched once for every modulus."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import PartialMatches, VertexValues
from gquery.executor.cpu.candidates.sets import CandidateSets
from gquery.executor.cpu.kernels.sums import branch as fold
from gquery.executor.cpu.search.frames.columns import Columns
from gquery.executor.cpu.search.frames.memory import Memory
from gquery.executor.cpu.search.frames.stages import Search, Stage
from gquery.executor.cpu.search.packed import PackedPlan
from gquery.executor.cpu.search.workers import Enumeration
from gquery.executor.lowering.program import Program
from gquery.executor.memory import DEFAULT_BUFFERS
from gquery.lasting.properties import cached_property
from gquery.stopping import stoppable, stoppable_steps

Item = TypeVar("Item")

_LARGEST_BUFFER = 1 << 19  # partial matches: workers take turns at what Python does for a batch
_USUAL_BUFFER = 1 << 17  # soon full, and Python's part is little beside it
_SMALLEST_BUFFER = 1 << 8
_ROUNDS = 4  # batches that each worker makes at least, of those that are listed
_WRITERS = 12  # workers for a list that is quickly found: more wait for each other in Python (scaling.md has figures)
_QUICK = 8.0  # looks at neighbours for each row of such a list
_LASTING = 100_000.0  # estimated looks at neighbours: half a millisecond


class CpuSlices:
    """A program with its packed plan, stages and start pool. `pool` as in `Candidates.start`."""

    def __init__(
        self, program: Program, candidates: CandidateSets, packed: PackedPlan, pool: NDArray[np.int32] | None
    ) -> None:
        self.program = program
        self.candidates = candidates
        self._packed = packed
        self._pooled = pool is not None
        self._pool = _all_candidates(program, candidates) if pool is None else _placed(program, candidates, pool)
        self.workers = min(_WRITERS, candidates.threads) if _is_quick(program) else candidates.threads
        self._memory = Memory(self._packed)
        self._first: Enumeration | None = None

    @property
    def found(self) -> NDArray[np.int64]:
        return self._first.found if self._first else np.zeros(self._packed.width, np.int64)

    @property
    def seconds_until(self) -> Mapping[int, float]:
        return self._first.seconds_until if self._first else {}

    @property
    def worker_seconds(self) -> Sequence[float]:
        return self._first.worker_seconds if self._first else ()

    def total(self, modulus: int) -> tuple[int, float]:
        with stoppable(self.candidates.control.check):
            fold.run(self._packed.folds, modulus, self.candidates.sliced)
            if self._packed.is_folded:
                root = self._packed.folds[-1]
                return fold.total(root.at(self._pool[0]) if self._pooled else root, modulus)
            return self._search(modulus, True).total()

    def batches(self, behind: Callable[[PartialMatches], Iterable[Item]]) -> Generator[Item, None, None]:
        return stoppable_steps(self.candidates.control.check, self._batches(behind))

    def gathered(
        self, columns: Sequence[tuple[int, VertexValues]], copied: bool
    ) -> Generator[Sequence[Any], None, None]:
        """What is on the host is not copied."""
        self.workers = self.candidates.threads
        asked = self._columns(columns)

        def behind(rows: PartialMatches) -> Iterable[Sequence[NDArray[Any]]]:
            return (asked.of(rows.positions) if rows.columns is None else rows.columns,)

        return stoppable_steps(self.candidates.control.check, self._batches(behind, asked))

    def _columns(self, columns: Sequence[tuple[int, VertexValues]]) -> Columns:
        levels, candidates = self.program.levels, self.candidates
        asked = []
        for level, values in columns:
            assert values.stored is not None
            asked.append((level, values.stored(levels[-1].rows)))
        if self.program.space == "vertices":
            return Columns(asked, None)
        return Columns(asked, lambda level: candidates.common(levels[level].candidates).vertices)

    def _batches(
        self, behind: Callable[[PartialMatches], Iterable[Item]], columns: Columns | None = None
    ) -> Generator[Item, None, None]:
        fold.run(self._packed.folds, 0, self.candidates.sliced)
        yield from self._search(0, False, columns).batches(behind)

    def _search(self, modulus: int, counting: bool, columns: Columns | None = None) -> Enumeration:
        self._memory.forget()
        program, candidates = self.program, self.candidates
        lasting = program.limit is None and program.cost > _LASTING
        search = Search(self._packed, *self._stages, modulus, counting, columns)
        enumeration = Enumeration(search, self._pool, self.workers, candidates.control, self._memory, lasting)
        self._first = self._first or enumeration
        return enumeration

    @cached_property
    def _stages(self) -> tuple[tuple[Stage, ...], int]:
        """What is listed behind what is given, then what is summed out; and the buffers' capacity: as large as the
        budget allows."""
        program, threads, memory = self.program, self.workers, self.candidates.control.memory
        given = len(self._pool)
        listed = max(given, program.listed)
        available = memory.available
        budget = DEFAULT_BUFFERS if available is None else available // 2
        # Besides the frame's own output, a worker may hold the copy that sums are made for, and the sums.
        row = 4 * 2 * threads * (given + listed) + 16 * threads
        capacity = max(1, min(memory.rows(self._wanted(listed)), budget // row))
        if program.limit is not None:
            capacity = min(capacity, max(program.limit, _SMALLEST_BUFFER))
        memory.reserve(min(capacity * row, budget), "the partial matches")
        stages = [Stage(given, listed, False)] if given < listed else []
        if program.summing and not (stages and self._packed.counters):  # which are pushed as they are listed
            stages.append(Stage(listed, self._packed.width, True))
        return tuple(stages), capacity

    def _wanted(self, listed: int) -> int:
        """The capacity that buffers have where there is memory: large ones where much is listed, but not so large that
        some workers have none to fill."""
        share = self.program.levels[listed - 1].rows / (_ROUNDS * self.workers)
        return int(min(_LARGEST_BUFFER, max(_USUAL_BUFFER, share)))


def _is_quick(program: Program) -> bool:
    """Whether much more is done with what is found than to find it."""
    return (
        not program.summing and program.listed > 0 and program.levels[program.listed - 1].rows * _QUICK > program.cost
    )


def _all_candidates(program: Program, candidates: CandidateSets) -> NDArray[np.int32]:
    first = candidates.common(program.levels[0].candidates).vertices
    if program.space == "candidates":
        first = np.arange(len(first), dtype=np.int32)
    return first.reshape(1, -1)


def _placed(program: Program, candidates: CandidateSets, pool: NDArray[np.int32]) -> NDArray[np.int32]:
    """The positions of those of the pool that are candidates."""
    if not 1 <= len(pool) <= max(1, program.listed):
        raise ValueError(f"a pool of {len(pool)} levels for a program that lists {program.listed}")
    sets = [candidates.common(level.candidates) for level in program.levels[: len(pool)]]
    inside = np.ones(pool.shape[1], np.bool_)
    for column, candidate_set in zip(pool, sets, strict=True):
        inside &= candidate_set.has(column)
    kept = pool[:, inside]
    if program.space == "vertices":
        return np.ascontiguousarray(kept, np.int32)
    places = [np.searchsorted(each.vertices, column) for each, column in zip(sets, kept, strict=True)]
    return np.stack(places).astype(np.int32)
