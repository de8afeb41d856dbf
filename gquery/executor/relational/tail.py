"""The relational tail: from rows to those after a WITH, or to the answer, in one DuckDB statement or in none.

Ids travel, properties wait: only what SQL has to see is gathered before it; whole elements and properties that are
merely returned are gathered afterwards, for the rows that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain

import pyarrow as pa

from gquery.errors import BindError
from gquery.executor.progress import Control
from gquery.executor.relational.alike import AlikeRows, can_be_alike
from gquery.executor.relational.database import running
from gquery.executor.relational.database.statement import Statement, build_statement
from gquery.executor.relational.database.translation import translated
from gquery.executor.relational.direct.few import FEW, Direct
from gquery.executor.relational.direct.types import Unsaid
from gquery.executor.relational.going_out import GoingOut
from gquery.executor.relational.growth import may_be_long
from gquery.executor.relational.inputs import Inputs
from gquery.executor.relational.selection import WEIGHT, WEIGHTS, Selection
from gquery.executor.relational.sql.expressions import SqlWriter, inputs
from gquery.executor.relational.streams import Made, through
from gquery.executor.relational.topmost import First, TopRows, bounded_first
from gquery.executor.relational.widths import batch_bytes
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
        self._reads_weights = weighted or self._alike
        self._out = GoingOut(snapshot, projection.items, travelling, self._outputs, final)
        if not self._is_bare_count and self._selection is not None and self._direct is None:
            self._statement = self._build(check)  # says now what SQL cannot

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
    def _selection(self) -> Selection | None:
        """None where there is nothing to compute."""
        if self._is_plain:
            return None
        bounds = (self.skip, self.limit)
        return Selection.of(self._outputs, self.project, self._residual, bounds, self._reads_weights)

    @cached_property
    def _direct(self) -> Direct | None:
        """What computes few rows without a statement; None where Arrow does not say all that is asked."""
        assert self._selection is not None
        try:
            return Direct(self._selection, self.parameters)
        except Unsaid:
            return None

    @cached_property
    def _statement(self) -> Statement:
        return self._build(unchecked)

    def _build(self, check: Check) -> Statement:
        assert self._selection is not None
        return build_statement(self._selection, self.parameters, self.snapshot, check)

    @cached_property
    def _first(self) -> First | None:
        """The first rows of an order, where the others can be left out before they are sorted."""
        if self._selection is None or self.limit is None or self._residual or self._reads_weights:
            return None
        return bounded_first(self.projection, self.skip + self.limit, self._selection.names.values())

    @cached_property
    def _inputs(self) -> Inputs:
        return Inputs(self.snapshot, self._kinds, {} if self._selection is None else self._selection.names)

    # --- what it needs and gives -------------------------------------------------------------------------------

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables that the rows have to carry, in their order."""
        read = self._outputs if self._selection is None else tuple(self._selection.names.values())
        spoken_of = {column.variable for expression in read for column in columns(expression)}
        return tuple(variable for variable in self._kinds if variable in spoken_of - {WEIGHT})

    @property
    def schema(self) -> pa.Schema:
        """The columns that come out, known before anything is matched."""
        return self._out.schema

    @property
    def gathered(self) -> tuple[Column, ...] | None:
        """The columns of the answer, where it is made of nothing but columns that wait, for every row once."""
        if not self.final or self._selection is not None or self.weighted or self.skip or self.limit is not None:
            return None
        return self._out.gathered

    def describe(self) -> str:
        """What it does, for EXPLAIN: the statement, or what is gathered without one."""
        if self.counts_rows:
            return "Count rows"
        if self._selection is not None:
            first = "Count rows with the same values first, where these are few\n" if self._alike else ""
            if self._first is not None:
                first = f"Leave out rows whose first key is behind those of {self._first.count:,} others\n"
            return f"{first}{self._computed_by()}\n" + "\n".join(
                f"  {line}" for line in self._statement.sql.splitlines()
            )
        text = "Gather " + ", ".join(item.name for item in self.projection.items)
        text += f", skip {self.skip:,}" if self.skip else ""
        return text + (f", limit {self.limit:,}" if self.limit is not None else "")

    def _computed_by(self) -> str:
        if self._direct is None:
            return "DuckDB"
        return f"Arrow, from {FEW:,} rows on DuckDB" if self._direct.selection.blocking else "Arrow"

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

    def run(self, matches: Iterator[pa.RecordBatch], control: Control) -> Iterator[pa.RecordBatch]:
        """The answer, batch by batch, pulling matches as it is read. Closing it closes the match stream."""
        if self._selection is None and self.skip == 0 and self.limit is None:
            return through(matches, partial(self._shown, control))
        return self._closing(matches, self._cut if self._selection is None else self._selected, control)

    def _closing(
        self,
        matches: Iterator[pa.RecordBatch],
        run: Callable[[Iterator[pa.RecordBatch], Control], Batches],
        control: Control,
    ) -> Batches:
        answer = run(matches, control)
        try:
            yield from answer
        finally:
            answer.close()
            close = getattr(matches, "close", None)
            if close is not None:
                close()

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

    def _selected(self, matches: Iterator[pa.RecordBatch], control: Control) -> Batches:
        selection, inputs = self._selection, self._inputs
        assert selection is not None
        if selection.blocking:
            running.check_memory(control)
        elif self._direct is not None:
            yield from through(matches, partial(self._each, control))
            return
        if self._first is not None:
            matches = TopRows(self._first, inputs, self.parameters).of(matches, control)
        if self._alike:
            gathered: Batches | Made = AlikeRows(inputs).batches(matches, control)
        else:
            gathered = through(matches, lambda batch: inputs.batches(batch, control))
        direct = self._direct is not None and self._direct.is_ready
        rows = self._directly(gathered, control) if direct else self._stated(gathered, control)
        try:
            for batch in rows:
                if batch.num_rows:
                    yield from self._out.batches(batch.columns, batch.num_rows, control)
        finally:
            rows.close()
            gathered.close()

    def _each(self, control: Control, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """What the answer has for some rows, which nothing is to be known of others for."""
        control.check()
        for part in self._inputs.batches(batch, control):
            for found in self._of_few([part], control):
                if found.num_rows:
                    yield from self._out.batches(found.columns, found.num_rows, control)

    def _directly(self, gathered: Iterator[pa.RecordBatch], control: Control) -> Batches:
        """The outputs for all rows: by a statement once they are many."""
        kept: list[pa.RecordBatch] = []
        rows = size = 0
        for batch in gathered:
            size += kept[-1].nbytes if kept else 0  # of a last one nobody has to know
            kept.append(batch)
            rows += batch.num_rows
            if rows > FEW or size > batch_bytes(control):
                yield from self._stated(chain(kept, gathered), control)
                return
        yield from self._of_few(kept, control)

    def _of_few(self, batches: list[pa.RecordBatch], control: Control) -> Batches:
        """The outputs for few rows; what Arrow refuses, DuckDB knows, or has the words for."""
        assert self._direct is not None
        together = _together(batches, self._inputs.schema)
        found: Iterator[pa.RecordBatch] | None
        try:
            found = self._direct.of(together)
            first = next(found, None)
        except pa.ArrowException:
            found = None  # which lets go of what was made so far
        if found is not None:
            while first is not None:
                control.check()
                yield first
                with translated():
                    first = next(found, None)
        elif self._direct.unwinds and together.num_rows > 1:  # by themselves: DuckDB copies a row for each of its items
            middle = together.num_rows // 2
            for half in (together.slice(0, middle), together.slice(middle)):
                yield from self._of_few([half], control)
        else:
            yield from self._stated(iter(batches), control)

    def _stated(self, gathered: Iterator[pa.RecordBatch], control: Control) -> Batches:
        """The outputs, by a statement."""
        statement, inputs = self._statement, self._inputs
        rows_in = statement.rows_in if control.memory_limit is None else statement.rows_in and 1
        most = batch_bytes(control) // statement.copies if statement.copies > 1 else None
        fed = (part for batch in gathered for part in _sliced(batch, rows_in, most))
        first = next(fed, None)
        long = first is not None and any(map(may_be_long, self._outputs))
        width = max(inputs.average_width, first.nbytes / first.num_rows if first is not None and long else 0.0)
        rows_out = min(statement.rows_out or running.BATCH_ROWS, running.rows_of(2 * width, control))
        again = chain([] if first is None else [first], fed)
        rows = running.stream(statement.sql, statement.given, inputs.schema, again, control, rows_out)
        try:
            yield from rows
        finally:
            rows.close()
            fed.close()

    def _kind(self, column: Column) -> Kind:
        """Of the variable that the column belongs to."""
        return self._kinds[column.variable]


def asks_parameters(project: Project, residual: tuple[Expression, ...]) -> bool:
    """Whether a tail of these depends on the values of parameters."""
    projection = project.projection
    bounds = (bound for bound in (projection.skip, projection.limit) if bound is not None)
    asked = (*projection.expressions, *project.where, *residual, *bounds)
    return any(isinstance(part, Parameter) for expression in asked for part in walk(expression))


def _together(batches: list[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    """The rows of all batches as one."""
    if len(batches) == 1:
        return batches[0]
    found = pa.Table.from_batches(batches, schema).combine_chunks().to_batches()
    return found[0] if found else pa.record_batch([pa.nulls(0, type_) for type_ in schema.types], schema=schema)


def _sliced(batch: pa.RecordBatch, rows: int | None, most: int | None) -> Iterator[pa.RecordBatch]:
    """The batch in parts of at most so many rows, and of about so many bytes at most."""
    size = rows or max(1, batch.num_rows)
    if most is not None and batch.nbytes > most:
        size = max(1, min(size, batch.num_rows * most // batch.nbytes))
    return (batch.slice(begin, size) for begin in range(0, batch.num_rows, size))


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
