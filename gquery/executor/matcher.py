"""One pattern on one backend: what is done for all of them before and after the kernels."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.errors import UnsupportedError
from gquery.executor.backend import (
    Backend,
    Candidates,
    GathersColumns,
    Item,
    Masks,
    Ranks,
    SharesWorkers,
    Slices,
    Stored,
)
from gquery.executor.expansion.edge_scan import EdgeScan
from gquery.executor.expansion.expand import Expansion, Matches
from gquery.executor.expansion.vertex_counts import VertexCounts
from gquery.executor.gathered import Asked, Turns, turned
from gquery.executor.lowering.exact import exact_sum
from gquery.executor.lowering.lower import lower
from gquery.executor.lowering.masks import masks_of
from gquery.executor.lowering.program import Program
from gquery.executor.lowering.ranks import ranks_of
from gquery.executor.lowering.reading import Reading
from gquery.executor.memory import Reserved, Taking
from gquery.executor.profile import Profile
from gquery.planner.ir.filters import EndsFilter, Filter, NeighbourFilter, ReachedFilter
from gquery.planner.ir.match_plan import Counted, MatchPlan
from gquery.planner.ir.query_graph import QueryGraph

_FEWEST = 4  # workers for a plan that is counted beside others


class Beginning(NamedTuple):
    """What a plan begins with: its program, the ranks of its comparisons, and the pool, if it does not begin with all
    candidates."""

    program: Program
    ranks: Sequence[Ranks]
    pool: NDArray[np.int32] | None = None


class Begun(NamedTuple):
    """A plan that has begun, and what its ranks took of the memory."""

    plan: MatchPlan
    beginning: Beginning
    reserved: Reserved


class Prepared(NamedTuple):
    """How a matcher came about. key: by what another run finds it, as in `standby.py`; epoch: of what stands by with
    it. reserved: by filtering and planning."""

    key: Hashable
    epoch: object
    matchings: tuple[MatchPlan, ...]
    reserved: Reserved


class Matcher:
    """A query graph whose candidates are filtered: match plans for it can be run. begun: by the id of a plan. prepared:
    None where no other run has a use for it."""

    def __init__(
        self,
        backend: Backend,
        masks: Masks,
        candidates: Candidates,
        reading: Reading,
        begun: dict[int, Begun] | None = None,
        prepared: Prepared | None = None,
    ) -> None:
        self.backend = backend
        self.masks = masks
        self.candidates = candidates
        self.reading = reading
        self.begun = {} if begun is None else begun
        self.prepared = prepared

    @classmethod
    def filtering(
        cls,
        backend: Backend,
        graph: QueryGraph,
        filters: tuple[Filter, ...],
        reading: Reading,
        masks: Masks | None = None,
    ) -> Matcher:
        """Filters the candidates. masks: what predicates leave, where another backend has asked already."""
        masks = masks_of(graph, filters, reading) if masks is None else masks
        uploaded = backend.upload(reading.snapshot)
        return cls(backend, masks, uploaded.filter(graph, filters, masks, reading.control), reading)

    @property
    def counted(self) -> Counted:
        """What the filters left, and candidate edges once they are counted."""
        candidates = self.candidates
        shares: dict[tuple[int, int], float] = {}
        vain: set[tuple[int, int]] = set()
        for outcome in candidates.outcomes:
            match outcome.filter:
                case NeighbourFilter(vertex=vertex, edge=edge, alike=edges):
                    if outcome.after == outcome.before:
                        vain.add((vertex, edge))
                case ReachedFilter(vertex=vertex, edge=edge) | EndsFilter(vertex=vertex, edge=edge):
                    edges = (edge,)
                case _:
                    continue
            for edge in edges:
                shares[vertex, edge] = shares.get((vertex, edge), 1.0) * outcome.after / max(1, outcome.before)
        return Counted(candidates.sizes, candidates.edge_counts, shares, frozenset(vain))

    def count(self, plan: MatchPlan, profile: Profile) -> int:
        """The matches of one plan, times what each of them counts."""
        with self._given_back():
            with profile.timed("pack"):
                _, slices = self._start(plan, profile)
            with profile.timed("search"):
                return plan.problem.coefficient * plan.factor * exact_sum(slices.total)

    def total(self, plans: Sequence[MatchPlan], profile: Profile) -> int:
        """What `count` gives for all plans together. Where workers are many some plans are counted at the same time: of
        each there is much that one thread does, and there are times when only the last workers have anything to do."""
        at_once = self._at_once(plans)
        if at_once < 2:
            return sum(self.count(plan, profile) for plan in plans)
        from gquery.executor.cpu.machine.slices import run_slices  # takes long to import, and is there where it is used

        control, packing = self.reading.control, Lock()
        failures: list[BaseException] = []
        began, counts = [Profile() for _ in plans], [0] * len(plans)
        dearest_first = sorted(range(len(plans)), key=lambda number: -plans[number].cost)

        def count(place: int, _end: int) -> None:
            number = dearest_first[place]
            plan = plans[number]
            with packing:
                _, slices = self._start(plan, began[number])
            assert isinstance(slices, SharesWorkers)
            slices.workers = self.backend.workers // at_once
            try:
                counts[number] = plan.problem.coefficient * plan.factor * exact_sum(slices.total)
            except BaseException as failure:
                failures.append(failure)
                control.cancel()  # the others do not go on
                raise

        with self._given_back(), profile.timed("search"):
            try:
                run_slices(len(plans), 1, at_once, control.check, count)
            except BaseException as failure:
                control.cancel()
                raise (failures or [failure])[0] from None  # and not what the others have raised since
        for each in began:
            profile.enumerations += each.enumerations
        return sum(counts)

    def _at_once(self, plans: Sequence[MatchPlan]) -> int:
        """How many plans are counted at the same time, of three or more: as many as there are workers for, and no more
        than would be done as soon as the dearest. Where memory is limited there may be no room for two."""
        cost = sum(plan.cost for plan in plans)
        if len(plans) < 3 or not cost or self.reading.control.memory_limit is not None:
            return 1
        return int(min(len(plans), self.backend.workers // _FEWEST, cost / max(plan.cost for plan in plans)))

    def counts_of_each(
        self, plans: Sequence[MatchPlan], vertex: int, profile: Profile, behind: Callable[[Matches], Iterable[Item]]
    ) -> Generator[Item, None, None]:
        """What `matches` gives for several plans, of each of which the query vertex alone is listed: its matches, with
        the numbers that all plans together have for them."""
        seeds = self.masks.seeds.get(vertex)
        universe = self.reading.snapshot.vertex_count if seeds is None else seeds.count
        found = VertexCounts(vertex, universe, self.reading.control.memory)
        for plan in plans:
            with self._given_back():
                program, slices = self._start(plan, profile)
                vertices = (
                    None if program.space == "vertices" else self.candidates.vertices(program.levels[0].candidates)
                )
                with closing(slices.batches(lambda partial: (partial,))) as batches:
                    for partial in batches:
                        found.add(partial, vertices, plan.problem.coefficient * plan.times)
        yield from _through(found.matches(), behind)

    def cases(
        self,
        plans: Sequence[MatchPlan],
        ends: Sequence[int],
        profile: Profile,
        behind: Callable[[Matches], Iterable[Item]],
    ) -> Generator[Item, None, None]:
        """What `matches` gives for the first of some plans, of which the query vertices `ends` are listed, and for the
        others, where these are one vertex."""

        def both(batch: Matches) -> Iterable[Item]:
            (column,) = batch.vertices.values()
            weights = batch.weights if plans[0].weighted else None
            return behind(Matches(batch.count, dict.fromkeys(ends, column), {}, weights))

        with closing(self.matches(plans[0], profile, behind)) as items:
            yield from items
        if len(plans) > 1:
            yield from self.counts_of_each(plans[1:], ends[0], profile, both)

    def matches(
        self, plan: MatchPlan, profile: Profile, behind: Callable[[Matches], Iterable[Item]]
    ) -> Generator[Item, None, None]:
        """What `behind` makes of the matches, batch by batch; it is called by whoever finds them, in several threads at
        once. Closing the generator stops the work."""
        if plan.scanned:
            return self._scanned(plan, profile, behind)
        return self._matches(plan, *self._start(plan, profile), behind)

    def _scanned(
        self, plan: MatchPlan, profile: Profile, behind: Callable[[Matches], Iterable[Item]]
    ) -> Generator[Item, None, None]:
        scan = EdgeScan(plan, self.candidates, self.masks, self.reading)
        profile.enumerations.append(scan)
        if plan.limit is None:
            return scan.batches(behind)
        return _cut(scan.batches(lambda batch: (batch,)), plan.limit, behind)

    def _matches(
        self, plan: MatchPlan, program: Program, slices: Slices, behind: Callable[[Matches], Iterable[Item]]
    ) -> Generator[Item, None, None]:
        expansion = Expansion(plan, program, self.candidates, self.masks, self.reading)
        if plan.limit is None:
            with closing(slices.batches(lambda partial: _through(expansion.matches(partial), behind))) as items:
                yield from items
            return
        yield from _cut(slices.batches(expansion.matches), plan.limit, behind)

    def gathered(
        self, plan: MatchPlan, profile: Profile, asked: Sequence[Asked], copied: bool
    ) -> Generator[Turns, None, None]:
        """Numbers of vertices for all matches, batch by batch: gathered on the device if that can be done there, and
        copied from it if that is asked for."""
        if plan.scanned:
            yield from self._scanned(plan, profile, turns_of(asked, plan.cost))
            return
        program, slices = self._start(plan, profile)
        if not isinstance(slices, GathersColumns) or program.summing or program.edges or plan.limit is not None:
            yield from self._matches(plan, program, slices, turns_of(asked, plan.cost))
            return
        columns, ways = turned(asked, {vertex: level for level, vertex in enumerate(plan.order)}, plan.permutations)
        with closing(slices.gathered(columns, copied)) as batches:
            for batch in batches:
                yield Turns(batch, ways)

    def _begin(self, plan: MatchPlan) -> Beginning:
        memory, known = self.reading.control.memory, self.begun.get(id(plan))
        if known is not None:
            known.reserved.again(memory, "the values of comparisons")
            return known.beginning
        taking = Taking(memory)
        beginning = self._beginning(plan)
        self.begun[id(plan)] = Begun(plan, beginning, taking.reserved())
        return beginning

    def _beginning(self, plan: MatchPlan) -> Beginning:
        program = lower(plan, self.reading.control.check)
        if missing := self.backend.lacks and self.backend.lacks & program.needs:
            raise UnsupportedError(
                f"the {self.backend.name} backend cannot do {', '.join(sorted(missing))}", hint="use device='cpu'"
            )
        return Beginning(program, ranks_of(plan, self.candidates, self.masks.seeds, self.reading))

    def _start(self, plan: MatchPlan, profile: Profile) -> tuple[Program, Slices]:
        begun = self._begin(plan)
        slices = self.candidates.start(*begun)
        profile.enumerations.append(slices)
        return begun.program, slices

    @contextmanager
    def _given_back(self) -> Iterator[None]:
        """What is reserved for one problem is free again for the next, but for what the candidates keep."""
        memory = self.reading.control.memory
        before = memory.used - self.candidates.nbytes
        try:
            yield
        finally:
            memory.release(memory.used - self.candidates.nbytes - before)


def turns_of(asked: Sequence[Asked], rows: float) -> Callable[[Matches], Iterable[Turns]]:
    """What gathers numbers of matches; about as many are there."""
    stored = [
        (vertex, values.stored(rows) if values.stored is not None else Stored(0, values.make()))
        for vertex, values in asked
    ]
    return lambda batch: (Turns([each.at(batch.vertices[vertex]) for vertex, each in stored], [range(len(stored))]),)


def _through(batches: Iterable[Matches], behind: Callable[[Matches], Iterable[Item]]) -> Iterator[Item]:
    return (item for batch in batches for item in behind(batch))


def _cut(
    batches: Generator[Matches, None, None], count: int, behind: Callable[[Matches], Iterable[Item]]
) -> Generator[Item, None, None]:
    """What is made of so many of the matches."""
    with closing(batches):
        yield from _through(_first(batches, count), behind)


def _first(batches: Iterable[Matches], count: int) -> Iterator[Matches]:
    """So many of the matches."""
    for batch in batches:
        if batch.count >= count:
            yield batch.first(count)
            return
        yield batch
        count -= batch.count
