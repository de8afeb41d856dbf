"""The same queries as DuckDB self-joins: a second opinion that shares nothing with the oracle but the query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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
    Labelled,
    Operation,
    Part,
    Query,
    QueryEdge,
    QueryVertex,
    Value,
    Vertex,
    is_edge,
)
from tests.differential.oracle import covered

VERTEX_KEYS = {"x": pa.int64(), "y": pa.float64(), "name": pa.string()}
EDGE_KEYS = {"eid": pa.int64(), "w": pa.int64(), "tag": pa.string()}


def open_graph(graph: DataGraph) -> duckdb.DuckDBPyConnection:
    """A connection with `v`, one row a vertex, `e`, one row an edge, and `u`, one row an edge and way to walk it.

    Nothing is spilled: a statement that large is a mistake.
    """
    connection = duckdb.connect(config={"temp_directory": "", "memory_limit": "1GB"})
    connection.register("v", _table(graph.vertices, VERTEX_KEYS, ["id"]))
    connection.register("e", _table(graph.edges, EDGE_KEYS, ["source", "target"]))
    connection.execute(
        "CREATE VIEW u AS FROM e UNION ALL BY NAME"
        " SELECT * REPLACE (target AS source, source AS target) FROM e WHERE source <> target"
    )
    return connection


def count(connection: duckdb.DuckDBPyConnection, query: Query) -> int:
    """The number of matches."""
    row = connection.execute(f"SELECT count(*) FROM ({_rows(connection, query)})").fetchone()
    assert row is not None
    return int(row[0])


def counts(connection: duckdb.DuckDBPyConnection, query: Query, vertex: str) -> dict[str, int]:
    """The number of matches that each vertex has which the query vertex is matched to, by its id."""
    found = f"SELECT {vertex}.id, count(*) FROM ({_rows(connection, query)}) GROUP BY ALL"
    return {str(id): int(number) for id, number in connection.execute(found).fetchall()}


def _rows(connection: duckdb.DuckDBPyConnection, query: Query) -> str:
    """A row for each match."""
    rows = _matches(query.vertices, query.clauses)
    if not query.parts:
        return rows
    tables = _Tables(connection)
    return f"FROM {tables.with_parts(tables.make(rows), query.parts)}"


@dataclass
class _Tables:
    """Tables of matches, each made of earlier ones. A variable is a column of structs, `n_` and the table's name counts
    the rows. One large statement would say the same, but DuckDB may plan cross products for it."""

    connection: duckdb.DuckDBPyConnection
    number: int = 0

    def make(self, select: str) -> str:
        name = f"t{self.number}"
        self.number += 1
        rows = f"SELECT *, row_number() OVER () AS n_{name} FROM ({select})"
        self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {rows}")
        return name

    def with_parts(self, table: str, parts: tuple[Part, ...]) -> str:
        for part in parts:
            found = self.make(_matches(part.vertices, (part.clause,), table, part.earlier))
            found = self.with_parts(found, part.conditions)
            if part.kind == "optional":
                found = f"(SELECT n_{table}, {', '.join(part.names)} FROM {found})"
            join = {"optional": "LEFT", "exists": "SEMI", "absent": "ANTI"}[part.kind]
            table = self.make(f"FROM {table} {join} JOIN {found} USING (n_{table})")
        return table


def _matches(
    vertices: tuple[QueryVertex, ...], clauses: tuple[Clause, ...], table: str = "", earlier: tuple[str, ...] = ()
) -> str:
    """A row for each match; those of a part carry on the rows of `table`, which hold the earlier vertices."""
    edges = [edge for clause in clauses for edge in clause.edges]
    sources = [table] if table else []
    sources += [f"v AS {vertex.name}" for vertex in vertices]
    sources += [f"{'e' if edge.directed else 'u'} AS {edge.name}" for edge in edges]
    names = [f"{table}.*"] if table else []
    names += [vertex.name for vertex in vertices] + [edge.name for edge in edges]
    where = [f"{name}.id IS NOT NULL" for name in earlier]
    where += [*_structure(vertices, edges), *(condition for clause in clauses for condition in _mode(clause))]
    where += [_expression(condition) for clause in clauses for condition in clause.conditions]
    return f"SELECT {', '.join(names)} FROM {', '.join(sources)} WHERE {' AND '.join(where) or 'true'}"


def _table(elements: tuple[Vertex, ...] | tuple[Edge, ...], keys: dict[str, pa.DataType], ids: list[str]) -> pa.Table:
    columns = {name: pa.array([str(getattr(element, name)) for element in elements], pa.string()) for name in ids}
    columns["labels"] = pa.array([sorted(element.labels) for element in elements], pa.list_(pa.string()))
    for key, type in keys.items():
        columns[key] = pa.array([element.properties.get(key) for element in elements], type)
    return pa.table(columns)


def _structure(vertices: Iterable[QueryVertex], edges: Iterable[QueryEdge]) -> Iterator[str]:
    for vertex in vertices:
        if vertex.labels is not None:
            yield _labels(vertex.name, vertex.labels)
    for edge in edges:
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
                yield f"{a}.id || ' ' || {b}.id NOT IN (SELECT source || ' ' || target FROM e)"


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
        case Labelled(variable=name, labels=labels):
            return _labels(name, labels)
        case Operation(operator=operator, operands=(Element(first), Element(second))):
            key = "eid" if is_edge(first) else "id"
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
