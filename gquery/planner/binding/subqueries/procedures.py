"""Procedures: `CALL gquery.labels() YIELD label` is written out as a subquery that lists what the schema says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from gquery.errors import BindError, Span, did_you_mean
from gquery.grammar import ast
from gquery.planner.binding.subqueries.in_expressions import filtering
from gquery.planner.ir.expr import Kind
from gquery.planner.ir.types.common_type import temporal_family, type_of_arrow
from gquery.records import record, replace
from gquery.storage.schema import Schema

_ROW = "row"


@record(frozen=True, slots=True)
class _Procedure:
    columns: tuple[str, ...]
    rows: Callable[[Schema], Iterator[tuple[Any, ...]]]


def written_out(clauses: Sequence[ast.Clause], schema: Schema) -> Iterator[ast.Clause]:
    """Procedures as subqueries without names from outside, and behind each its condition; other clauses as they are.
    Of a procedure alone, what is returned is its columns in their own order."""
    first = clauses[0]
    for clause in clauses:
        if isinstance(clause, ast.Procedure):
            yield _subquery(clause, schema)
            if clause.where is not None:
                yield filtering(clause.where)
        elif isinstance(first, ast.Procedure) and isinstance(clause, ast.Return) and clause.span == first.span:
            yield replace(clause, star=False, items=tuple(_columns_of(first)))
        else:
            yield clause


def _columns_of(clause: ast.Procedure) -> Iterator[ast.ProjectionItem]:
    names = _PROCEDURES[clause.name.lower()].columns
    for name in names if clause.columns is None else (str(item.alias) for item in clause.columns):
        yield ast.ProjectionItem(ast.Variable(name, span=clause.span), name, name, span=clause.span)


def _subquery(clause: ast.Procedure, schema: Schema) -> ast.Call:
    found = _PROCEDURES.get(clause.name.lower())
    if found is None:
        known = ", ".join(f"`{name}`" for name in _PROCEDURES)
        hint = did_you_mean(clause.name, _PROCEDURES) or f"there are {known}"
        raise BindError(f"there is no procedure `{clause.name}`", span=clause.span, hint=hint)
    span = clause.span
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows(schema)]
    unwind = ast.Unwind(_literal(rows, span), ast.Variable(_ROW, span=span), span=span)
    columns = [(name, name, span) for name in found.columns]
    if clause.columns is not None:
        columns = [_yielded(item, clause.name, found.columns) for item in clause.columns]
    items = (
        ast.ProjectionItem(ast.Property(ast.Variable(_ROW, span=place), name, place, span=place), alias, "", span=place)
        for name, alias, place in columns
    )
    returned = ast.Return(tuple(items), False, False, (), None, None, span=span)
    query = ast.Query((unwind, returned), None, span=span)
    return ast.Call(query=query, imports=(), star=False, optional=False, span=span)


def _yielded(item: ast.ProjectionItem, procedure: str, columns: tuple[str, ...]) -> tuple[str, str, Span]:
    assert isinstance(item.expression, ast.Variable)
    assert item.alias is not None
    if item.expression.name not in columns:
        listed = ", ".join(f"`{name}`" for name in columns)
        hint = did_you_mean(item.expression.name, columns) or f"it has {listed}"
        raise BindError(f"`{procedure}` has no column `{item.expression.name}`", span=item.expression.span, hint=hint)
    return item.expression.name, item.alias, item.span


def _labels(schema: Schema) -> Iterator[tuple[Any, ...]]:
    for label, tables in schema.tables_with.items():
        yield label, sum(schema.vertex_tables[table].count for table in tables)


def _types(schema: Schema) -> Iterator[tuple[Any, ...]]:
    for name in schema.types:
        yield name, sum(table.count for table in schema.edge_tables if table.type == name)


def _properties(schema: Schema) -> Iterator[tuple[Any, ...]]:
    nodes = [("node", list(table.labels), table.properties) for table in schema.vertex_tables]
    relationships = [("relationship", [table.type], table.properties) for table in schema.edge_tables]
    for element, labels, properties in nodes + relationships:
        for name, arrow in properties.items():
            yield element, labels, name, _type_name(arrow)


def _type_name(arrow: pa.DataType) -> str:
    found = type_of_arrow(arrow)
    return temporal_family(arrow).upper() if found.kind is Kind.TEMPORAL else str(found)


_PROCEDURES: Mapping[str, _Procedure] = {
    "gquery.labels": _Procedure(("label", "nodes"), _labels),
    "gquery.types": _Procedure(("type", "relationships"), _types),
    "gquery.schema": _Procedure(("element", "labels", "property", "type"), _properties),
}


def _literal(value: Any, span: Span) -> ast.Expression:
    """The expression that says the value."""
    if isinstance(value, list):
        return ast.ListLiteral(tuple(_literal(each, span) for each in value), span=span)
    if isinstance(value, dict):
        entries = (ast.MapEntry(key, _literal(each, span), span=span) for key, each in value.items())
        return ast.MapLiteral(tuple(entries), span=span)
    return ast.Literal(value, span=span)
