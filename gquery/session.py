"""The way of a query, on one screen: text, tree, bound query, plan, candidates, matches, answer.

`Graph` is what users hold: an immutable snapshot and the settings that its queries start from.
"""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np
import pyarrow as pa

from gquery.arrays import to_arrow, to_numpy
from gquery.errors import ExecutionError, GQueryError, ParseError, QueryWarning
from gquery.executor.chain.rows import Rows
from gquery.executor.devices import backend_of, card_beside, walker_beside
from gquery.executor.engine import Engine, placed
from gquery.executor.matching import Measured
from gquery.executor.progress import Control
from gquery.executor.relational.scanning.failing import Elements, Failing
from gquery.executor.run import Chain, Place, Tails
from gquery.grammar.parser import parse
from gquery.imports import CONVERSION, ENGINE, import_apart
from gquery.planner.binding.clauses import bind
from gquery.planner.expected import expected_rows
from gquery.planner.explain import Ran, explain
from gquery.planner.ir.expr import Expression
from gquery.planner.ir.query_plan import ChainPlan
from gquery.planner.ir.segments import BoundQuery, Match
from gquery.planner.memo.remembered import Memos, Remembered, types_of
from gquery.planner.passes.demand import pushed_limit
from gquery.planner.plan import plan_chain
from gquery.planner.relevant import Among, relevant_elements
from gquery.planner.search.context import Context
from gquery.planner.search.costs import CPU, for_card, for_memory, for_threads
from gquery.planner.search.second_half import SecondHalf
from gquery.planner.search.settled import Settled
from gquery.result import Result, numbers_of
from gquery.settings import Settings
from gquery.stopping import Check, unchecked
from gquery.storage.graph import Snapshot
from gquery.storage.load.report import LoadReport
from gquery.storage.numbering import Ids
from gquery.storage.persist import save
from gquery.storage.schema import Schema
from gquery.values.parameters import snapshot_of

Parameters = Mapping[str, Any]
Told = tuple[BoundQuery, pa.RecordBatch | None, Ids]
T = TypeVar("T")


class Graph:
    """A labelled property graph that can be asked. Made by `gquery.load`, `gquery.open` and `gquery.from_arrow`."""

    def __init__(self, snapshot: Snapshot, report: LoadReport | None = None, settings: Settings | None = None) -> None:
        self.snapshot = snapshot
        self.report = report
        self.settings = settings or Settings()
        self._remembered = Remembered()

    def query(
        self,
        text: str,
        parameters: Parameters | None = None,
        *,
        mode: str | None = None,
        device: str | None = None,
        timeout: float | None = None,
        memory_limit: int | str | None = None,
        strict: bool | None = None,
    ) -> Result:
        """Answers a query, lazily: it is parsed, bound and planned now and run when the result is first read.

        parameters: values of `$name`s; changing them later changes nothing. mode: match mode for clauses that name
        none. device: `auto`, `cpu` or `gpu`. timeout: seconds, for planning now together with each run of the result.
        memory_limit: bytes or text such as "1GB", for what the query holds besides the graph. strict: whether labels,
        types and properties that the graph does not have are errors. Raises ParseError, BindError, PlanError or
        UnsupportedError now, ExecutionError while the result is read, QueryTimeout either way. Warns (QueryWarning) of
        comparisons that no row can pass, and of names that the graph does not have where these are no errors.
        """
        given = {"mode": mode, "device": device, "timeout": timeout, "memory_limit": memory_limit, "strict": strict}
        settings = self.settings.changed(**{name: value for name, value in given.items() if value is not None})
        planning = Control(settings.timeout)
        try:
            known = snapshot_of(parameters, planning.check)
            query = Prepared(self.snapshot, text, known, settings, self._remembered, planning.check)
        except GQueryError as error:
            raise error.with_text(text)  # noqa: B904 - the same error, with its text
        except RecursionError:
            raise ParseError("the query is nested too deeply for the stack that Python has left here") from None
        warned = tuple(notice.rendered(text) for notice in query.notices)
        for warning in warned:
            warnings.warn(warning, QueryWarning, stacklevel=2)
        if query.command is not None:
            run = partial(query.plan_rows, query.command == "profile")
            return Result(PLAN, run, settings, warnings=warned, spent=planning.elapsed)
        counting, spent = query.chain.counting, planning.elapsed
        return Result(
            query.chain.schema, query.run, settings, counting, warned, spent, query.arrays, query.expected_rows
        )

    def explain(self, text: str, parameters: Parameters | None = None, *, mode: str | None = None) -> str:
        """The plan of a query with estimates; nothing is matched."""
        return self._commanded("EXPLAIN ", text, parameters, mode)

    def profile(self, text: str, parameters: Parameters | None = None, *, mode: str | None = None) -> str:
        """Runs a query and returns its plan with actual rows, times and bytes."""
        return self._commanded("PROFILE ", text, parameters, mode)

    def _commanded(self, command: str, text: str, parameters: Parameters | None, mode: str | None) -> str:
        written = command + text if isinstance(text, str) else text  # what is no text is refused as in a query
        with GQueryError.behind(command):
            return "\n".join(self.query(written, parameters, mode=mode).to_arrow()["plan"].to_pylist())

    def save(self, path: str | Path) -> None:
        """Saves the graph as a folder that `gquery.open` maps into memory. An earlier graph there is replaced at once
        or not at all. Raises LoadError when the folder cannot be written."""
        save(self.snapshot, path)

    def __reduce__(self) -> NoReturn:
        raise ExecutionError("a graph cannot be pickled or copied: it never changes, and maps its files",
                             hint="for another process save it, and open it there")  # fmt: skip

    def with_settings(self, **changes: Any) -> Graph:
        """The same graph with other settings: mode, device, timeout, memory_limit, threads, strict."""
        changed = Graph(self.snapshot, self.report, self.settings.changed(**changes))
        changed._remembered = self._remembered
        return changed

    def followed_by(self, snapshot: Snapshot) -> Graph:
        """The next version of the graph, with the same settings."""
        following = Graph(snapshot, self.report, self.settings)
        following._remembered = self._remembered.renewed()
        return following

    @property
    def schema(self) -> Schema:
        return self.snapshot.schema

    @property
    def vertex_count(self) -> int:
        return sum(table.count for table in self.snapshot.vertex_tables)

    @property
    def edge_count(self) -> int:
        return sum(self.snapshot.edges.counts)

    def __repr__(self) -> str:
        return f"<gquery.Graph: {self.vertex_count:,} vertices, {self.edge_count:,} edges>"


class Ready(NamedTuple):
    """A plan, the second halves of its matches by segment, and what its runs keep for the next: the tails that ask no
    parameters, and the whole chain where nothing does."""

    plan: ChainPlan
    second_halves: Mapping[int, Settled]
    tails: Tails
    chains: list[Chain]


class Planned:
    """A bound query over a snapshot: its plan, the second halves of its matches, the engine and the chain that runs it.
    Every run starts from the candidates anew."""

    def __init__(
        self,
        bound: BoundQuery,
        snapshot: Snapshot,
        parameters: Mapping[str, Any],
        settings: Settings,
        known: Remembered,
        asked: tuple[Hashable, ...],
        check: Check,
        within: Place = (),
        told: list[Told] | None = None,
    ) -> None:
        """known: what is remembered of queries, this one by what is `asked`. within: where it is in the run of another,
        which reads ids; told: what that has asked so."""
        if bound.device is not None:
            settings = settings.changed(device=bound.device)
        snapshot.counts.make_sure(bound.edge_types, check)
        limits = tuple(pushed_limit(segment, parameters) for segment in bound.all_segments)
        costs = for_card(CPU) if settings.device == "gpu" else for_threads(CPU, settings.threads)
        costs = for_memory(costs, settings.memory_limit, snapshot.vertex_count, snapshot.edge_count)
        context = partial(Context, snapshot.invariants, snapshot.statistics, costs)

        def planned(memos: Memos) -> Ready:
            plan = plan_chain(bound, limits, [context(memo, check) for memo in memos])
            halves = (SecondHalf(step, context(memos[step.number])) for step in plan.matches)
            return Ready(plan, {each.plan.number: Settled(each, most=costs.worth_improving) for each in halves}, {}, [])

        self.plan, self.matchings, tails, chains = known.plan(
            (*asked, limits, settings.device, settings.threads, costs.select, costs.effort), bound, planned
        )
        self.notices, self.device = bound.notices, bound.device
        backend, besides = partial(backend_of, settings), (card_beside(settings), walker_beside(settings))
        relevant = partial(_relevant, snapshot, parameters, settings, [] if told is None else told)
        self.engine = Engine(backend, snapshot, parameters, settings.threads, *besides, keeps=True, relevant=relevant)
        if chains:
            self.chain = chains[0].on(self.engine)
            return
        self.chain = Chain.of(self.plan, self.matchings, self.engine, tails, check, within)
        if self.chain.lasts:
            chains.append(self.chain.on(replace(self.engine, parameters={})))

    def run(self, control: Control, measured: Sequence[Measured] = (), before: Rows | None = None) -> Rows:
        """The answer, batch by batch. measured: one for each step of the plan, filled while the answer is read. before:
        the rows that it begins with."""
        import_apart(ENGINE, control.check)
        chain = self.chain.on(replace(self.engine, keeps=False)) if measured else self.chain  # all of it is measured
        yield from chain.run(control, measured, before)

    def plan_lines(self, profiled: bool, control: Control) -> Iterator[str]:
        """The plan, line by line; profiled: after a run, with what happened."""
        ran = self.profiled(control, None, lambda rows: deque(rows, 0))[1] if profiled else None
        yield from self.lines(ran, control)

    def profiled(self, control: Control, before: Rows | None, read: Callable[[Rows], T]) -> tuple[T, Ran]:
        """What is made of the rows, and what happened while they were read."""
        measured = Measured.each(self.plan)
        began = time.perf_counter()
        made = read(self.run(control, measured, before))
        return made, Ran(measured, time.perf_counter() - began, control.memory.peak)

    def lines(self, ran: Ran | None, control: Control) -> Iterator[str]:
        """The plan, with what happened in a run."""
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

    def expected_rows(self, check: Check) -> int:
        """About how many rows the answer has."""
        elements = self.engine.snapshot.vertex_count + self.engine.snapshot.edge_count
        return expected_rows(self.plan, lambda number: self.matchings[number].estimated(check), elements)

    def _placed(self, number: int, control: Control) -> str:
        """Where a count would go, and why; nothing where there is no choice."""
        if self.engine.beside is None:
            return ""
        second_half = self.matchings[number]
        return placed(second_half, second_half.estimated(control.check), self.engine)[1]


def _relevant(
    snapshot: Snapshot,
    parameters: Mapping[str, Any],
    settings: Settings,
    told: list[Told],
    match: Match,
    expression: Expression,
    before: pa.RecordBatch | None,
    failing: Failing,
    control: Control,
) -> Iterator[Elements]:
    """The elements that a condition which fails for some is asked of, as `Engine` wants them. told: what has been
    asked, as conditions that stand before this one may fail, too, and are asked of the same elements each time."""

    def ids(query: BoundQuery, before: pa.RecordBatch | None) -> Ids:
        known = next((each[2] for each in told if each[0] == query and each[1] == before), None)
        if known is None:
            planned = Planned(query, snapshot, parameters, settings, Remembered(), (), control.check, _WITHIN, told)
            rows = planned.run(control, before=None if before is None else (rows for rows in (before,)))
            known = np.concatenate([np.zeros(0, np.int32), *(to_numpy(batch.column(0)) for batch in rows)])
            told.append((query, before, known))
        return known

    def of(queries: Sequence[BoundQuery]) -> Elements:
        return Elements(np.concatenate([ids(query, before) for query in queries]))

    found = relevant_elements(match, expression, None if before is None else before.schema.names)
    if found is None:
        return
    yield of(found.few)
    those = failing() if found.among else None
    if those is not None:
        matter = np.concatenate([ids(each.query, _beginning(each, those, snapshot)) for each in found.among])
        yield Elements(matter)
        yield Elements(np.setdiff1d(those, matter), others=True)
    yield of(found.all)


def _beginning(among: Among, elements: Ids, snapshot: Snapshot) -> pa.RecordBatch:
    """The rows that a query begins with which looks for those elements that matter."""
    ends = snapshot.edges.ends_of(elements.astype(np.int64)) if among.are_edges else (elements,)
    rows = np.stack(ends)
    if among.either:
        rows = np.concatenate([rows, rows[::-1]], axis=1)
    rows = np.unique(rows[: len(among.columns)], axis=1)
    return pa.record_batch(dict(zip(among.columns, map(to_arrow, rows), strict=True)))


_WITHIN = (0,)  # the place of a query whose rows go on within another's run, with ids


class Prepared(Planned):
    """A planned query over a snapshot. `remembered`: what is known of earlier ones."""

    def __init__(
        self,
        snapshot: Snapshot,
        text: str,
        parameters: Parameters,
        settings: Settings,
        remembered: Remembered | None = None,
        check: Check = unchecked,
    ) -> None:
        known = remembered or Remembered()
        tree = known.tree(text, lambda: parse(text, check))
        asked = (text, settings.mode, settings.strict, types_of(parameters, check))
        bound = known.bound(
            asked, lambda: bind(tree, snapshot.schema, parameters, settings.mode, check, strict=settings.strict)
        )
        self.command = tree.command
        super().__init__(bound, snapshot, parameters, settings, known, asked, check)

    def arrays(self, control: Control) -> Iterator[Sequence[Any]]:
        """The answer part by part, an array for each column: on a card where they were gathered there. Raises
        ExecutionError for what is no number."""
        import_apart(ENGINE, control.check)
        gathered = self.chain.gathered(control)
        if gathered is None:
            yield from map(numbers_of, self.run(control))
            return
        with closing(gathered):
            for turns in gathered:
                yield from turns.parts()

    def plan_rows(self, profiled: bool, control: Control) -> Iterator[pa.RecordBatch]:
        """The plan as an answer of one column, a row a line."""
        import_apart(CONVERSION, control.check)
        return as_rows(self.plan_lines(profiled, control))


PLAN = pa.schema([("plan", pa.string())])


def as_rows(lines: Iterator[str]) -> Iterator[pa.RecordBatch]:
    """A plan as an answer of one column, a row a line."""
    yield pa.record_batch([pa.array(list(lines), pa.string())], schema=PLAN)
