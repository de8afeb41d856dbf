"""The way of a statement that changes a graph, on one screen: stage after stage, each read over what the one before
has made of the graph, and nothing is anybody's to see before the last one is done.

A stage is bound, planned and run as a query is; its rows are kept, and the update at its end makes one batch of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.errors import Notice
from gquery.executor.chain.rows import Rows
from gquery.executor.progress import Control
from gquery.executor.updates.changing import changed
from gquery.executor.updates.rows import GivenRows
from gquery.executor.updates.there import seen
from gquery.executor.updates.turns import turns_of
from gquery.grammar import ast
from gquery.planner.binding.updates.stage import StageBinder
from gquery.planner.binding.updates.stages import Stage, counts_up, names_written, staged, subjects_of
from gquery.planner.ir.segments import BoundQuery
from gquery.planner.ir.updates import Merge, Update
from gquery.planner.memo.remembered import Remembered
from gquery.session import Planned
from gquery.settings import Settings
from gquery.storage.changes.applied import applied, first_free
from gquery.storage.changes.batch import Batch
from gquery.storage.deleted import Deleted
from gquery.storage.graph import Snapshot
from gquery.store.within import called, one_row, united

_MOST_LINES, _MORE = 1000, "and more stages of other rows"  # of a profile

T = TypeVar("T")


class Answer(NamedTuple):
    """What RETURN gives; without one there are no columns."""

    schema: pa.Schema
    batches: list[pa.RecordBatch]


class Statement:
    """One run. working: the graph as the statement has left it so far; batches: what it has changed, in order;
    free_ids: the first number that each gave out as an id, or 0."""

    def __init__(
        self,
        snapshot: Snapshot,
        tree: ast.Query,
        parameters: Mapping[str, Any],
        settings: Settings,
        control: Control,
    ) -> None:
        self.working = snapshot
        self.batches: list[Batch] = []
        self.free_ids: list[int] = []
        self.notices: list[Notice] = []
        self._tree = tree
        self._parameters = parameters
        self._settings = settings
        self._control = control
        written = names_written(tree, parameters)
        self._binder = StageBinder(parameters, settings.mode, settings.strict, written, control.check)
        self._remembered = Remembered()
        self._deleted = Deleted.none()
        self._reserved = [0]
        self._dry = False

    def run(self) -> Answer:
        """Runs all stages. Raises what queries raise; then nothing of `batches` holds."""
        try:
            answer = Answer(pa.schema([]), [])
            rows: GivenRows | None = None
            for stage in staged(_clauses(self._tree)):
                if stage.answers:
                    answer = self._answered(stage, rows)
                else:
                    rows = self._changed(stage, rows)
            return answer
        finally:
            self._control.memory.release(self._reserved[0])

    def _answered(self, stage: Stage, rows: GivenRows | None) -> Answer:
        planned = self._planned(self._bound(stage, rows))
        return Answer(planned.chain.schema, list(planned.run(self._control, (), _before(rows))))

    # --- stages ------------------------------------------------------------------------------------------------

    def _changed(self, stage: Stage, rows: GivenRows | None) -> GivenRows:
        """Changes the graph; the rows that go on."""
        match stage.update:
            case ast.Foreach() as foreach:
                return self._foreach(foreach, rows)
            case ast.Call() as call:
                return self._seen(called(call, rows or one_row(), self._run))
            case ast.Union() as union:
                return self._seen(united(union, rows or one_row(), self._run))
        if rows is not None and isinstance(stage.update, ast.Set) and counts_up(stage.update):
            turns = turns_of([rows.column(name) for name in subjects_of(stage.update)], rows.count, self._control.check)
            if len(turns) > 1:
                return self._in_turns(stage, rows, turns)
        bound = self._bound(stage, rows)
        update = bound.segments[-1]
        assert isinstance(update, Update)
        if rows is not None and rows.count > 1 and isinstance(update.action, Merge) and update.action.apart:
            return self._row_by_row(stage, rows)
        read = self._read(self._planned(bound), update, rows)
        batch, rows, made = changed(update, read, self.working)
        self._apply(batch)
        if isinstance(stage.update, ast.Merge):
            self._set(stage.update.on_create, rows, made)
            self._set(stage.update.on_match, rows, ~made)
        return self._seen(rows)

    def _in_turns(self, stage: Stage, rows: GivenRows, turns: list[NDArray[np.int64]]) -> GivenRows:
        """Some rows after others, each over the graph that those before have left; SET leaves rows as they are."""
        for turn in turns:
            self._changed(stage, self._seen(rows.take(turn)))
        return self._seen(rows)

    def _row_by_row(self, stage: Stage, rows: GivenRows) -> GivenRows:
        """Each row over the graph that the one before has left."""
        each = (rows.take(np.array([row])) for row in range(rows.count))
        return self._seen(GivenRows.together([self._changed(stage, self._seen(row)) for row in each]))

    def _foreach(self, clause: ast.Foreach, rows: GivenRows | None) -> GivenRows:
        """Changes the graph for each item of a list in each row, and the rows are what they were."""
        rows = rows or one_row()
        self._run((ast.Unwind(clause.items, clause.variable, span=clause.span), *clause.updates), rows)
        return self._seen(rows)

    def _run(self, clauses: Sequence[ast.Clause], rows: GivenRows) -> GivenRows:
        """Stages within others; of no rows nothing is made, not even by what counts them."""
        dry, self._dry = self._dry, self._dry or not rows.count
        for stage in staged(clauses):
            rows = self._changed(stage, self._seen(rows))
        self._dry = dry
        return rows

    def _set(self, items: tuple[ast.SetItem, ...], rows: GivenRows, which: NDArray[np.bool_]) -> None:
        """What MERGE sets besides, for some of its rows."""
        if items:
            self._run((ast.Set(items, span=items[0].span),), rows.take(np.flatnonzero(which)))

    # --- one stage ---------------------------------------------------------------------------------------------

    def _bound(self, stage: Stage, rows: GivenRows | None) -> BoundQuery:
        bound = self._binder.bind(stage, self.working.schema, () if rows is None else rows.variables)
        self.notices += bound.notices
        return bound

    def _planned(self, bound: BoundQuery) -> Planned:
        """A stage's plan, over the graph as it is now."""
        asked = (object(),)  # no other stage is the same
        parameters, settings, check = self._parameters, self._settings, self._control.check
        return Planned(bound, self.working, parameters, settings, self._remembered, asked, check)

    def _read(self, planned: Planned, update: Update, rows: GivenRows | None) -> GivenRows:
        """All rows that an update changes the graph for."""
        found = iter(()) if self._dry else planned.run(self._control, (), _before(rows))
        return GivenRows.read(update.input, found, self._control, self._reserved)

    def _apply(self, batch: Batch) -> None:
        if not batch:
            return
        self._control.check()
        self.free_ids.append(first_free(self.working, batch))
        self.working = applied(self.working, batch, self._control.check)
        self._control.check()
        self.batches.append(batch)
        self._deleted = self._deleted.and_of(batch)
        self.working.deleted = self._deleted or None

    def _seen(self, rows: GivenRows) -> GivenRows:
        """The rows, with the types that their elements have now."""
        variables = []
        for each in rows.variables:
            self._control.check()
            variables.append(seen(each, rows.column(each.name), self.working))
        return GivenRows(tuple(variables), rows.batch)


class Profiled(Statement):
    """A statement that is run and measured. lines: the plans of the stages in the order in which they ran, with what
    happened; of the stages of many rows not all."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.lines: list[str] = []

    def _read(self, planned: Planned, update: Update, rows: GivenRows | None) -> GivenRows:
        if self._dry:
            return super()._read(planned, update, rows)
        read = partial(GivenRows.read, update.input, control=self._control, reserved=self._reserved)
        return self._measured(planned, rows, read)

    def _answered(self, stage: Stage, rows: GivenRows | None) -> Answer:
        planned = self._planned(self._bound(stage, rows))
        self._measured(planned, rows, list)
        return Answer(planned.chain.schema, [])

    def _measured(self, planned: Planned, rows: GivenRows | None, read: Callable[[Rows], T]) -> T:
        made, ran = planned.profiled(self._control, _before(rows), read)
        if len(self.lines) < _MOST_LINES:
            self.lines += planned.lines(ran, self._control)
        elif self.lines[-1] != _MORE:
            self.lines.append(_MORE)
        return made


class Explained(Statement):
    """A statement that is planned as if no row were ever found, so that nothing changes. lines: the plans of all its
    stages."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._dry = True
        self.lines: list[str] = []

    def _planned(self, bound: BoundQuery) -> Planned:
        planned = super()._planned(bound)
        self.lines += planned.plan_lines(False, self._control)
        return planned

    def _answered(self, stage: Stage, rows: GivenRows | None) -> Answer:
        return Answer(self._planned(self._bound(stage, rows)).chain.schema, [])


def _clauses(tree: ast.Query) -> tuple[ast.Clause, ...]:
    """What the statement runs: behind a UNION that returns its rows, what gives them."""
    if not (isinstance(tree.clauses[0], ast.Union) and tree.returns):
        return tree.clauses
    return (*tree.clauses, ast.Return((), True, False, (), None, None, span=tree.span))


def _before(rows: GivenRows | None) -> Rows | None:
    return None if rows is None else (batch for batch in (rows.batch,))
