"""The way of a query, on one screen: text, tree, bound query, plan, candidates, matches, answer.

`Graph` is what users hold: an immutable snapshot and the settings that its queries start from.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from gquery.errors import GQueryError, ParseError, QueryWarning
from gquery.executor.backend import Candidates
from gquery.executor.devices import backend_of
from gquery.executor.lowering.reading import Reading
from gquery.executor.matcher import Matcher
from gquery.executor.profile import Profile
from gquery.executor.progress import Control
from gquery.executor.relational.tail import Tail
from gquery.executor.run import counted, id_batches, one_row
from gquery.grammar.parser import parse
from gquery.imports import CONVERSION, ENGINE, import_apart
from gquery.parameters import snapshot_of
from gquery.planner.binding.clauses import bind
from gquery.planner.explain import Actuals, explain
from gquery.planner.ir.match_plan import MatchPlan
from gquery.planner.memo.remembered import Remembered, types_of
from gquery.planner.plan import plan_query, pushed_limit
from gquery.planner.search.cardinality import estimate
from gquery.planner.search.context import Context
from gquery.planner.search.costs import costs_of
from gquery.planner.search.matching import pick_space, plan_matching
from gquery.result import Result
from gquery.settings import Settings
from gquery.stopping import Check, unchecked
from gquery.storage.graph import Snapshot
from gquery.storage.load.report import LoadReport
from gquery.storage.persist import save
from gquery.storage.schema import Schema

Parameters = Mapping[str, Any]


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
    ) -> Result:
        """Answers a query, lazily: it is parsed, bound and planned now and run when the result is first read.

        parameters: values of `$name`s; changing them later changes nothing. mode: match mode for clauses that name
        none. device: `auto`, `cpu` or `gpu`. timeout: seconds, for planning now, and again for each run of the result.
        memory_limit: bytes or text such as "1GB", for what the query holds besides the graph. Raises ParseError,
        BindError, PlanError or UnsupportedError now, ExecutionError while the result is read, QueryTimeout either way.
        Warns (QueryWarning) of comparisons that no row can pass.
        """
        given = {"mode": mode, "device": device, "timeout": timeout, "memory_limit": memory_limit}
        settings = self.settings.changed(**{name: value for name, value in given.items() if value is not None})
        planning = Control(settings.timeout)
        try:
            import_apart(CONVERSION, planning.check)
            known = snapshot_of(parameters)
            query = Prepared(self.snapshot, text, known, settings, self._remembered, planning.check)
        except GQueryError as error:
            raise error.with_text(text)  # noqa: B904 - the same error, with its text
        except RecursionError:
            raise ParseError("the query is nested too deeply for the stack that Python has left here") from None
        warned = tuple(notice.rendered(text) for notice in query.plan.bound.notices)
        for warning in warned:
            warnings.warn(warning, QueryWarning, stacklevel=2)
        if query.command is not None:
            run = partial(query.plan_rows, query.command == "profile")
            return Result(PLAN, run, settings, warnings=warned)
        return Result(query.tail.schema, query.run, settings, query.plan.counting, warned)

    def explain(self, text: str, parameters: Parameters | None = None, *, mode: str | None = None) -> str:
        """The plan of a query with estimates; nothing is matched."""
        return _plan_text(self.query(f"EXPLAIN {text}", parameters, mode=mode))

    def profile(self, text: str, parameters: Parameters | None = None, *, mode: str | None = None) -> str:
        """Runs a query and returns its plan with actual rows, times and bytes."""
        return _plan_text(self.query(f"PROFILE {text}", parameters, mode=mode))

    def save(self, path: str | Path) -> None:
        """Saves the graph as a folder that `gquery.open` maps into memory. An earlier graph there is replaced at once
        or not at all. Raises LoadError when the folder cannot be written."""
        save(self.snapshot, path)

    def with_settings(self, **changes: Any) -> Graph:
        """The same graph with other settings: mode, device, timeout, memory_limit, threads."""
        changed = Graph(self.snapshot, self.report, self.settings.changed(**changes))
        changed._remembered = self._remembered
        return changed

    @property
    def schema(self) -> Schema:
        return self.snapshot.schema

    @property
    def vertex_count(self) -> int:
        return self.snapshot.vertex_count

    @property
    def edge_count(self) -> int:
        return self.snapshot.edge_count

    def __repr__(self) -> str:
        return f"<gquery.Graph: {self.vertex_count:,} vertices, {self.edge_count:,} edges>"


class Prepared:
    """A planned query over a snapshot; every `run` starts from the candidates anew. `remembered`: what is known of
    earlier ones."""

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
        asked = (text, settings.mode, types_of(parameters))
        self.command = tree.command
        self.snapshot = snapshot
        self.parameters = parameters
        self.settings = settings
        self.statistics = snapshot.statistics
        costs = costs_of(settings.device)
        bound = known.bound(asked, lambda: bind(tree, snapshot.schema, parameters, settings.mode, check))
        snapshot.counts.make_sure({type_ for edge in bound.query_graph.edges for type_ in edge.types}, check)
        limit = pushed_limit(bound.projection, parameters)
        self.plan, memo = known.plan(
            (*asked, limit, settings.device),
            lambda memo: plan_query(bound, limit, Context(snapshot.invariants, self.statistics, costs, memo, check)),
        )
        self.context = Context(snapshot.invariants, self.statistics, costs, memo)
        self.tail = Tail(
            bound.projection, bound.query_graph, snapshot, parameters, self.plan.residual, self.plan.weighted
        )

    def run(self, control: Control, measured: Measured | None = None) -> Iterator[pa.RecordBatch]:
        """The answer, batch by batch."""
        plan, projection, graph = self.plan, self.plan.bound.projection, self.plan.graph
        measured = measured or Measured(Profile())
        import_apart(ENGINE, control.check)
        if not graph.vertices:
            yield from self.tail.run(one_row(), control)
            return
        with measured.profile.timed("filter"):
            reading = Reading(self.snapshot, self.parameters, control)
            matcher = Matcher(backend_of(self.settings), graph, plan.filters, reading)
            candidates = matcher.candidates
        with measured.profile.timed("plan"):
            cardinalities = estimate(graph, self.statistics, matcher.counted)
            context = self.context.under(control.check)
            space, reason = pick_space(plan, cardinalities, context)
        if space == "candidates":
            with measured.profile.timed("refine"):
                candidates.refine()
                cardinalities = estimate(graph, self.statistics, matcher.counted)
        with measured.profile.timed("plan"):
            matchings = plan_matching(plan, cardinalities, space, reason, context)
        measured.matchings, measured.candidates = matchings, candidates
        if plan.counting:
            count = sum(matcher.count(matching, measured.profile) for matching in matchings)
            yield from counted(projection, count, self.tail, control)
        else:
            (matching,) = matchings
            matches = matcher.matches(matching, measured.profile)
            yield from self.tail.run(id_batches(matches, graph, self.tail.variables), control)

    def plan_rows(self, profiled: bool, control: Control) -> Iterator[pa.RecordBatch]:
        """The plan as an answer of one column, a row a line."""
        if profiled:
            measured = Measured(Profile())
            with measured.profile.timed("run"):
                rows = sum(batch.num_rows for batch in self.run(control, measured))
            text = self._profile_text(measured, rows, control)
        else:
            text = self._explain_text(control)
        yield pa.record_batch([pa.array(text.splitlines(), pa.string())], schema=PLAN)

    def _explain_text(self, control: Control) -> str:
        return explain(self.plan, self._estimated(control), self.tail.describe())

    def _estimated(self, control: Control) -> tuple[MatchPlan, ...]:
        """The plan as it looks before anything ran; none when there is no pattern."""
        if not self.plan.graph.vertices:
            return ()
        cardinalities, context = estimate(self.plan.graph, self.statistics), self.context.under(control.check)
        return plan_matching(self.plan, cardinalities, *pick_space(self.plan, cardinalities, context), context)

    def _profile_text(self, measured: Measured, rows: int, control: Control) -> str:
        actual = Actuals(
            [(outcome.before, outcome.after) for outcome in measured.candidates.outcomes]
            if measured.candidates
            else [],
            measured.profile.enumerations,
            measured.profile.seconds,
            measured.candidates.nbytes if measured.candidates else 0,
            control.memory.peak,
            rows,
        )
        return explain(self.plan, measured.matchings or self._estimated(control), self.tail.describe(), actual)


@dataclass(slots=True)
class Measured:
    """What a profiled run leaves behind."""

    profile: Profile
    matchings: tuple[MatchPlan, ...] = ()
    candidates: Candidates | None = None


PLAN = pa.schema([("plan", pa.string())])


def _plan_text(result: Result) -> str:
    return "\n".join(result.to_arrow()["plan"].to_pylist())
