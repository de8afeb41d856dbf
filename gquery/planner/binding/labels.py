"""Label and type expressions, resolved against the schema."""

from __future__ import annotations

from collections.abc import Iterable

from gquery.errors import BindError, did_you_mean
from gquery.grammar import ast
from gquery.planner.binding.scope import Names
from gquery.planner.ir.expr import Kind
from gquery.storage.schema import Schema


def tables_of(schema: Schema, expressions: Iterable[ast.LabelExpression]) -> tuple[int, ...]:
    """The vertex tables that every label expression admits, ascending."""
    tables: Iterable[int] = range(len(schema.vertex_tables))
    for expression in expressions:
        if isinstance(expression, ast.LabelName):
            labelled = schema.tables_with.get(expression.name, ())
            tables = labelled if isinstance(tables, range) else [table for table in tables if table in labelled]
        else:
            tables = [table for table in tables if admits(expression, frozenset(schema.vertex_tables[table].labels))]
    return tuple(tables)


def types_of(schema: Schema, expression: ast.LabelExpression | None) -> tuple[str, ...]:
    """The edge types that a type expression admits, sorted; all when there is none."""
    if expression is None:
        return tuple(sorted(schema.types))
    if isinstance(expression, ast.LabelName):
        return (expression.name,) if expression.name in schema.types else ()
    return tuple(sorted(name for name in schema.types if admits(expression, frozenset([name]))))


def admits(expression: ast.LabelExpression, labels: frozenset[str]) -> bool:
    """Whether an element with exactly these labels satisfies the expression."""
    match expression:
        case ast.LabelName(name=name):
            return name in labels
        case ast.LabelWildcard():
            return bool(labels)
        case ast.LabelNot(operand=operand):
            return not admits(operand, labels)
        case ast.LabelAnd(left=left, right=right):
            return admits(left, labels) and admits(right, labels)
        case ast.LabelOr(left=left, right=right):
            return admits(left, labels) or admits(right, labels)
    raise AssertionError(expression)


def expect_known(expression: ast.LabelExpression, element: Kind, schema: Schema, names: Names) -> None:
    """Says which names in an expression no element of the kind, node or relationship, has."""
    known, kind = (schema.labels, "label") if element is Kind.NODE else (schema.types, "relationship type")
    match expression:
        case ast.LabelName(name=name):
            if name not in known:
                hint = did_you_mean(name, known) or _listing(kind, known)
                error = BindError(f"the graph has no {kind} `{name}`", span=expression.span, hint=hint)
                names.lack(name, error, f"no {element.value.lower()} has it")
        case ast.LabelNot(operand=operand):
            expect_known(operand, element, schema, names)
        case ast.LabelAnd(left=left, right=right) | ast.LabelOr(left=left, right=right):
            expect_known(left, element, schema, names)
            expect_known(right, element, schema, names)


def _listing(kind: str, known: tuple[str, ...]) -> str:
    if not known:
        return f"the graph has no {kind}s at all"
    shown = ", ".join(f"`{name}`" for name in known[:8])
    return f"its {kind}s are {shown}" + (", …" if len(known) > 8 else "")


def text_of(expression: ast.LabelExpression) -> str:
    """The expression as a user would write it."""
    match expression:
        case ast.LabelName(name=name):
            return name if name.isidentifier() else f"`{name}`"
        case ast.LabelWildcard():
            return "%"
        case ast.LabelNot(operand=operand):
            return f"!{_grouped(operand)}"
        case ast.LabelAnd(left=left, right=right):
            return f"{_grouped(left)}&{_grouped(right)}"
        case ast.LabelOr(left=left, right=right):
            return f"{text_of(left)}|{text_of(right)}"
    raise AssertionError(expression)


def _grouped(expression: ast.LabelExpression) -> str:
    text = text_of(expression)
    return f"({text})" if isinstance(expression, ast.LabelOr) else text
