"""A bound query over a snapshot, with all that running it takes; every run starts from the candidates anew."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from gquery.executor.chain.rows import Rows
from gquery.executor.devices import backend_of, card_beside
from gquery.executor.engine import Engine, placed
from gquery.executor.progress import Control
from gquery.executor.run import Chain, Measured
from gquery.imports import ENGINE, import_apart
from gquery.planner.explain import Ran, explain
from gquery.planner.ir.segments import BoundQuery
from gquery.planner.memo.remembered import Remembered
from gquery.planner.passes.demand import pushed_limit
from gquery.planner.plan import plan_chain
from gquery.planner.search.context import Context
from gquery.planner.search.costs import CPU
from gquery.planner.search.second_half import SecondHalf
from gquery.settings import Settings
from gquery.stopping import Check
from gquery.storage.graph import Snapshot


class Planned:
    """The plan, the second halves of its matches, the engine and the chain that runs it."""

    def __init__(
        self,
        bound: BoundQuery,
        snapshot: Snapshot,
        parameters: Mapping[str, Any],
        settings: Settings,
        known: Remembered,
        asked: tuple[Hashable, ...],
        check: Check,
    ) -> None:
        """known: what is remembered of queries, this one by what is `asked`."""
        if bound.device is not None:
            settings = settings.changed(device=bound.device)
        snapshot.counts.make_sure(bound.edge_types, check)
        limits = tuple(pushed_limit(segment, parameters) for segment in bound.all_segments)
        context = partial(Context, snapshot.invariants, snapshot.statistics, CPU)
        self.plan, memos, made = known.plan(
            (*asked, limits, settings.device),
            bound,
            lambda memos: plan_chain(bound, limits, [context(memo, check) for memo in memos]),
        )
        self.notices, self.device = bound.notices, bound.device
        self.matchings = {step.number: SecondHalf(step, context(memos[step.number])) for step in self.plan.matches}
        beside = card_beside(settings)
        self.engine = Engine(partial(backend_of, settings), snapshot, parameters, settings.threads, beside)
        self.chain = Chain.of(self.plan, self.matchings, self.engine, made, check)

    def run(self, control: Control, measured: Sequence[Measured] = (), before: Rows | None = None) -> Rows:
        """The answer, batch by batch. measured: one for each step of the plan, filled while the answer is read. before:
        the rows that it begins with."""
        import_apart(ENGINE, control.check)
        yield from self.chain.run(control, measured, before)

    def plan_lines(self, profiled: bool, control: Control) -> Iterator[str]:
        """The plan, line by line; profiled: after a run, with what happened."""
        measured = Measured.each(self.plan) if profiled else ()
        began = time.perf_counter()
        for _ in self.run(control, measured) if profiled else ():
            pass
        ran = Ran(measured, time.perf_counter() - began, control.memory.peak) if profiled else None
        if self.device is not None:
            yield f"Match by device {self.device}, as USING says"
        text = explain(
            self.plan,
            self.chain,
            lambda number: self.matchings[number].estimated(control.check),
            lambda number: self._placed(number, control),
            ran,
        )
        yield from text.splitlines()

    def _placed(self, number: int, control: Control) -> str:
        """Where a count would go, and why; nothing where there is no choice."""
        if self.engine.beside is None:
            return ""
        second_half = self.matchings[number]
        return placed(second_half, second_half.estimated(control.check), self.engine)[1]


PLAN = pa.schema([("plan", pa.string())])


def as_rows(lines: Iterator[str]) -> Iterator[pa.RecordBatch]:
    """A plan as an answer of one column, a row a line."""
    yield pa.record_batch([pa.array(list(lines), pa.string())], schema=PLAN)
