"""The same queries as DuckDB self-joins: a second opinion that shares nothing with the oracle but the query."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import duckdb
import pyarrow as pa

from tests.differential.forms import (
    Attribute,
    Clause,
    Constant,
    DataGraph,
    Edge,
    Element,
    Expression,
    Label,
    Operation,
    Query,
    Value,
    Vertex,
)
from tests.differential.oracle import covered

VERTEX_KEYS = {"x": pa.int64(), "y": pa.float64(), "name": pa.string()}
EDGE_KEYS = {"eid": pa.int64(), "w": pa.int64(), "tag": pa.string()}


def open_graph(graph: DataGraph) -> duckdb.DuckDBPyConnection:
    """A connection with `v`, one row a vertex, `e`, one row an edge, and `u`, one row an edge and way to walk it."""
    connection = duckdb.connect()
    connection.register("v", _table(graph.vertices, VERTEX_KEYS, ["id"]))
    connection.register("e", _table(graph.edges, EDGE_KEYS, ["source", "target"]))
    connection.execute(
        "CREATE VIEW u AS FROM e UNION ALL BY NAME"
        " SELECT * REPLACE (target AS source, source AS target) FROM e WHERE source <> target"
    )
    return connection


def count(connection: duckdb.DuckDBPyConnection, query: Query) -> int:
    """The number of matches."""
    tables = [f"v AS {vertex.name}" for vertex in query.vertices]
    tables += [f"{'e' if edge.directed else 'u'} AS {edge.name}" for edge in query.edges]
    where = [condition for part in (_structure(query), *map(_mode, query.clauses)) for condition in part]
    where += [_expression(condition) for clause in query.clauses for condition in clause.conditions]
    text = f"SELECT count(*) FROM {', '.join(tables)} WHERE {' AND '.join(where) or 'true'}"
    row = connection.execute(text).fetchone()
    assert row is not None
    return int(row[0])


def _table(elements: tuple[Vertex, ...] | tuple[Edge, ...], keys: dict[str, pa.DataType], ids: list[str]) -> pa.Table:
    columns = {name: pa.array([str(getattr(element, name)) for element in elements], pa.string()) for name in ids}
    columns["labels"] = pa.array([sorted(element.labels) for element in elements], pa.list_(pa.string()))
    for key, type in keys.items():
        columns[key] = pa.array([element.properties.get(key) for element in elements], type)
    return pa.table(columns)


def _structure(query: Query) -> Iterator[str]:
    for vertex in query.vertices:
        if vertex.labels is not None:
            yield _labels(vertex.name, vertex.labels)
    for edge in query.edges:
        yield f"{edge.name}.source = {edge.source}.id AND {edge.name}.target = {edge.target}.id"
        if edge.types is not None:
            yield _labels(edge.name, edge.types)


def _mode(clause: Clause) -> Iterator[str]:
    if clause.mode == "different edges":
        yield from (f"{r.name}.eid <> {s.name}.eid" for r, s in combinations(clause.edges, 2))
    if clause.mode in ("different nodes", "induced"):
        yield from (f"{a}.id <> {b}.id" for a, b in combinations(clause.vertices, 2))
    if clause.mode == "induced":
        for a, b in product(clause.vertices, clause.vertices):
            if (a, b) not in covered(clause):
                yield f"NOT EXISTS (FROM e WHERE e.source = {a}.id AND e.target = {b}.id)"


def _labels(name: str, labels: Expression) -> str:
    match labels:
        case Label(name="%"):
            return f"len({name}.labels) > 0"
        case Label(name=label):
            return f"list_contains({name}.labels, '{label}')"
        case Operation(operator="!", operands=(operand,)):
            return f"NOT ({_labels(name, operand)})"
        case Operation(operator=operator, operands=operands):
            return "(" + {"&": " AND ", "|": " OR "}[operator].join(_labels(name, part) for part in operands) + ")"
    raise AssertionError(labels)


def _expression(expression: Expression) -> str:
    match expression:
        case Constant(value=value):
            return _literal(value)
        case Attribute(variable=name, key=key):
            return f"{name}.{key}"
        case Operation(operator=operator, operands=(Element(first), Element(second))):
            key = "eid" if first.startswith("r") else "id"
            return f"({first}.{key} {operator} {second}.{key})"
        case Operation(operator="not", operands=(operand,)):
            return f"(NOT {_expression(operand)})"
        case Operation(operator="is null" | "is not null" as operator, operands=(operand,)):
            return f"({_expression(operand)} {operator})"
        case Operation(operator="in", operands=(operand, *items)):
            return f"({_expression(operand)} IN ({', '.join(_expression(item) for item in items)}))"
        case Operation(operator="starts with", operands=(text, prefix)):
            return f"starts_with({_expression(text)}, {_expression(prefix)})"
        case Operation(operator=operator, operands=operands):
            return "(" + f" {operator} ".join(_expression(operand) for operand in operands) + ")"
    raise AssertionError(expression)


def _literal(value: Value) -> str:
    return "NULL" if value is None else repr(value)
