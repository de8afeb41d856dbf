"""The relational tail: from the stream of matched ids to the answer, in one DuckDB statement or in none.

Ids travel, properties wait: only what SQL has to see is gathered before it; whole elements and properties that are
merely returned are gathered afterwards, for the rows that are left.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa

from gquery.errors import BindError
from gquery.executor.progress import Control
from gquery.executor.relational import database
from gquery.executor.relational.elements import ElementWriter, ends_of, path_ids
from gquery.executor.relational.gather import gather, travelling_type
from gquery.executor.relational.sql.expressions import SqlWriter, inputs
from gquery.executor.relational.statement import WEIGHT, Statement, build_statement
from gquery.executor.relational.translation import translated
from gquery.executor.relational.unions import cast
from gquery.executor.relational.widths import Bytes, average_width, batch_bytes, element_widths, parts, widths_of
from gquery.planner.ir.expr import (
    NODE,
    RELATIONSHIP,
    Attribute,
    Call,
    Column,
    Constant,
    Expression,
    Kind,
    Parameter,
    columns,
    is_aggregated,
)
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.segments import Projection
from gquery.storage.graph import Snapshot

Batches = Generator[pa.RecordBatch, None, None]


class Tail:
    """What happens to the matches of one query. `residual`: predicates that the matcher left to check. `weighted`: the
    column WEIGHT of the match stream says how many matches a row stands for.

    Raises BindError for a SKIP or LIMIT that is no whole number, UnsupportedError for what SQL cannot say.
    """

    def __init__(
        self,
        projection: Projection,
        graph: QueryGraph,
        snapshot: Snapshot,
        parameters: Mapping[str, object],
        residual: tuple[Expression, ...] = (),
        weighted: bool = False,
    ) -> None:
        self.projection = projection
        self.graph = graph
        self.snapshot = snapshot
        self.parameters = parameters
        self.weighted = weighted
        self.skip = _row_count(projection.skip, parameters, "SKIP") or 0
        self.limit = _row_count(projection.limit, parameters, "LIMIT")
        self._vertices = {vertex.variable: vertex for vertex in graph.vertices}
        self._edges = {edge.variable: edge for edge in graph.edges}
        self._paths = {path.name: path for path in graph.paths}
        self._early = {part for item in projection.order_by for part in inputs(item.expression)}
        self._early.update(part for predicate in residual for part in inputs(predicate))
        self._grouped = projection.distinct or any(is_aggregated(item.expression) for item in projection.items)
        self._travelling = [self._carried(item.expression) for item in projection.items]
        self._outputs = tuple(dict.fromkeys(self._travelling))
        self._statement = None if self._is_plain(residual) else build_statement(
            self._outputs, projection, residual, parameters, (self.skip, self.limit), weighted
        )  # fmt: skip
        self._elements = ElementWriter(snapshot)

    def replaced(self, projection: Projection) -> Tail:
        """The tail of another projection over the same graph, with nothing left to check."""
        return Tail(projection, self.graph, self.snapshot, self.parameters)

    # --- what it needs and gives -------------------------------------------------------------------------------

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The vertex and edge variables that the match stream has to carry, in the query graph's order."""
        read = self._outputs if self._statement is None else tuple(self._statement.inputs.values())
        spoken_of = {column.variable for expression in read for column in columns(expression)}
        for path in self.graph.paths:
            if path.name in spoken_of:
                spoken_of.update((*path.vertices, *path.edges))
        return tuple(variable for variable in (*self._vertices, *self._edges) if variable in spoken_of)

    @cached_property
    def schema(self) -> pa.Schema:
        """The answer's columns, known before anything is matched."""
        types = [self._elements.arrow_type(item.expression.type) for item in self.projection.items]
        return pa.schema([(item.name, arrow) for item, arrow in zip(self.projection.items, types, strict=True)])

    def describe(self) -> str:
        """What it does, for EXPLAIN: the statement, or what is gathered without one."""
        if self._statement is not None:
            return "DuckDB\n" + "\n".join(f"  {line}" for line in self._statement.sql.splitlines())
        text = "Gather " + ", ".join(item.name for item in self.projection.items)
        text += f", skip {self.skip:,}" if self.skip else ""
        return text + (f", limit {self.limit:,}" if self.limit is not None else "")

    def _is_plain(self, residual: tuple[Expression, ...]) -> bool:
        """Whether the answer is made of gathered columns alone, so that DuckDB has nothing to do."""
        relational = residual or self.projection.distinct or self.projection.order_by
        return not relational and all(isinstance(item.expression, Column) for item in self.projection.items)

    def _carried(self, expression: Expression) -> Expression:
        """What travels for an item: the element's id where an attribute can wait, the expression itself elsewhere."""
        if self._grouped or not isinstance(expression, Column) or expression in self._early:
            return expression
        if expression.attribute is Attribute.ELEMENT:
            return expression
        element = NODE if expression.variable in self._vertices else RELATIONSHIP
        return Column(element, expression.span, expression.variable, Attribute.ELEMENT)

    # --- running -----------------------------------------------------------------------------------------------

    def run(self, matches: Iterator[pa.RecordBatch], control: Control) -> Iterator[pa.RecordBatch]:
        """The answer, batch by batch, pulling matches as it is read. Closing it closes the match stream."""
        answer = self._gathered(matches, control) if self._statement is None else self._selected(matches, control)
        try:
            yield from answer
        finally:
            answer.close()
            close = getattr(matches, "close", None)
            if close is not None:
                close()

    def _gathered(self, matches: Iterator[pa.RecordBatch], control: Control) -> Batches:
        skip, left = self.skip, self.limit
        while left != 0 and (batch := next(matches, None)) is not None:
            control.check()
            part = batch.slice(skip, left)
            skip = max(0, skip - batch.num_rows)
            left = None if left is None else left - part.num_rows
            if part.num_rows:
                with translated():
                    travelled = [self._input(output, part) for output in self._outputs]
                yield from self._answers(travelled, part.num_rows, control)

    def _selected(self, matches: Iterator[pa.RecordBatch], control: Control) -> Batches:
        statement = self._statement
        assert statement is not None
        if statement.blocking:
            database.check_memory(control)
        fields = [(name, travelling_type(part.type)) for name, part in statement.inputs.items()]
        if self.weighted:
            fields.append((WEIGHT, pa.int64()))
        schema = pa.schema(fields or _NO_COLUMNS)
        rows_in = statement.rows_in if control.memory_limit is None else statement.rows_in and 1
        gathered = (
            self._fed(statement, part, schema)
            for batch in matches
            for part in self._readable(statement, batch, control)
        )
        fed = (part for batch in gathered for part in _sliced(batch, rows_in))
        rows = database.stream(
            statement.sql, statement.values, schema, fed, control, self._rows_out(statement, control)
        )
        try:
            for batch in rows:
                if batch.num_rows:
                    yield from self._answers(batch.columns, batch.num_rows, control)
        finally:
            rows.close()
            fed.close()
            gathered.close()

    def _readable(self, statement: Statement, batch: pa.RecordBatch, control: Control) -> Iterator[pa.RecordBatch]:
        """The batch in parts for which not too much has to be gathered."""
        read = [part for part in statement.inputs.values() if isinstance(part, Column) and self._is_gathered(part)]
        most = batch_bytes(control)
        widths = [widths_of(self.snapshot, self._kind(part), part, batch.column(part.variable), most) for part in read]
        return (batch.slice(begin, size) for begin, size in parts(widths, batch.num_rows, most))

    def _rows_out(self, statement: Statement, control: Control) -> int:
        """How many rows of the answer DuckDB may hand over at a time."""
        read = [part for part in statement.inputs.values() if isinstance(part, Column) and self._is_gathered(part)]
        width = sum(average_width(self.snapshot, self._kind(part), part) for part in read)
        rows = int(batch_bytes(control) // max(1.0, 2 * width))
        return max(1, min(rows, statement.rows_out or database.BATCH_ROWS))

    def _is_gathered(self, column: Column) -> bool:
        return column.attribute is not Attribute.ELEMENT and column.variable not in self._paths

    def _kind(self, column: Column) -> Kind:
        return Kind.NODE if column.variable in self._vertices else Kind.RELATIONSHIP

    def _shown_widths(self, shown: Expression, carried: Expression, values: pa.Array, most: int) -> Bytes | None:
        """The bytes of what is gathered for a column of the answer."""
        if isinstance(shown, Column) and shown != carried:
            return widths_of(self.snapshot, carried.type.kind, shown, values, most)
        return element_widths(self.snapshot, values, shown.type, most)

    def _fed(self, statement: Statement, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        if schema.names == [name for name, _ in _NO_COLUMNS]:
            return pa.record_batch([pa.array(np.zeros(batch.num_rows, np.int8))], schema=schema)
        with translated():
            found = [self._input(part, batch) for part in statement.inputs.values()]
            if self.weighted:
                found.append(batch.column(WEIGHT))
            arrays = [cast(values, field.type) for values, field in zip(found, schema, strict=True)]
        return pa.record_batch(arrays, schema=schema)

    def _input(self, part: Expression, batch: pa.RecordBatch) -> pa.Array:
        """What is read of the graph, for each match of a batch of ids."""
        if isinstance(part, Call):
            (relationship,) = columns(part)
            return ends_of(self.snapshot, batch.column(relationship.variable), int(part.function == "endnode"))
        assert isinstance(part, Column)
        path = self._paths.get(part.variable)
        if path is not None:
            return path_ids([batch.column(name) for name in path.vertices], [batch.column(name) for name in path.edges])
        return gather(self.snapshot, self._kind(part), part, batch.column(part.variable))

    def _answers(self, travelled: list[pa.Array], rows: int, control: Control) -> Iterator[pa.RecordBatch]:
        """A batch of the answer, in parts for which not too much has to be gathered."""
        most = batch_bytes(control)
        found = dict(zip(self._outputs, travelled, strict=True))
        items = zip(self.projection.items, self._travelling, strict=True)
        widths = [self._shown_widths(item.expression, carried, found[carried], most) for item, carried in items]
        for begin, size in parts(widths, rows, most):
            yield self._answer([values.slice(begin, size) for values in travelled])

    def _answer(self, travelled: list[pa.Array]) -> pa.RecordBatch:
        """A batch of the answer from the columns that came out of the statement, or out of the match stream."""
        found = dict(zip(self._outputs, travelled, strict=True))
        arrays = []
        with translated():
            for item, carried in zip(self.projection.items, self._travelling, strict=True):
                values = found[carried]
                if isinstance(item.expression, Column) and item.expression != carried:
                    values = gather(self.snapshot, carried.type.kind, item.expression, values)
                arrays.append(self._elements.write(values, item.expression.type))
        return pa.record_batch(arrays, schema=self.schema)


def _sliced(batch: pa.RecordBatch, rows: int | None) -> Iterator[pa.RecordBatch]:
    """The batch in parts of at most so many rows."""
    size = rows or max(1, batch.num_rows)
    return (batch.slice(begin, size) for begin in range(0, batch.num_rows, size))


_NO_COLUMNS = [("row", pa.int8())]


def _row_count(expression: Expression | None, parameters: Mapping[str, object], clause: str) -> int | None:
    """SKIP and LIMIT as numbers; they read no match."""
    match expression:
        case None:
            return None
        case Constant(value=value):
            count: object = value
        case Parameter(name=name):
            count = parameters[name]
        case _:
            writer = SqlWriter({}, parameters)
            text = f"SELECT {writer.write(expression)} FROM elements"
            count = database.evaluate(text, pa.table({"row": [0]}), writer.asked(text), Control())[0].as_py()
    if not hasattr(count, "__index__") or isinstance(count, bool) or int(count) < 0:
        raise BindError(f"{clause} needs a whole number that is not negative, not {count!r}", span=expression.span)
    return int(count)
