"""A small graph, and tails over match streams made by hand."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from gquery.executor.chain.rows import batch_of as batch
from gquery.executor.progress import Control
from gquery.executor.relational.elements import path_ids
from gquery.executor.relational.gather import plain_type
from gquery.executor.relational.tail import Tail
from gquery.grammar.parser import parse
from gquery.planner.binding.clauses import bind
from gquery.storage.graph import Snapshot
from gquery.storage.tables import EdgeTable, VertexTable
from gquery.values.elements import Row, rows_of
from gquery.values.parameters import snapshot_of

Matches = Mapping[str, Sequence[int | None]]


@cache
def snapshot() -> Snapshot:
    """Vertices 0..4 are Person 1..5, vertices 5..6 are City "rome", "oslo". Edges 0..3 are KNOWS 0->1, 0->2, 1->2,
    3->0, edges 4..5 are IN 0->5, 1->6. `age` is a number of a Person and a text of a City; names come in two chunks."""
    people = pa.table(
        {
            "name": pa.chunked_array([["Ann", "Bob"], ["Cid", None, "Eve"]]),
            "age": pa.array([30, 40, None, 20, 40], pa.int8()),
            "height": pa.array([1.5, float("nan"), 1.7, None, 2.0]),
            "tags": pa.array([["a", "b"], [], None, ["b"], ["c"]], pa.list_(pa.string())),
            "town": pa.array(["x", "y", "x", None, "y"]).dictionary_encode(),
            "born": pa.array([datetime.date(1990, 5, 17), None, None, None, datetime.date(2001, 1, 2)]),
        }
    )
    cities = pa.table({"name": ["Rome", "Oslo"], "age": ["ancient", "old"]})
    knows = pa.table({"since": pa.array([2000, 2010, None, 2005])})
    return Snapshot(
        [
            VertexTable.from_arrow(("Person",), pa.chunked_array([[1, 2, 3, 4, 5]]), people, None),
            VertexTable.from_arrow(("City",), pa.chunked_array([["rome", "oslo"]]), cities, None),
        ],
        [
            EdgeTable.from_arrow("KNOWS", _int32(0, 0, 1, 3), _int32(1, 2, 2, 0), knows),
            EdgeTable.from_arrow("IN", _int32(0, 1), _int32(5, 6), pa.table({"none": [1, 2]}).select([])),
        ],
    )


def tail_of(text: str, parameters: Mapping[str, Any] | None = None) -> Tail:
    """The tail of a query; all its WHERE conditions that span several elements are residual."""
    given = snapshot_of(parameters)
    *before, project = bind(parse(text), snapshot().schema, given, "different edges").segments
    residual = tuple(predicate for match in before for predicate in match.graph.predicates)
    return Tail(project, snapshot(), given, residual)


def batch_of(tail: Tail, matches: Matches, rows: int = 1) -> pa.RecordBatch:
    """A batch of rows with just the variables that the tail asks for; a path is made of all the others."""
    types = {variable.name: plain_type(variable.type) for variable in tail.project.input}
    ids = {name: pa.array(values, types[name]) for name, values in matches.items()}
    columns = {name: ids[name] if name in ids else _path(ids) for name in tail.variables}
    return batch(columns, len(next(iter(matches.values()))) if matches else rows)


def _path(ids: Mapping[str, pa.Array]) -> pa.Array:
    vertices = [column for column in ids.values() if column.type == pa.int32()]
    return path_ids(vertices, [column for column in ids.values() if column.type == pa.int64()])


def ask(text: str, matches: Matches, parameters: Mapping[str, Any] | None = None) -> list[Row]:
    """The answer over matches that come in batches of two."""
    tail = tail_of(text, parameters)
    whole = batch_of(tail, matches)
    parts: Iterable[pa.RecordBatch] = [whole.slice(start, 2) for start in range(0, whole.num_rows, 2)]
    table = pa.Table.from_batches(list(tail.run(iter(parts), Control())), tail.schema)
    table.validate(full=True)
    return [row for batch in table.to_batches() for row in rows_of(batch)]


def value_of(expression: str, parameters: Mapping[str, Any] | None = None) -> Any:
    """The value of an expression without a pattern."""
    tail = tail_of(f"RETURN {expression} AS value", parameters)
    (batch,) = tail.run(iter([batch_of(tail, {})]), Control())
    ((value,),) = rows_of(batch)
    return value


def people(count: int, rows: int, pulled: list[int] | None = None) -> Iterator[pa.RecordBatch]:
    """`count` batches of `rows` matches of one Person variable `a`; `pulled` counts those that were asked for."""
    for index in range(count):
        if pulled is not None:
            pulled[0] = index + 1
        yield pa.record_batch({"a": pa.array((np.arange(rows) + index) % 5, pa.int32())})


def _int32(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(values, np.int32)
