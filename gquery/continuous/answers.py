"""Answering bound queries on one version of a graph after the other: plans are kept as long as they stay good."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial

import pyarrow as pa

from gquery.continuous.terms import of_one_edge
from gquery.executor.devices import backend_of
from gquery.executor.engine import Engine
from gquery.executor.progress import Control
from gquery.executor.run import Chain, Tails
from gquery.planner.ir.query_plan import ChainPlan
from gquery.planner.ir.segments import BoundQuery
from gquery.planner.memo.plan_memo import Advice, PlanMemo
from gquery.planner.memo.recent import Recent
from gquery.planner.passes.demand import pushed_limit
from gquery.planner.plan import plan_chain
from gquery.planner.search.alike.orbits import edge_orbits
from gquery.planner.search.context import Context
from gquery.planner.search.costs import CPU
from gquery.planner.search.second_half import SecondHalf
from gquery.planner.search.settled import Settled, can_be_turned
from gquery.records import record
from gquery.settings import Settings
from gquery.storage.graph import Snapshot
from gquery.storage.parted.snapshot import Parted

_PLANS = 64  # that are kept
_ORDERS = 1 << 20  # bytes


@record(frozen=True, slots=True)
class _Planned:
    """tails: of those that are the same on every snapshot."""

    plan: ChainPlan
    second_halves: Mapping[int, Settled]
    tails: Tails


class Answering:
    """Answers queries with the values of some parameters."""

    def __init__(self, parameters: Mapping[str, object], settings: Settings) -> None:
        self.parameters = parameters
        self.settings = settings
        self._orders: Recent[Advice] = Recent(_ORDERS)
        self._planned: Recent[_Planned] = Recent(_PLANS)

    def answer(self, query: BoundQuery, snapshot: Snapshot, control: Control) -> pa.Table:
        """The rows of a query on a snapshot."""
        return _rows(self.chain(query, snapshot, control), control)

    def answer_again(
        self, known_by: Hashable, query: Callable[[], BoundQuery], snapshot: Snapshot, control: Control
    ) -> pa.Table:
        """The rows of a query on a snapshot. known_by: what tells the query apart, and all that its plan relies on."""
        planned = self._planned.get(known_by, lambda: self._plan(query(), snapshot, control))
        return _rows(self._chain(planned, snapshot, control), control)

    def answer_of_one_edge(
        self, known_by: Hashable, query: BoundQuery, places: tuple[int, ...], snapshot: Parted, control: Control
    ) -> pa.Table:
        """The rows that an edge makes which is apart alone, and in no match twice."""
        planned = self._planned.get(known_by, lambda: self._plan_of_one_edge(query, places, snapshot, control))
        return _rows(self._chain(planned, snapshot, control), control)

    def _plan_of_one_edge(
        self, query: BoundQuery, places: tuple[int, ...], snapshot: Parted, control: Control
    ) -> _Planned:
        """Of edges that are alike only one is looked at: what is found there is turned. Where it cannot be turned, all
        are."""
        (whole,) = self._plan(query, snapshot, control).plan.matches
        orbits = [orbit for orbit in edge_orbits(whole.problem, control.check) if not orbit.keys().isdisjoint(places)]
        few = self._plan(of_one_edge(query, [next(iter(orbit)) for orbit in orbits]), snapshot, control)
        if not all(map(can_be_turned, few.plan.matches)):
            return self._plan(of_one_edge(query, places), snapshot, control)
        halves = {
            step.number: Settled(few.second_halves[step.number].planned, tuple(orbit.values()))
            for step, orbit in zip(few.plan.matches, orbits, strict=True)
        }
        return _Planned(few.plan, halves, {})

    def chain(self, query: BoundQuery, snapshot: Snapshot, control: Control) -> Chain:
        """The query, ready to run."""
        return self._chain(self._plan(query, snapshot, control), snapshot, control)

    def _chain(self, planned: _Planned, snapshot: Snapshot, control: Control) -> Chain:
        engine = Engine(partial(backend_of, self.settings), snapshot, self.parameters, self.settings.threads)
        tails = planned.tails if planned.plan.counting else {}
        return Chain.of(planned.plan, planned.second_halves, engine, tails, control.check)

    def _plan(self, query: BoundQuery, snapshot: Snapshot, control: Control) -> _Planned:
        snapshot.counts.make_sure(query.edge_types, control.check)
        limits = tuple(pushed_limit(segment, self.parameters) for segment in query.all_segments)
        memos = [PlanMemo(self._orders) for _ in query.all_segments]
        contexts = [Context(snapshot.invariants, snapshot.statistics, CPU, memo, control.check) for memo in memos]
        plan = plan_chain(query, limits, contexts)
        halves = {step.number: Settled(SecondHalf(step, contexts[step.number])) for step in plan.matches}
        return _Planned(plan, halves, {})


def _rows(chain: Chain, control: Control) -> pa.Table:
    return pa.Table.from_batches(chain.run(control), chain.schema)
