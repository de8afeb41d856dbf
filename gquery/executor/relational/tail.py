"""The relational tail: from rows to those after a WITH, or to the answer, in one DuckDB statement or in none.

Ids travel, properties wait: only what SQL has to see is gathered before it; whole elements and properties that are
merely returned are gathered afterwards, for the rows that are left.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial

import pyarrow as pa

from gquery.errors import BindError
from gquery.executor.progress import Control
from gquery.executor.relational.codes.alike import can_be_alike
from gquery.executor.relational.computing import Computing
from gquery.executor.relational.database import running
from gquery.executor.relational.database.translation import translated
from gquery.executor.relational.going_out import GoingOut
from gquery.executor.relational.inputs import Inputs
from gquery.executor.relational.selection import WEIGHT, WEIGHTS, Selection
from gquery.executor.relational.sql.expressions import SqlWriter, inputs
from gquery.executor.relational.streams import through
from gquery.lasting.properties import cached_property
from gquery.planner.ir.expr import (
    NODE,
    RELATIONSHIP,
    Aggregate,
    Attribute,
    Column,
    Constant,
    Expression,
    Kind,
    Parameter,
    columns,
    walk,
)
from gquery.planner.ir.segments import Project, Projection, ProjectionItem
from gquery.stopping import Check, unchecked
from gquery.storage.graph import Snapshot

Batches = Generator[pa.RecordBatch, None, None]


class Tail:
    """What a WITH or RETURN does to the rows before it. `residual`: predicates that the matcher left to check.
    `weighted`: the column WEIGHT of the rows says how many each stands for; where none are grouped, that of the rows
    that come out does, too. `final`: it is the RETURN, whose answer has whole elements where rows have ids.

    Raises BindError for a SKIP or LIMIT that is no whole number, UnsupportedError for what SQL cannot say.
    """

    def __init__(
        self,
        project: Project,
        snapshot: Snapshot,
        parameters: Mapping[str, object],
        residual: tuple[Expression, ...] = (),
        weighted: bool = False,
        final: bool = True,
        check: Check = unchecked,
    ) -> None:
        projection = project.projection
        self.project = project
        self.snapshot = snapshot
        self.parameters = parameters
        self.final = final
        self.skip = _row_count(projection.skip, self, "SKIP") or 0
        self.limit = _row_count(projection.limit, self, "LIMIT")
        self._kinds = {variable.name: variable.type.kind for variable in project.input} | {WEIGHT: Kind.INTEGER}
        self._early = {part for item in projection.order_by for part in inputs(item.expression)}
        self._early.update(part for predicate in residual for part in inputs(predicate))
        self._alike = can_be_alike(projection, (*residual, *project.where), snapshot)
        self._is_grouped = projection.is_grouped
        travelling = [self._carried(item.expression) for item in projection.items]
        self.weighted = weighted and not self._is_grouped
        self._outputs = tuple(dict.fromkeys([*travelling, *([WEIGHTS] if self.weighted else [])]))
        self._residual = residual
        self._adds_weights = weighted and self._is_grouped
        self._reads_weights = weighted
        self._out = GoingOut(snapshot, projection.items, travelling, self._outputs, final, self.weighted)
        if not self._is_bare_count and self._computing is not None and self._computing.direct is None:
            self._computing.build(check)  # says now what SQL cannot

    @property
    def projection(self) -> Projection:
        return self.project.projection

    def replaced(self, items: tuple[ProjectionItem, ...]) -> Tail:
        """The tail that gives these items, which read nothing, for every row."""
        project = replace(self.project, projection=Projection(items, False, (), None, None), where=())
        return Tail(project, self.snapshot, self.parameters, final=self.final)

    def of_all(self) -> Tail:
        """The same for all rows together, not for those of each row of an outer query."""
        *items, _ = self.projection.items
        project = replace(self.project, projection=replace(self.projection, items=tuple(items)), per=None)
        return Tail(project, self.snapshot, self.parameters, final=self.final)

    @cached_property
    def _is_bare_count(self) -> bool:
        """Whether nothing is asked for but numbers of rows: most often these are known without a statement."""
        counts = (isinstance(each, Aggregate) and each.argument is None for each in self._outputs)
        return all(counts) and not (self._residual or self.project.where or self.projection.order_by)

    @cached_property
    def counts_rows(self) -> bool:
        """Whether the answer is one row with the number of rows, which takes no statement."""
        return (
            self._is_bare_count and self._is_grouped and self.skip == 0 and self.limit is None and bool(self._outputs)
        )

    @property
    def adds_weights(self) -> bool:
        """Whether that number may be larger than that of the rows that come."""
        return self.counts_rows and self._adds_weights

    @cached_property
    def _computing(self) -> Computing | None:
        """What computes the outputs; None where there is nothing to compute."""
        if self._is_plain:
            return None
        asked = self._outputs, self.project, self._residual, (self.skip, self.limit)
        selection = Selection.of(*asked, self._reads_weights)
        alike = Selection.of(*asked, True) if self._alike else None
        return Computing(selection, self.project, self.snapshot, self.parameters, self._kinds, alike)

    @cached_property
    def _inputs(self) -> Inputs:
        return Inputs(self.snapshot, self._kinds, {})

    # --- what it needs and gives -------------------------------------------------------------------------------

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables that the rows have to carry, in their order."""
        read = self._outputs if self._computing is None else tuple(self._computing.selection.names.values())
        spoken_of = {column.variable for expression in read for column in columns(expression)}
        return tuple(variable for variable in self._kinds if variable in spoken_of - {WEIGHT})

    @property
    def schema(self) -> pa.Schema:
        """The columns that come out, known before anything is matched."""
        return self._out.schema

    @property
    def gathered(self) -> tuple[Column, ...] | None:
        """The columns of the answer, where it is made of nothing but columns that wait, for every row once."""
        if not self.final or self._computing is not None or self.weighted or self.skip or self.limit is not None:
            return None
        return self._out.gathered

    def describe(self) -> str:
        """What it does, for EXPLAIN: the statement, or what is gathered without one."""
        if self.counts_rows:
            return "Count rows"
        if self._computing is not None:
            return self._computing.describe()
        text = "Gather " + ", ".join(item.name for item in self.projection.items)
        text += f", skip {self.skip:,}" if self.skip else ""
        return text + (f", limit {self.limit:,}" if self.limit is not None else "")

    @property
    def _is_plain(self) -> bool:
        """Whether the answer is made of gathered columns alone, so that DuckDB has nothing to do."""
        relational = self._residual or self.project.where or self.projection.distinct or self.projection.order_by
        if relational or (self.project.per is not None and (self.skip > 0 or self.limit is not None)):
            return False
        return all(isinstance(item.expression, Column) for item in self.projection.items)

    def _carried(self, expression: Expression) -> Expression:
        """What travels for an item: the element's id where an attribute can wait, the expression itself elsewhere."""
        if self._is_grouped or not isinstance(expression, Column) or expression in self._early:
            return expression
        if expression.attribute in (Attribute.ELEMENT, Attribute.VALUE):
            return expression
        element = NODE if self._kind(expression) is Kind.NODE else RELATIONSHIP
        return Column(element, expression.span, expression.variable, Attribute.ELEMENT)

    # --- running -----------------------------------------------------------------------------------------------

    def run(self, matches: Iterator[pa.RecordBatch], control: Control, threads: int = 1) -> Iterator[pa.RecordBatch]:
        """The answer, batch by batch, pulling matches as it is read. Closing it closes the match stream. threads: that
        may work where all matches have to be seen first."""
        if self._computing is None and self.skip == 0 and self.limit is None:
            return through(matches, partial(self._shown, control))
        return self._closing(matches, control, threads)

    def _closing(self, matches: Iterator[pa.RecordBatch], control: Control, threads: int) -> Batches:
        computing = self._computing
        answer = self._cut(matches, control) if computing is None else self._computed(matches, control, threads)
        try:
            yield from answer
        finally:
            answer.close()
            close = getattr(matches, "close", None)
            if close is not None:
                close()

    def _computed(self, matches: Iterator[pa.RecordBatch], control: Control, threads: int) -> Batches:
        assert self._computing is not None
        if self._computing.is_streamed:
            yield from through(matches, partial(self._each, control))
            return
        with closing(self._computing.run(matches, control, threads)) as rows:
            for batch in rows:
                if batch.num_rows:
                    yield from self._out.batches(batch.columns, batch.num_rows, control)

    def _each(self, control: Control, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """What the answer has for some rows, which nothing is to be known of others for."""
        assert self._computing is not None
        for found in self._computing.of_rows(batch, control):
            if found.num_rows:
                yield from self._out.batches(found.columns, found.num_rows, control)

    def _cut(self, matches: Iterator[pa.RecordBatch], control: Control) -> Batches:
        """What SKIP and LIMIT leave, where nothing else is asked."""
        skip, left = self.skip, self.limit
        while left != 0 and (batch := next(matches, None)) is not None:
            part = batch.slice(skip, left)
            skip = max(0, skip - batch.num_rows)
            left = None if left is None else left - part.num_rows
            yield from self._shown(control, part)

    def _shown(self, control: Control, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """What the answer has for some rows."""
        control.check()
        if rows.num_rows:
            with translated():
                travelled = [self._inputs.read_one(output, rows) for output in self._outputs]
            yield from self._out.batches(travelled, rows.num_rows, control)

    def _kind(self, column: Column) -> Kind:
        """Of the variable that the column belongs to."""
        return self._kinds[column.variable]


def asks_parameters(project: Project, residual: tuple[Expression, ...]) -> bool:
    """Whether a tail of these depends on the values of parameters."""
    projection = project.projection
    bounds = (bound for bound in (projection.skip, projection.limit) if bound is not None)
    asked = (*projection.expressions, *project.where, *residual, *bounds)
    return any(isinstance(part, Parameter) for expression in asked for part in walk(expression))


def _row_count(expression: Expression | None, tail: Tail, clause: str) -> int | None:
    """SKIP and LIMIT as numbers; they read no match."""
    match expression:
        case None:
            return None
        case Constant(value=value):
            count: object = value
        case Parameter(name=name):
            count = tail.parameters[name]
        case _:
            writer = SqlWriter({}, tail.parameters, tail.snapshot)
            text = f"SELECT {writer.write(expression)} FROM elements"
            count = running.evaluate(text, pa.table({"row": [0]}), writer.asked(text), Control())[0].as_py()
    if not hasattr(count, "__index__") or isinstance(count, bool) or int(count) < 0:
        raise BindError(f"{clause} needs a whole number that is not negative, not {count!r}", span=expression.span)
    return int(count)
