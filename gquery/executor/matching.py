"""One step that matches: on which backend, by which plans, and what it leaves behind."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache

import pyarrow as pa

from gquery.errors import MemoryLimitError, UnsupportedError
from gquery.executor.backend import Backend, Candidates, Item, Masks
from gquery.executor.chain.rows import Rows, as_ids
from gquery.executor.engine import Engine, SecondHalf, placed
from gquery.executor.expansion.expand import Matches
from gquery.executor.expansion.products import products
from gquery.executor.gathered import Asked, Turns
from gquery.executor.lowering.reading import Reading
from gquery.executor.lowering.seeds import Seeds
from gquery.executor.matcher import Matcher, Prepared, turns_of
from gquery.executor.memory import Taking
from gquery.executor.profile import Profile
from gquery.executor.progress import Control, GivenUp, OrdersGivenUp, Step, Try
from gquery.executor.race import CardLater, Doubted, Follower, first_of
from gquery.executor.relational.streams import Made, Work
from gquery.executor.standby import key_of, standing_by, taken
from gquery.planner.ir.expr import variables
from gquery.planner.ir.match_plan import MatchPlan
from gquery.planner.ir.query_plan import ApplyPlan, ChainPlan, QueryPlan
from gquery.planner.ir.relations import SEED
from gquery.records import record
from gquery.stopping import Check


@dataclass(slots=True)
class Measured:
    """What a step of a profiled run leaves behind. placed: why a count went where it went, where there was a choice."""

    profile: Profile = field(default_factory=Profile)
    matchings: tuple[MatchPlan, ...] = ()
    candidates: Candidates | None = None
    rows: int = 0
    placed: str = ""
    branches: tuple[tuple[Measured, ...], ...] = ()

    @classmethod
    def each(cls, plan: ChainPlan) -> tuple[Measured, ...]:
        """One for each step, and for each of the steps below."""
        return tuple(
            cls(branches=tuple(cls.each(branch) for branch in step.branches)) if isinstance(step, ApplyPlan) else cls()
            for step in plan.steps
        )

    def below(self, step: ApplyPlan) -> tuple[Sequence[Measured], ...]:
        """What the branches' steps leave behind; nothing where nobody asks."""
        return self.branches or ((),) * len(step.branches)


_TRIED = 4 * 10**9  # steps, after which the order of a card is given up: it may be a bad one
_ALONE = 5 * 10**7  # steps of a card by one order, after which it tries an order for each partial match
_BESIDE = 5 * 10**7  # steps since then, after which the CPU begins beside it: it may have a better order


@record(frozen=True, slots=True)
class Matching:
    """One run of a step that matches. apart: the numbers of matches of what the one listed vertex is come together, in
    a row for each."""

    plan: QueryPlan
    second_half: SecondHalf
    engine: Engine
    control: Control
    measured: Measured
    apart: bool = False

    def count(self) -> int:
        """The number of matches, none of which is listed. A card that has no room for them, or cannot
        count them, leaves them to the CPU."""
        with self._alone() as own:
            return own._count()

    @contextmanager
    def _alone(self) -> Iterator[Matching]:
        """This run with memory of its own, all of which is given back."""
        control = Step(self.control)
        try:
            yield Matching(self.plan, self.second_half, self.engine, control, self.measured, self.apart)
        finally:
            control.memory.close()

    def _count(self) -> int:
        if self._walks:
            tried = self._tried()
            return self._walked_beside() if tried is None else tried
        if not self._is_card_ready:
            return self._counted()
        if self._is_asked_again and self.second_half.is_little:
            return self._counted_at_once()
        count = self._raced() if self.second_half.is_doubted else self._filtered_on_card()
        if count is None:
            return self._counted()
        self.second_half.counted(self.measured.matchings, None)
        return count

    @property
    def _is_asked_again(self) -> bool:
        """Whether what the CPU makes ready would stand by for the next run, as there has been one before."""
        key = key_of(self.second_half, self.engine, self.engine.backend(self.control.check), self.control)
        return key is not None and self.engine.snapshot.idle.expects(key)

    def _counted_at_once(self) -> int:
        """The number, by the CPU, which has it before a card has begun."""
        count = replace(self, engine=replace(self.engine, beside=None))._counted()
        self.second_half.counted(self.measured.matchings, self.measured.profile.seconds.get("search", 0.0))
        self.measured.placed = "On the CPU: it is asked again, and soon done"
        return count

    def _counted(self) -> int:
        """The number, where it pays; by one order for all partial matches where an order for each takes longer. Where
        memory is limited that is planned afterwards, as there may be no room for both."""
        doubted = Doubted(self.control, self._steadily)
        control = doubted if self.control.memory_limit is None else self.control
        try:
            with replace(self, control=control)._alone() as own:
                return own._counted_where_it_pays()
        except OrdersGivenUp:
            self.measured.profile.enumerations.clear()
            self.second_half.give_up(self.measured.matchings[0].cardinalities)
            count, measured = doubted.answer() or self._steadily(self.control)
        finally:
            doubted.end()
        measured.profile.add_seconds(self.measured.profile)
        self._take(measured, measured.placed)
        return count

    def _steadily(self, control: Control) -> tuple[int, Measured]:
        """The number, by one order for all partial matches, and what that leaves behind."""
        measured = Measured()
        there = replace(self, second_half=self.second_half.steady(), control=control, measured=measured)
        with there._alone() as own:
            return own._counted_where_it_pays(), measured

    def _counted_where_it_pays(self) -> int:
        """The number, by a card where the plan that the CPU has made says so."""
        matcher = self._prepared()
        self.control.planned(sum(each.cost for each in self.measured.matchings))
        pays, self.measured.placed = placed(self.second_half, self.measured.matchings, self.engine)
        if pays and isinstance(self.engine.beside, CardLater):
            return self._on_both(self.engine.beside, matcher.masks)
        if pays and self.engine.beside is not None:
            try:
                return self._again_on(self.engine.beside.backend(self.control.check), matcher.masks)
            except (MemoryLimitError, UnsupportedError) as error:
                self.measured.placed = f"On the CPU: {error.message}"
        with standing_by(matcher):
            return self._total(matcher)

    def _total(self, matcher: Matcher) -> int:
        return matcher.total(self.measured.matchings, self.measured.profile)

    @property
    def _is_card_ready(self) -> bool:
        beside = self.engine.beside
        return beside is not None and beside.begun(self.engine.snapshot) == (True, True)

    def _tried(self) -> int | None:
        """The number, where a card has it before walks would have found a better order. None where it has not."""
        measured = Measured()
        try:
            count = replace(self, engine=replace(self.engine, walker=None), measured=measured)._on_card(_TRIED)
        except GivenUp:
            return None
        self._take(measured, "On the card: done before the CPU would have looked for a better order")
        return count

    def _on_card(self, most: float) -> int:
        """The number, by a card that plans by estimates: by one order for all partial matches, by an order for each
        where that is not soon done, and on by the first where that is given up. Raises GivenUp after `most` steps."""
        limit = Try(self.control)
        with replace(self, control=limit)._alone() as own:
            matcher = own._prepared()
            by_one = own.measured.matchings
            with suppress(GivenUp):
                limit.begin(_ALONE, heard=False)
                with standing_by(matcher):
                    return own._total(matcher)
            limit.begin(most, heard=True)
            with suppress(OrdersGivenUp):
                own._plan_orders(matcher)
                return own._total(matcher)
            self.second_half.adaptive().give_up(own.measured.matchings[0].cardinalities)
            own._begin_anew(by_one)
            return own._total(matcher)

    def _plan_orders(self, matcher: Matcher) -> None:
        """From now on partial matches have an order each, where they may have one."""
        second_half, check = self.second_half.adaptive(), self.control.check
        with self.measured.profile.timed("plan"):
            sizes = second_half.cardinalities(matcher.counted)
            self._begin_anew(second_half.matchings(sizes, *second_half.space(lambda: sizes, check), check))

    def _begin_anew(self, matchings: tuple[MatchPlan, ...]) -> None:
        """By other plans."""
        self.measured.profile.enumerations.clear()
        self.measured.matchings = matchings

    def _raced(self) -> int | None:
        """The number, by a card that is ready: it counts by an order that is not to be trusted, and is most often done
        with that before the CPU would have a plan. Where it is not both go on, and who is done first ends the other.
        None where the card cannot."""
        beside, engine = self.engine.beside, self.engine
        assert beside is not None
        card, cpu = Measured(), Measured()

        def on_card(control: Control) -> int:
            there = replace(engine, backend=beside.backend, beside=None)
            return Matching(self.plan, self.second_half.for_card(), there, control, card)._on_card(math.inf)

        def on_cpu(control: Follower) -> int:
            here = replace(engine, beside=CardLater(beside, control))
            return Matching(self.plan, self.second_half, here, control, cpu)._counted()

        found = first_of(self.control, _BESIDE, on_card, on_cpu)
        if found is None:
            return None
        count, is_first = found
        if is_first:
            self._take(card, "On the card: done before the CPU")
        else:
            self._take(cpu, cpu.placed or "On the CPU: done before the card")
        return count

    def _on_both(self, beside: CardLater, masks: Masks) -> int:
        """The number, by the plan that the CPU has made, on a card that has begun by another, and on the CPU: a look
        takes a card up to ten times as long in one plan as in another."""
        card, cpu = (Measured(matchings=self.measured.matchings, placed=self.measured.placed) for _ in range(2))

        def on(backend: Callable[[Check], Backend], control: Control, measured: Measured) -> int:
            with replace(self, control=control, measured=measured)._alone() as own:
                return own._again_on(backend(control.check), masks)

        found = first_of(
            self.control,
            -1,
            lambda control: on(beside.backend, control, card),
            lambda control: on(self.engine.backend, control, cpu),
        )
        assert found is not None  # the CPU has begun
        count, is_first = found
        first = card if is_first else cpu
        first.profile.add_seconds(self.measured.profile)
        self._take(first, first.placed if is_first else "On the CPU: done before the card, by the same plan")
        return count

    def _take(self, measured: Measured, placed: str) -> None:
        """What another run has left behind becomes this one's."""
        for name in ("profile", "matchings", "candidates"):
            setattr(self.measured, name, getattr(measured, name))
        self.measured.placed = placed

    @property
    def _walks(self) -> bool:
        """Whether another backend may find a better order than this one."""
        return self.engine.walker is not None and self.second_half.is_doubted

    def _walked_beside(self) -> int:
        """The number, by an order that walks through another backend's candidates have found."""
        assert self.engine.walker is not None
        there = replace(self.engine, backend=self.engine.walker)
        matcher = Matching(self.plan, self.second_half.steady(), there, self.control, self.measured)._prepared()
        self.measured.placed = "On the card: by an order that the CPU has found"
        return self._again_on(self.engine.backend(self.control.check), matcher.masks)

    def _filtered_on_card(self) -> int:
        """The number, by a card that is ready: it filters, and the plan is made for it. The CPU counts what the card
        cannot, by its own plan."""
        beside, engine = self.engine.beside, self.engine
        assert beside is not None
        there = replace(engine, backend=beside.backend, beside=None, again=None)
        second_half = self.second_half.for_card()
        try:
            matcher = Matching(self.plan, second_half, there, self.control, self.measured)._prepared()
            self.measured.placed = placed(second_half, self.measured.matchings, engine)[1]
            with standing_by(matcher):
                return self._total(matcher)
        except (MemoryLimitError, UnsupportedError) as error:
            self.measured.placed = f"On the CPU: {error.message}"
            return self._total(self._prepared())

    def _again_on(self, backend: Backend, masks: Masks) -> int:
        """Counts on another backend than has filtered, by the plans that are there: walks through the CPU's candidates
        have made them better than a card's. What was measured is what that backend took, when it has counted."""
        there, matchings = Profile(), self.measured.matchings
        with there.timed("filter"):
            engine = self.engine
            leads = engine.leads.get(self.plan.number)
            relevant = engine.relevant_to(self.plan.segment, self.control)
            reading = Reading(engine.snapshot, engine.parameters, self.control, None, leads, relevant=relevant)
            matcher = Matcher.filtering(backend, self.plan.graph, self.plan.filters, reading, masks)
        if any(each.space == "candidates" for each in matchings):
            with there.timed("refine"):
                matcher.candidates.refine()
        count = matcher.total(matchings, there)
        profile = self.measured.profile
        profile.enumerations[:] = there.enumerations
        profile.add_seconds(there)
        self.measured.candidates = matcher.candidates
        return count

    def rows(self) -> Rows:
        """The matches, with the variables that go out or are left to check."""
        left = (name for predicate in self.plan.residual for name in variables(predicate))
        listed = tuple(dict.fromkeys((*self.plan.rows, *left)))
        if not self.plan.looks_up:
            return self._listed(listed)
        engine, relevant = self.engine, self.engine.relevant_to(self.plan.segment, self.control)
        reading = Reading(engine.snapshot, engine.parameters, self.control, relevant=relevant)
        as_rows = as_ids(self.plan.graph, listed, {})
        return (as_rows(batch) for batch in products(self.plan, reading))

    def from_seeds(self, seeds: Seeds, listed: tuple[str, ...]) -> Rows:
        """The matches that begin with a seed, each with the seed's number in the column SEED. Where the rows before say
        nothing of what it begins with there is no such column."""
        return self._listed((*listed, *([SEED] if self.plan.segment.seeded else [])), seeds)

    def _listed(self, listed: tuple[str, ...], seeds: Seeds | None = None) -> Rows:
        def begin(work: Work) -> Generator[pa.RecordBatch, None, None]:
            with self._alone() as own:
                matcher = own._prepared(seeds)
                as_rows = as_ids(self.plan.graph, listed, matcher.masks.seeds)
                with standing_by(matcher):
                    if self.control.memory_limit is None:
                        yield from self._found(matcher, lambda batch: work(as_rows(batch)))
                        return
                    # What is gathered for a batch may take a part of the limit: one at a time.
                    found = self._found(matcher, lambda batch: (as_rows(batch),))
                    with closing(found) as rows:
                        for batch in rows:
                            yield from work(batch)

        return Made(begin)

    def _found(self, matcher: Matcher, behind: Callable[[Matches], Iterable[Item]]) -> Generator[Item, None, None]:
        """What is made of the matches, which may be those of several plans."""
        plans, profile = self.measured.matchings, self.measured.profile
        if self.plan.cases:
            return matcher.cases(plans, tuple(self.plan.kept), profile, behind)
        whole = not self.apart or plans[0].strategy in (None, "fold")  # of which no worker gives a part away
        if len(plans) == 1 and plans[0].problem.coefficient == 1 and whole:
            return matcher.matches(plans[0], profile, behind)
        (vertex,) = self.plan.kept
        return matcher.counts_of_each(plans, vertex, profile, behind)

    def gathered(self, asked: Sequence[Asked], copied: bool) -> Generator[Turns, None, None]:
        """Numbers of the vertices of all matches."""
        with self._alone() as own:
            matcher = own._prepared()
            first, *others = self.measured.matchings
            if others:
                found = self._found(matcher, turns_of(asked, first.cost))
            else:
                found = matcher.gathered(first, self.measured.profile, asked, copied)
            with standing_by(matcher), closing(found):
                yield from found

    def _prepared(self, seeds: Seeds | None = None) -> Matcher:
        """With candidates that are filtered and perhaps refined; how they are matched is planned meanwhile."""
        plan, engine, check, profile = self.plan, self.engine, self.control.check, self.measured.profile
        leads = engine.leads.get(plan.number)
        relevant = engine.relevant_to(plan.segment, self.control, seeds)
        reading = Reading(engine.snapshot, engine.parameters, self.control, seeds, leads, engine.threads, relevant)
        if engine.again is not None and (ready := engine.again.ready(plan, self.second_half, engine, reading)):
            self.measured.matchings = ready.matchings
            return ready.matcher(engine.backend(check), plan.graph, reading)
        backend = engine.backend(check)
        key = key_of(self.second_half, engine, backend, self.control) if seeds is None else None
        known = taken(key, backend, reading) if key is not None else None
        if known is not None and known.prepared is not None:
            self.measured.matchings, self.measured.candidates = known.prepared.matchings, known.candidates
            return known
        taking, epoch = Taking(self.control.memory), engine.snapshot.idle.epoch
        with profile.timed("filter"):
            matcher = Matcher.filtering(backend, plan.graph, plan.filters, reading)
        with profile.timed("plan"):
            filtered = cache(lambda: self.second_half.cardinalities(matcher.counted))
            space, reason = self.second_half.space(filtered, check)
        if space == "candidates":
            with profile.timed("refine"):
                matcher.candidates.refine()
        with profile.timed("plan"):
            sizes = self.second_half.cardinalities(matcher.counted) if space == "candidates" else filtered()
            sampler = matcher.candidates.sampler if space == "candidates" else None
            matchings = self.second_half.matchings(sizes, space, reason, check, sampler)
        if key is not None:
            matcher.prepared = Prepared(key, epoch, matchings, taking.reserved())
        self.measured.matchings, self.measured.candidates = matchings, matcher.candidates
        return matcher
