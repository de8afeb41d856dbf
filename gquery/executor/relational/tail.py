"""The relational tail: from the stream of matched ids to the answer, in one DuckDB statement or in none.

Ids travel, properties wait: only the columns that SQL has to see are gathered before it; whole elements and properties
that are merely returned are gathered afterwards, for the rows that are left.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa

from gquery.errors import BindError
from gquery.executor.progress import Control
from gquery.executor.relational.database import connection, translated, watched
from gquery.executor.relational.elements import ElementWriter, holds_elements
from gquery.executor.relational.gather import gather
from gquery.executor.relational.sql import SqlWriter, literal, quoted
from gquery.planner.expr import Aggregate, Attribute, Column, Expression, Kind, columns, is_aggregated
from gquery.planner.logical import Projection, ProjectionItem
from gquery.planner.query_graph import PathVariable, QueryGraph
from gquery.storage.graph import Snapshot

_BATCH = 1 << 16  # rows of an answer batch


class Tail:
    """What happens to the matches of one query. `residual`: predicates that the matcher left to check."""

    def __init__(
        self, projection: Projection, graph: QueryGraph, snapshot: Snapshot, parameters: Mapping[str, object],
        residual: tuple[Expression, ...] = (),
    ) -> None:  # fmt: skip
        self.projection = projection
        self.graph = graph
        self.snapshot = snapshot
        self.parameters = parameters
        self.residual = residual
        self.elements = ElementWriter(snapshot)
        self.paths = {path.name: path for path in graph.paths}
        self.aggregated = any(is_aggregated(item.expression) for item in projection.items)
        self.skip = self._bound(projection.skip, "SKIP") or 0
        self.limit = self._bound(projection.limit, "LIMIT")

    def replaced(self, projection: Projection) -> Tail:
        """The tail of another projection over no matches at all."""
        return Tail(projection, self.graph, self.snapshot, self.parameters)

    # --- what it needs and gives -------------------------------------------------------------------------------

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The vertex and edge variables that the match stream has to carry, in the query graph's order."""
        expressions = [*self._expressions, *self.residual]
        spoken_of = {column.variable for expression in expressions for column in columns(expression)}
        for name in spoken_of & set(self.paths):
            spoken_of |= {*self.paths[name].vertices, *self.paths[name].edges}
        names = [vertex.variable for vertex in self.graph.vertices] + [edge.variable for edge in self.graph.edges]
        return tuple(name for name in names if name in spoken_of)

    @cached_property
    def schema(self) -> pa.Schema:
        """The answer's columns, known before anything is matched."""
        types = [self._known_type(item) for item in self.projection.items]
        if None in types:
            with connection() as cursor, translated():
                sql, values = self._statement()
                cursor.register("matches", self._input_schema.empty_table())
                described = cursor.sql(f"SELECT * FROM ({sql}) LIMIT 0", params=values).to_arrow_table().schema
            types = [known or described.field(index).type for index, known in enumerate(types)]
        names = [item.name for item in self.projection.items]
        return pa.schema(list(zip(names, types, strict=True)))

    @property
    def is_plain(self) -> bool:
        """Whether the answer is made of gathered columns alone, so that DuckDB has nothing to do."""
        projection = self.projection
        plain = not (self.residual or projection.distinct or projection.order_by or self.aggregated)
        return plain and all(isinstance(item.expression, Column) for item in projection.items)

    def describe(self) -> str:
        """One or two lines for EXPLAIN."""
        names = ", ".join(item.name for item in self.projection.items)
        if self.is_plain:
            return f"Gather {names}"
        return f"DuckDB: {self._statement()[0]}"

    # --- running -----------------------------------------------------------------------------------------------

    def run(self, matches: Iterator[pa.RecordBatch], control: Control) -> Generator[pa.RecordBatch, None, None]:
        """The answer, batch by batch. Closing it closes the match stream."""
        batches = self._gathered(matches) if self.is_plain else self._through_duckdb(matches, control)
        try:
            for batch in batches:
                control.check()
                if batch.num_rows:
                    yield batch
        finally:
            batches.close()
            close = getattr(matches, "close", None)
            if close is not None:
                close()

    def _gathered(self, matches: Iterator[pa.RecordBatch]) -> Generator[pa.RecordBatch, None, None]:
        skip, left = self.skip, self.limit
        for batch in matches if left != 0 else ():
            part = batch.slice(skip, left)
            skip = max(0, skip - batch.num_rows)
            yield self._finish([self._late(part, item) for item in self.projection.items], part.num_rows)
            if left is not None:
                left -= part.num_rows
                if left <= 0:
                    return

    def _through_duckdb(
        self, matches: Iterator[pa.RecordBatch], control: Control
    ) -> Generator[pa.RecordBatch, None, None]:
        sql, values = self._statement()
        failure: list[BaseException] = []
        source = pa.RecordBatchReader.from_batches(self._input_schema, self._guarded(matches, failure))
        with connection(control) as cursor, watched(cursor, control), translated(control, failure):
            cursor.register("matches", source)
            reader = cursor.sql(sql, params=values).to_arrow_reader(_BATCH)
            for batch in reader:
                outputs = [self._restored(batch, index, item) for index, item in enumerate(self.projection.items)]
                yield self._finish(outputs, batch.num_rows)
            if failure:
                raise failure[0]

    def _guarded(self, matches: Iterator[pa.RecordBatch], failure: list[BaseException]) -> Iterator[pa.RecordBatch]:
        """Remembers an error of the match stream: DuckDB would wrap it beyond recognition."""
        try:
            yield from self._prepared(matches)
        except GeneratorExit:
            raise
        except BaseException as error:
            failure.append(error)
            raise

    def _prepared(self, matches: Iterator[pa.RecordBatch] | list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of ids with the columns that SQL reads gathered beside them."""
        for batch in matches:
            arrays = dict(zip(batch.schema.names, batch.columns, strict=True))
            for column, name in self._inputs.items():
                arrays[name] = gather(self.snapshot, column, batch.column(column.variable))
            yield pa.record_batch(arrays)

    # --- the statement -----------------------------------------------------------------------------------------

    @property
    def _expressions(self) -> list[Expression]:
        items = [item.expression for item in self.projection.items]
        return items + [item.expression for item in self.projection.order_by]

    def _is_late(self, item: ProjectionItem) -> bool:
        """Whether the item is a column that can wait until the statement is done."""
        return isinstance(item.expression, Column) and not (self.projection.distinct or self.aggregated)

    @cached_property
    def _inputs(self) -> dict[Column, str]:
        """Columns that SQL reads besides the ids, and their names in the statement."""
        early = [item.expression for item in self.projection.items if not self._is_late(item)]
        early += [item.expression for item in self.projection.order_by]
        read = [column for expression in (*early, *self.residual) for column in columns(expression)]
        wanted = [column for column in dict.fromkeys(read) if column.attribute is not Attribute.ELEMENT]
        names: dict[Column, str] = {}
        for column in wanted:
            name = f"{column.variable}.{column.key or column.attribute.value}"
            while name in names.values() or name in self.variables:
                name += "'"
            names[column] = name
        return names

    def _statement(self) -> tuple[str, dict[str, object]]:
        writer = SqlWriter(self._column_sql, self.parameters)
        outputs = [
            (self._carried(item.expression) if self._is_late(item) else writer.write(item.expression)) + f" AS o{index}"
            for index, item in enumerate(self.projection.items)
        ]
        sql = f"SELECT {'DISTINCT ' if self.projection.distinct else ''}{', '.join(outputs)} FROM matches"
        if self.residual:
            sql += " WHERE " + " AND ".join(writer.write(predicate) for predicate in self.residual)
        keys = [item.expression for item in self.projection.items if not is_aggregated(item.expression)]
        if self.aggregated and keys:
            sql += " GROUP BY " + ", ".join(writer.write(key) for key in keys)
        if self.projection.order_by:
            sql += " ORDER BY " + ", ".join(
                self._sort_key(writer, item.expression)
                + (" DESC NULLS FIRST" if item.descending else " ASC NULLS LAST")
                for item in self.projection.order_by
            )
        if self.limit is not None:
            sql += f" LIMIT {self.limit}"
        if self.skip:
            sql += f" OFFSET {self.skip}"
        return sql, writer.values

    def _sort_key(self, writer: SqlWriter, expression: Expression) -> str:
        for index, item in enumerate(self.projection.items):
            if item.expression == expression and not self._is_late(item):
                return f"o{index}"
        return writer.write(expression)

    def _carried(self, expression: Expression) -> str:
        """What travels through SQL for a late item: the element's id."""
        assert isinstance(expression, Column)
        return self._path_sql(expression.variable) if expression.variable in self.paths else quoted(expression.variable)

    def _column_sql(self, column: Column) -> str:
        if column.attribute is Attribute.ELEMENT:
            return self._carried(column)
        return quoted(self._inputs[column])

    def _path_sql(self, name: str) -> str:
        path = self.paths[name]
        vertices = ", ".join(quoted(variable) for variable in path.vertices)
        edges = ", ".join(quoted(variable) for variable in path.edges)
        return f"{{'vertices': CAST([{vertices}] AS INTEGER[]), 'edges': CAST([{edges}] AS BIGINT[])}}"

    # --- columns of the answer ---------------------------------------------------------------------------------

    def _late(self, ids: pa.RecordBatch, item: ProjectionItem) -> pa.Array:
        column = item.expression
        assert isinstance(column, Column)
        if column.variable in self.paths:
            return self.elements.write(_path_array(ids, self.paths[column.variable]), column.type)
        return self.elements.write(gather(self.snapshot, column, ids.column(column.variable)), column.type)

    def _restored(self, batch: pa.RecordBatch, index: int, item: ProjectionItem) -> pa.Array:
        values = batch.column(index)
        if self._is_late(item) and isinstance(item.expression, Column) and item.expression.variable not in self.paths:
            values = gather(self.snapshot, item.expression, values)
        return self.elements.write(values, item.expression.type)

    def _finish(self, arrays: list[pa.Array], count: int) -> pa.RecordBatch:
        fitted = [
            array if array.type == field.type else array.cast(field.type)
            for array, field in zip(arrays, self.schema, strict=True)
        ]
        return pa.record_batch(fitted, schema=self.schema)

    def _known_type(self, item: ProjectionItem) -> pa.DataType | None:
        expression = item.expression
        if isinstance(expression, Aggregate) and expression.function == "count":
            return pa.int64()
        if holds_elements(expression.type):
            return self.elements.arrow_type(expression.type)
        if isinstance(expression, Column) and (self._is_late(item) or expression.type.kind is Kind.INTEGER):
            return expression.type.arrow if self._is_late(item) else pa.int64()
        return None

    @property
    def _id_schema(self) -> pa.Schema:
        vertices = {vertex.variable for vertex in self.graph.vertices}
        fields = [(name, pa.int32() if name in vertices else pa.int64()) for name in self.variables]
        return pa.schema(fields or [(" row", pa.int8())])

    def _empty_ids(self) -> pa.RecordBatch:
        return pa.record_batch([pa.array([], field.type) for field in self._id_schema], schema=self._id_schema)

    @cached_property
    def _input_schema(self) -> pa.Schema:
        return next(self._prepared([self._empty_ids()])).schema

    def _bound(self, expression: Expression | None, clause: str) -> int | None:
        """SKIP and LIMIT as numbers; they read no match."""
        if expression is None:
            return None
        writer = SqlWriter(self._column_sql, self.parameters)
        with connection() as cursor, translated():
            row = cursor.execute(f"SELECT {writer.write(expression)}", writer.values).fetchone()
        value = None if row is None else row[0]
        if not isinstance(value, int) or value < 0:
            raise BindError(f"{clause} needs a whole number that is not negative, not {literal(value)}",
                            span=expression.span)  # fmt: skip
        return value


def _path_array(ids: pa.RecordBatch, path: PathVariable) -> pa.Array:
    """The path of every match as a struct of two id lists."""
    lists = []
    for names, item in ((path.vertices, pa.int32()), (path.edges, pa.int64())):
        count, width = ids.num_rows, len(names)
        flat = pa.concat_arrays([ids.column(name) for name in names] or [pa.array([], item)])
        by_match = np.arange(count * width).reshape(width, count).T.ravel()
        offsets = np.arange(count + 1, dtype=np.int32) * width
        lists.append(pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), flat.take(pa.array(by_match))))
    return pa.StructArray.from_arrays(lists, ["vertices", "edges"])
