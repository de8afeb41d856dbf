"""Runs a plan: one segment after the other, each reading the rows of the one before while its own are read."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from threading import Lock

import pyarrow as pa

from gquery.executor.chain.applied import Applied, with_totals
from gquery.executor.chain.counted import counted, number_of
from gquery.executor.chain.joined import Join
from gquery.executor.chain.once import taken_once
from gquery.executor.chain.rows import Rows, hidden_variables, one_row
from gquery.executor.engine import Engine, SecondHalf
from gquery.executor.gathered import Turns, asked_of
from gquery.executor.lowering.reading import Reading
from gquery.executor.matching import Matching, Measured
from gquery.executor.progress import Control
from gquery.executor.relational.streams import apart, through
from gquery.executor.relational.tail import Tail, asks_parameters
from gquery.planner.ir.expr import Expression, is_volatile
from gquery.planner.ir.query_plan import ApplyPlan, ChainPlan, PathsPlan, QueryPlan
from gquery.planner.ir.segments import OptionalMatch, Project
from gquery.planner.ir.updates import Update
from gquery.records import record
from gquery.stopping import Check

DEEPEST = 32  # steps that read from each other in one thread, whose stack has an end

Place = tuple[int, ...]
"""Of a step in a plan: the numbers of the steps and branches that it is within, and its own."""

Tails = dict[Place, Tail]
"""The tails of a plan that ask no parameters, and are the same each time."""


@record(frozen=True, slots=True)
class Chain:
    """A plan with all that running it takes. second_halves: by the number of a segment. The rest is by step; a match
    that starts the chain is joined to nothing, unless the next step cannot check what it has left to check. totals:
    what such projections make of no rows. groups: the matches of which each row is a group of the next step.
    subqueries: the chains of their branches. lasts: only the engine knows the values of parameters."""

    plan: ChainPlan
    second_halves: Mapping[int, SecondHalf]
    tails: Mapping[int, Tail]
    joins: Mapping[int, Join]
    totals: Mapping[int, Tail]
    groups: frozenset[int]
    subqueries: Mapping[int, tuple[Chain, ...]]
    engine: Engine
    weighted: bool
    lasts: bool

    @classmethod
    def of(
        cls,
        plan: ChainPlan,
        second_halves: Mapping[int, SecondHalf],
        engine: Engine,
        made: Tails,
        check: Check,
        within: Place = (),
        counted: bool = False,
    ) -> Chain:
        """Raises BindError for a SKIP or LIMIT that is no whole number, UnsupportedError for what SQL cannot say.
        made: for earlier runs of the plan, and from now on for later ones. within: where the chain is, if it is a
        branch of another's step, and no query; counted: it is one of which only the number of matches is asked."""
        tails: dict[int, Tail] = {}
        joins: dict[int, Join] = {}
        totals: dict[int, Tail] = {}
        groups: set[int] = set()
        subqueries: dict[int, tuple[Chain, ...]] = {}
        weighted, lasts = False, True
        for number, step in enumerate(plan.steps):
            before = plan.steps[number - 1] if number else None
            if isinstance(step, PathsPlan) and not step.joined:
                weighted = step.weighted
            elif isinstance(step, PathsPlan):
                joins[number] = Join(step, engine.snapshot, engine.parameters)
                weighted |= step.weighted
            elif isinstance(step, QueryPlan):
                if counted or _starts(step, number, plan):
                    weighted |= step.weighted
                else:
                    joins[number] = Join(step, engine.snapshot, engine.parameters)
                    weighted |= joins[number].weighted
            elif isinstance(step, ApplyPlan):
                only = counted or plan.counts(number + 1)
                subqueries[number] = tuple(
                    cls.of(branch, second_halves, engine, made, check, (*within, number, place), only)
                    for place, branch in enumerate(step.branches)
                )
                weighted |= step.segment.asked == "rows" and any(each.weighted for each in subqueries[number])
            elif isinstance(step, Project):
                residual: tuple[Expression, ...] = ()
                if isinstance(before, QueryPlan) and number - 1 not in joins:
                    residual = before.residual
                    step = replace(step, input=before.segment.output + hidden_variables(before.graph))
                if isinstance(before, QueryPlan | PathsPlan) and number - 1 not in joins:
                    once = taken_once(before, step, engine.snapshot)
                    if once != step:
                        weighted, step = False, once
                        groups.add(number - 1)
                final = not within and number == len(plan.steps) - 1
                place = (*within, number)
                if place in made:
                    tails[number] = made[place]
                elif asks_parameters(step, residual):
                    lasts = False
                    tails[number] = Tail(step, engine.snapshot, engine.parameters, residual, weighted, final, check)
                else:
                    tails[number] = made[place] = Tail(step, engine.snapshot, {}, residual, weighted, final, check)
                if step.is_total:
                    totals[number] = tails[number].of_all()
                weighted = tails[number].weighted
        lasts &= not any(join.asks_parameters for join in joins.values())
        lasts &= all(each.lasts for branches in subqueries.values() for each in branches)
        return cls(plan, second_halves, tails, joins, totals, frozenset(groups), subqueries, engine, weighted, lasts)

    def on(self, engine: Engine) -> Chain:
        """The same chain with another engine, where nothing else of it depends on what that knows."""
        below = {number: tuple([each.on(engine) for each in chains]) for number, chains in self.subqueries.items()}
        parts = self.plan, self.second_halves, self.tails, self.joins, self.totals, self.groups
        return Chain(*parts, below, engine, self.weighted, self.lasts)  # `replace` takes five times as long

    @property
    def schema(self) -> pa.Schema:
        """The answer's columns."""
        return self.tails[len(self.plan.steps) - 1].schema

    @property
    def counting(self) -> bool:
        """Whether the answer is a row of counts that may be beyond 2^63."""
        return self.plan.counting or self.tails[len(self.plan.steps) - 1].adds_weights

    def run(
        self, control: Control, measured: Sequence[Measured] = (), before: Rows | None = None, outer: int = 1
    ) -> Rows:
        """The answer, batch by batch. measured: one for each step, filled while the answer is read. before: the rows
        that the chain begins with, which are made for so many of an `outer` query."""
        gathered = self.gathered(control, measured, copied=True) if before is None else None
        if gathered is not None:
            return _watched(_batches(gathered, self.schema), *measured)
        rows = one_row() if before is None else before
        count: Callable[[], int] = int
        for number, step in enumerate(self.plan.steps):
            if number and number % DEEPEST == 0:
                rows = apart(rows, control.cancel)
            if isinstance(step, PathsPlan):
                rows = self._searched(number, step, rows, control)
            elif isinstance(step, QueryPlan):
                here = measured[number] if measured else Measured()
                groups = number in self.groups and step.is_sum
                matching = Matching(step, self.second_halves[step.number], self.engine, control, here, groups)
                count = matching.count
                if number not in self.joins:
                    rows = matching.rows()
                elif step.counting:
                    rows = self.joins[number].multiplied(rows, count, control)
                else:
                    rows = self.joins[number].run(rows, matching.from_seeds, control)
            elif isinstance(step, ApplyPlan):
                here = measured[number] if measured else Measured()
                chains = zip(self.subqueries[number], here.below(step), strict=True)
                branches = [partial(_branch, chain, control, below) for chain, below in chains]
                weighted = any(each.weighted for each in self.subqueries[number])
                count = partial(self._counted_apart, number, control, here)
                rows = Applied(step, weighted).run(rows, branches, control)
            elif isinstance(step, Update):
                pass  # whoever runs the chain changes the graph for its rows
            elif number in self.totals:
                rows = self._total(number, rows, outer, control)
            else:
                tail = self.tails[number]
                if self.plan.counts(number):
                    rows = counted(tail, count, control)
                elif tail.counts_rows:
                    rows = counted(tail, partial(number_of, rows, control), control)
                else:
                    rows = tail.run(rows, control, self.engine.threads)
            rows = _watched(rows, measured[number]) if measured else rows
        return rows

    def _counted_apart(self, number: int, control: Control, here: Measured) -> int:
        """How many matches the branches of a subquery have, each of which only counts."""
        step = self.plan.steps[number]
        assert isinstance(step, ApplyPlan)
        here.rows = 0
        for chain, below in zip(self.subqueries[number], here.below(step), strict=True):
            (match,) = chain.plan.steps
            inner = below[0] if below else Measured()
            if isinstance(match, ApplyPlan):
                here.rows += chain._counted_apart(0, control, inner)
                continue
            assert isinstance(match, QueryPlan)
            here.rows += Matching(match, self.second_halves[match.number], self.engine, control, inner).count()
        return here.rows

    def _searched(self, number: int, step: PathsPlan, rows: Rows, control: Control) -> Rows:
        """What paths lead to: from what the step looks up, from all rows together, or joined to each."""
        from gquery.executor.paths.search import PathSearch  # Numba takes half a second to import

        reading = Reading(self.engine.snapshot, self.engine.parameters, control)
        relevant = partial(self.engine.relevant_to, step.segment, control)
        search = PathSearch(step, self.engine.threads, reading, relevant)
        if step.begins is not None:
            return search.from_looked_up(step.begins)
        return search.from_anywhere(rows) if step.together else self.joins[number].run(rows, search.from_seeds, control)

    def gathered(
        self, control: Control, measured: Sequence[Measured] = (), copied: bool = False
    ) -> Generator[Turns, None, None] | None:
        """The answer as numbers of vertices that the backend gathers; None where it is something else, or the backend
        does not. copied: to the host."""
        first, *others = self.plan.steps
        if len(others) != 1 or 1 not in self.tails or not isinstance(first, QueryPlan) or 0 in self.joins:
            return None
        columns = self.tails[1].gathered
        if columns is None or first.counting or first.residual or control.memory_limit is not None:
            return None
        gathers = self.engine.backend(control.check).gathers
        if gathers == "nothing" or (gathers == "stored" and first.looks_up):
            return None
        asked = asked_of(columns, first.graph, self.engine.snapshot)
        if asked is None or (gathers == "stored" and any(values.stored is None for _, values in asked)):
            return None
        here = measured[0] if measured else Measured()
        return Matching(first, self.second_halves[first.number], self.engine, control, here).gathered(asked, copied)

    def _total(self, number: int, rows: Rows, outer: int, control: Control) -> Rows:
        """A row of aggregates for each row of the outer query."""
        step = self.plan.steps[number]
        assert isinstance(step, Project)
        assert step.per is not None
        of_none = partial(self.totals[number].run, iter(()), control)
        random = any(map(is_volatile, step.projection.expressions))
        run = partial(self.tails[number].run, control=control, threads=self.engine.threads)
        return with_totals(rows, run, of_none, step.per, outer, random)


def _branch(chain: Chain, control: Control, measured: Sequence[Measured], before: Rows | None, outer: int) -> Rows:
    return chain.run(control, measured, before, outer)


def _starts(step: QueryPlan, number: int, plan: ChainPlan) -> bool:
    """Whether a match has no rows before it that it has to be joined with."""
    return (
        number == 0
        and not step.segment.input
        and not isinstance(step.segment, OptionalMatch)
        and (not step.counting or plan.counts(1))
        and (not step.residual or (len(plan.steps) > 1 and isinstance(plan.steps[1], Project)))
    )


def _batches(gathered: Generator[Turns, None, None], schema: pa.Schema) -> Rows:
    with closing(gathered):
        for turns in gathered:
            yield from turns.batches(schema)


def _watched(rows: Rows, *measured: Measured) -> Rows:
    """Counts the rows that steps give."""
    if not measured:
        return rows
    lock = Lock()

    def count(batch: pa.RecordBatch) -> Rows:
        with lock:
            for each in measured:
                each.rows += batch.num_rows
        yield batch

    return through(rows, count)
