"""Answering bound queries on one version of a graph after the other: plans are kept as long as they stay good, and what
they have made ready with them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import field, replace
from functools import partial
from typing import NamedTuple

import pyarrow as pa

from gquery.continuous.terms import Terms, are_apart, of_one_edge, places_of
from gquery.executor.chain.again import Again
from gquery.executor.chain.rows import Rows
from gquery.executor.devices import backend_of, card_beside, walker_beside
from gquery.executor.engine import Engine
from gquery.executor.lowering.reading import Leads
from gquery.executor.progress import Control
from gquery.executor.run import Chain, Tails
from gquery.planner.explain import explain
from gquery.planner.ir.query_plan import ApplyPlan, ChainPlan
from gquery.planner.ir.segments import BoundQuery, Match, Project
from gquery.planner.memo.plan_memo import Advice, PlanMemo
from gquery.planner.memo.recent import Recent
from gquery.planner.passes.demand import pushed_limit
from gquery.planner.plan import plan_chain
from gquery.planner.search.alike.orbits import edge_orbits
from gquery.planner.search.context import Context
from gquery.planner.search.costs import CPU, CostModel
from gquery.planner.search.second_half import SecondHalf
from gquery.planner.search.settled import Settled, can_be_turned
from gquery.records import record
from gquery.settings import Settings
from gquery.storage.graph import Snapshot
from gquery.storage.parted.snapshot import Parted

_PLANS = 64  # that are kept
_ORDERS = 1 << 20  # bytes
_FEW = 7  # bits of the number of edges that a term begins with, up to which all changes are planned alike
# What is folded would be so for all candidates, and anew for each version. Where so little is looked at, to weigh what
# saves work takes longer than that saves.
_OF_FEW = replace(CPU, folds=0.0, filters_begin=math.inf, meet=math.inf)
# Of what is asked of the whole graph once: to count the signatures of all vertices takes longer than they save.
_OF_ALL = replace(CPU, filters_begin=math.inf)
_NO_GRAPH = Snapshot((), ())  # what is kept should hold no version

Places = tuple[int, ...]

AllLeads = Mapping[int, Leads | None]
"""By the places of terms, ascending."""


@record(frozen=True, slots=True)
class _Planned:
    """tails: of those that are the same on every snapshot. places: of the terms that the plan has a branch for; none
    where it is not one of terms. numbers: of the plans of these. few: it begins with few, and is done before another
    device would have the graph. chains: by the places of terms, where chains are the same but for the engine."""

    plan: ChainPlan
    second_halves: Mapping[int, Settled]
    places: Places = ()
    numbers: Places = ()
    few: bool = False
    tails: Tails = field(default_factory=dict)
    again: Again = field(default_factory=Again)
    chains: dict[Places, Chain] = field(default_factory=dict)

    @property
    def bare(self) -> _Planned:
        """The same without the projection at the end."""
        return replace(self, plan=ChainPlan(self.plan.steps[:-1]))

    @property
    def lasts(self) -> bool:
        """Whether nothing that a chain of it has made ready knows more of the snapshot than the engine does."""
        return self.plan.counting or not any(isinstance(step, Project) for step in self.plan.steps)

    def of(self, places: Places) -> ChainPlan:
        """The plan with the branches of some terms."""
        first, *others = self.plan.steps
        if not isinstance(first, ApplyPlan) or places == self.places:
            return self.plan
        branches = zip(self.places, first.branches, strict=True)
        chosen = tuple(branch for place, branch in branches if place in places)
        return ChainPlan((replace(first, branches=chosen), *others))


class LedTerms(NamedTuple):
    """Terms that edges which are apart may answer. known_by: what tells the terms apart; leads: by their places, for
    those that one of the edges may fit. alone: the query, where one edge is apart, and in no match twice."""

    known_by: Hashable
    terms: Terms
    leads: AllLeads
    alone: BoundQuery | None = None


def led_terms(
    known_by: Hashable, query: BoundQuery, terms: Terms, parted: Parted | None, control: Control
) -> LedTerms | None:
    """The terms of a query that edges which are apart may answer; None where there are none."""
    leads = {} if parted is None else terms.sieve.leads(parted, control)
    if parted is None or not leads:
        return None
    match = query.segments[0]
    assert isinstance(match, Match)
    alone = query if len(parted.apart) == 1 and are_apart(match.graph) else None
    return LedTerms(known_by, terms, leads, alone)


class Answering:
    """Answers queries with the values of some parameters."""

    def __init__(self, parameters: Mapping[str, object], settings: Settings) -> None:
        self.parameters = parameters
        self.settings = settings
        self._orders: Recent[Advice] = Recent(_ORDERS)
        self._planned: Recent[_Planned] = Recent(_PLANS)

    def another(self) -> Answering:
        """The same for another thread: what is kept of plans is for one at a time."""
        return Answering(self.parameters, self.settings)

    def answer(self, query: BoundQuery, snapshot: Snapshot, control: Control) -> pa.Table:
        """The rows of a query on a snapshot."""
        return _rows(self.chain(query, snapshot, control), control)

    def answer_once(self, query: BoundQuery, snapshot: Snapshot, control: Control) -> pa.Table:
        """The same of a query that is asked of one snapshot alone, from which on its answer is followed."""
        return _rows(self._chain(self._plan(query, snapshot, control, costs=_OF_ALL), {}, snapshot, control), control)

    def answer_of_change(self, led: LedTerms, snapshot: Parted, control: Control) -> pa.Table:
        """The rows that the edges make which are apart."""
        planned = self._planned_of_change(led, snapshot, control)
        return _rows(self._chain(planned, led.leads, snapshot, control), control)

    def rows_of_change(self, led: LedTerms, snapshot: Parted, control: Control) -> list[pa.RecordBatch]:
        """What the projection of these rows would be made of: ids, and in the column WEIGHT how many rows each stands
        for, if they do not stand for one."""
        planned = self._planned_of_change(led, snapshot, control, bare=True)
        return list(self._chain(planned, led.leads, snapshot, control).run(control))

    def _planned_of_change(self, led: LedTerms, snapshot: Parted, control: Control, bare: bool = False) -> _Planned:
        """bare: without the projection."""
        if led.alone is None:
            begins = sum(len(snapshot.apart) if each is None else each.size for each in led.leads.values())
            size = max(_FEW, (begins // len(led.leads)).bit_length())
            plan = partial(self._plan, led.terms.query, snapshot, control, size, led.terms.places)
        else:
            size = 1
            plan = partial(self._plan_of_one_edge, led.alone, snapshot, control)
        key = (led.known_by, snapshot.invariants, size, bare)
        return self._planned.get(key, lambda: plan().bare if bare else plan())

    def answer_from(
        self, known_by: Hashable, query: BoundQuery, begin: pa.RecordBatch, snapshot: Parted, control: Control
    ) -> pa.Table:
        """The rows that a query makes of those that it begins with, on a snapshot of which nothing is apart."""
        size = max(_FEW, begin.num_rows.bit_length())
        key = (known_by, snapshot.invariants, size)
        planned = self._planned.get(key, lambda: self._plan(query, snapshot, control, size))
        return _rows(self._chain(planned, {}, snapshot, control), control, iter((begin,)))

    def answer_again(self, known_by: Hashable, query: BoundQuery, snapshot: Parted, control: Control) -> pa.Table:
        """The rows of a query on a snapshot of which nothing is apart, by one plan for all that are about as large."""
        key = (known_by, snapshot.invariants, snapshot.edge_count.bit_length())
        planned = self._planned.get(key, lambda: self._plan(query, snapshot, control))
        return _rows(self._chain(planned, {}, snapshot, control), control)

    def _plan_of_one_edge(self, query: BoundQuery, snapshot: Parted, control: Control) -> _Planned:
        """Of edges that are alike only one is looked at: what is found there is turned. Where it cannot be turned, all
        are."""
        (whole,) = self._plan(query, snapshot, control, 1).plan.matches
        orbits = edge_orbits(whole.problem, control.check)
        first = tuple(next(iter(orbit)) for orbit in orbits)
        few = self._plan(of_one_edge(query, first), snapshot, control, 1, first)
        if not all(map(can_be_turned, few.plan.matches)):
            places = places_of(query)
            return self._plan(of_one_edge(query, places), snapshot, control, 1, places)
        halves = {
            step.number: Settled(few.second_halves[step.number].planned, tuple(orbit.values()))
            for step, orbit in zip(few.plan.matches, orbits, strict=True)
        }
        return replace(few, second_halves=halves)

    def chain(self, query: BoundQuery, snapshot: Snapshot, control: Control) -> Chain:
        """The query, ready to run."""
        return self._chain(self._plan(query, snapshot, control), {}, snapshot, control)

    def explained(self, query: BoundQuery, snapshot: Snapshot) -> str:
        """The plan of a query, with estimates; on a snapshot of which edges may be apart it begins with few rows."""
        control = Control()
        planned = self._plan(query, snapshot, control, 1 if isinstance(snapshot, Parted) else None)
        chain = Chain.of(planned.plan, planned.second_halves, self._engine(planned, snapshot, {}), {}, control.check)
        halves = planned.second_halves
        return explain(
            planned.plan, chain, lambda number: halves[number].planned.estimated(control.check), lambda _: ""
        )

    def _engine(self, planned: _Planned, snapshot: Snapshot, leads: AllLeads) -> Engine:
        again = planned.again if planned.places else None
        backend, threads = partial(backend_of, self.settings), self.settings.threads
        beside = walker = None
        if not planned.few:
            beside, walker = card_beside(self.settings), walker_beside(self.settings)
        numbers = zip(planned.places, planned.numbers, strict=True)
        of_plans = {number: leads[place] for place, number in numbers if place in leads}
        return Engine(backend, snapshot, self.parameters, threads, beside, walker, again, of_plans)

    def _chain(self, planned: _Planned, leads: AllLeads, snapshot: Snapshot, control: Control) -> Chain:
        engine, places = self._engine(planned, snapshot, leads), tuple(leads)
        if places in planned.chains:
            return planned.chains[places].on(engine)
        tails = planned.tails if planned.lasts else {}
        chain = Chain.of(planned.of(places), planned.second_halves, engine, tails, control.check)
        if planned.lasts:
            planned.chains[places] = chain.on(replace(engine, snapshot=_NO_GRAPH, leads={}))
        return chain

    def _plan(
        self,
        query: BoundQuery,
        snapshot: Snapshot,
        control: Control,
        size: int | None = None,
        places: Places = (),
        costs: CostModel = CPU,
    ) -> _Planned:
        """size: bits of the number of what it begins with, None for all vertices."""
        snapshot.counts.make_sure(query.edge_types, control.check)
        limits = tuple(pushed_limit(segment, self.parameters) for segment in query.all_segments)
        memos = [PlanMemo(self._orders) for _ in query.all_segments]
        few = size is not None and size <= _FEW
        costs = _OF_FEW if few else costs
        costs = replace(costs, effort=replace(costs.effort, edges=False))  # whose changes are what it begins with
        if self.settings.device == "gpu" or self.settings.memory_limit is not None:
            costs = replace(costs, effort=replace(costs.effort, pairs=False))  # as in `session.py`
        contexts = [Context(snapshot.invariants, snapshot.statistics, costs, memo, control.check) for memo in memos]
        plan = plan_chain(query, limits, contexts)
        halves = {step.number: Settled(SecondHalf(step, contexts[step.number])) for step in plan.matches}
        numbers = tuple(each.number for each in plan.matches) if places else ()
        return _Planned(plan, halves, places, numbers, few)


def _rows(chain: Chain, control: Control, before: Rows | None = None) -> pa.Table:
    return pa.Table.from_batches(chain.run(control, before=before), chain.schema)
