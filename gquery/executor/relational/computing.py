"""What a selection asks is computed of the rows: of few by Arrow, of many by one statement of DuckDB."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from itertools import chain

import pyarrow as pa

from gquery.executor.progress import Control
from gquery.executor.relational.codes.alike import AlikeRows
from gquery.executor.relational.codes.groups import Groups, groups_of
from gquery.executor.relational.codes.keys import coded_keys, with_codes
from gquery.executor.relational.codes.measured import FEWEST, MeasuredRows
from gquery.executor.relational.codes.waiting import Waiting, enough_for
from gquery.executor.relational.database import running
from gquery.executor.relational.database.statement import Statement, build_statement
from gquery.executor.relational.database.translation import translated
from gquery.executor.relational.direct.few import FEW, Direct
from gquery.executor.relational.direct.types import Unsaid
from gquery.executor.relational.growth import may_be_long
from gquery.executor.relational.inputs import Inputs
from gquery.executor.relational.selection import Selection
from gquery.executor.relational.topmost import First, TopRows, bounded_first
from gquery.executor.relational.widths import BATCH_ROWS, batch_bytes, long_row
from gquery.lasting.properties import cached_property
from gquery.planner.ir.expr import Attribute, Kind, columns
from gquery.planner.ir.segments import Project
from gquery.stopping import Check, unchecked
from gquery.storage.graph import Snapshot

_MANY = 1 << 14  # rows that are worth a second thread

Batches = Generator[pa.RecordBatch, None, None]


class Computing:
    """A selection of a project's, over rows whose variables are of these kinds. alike: the same with weights, where
    rows with the same values may be counted first."""

    def __init__(
        self,
        selection: Selection,
        project: Project,
        snapshot: Snapshot,
        parameters: Mapping[str, object],
        kinds: Mapping[str, Kind],
        alike: Selection | None = None,
    ) -> None:
        self.selection = selection
        self._project = project
        self._snapshot = snapshot
        self._parameters = parameters
        rest = project, snapshot, parameters, kinds
        self._alike = None if alike is None else Computing(alike, *rest)
        self._inputs = Inputs(snapshot, kinds, selection.names)

    @cached_property
    def direct(self) -> Direct | None:
        """What computes few rows without a statement; None where Arrow does not say all that is asked."""
        try:
            return Direct(self.selection, self._parameters)
        except Unsaid:
            return None

    @cached_property
    def statement(self) -> Statement:
        """For all other rows. Raises UnsupportedError for what SQL cannot say."""
        return self.build(unchecked)

    def build(self, check: Check) -> Statement:
        """The statement, from now on."""
        self.statement = build_statement(self.selection, self._parameters, self._snapshot, check)
        return self.statement

    @property
    def is_streamed(self) -> bool:
        """Whether each row goes out without a look at others, and without a statement: see `of_few`."""
        return self.direct is not None and not self.selection.blocking

    @cached_property
    def _first(self) -> First | None:
        """The first rows of an order, where the others can be left out before they are sorted."""
        skip, limit = self.selection.bounds
        if limit is None or self.selection.residual or self.selection.weighted:
            return None
        return bounded_first(self._project.projection, skip + limit, self.selection.names.values())

    @cached_property
    def _groups(self) -> tuple[Groups, Computing] | None:
        """What has numbers, and who reads that in place of rows."""
        selection = self.selection
        groups = groups_of(self._project, selection.residual, self._snapshot, selection.weighted)
        if groups is None:
            return None
        outputs = tuple(map(groups.read, selection.outputs[: selection.shown]))
        read = Selection.of(outputs, groups.project, (), selection.bounds, False)
        kinds = {variable.name: variable.type.kind for variable in groups.project.input}
        return groups, Computing(read, groups.project, self._snapshot, self._parameters, kinds)

    @cached_property
    def _coded_keys(self) -> tuple[str, ...]:
        """The columns of the relation that may be codes."""
        return coded_keys(self.selection)

    def describe(self) -> str:
        """What it does, for EXPLAIN."""
        text = ""
        if self._first is not None:
            text = f"Leave out rows whose first key is behind those of {self._first.count:,} others\n"
        elif self._alike is not None:
            text = "Count rows with the same values first, where these are few\n"
        if self._groups is not None:
            text += "Add up many rows where they are found, if their groups have numbers\n"
        if self._coded_keys and self._first is None and self._alike is None:
            keys = ", ".join(self._coded_keys)
            text += f"Group many rows by numbers that stand for {keys}, if those have few values\n"
        by = "DuckDB" if self.direct is None else "Arrow"
        if self.direct is not None and self.selection.blocking:
            by += f", from {self.direct.most:,} rows on DuckDB"
        return "\n".join([f"{text}{by}", *(f"  {line}" for line in self.statement.sql.splitlines())])

    def run(self, matches: Iterator[pa.RecordBatch], control: Control, threads: int) -> Batches:
        """The outputs that go out, pulling matches as they are read. threads: that may work where all rows have to be
        seen first."""
        if self.selection.blocking:
            running.check_memory(control)
        if self._first is not None:
            matches = TopRows(self._first, self._inputs, self._parameters).of(matches, control)
        waiting = Waiting(matches, control.check)
        computing, inputs, gathered = self._gathered(waiting, control, threads)
        with closing(gathered):
            if computing is not self and computing.is_streamed:
                for batch in gathered:
                    yield from computing._of_few([batch], control)
            elif computing.direct is not None and computing.direct.is_ready and not inputs.codes:
                yield from computing._directly(gathered, control, threads)
            else:
                yield from computing._stated(inputs, gathered, control, threads)

    def _gathered(self, rows: Waiting, control: Control, threads: int) -> tuple[Computing, Inputs, Batches]:
        """Who computes the rows, what is read of them, and the relation."""
        if self._alike is not None:
            alike = AlikeRows.of(self._alike._inputs, rows, control)
            if alike is not None:
                return self._alike, self._alike._inputs, alike.batches(rows, control)
        grouped = self.selection.grouped and control.memory_limit is None
        if grouped and rows.are(FEWEST) and self._groups is not None:
            groups, reader = self._groups
            measured = MeasuredRows.of(reader._inputs, groups, rows, control, threads)
            if measured is not None:
                return reader, reader._inputs, reader._left(measured.batches(rows, control), control)
        inputs = self._inputs
        if self._coded_keys and control.memory_limit is None:
            enough = enough_for(inputs, self._coded_keys, FEW + 1, control)
            inputs = with_codes(inputs, self._coded_keys, control) if rows.are(enough) else inputs
        return self, inputs, rows.through(lambda batch: inputs.batches(batch, control))

    def _left(self, groups: Batches, control: Control) -> Batches:
        """The groups that may be among the first of an order by what they have."""
        first = self._first
        if first is None or any(part.attribute is not Attribute.VALUE for part in columns(first.key)):
            return groups
        rows = TopRows(first, self._inputs, self._parameters)
        return (left for batch in groups for left in rows.of_batch(batch, control))

    def of_rows(self, rows: pa.RecordBatch, control: Control) -> Batches:
        """The outputs for some rows, which nothing is to be known of others for."""
        control.check()
        for part in self._inputs.batches(rows, control):
            yield from self._of_few([part], control)

    def _directly(self, gathered: Iterator[pa.RecordBatch], control: Control, threads: int) -> Batches:
        """The outputs for all rows: by a statement once they are many."""
        assert self.direct is not None
        kept: list[pa.RecordBatch] = []
        rows = size = 0
        for batch in gathered:
            size += kept[-1].nbytes if kept else 0  # of a last one nobody has to know
            kept.append(batch)
            rows += batch.num_rows
            if rows > self.direct.most or size > batch_bytes(control):
                yield from self._stated(self._inputs, chain(kept, gathered), control, threads)
                return
        yield from self._of_few(kept, control)

    def _of_few(self, batches: list[pa.RecordBatch], control: Control) -> Batches:
        """The outputs for few rows; what Arrow refuses, DuckDB knows, or has the words for."""
        assert self.direct is not None
        together = _together(batches, self._inputs.schema)
        found: Iterator[pa.RecordBatch] | None
        try:
            found = self.direct.of(together)
            first = next(found, None)
        except pa.ArrowException:
            found = None  # which lets go of what was made so far
        if found is not None:
            while first is not None:
                control.check()
                with long_row(_new_bytes(first, together), control):
                    yield first
                with translated():
                    first = next(found, None)
        elif self.direct.unwinds and together.num_rows > 1:  # by themselves: DuckDB copies a row for each of its items
            middle = together.num_rows // 2
            for half in (together.slice(0, middle), together.slice(middle)):
                yield from self._of_few([half], control)
        else:
            yield from self._stated(self._inputs, iter(batches), control, 1)

    def _stated(self, inputs: Inputs, gathered: Iterator[pa.RecordBatch], control: Control, threads: int) -> Batches:
        """The outputs, by a statement. inputs: what it reads."""
        statement, outputs = self.statement, self.selection.outputs[: self.selection.shown]
        rows_in, most_out = _rows_at_once(statement, control)
        most = batch_bytes(control) // statement.copies if statement.copies > 1 else None
        fed = (part for batch in gathered for part in _sliced(batch, rows_in, most))
        alone = not self.selection.blocking or self.selection.collects or statement.given.functions or rows_in
        alone = alone or control.memory_limit is not None
        seen = _first(fed, 1 if alone else _MANY)  # of a scan the first batch is small
        rows = sum(batch.num_rows for batch in seen)
        long = rows > 0 and any(map(may_be_long, outputs))
        width = max(inputs.average_width, sum(batch.nbytes for batch in seen) / rows if long else 0.0)
        rows_out = min(most_out or BATCH_ROWS, running.rows_of(2 * width + statement.constant, control))
        threads = 1 if alone or rows < _MANY else threads
        again = chain(seen, fed)
        found = running.stream(statement.sql, statement.given, inputs.schema, again, control, rows_out, threads=threads)
        with closing(found), closing(fed):
            yield from found if not inputs.codes else (inputs.decoded(outputs, batch) for batch in found)


def _rows_at_once(statement: Statement, control: Control) -> tuple[int | None, int | None]:
    """How many rows DuckDB may see and answer at a time, None for any number: one of those that may be made long where
    a limit is to hold, and few where long constants are written into each."""
    rows_in, rows_out = statement.rows_in, statement.rows_out
    if control.memory_limit is not None:
        rows_in, rows_out = rows_in and 1, rows_out and 1
    few = running.rows_of(statement.constant, control)
    return rows_in if few >= running.AT_ONCE else min(rows_in or few, few), rows_out


def _first(batches: Iterator[pa.RecordBatch], rows: int) -> list[pa.RecordBatch]:
    """The first batches, until they have so many rows."""
    found: list[pa.RecordBatch] = []
    while rows > 0 and (batch := next(batches, None)) is not None:
        found.append(batch)
        rows -= batch.num_rows
    return found


def _together(batches: list[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    """The rows of all batches as one."""
    if len(batches) == 1:
        return batches[0]
    found = pa.Table.from_batches(batches, schema).combine_chunks().to_batches()
    return found[0] if found else pa.record_batch([pa.nulls(0, type_) for type_ in schema.types], schema=schema)


def _new_bytes(found: pa.RecordBatch, read: pa.RecordBatch) -> int:
    """The bytes that were not there before: a value that is read may go out several times, and is the same."""
    return int(min(found.nbytes, found.get_total_buffer_size()) - read.nbytes)


def _sliced(batch: pa.RecordBatch, rows: int | None, most: int | None) -> Iterator[pa.RecordBatch]:
    """The batch in parts of at most so many rows, and of about so many bytes at most."""
    size = rows or max(1, batch.num_rows)
    if most is not None and batch.nbytes > most:
        size = max(1, min(size, batch.num_rows * most // batch.nbytes))
    return (batch.slice(begin, size) for begin in range(0, batch.num_rows, size))
