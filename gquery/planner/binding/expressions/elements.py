"""Binds what nodes and relationships have: properties, ids, labels and types.

Of a variable these are columns, gathered before a statement runs. Of an element that is computed they are calls, for
which its id is looked up while the statement runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import TYPE_CHECKING

from gquery.errors import BindError, Span, did_you_mean
from gquery.grammar import ast
from gquery.planner.binding.labels import expect_known
from gquery.planner.binding.scope import spoken
from gquery.planner.ir.expr import (
    BOOLEAN,
    INTEGER,
    NULL,
    STRING,
    Attribute,
    Call,
    Column,
    Comprehension,
    Constant,
    Expression,
    Kind,
    Local,
    Reduce,
    Type,
)
from gquery.planner.ir.types.common_type import list_of, type_of_stored, unify
from gquery.planner.ir.types.elements import (
    ELEMENTS,
    attribute_type,
    edge_types,
    stored_property,
)

if TYPE_CHECKING:
    from gquery.planner.binding.expressions.binder import ExpressionBinder

FUNCTIONS: Mapping[str, tuple[Attribute, tuple[Kind, ...]]] = {
    "id": (Attribute.ID, (Kind.NODE, Kind.RELATIONSHIP)),
    "labels": (Attribute.LABELS, (Kind.NODE,)),
    "type": (Attribute.TYPE, (Kind.RELATIONSHIP,)),
}
"""What each gives, and of which elements."""


def bind_element_property(
    binder: ExpressionBinder, subject: Expression, key: str, key_span: Span, span: Span
) -> Expression:
    """A property of a node or relationship, of nulls where no such element has it."""
    stored = stored_property(binder.schema, subject.type, key)
    if not stored:
        binder.names.lack(key, _no_property(binder, subject, key, key_span), "always null")
    type_ = type_of_stored(stored)
    if is_variable(subject):
        return Column(type_, span, subject.variable, Attribute.PROPERTY, key)  # type: ignore[attr-defined]
    return Call(type_, span, "field", (subject, Constant(STRING, key_span, key)))


def is_variable(subject: Expression) -> bool:
    """Whether it is an element that the rows hold."""
    return isinstance(subject, Column) and subject.attribute is Attribute.ELEMENT


def bind_attribute(binder: ExpressionBinder, subject: Expression, function: str, span: Span) -> Expression:
    """`id(x)`, `labels(x)` or `type(x)`. Of values of several types, some of which are no elements, these fail when the
    query runs."""
    if subject.type.kind is Kind.NULL:
        return Constant(NULL, span, None)
    attribute, kinds = FUNCTIONS[function]
    fitting = [each for each in subject.type.members or (subject.type,) if each.kind in kinds]
    if not fitting:
        wanted = " or ".join("a " + kind.value.lower() for kind in kinds)
        raise BindError(f"{function}() takes {wanted}, not {subject.type}", span=span)
    type_ = unify(attribute_type(binder.schema, each, attribute) for each in fitting)
    if is_variable(subject):
        return Column(type_, span, subject.variable, attribute)  # type: ignore[attr-defined]
    return Call(type_, span, function, (subject,))


def bind_element_id(binder: ExpressionBinder, subject: Expression, span: Span) -> Expression:
    """`elementId(x)`: the id, which labels or a type stand before, as those of other tables may have the same one."""
    if subject.type.kind is Kind.NULL:
        return Constant(NULL, span, None)
    if subject.type.kind not in ELEMENTS:
        raise BindError(f"elementId() takes a node or a relationship, not {subject.type}", span=span)
    return once(binder, subject, span, lambda element: _element_id(binder, element, span))


def _element_id(binder: ExpressionBinder, element: Expression, span: Span) -> Expression:
    if element.type.kind is Kind.NODE:
        labels = bind_attribute(binder, element, "labels", span)
        first, label = binder.local("text", STRING, span), binder.local("label", STRING, span, 1)
        step = _joined(binder, span, first, Constant(STRING, span, ":"), label)
        name: Expression = Reduce(STRING, span, first, Constant(STRING, span, ""), label, labels, step)
    else:
        name = bind_attribute(binder, element, "type", span)
    number = binder.call("tostring", (bind_attribute(binder, element, "id", span),), span)
    return _joined(binder, span, name, Constant(STRING, span, "/"), number)


def _joined(binder: ExpressionBinder, span: Span, *texts: Expression) -> Expression:
    return reduce(lambda text, other: binder.call("+", (text, other), span), texts)


def bind_label_test(binder: ExpressionBinder, tree: ast.LabelTest) -> Expression:
    """`a:Person`. Null has no labels that are known; values of which none is an element have none at all."""
    subject = binder.bind(tree.subject)
    if subject.type.kind is Kind.NULL:
        return Constant(BOOLEAN, tree.span, None)
    kinds = _element_kinds(subject.type)
    if not kinds:
        message = f"only a node or a relationship can be tested for labels, not a value of type {subject.type}"
        raise BindError(message, span=tree.subject.span)
    if len(kinds) > 1:
        message = "this is a node in some rows and a relationship in others, and a label is asked of one kind"
        raise BindError(message, span=tree.subject.span, hint="ask it of nodes and of relationships apart")
    (kind,) = kinds
    expect_known(tree.labels, kind, binder.schema, binder.names)
    return once(binder, subject, tree.span, lambda element: _label_expression(binder, element, tree.labels))


def _element_kinds(type_: Type) -> frozenset[Kind]:
    """Which of nodes and relationships are among the values of a type."""
    return ELEMENTS & {each.kind for each in type_.members or (type_,)}


def _label_expression(binder: ExpressionBinder, subject: Expression, labels: ast.LabelExpression) -> Expression:
    match labels:
        case ast.LabelName(name=name):
            node = Kind.NODE in _element_kinds(subject.type)
            constant = Constant(STRING, labels.span, name)
            held = bind_attribute(binder, subject, "labels" if node else "type", labels.span)
            return binder.call("in" if node else "=", (constant, held), labels.span)
        case ast.LabelWildcard():
            held = bind_attribute(binder, subject, "labels", labels.span)
            size = binder.call("size", (held,), labels.span)
            return binder.call(">", (size, Constant(INTEGER, labels.span, 0)), labels.span)
        case ast.LabelNot(operand=operand):
            return binder.call("not", (_label_expression(binder, subject, operand),), labels.span)
        case ast.LabelAnd(left=left, right=right) | ast.LabelOr(left=left, right=right):
            parts = _label_expression(binder, subject, left), _label_expression(binder, subject, right)
            return binder.call("and" if isinstance(labels, ast.LabelAnd) else "or", parts, labels.span)
    raise AssertionError(labels)


def once(
    binder: ExpressionBinder, subject: Expression, span: Span, make: Callable[[Expression], Expression]
) -> Expression:
    """What is made of an element. One that is computed is the only item of a list then, so that it is computed once."""
    if is_variable(subject) or isinstance(subject, Local):
        return make(subject)
    item = binder.local("element", subject.type, span)
    with binder.with_locals(item):
        made = make(item)
    alone = Call(list_of(subject.type), span, "list", (subject,))
    listed = Comprehension(list_of(made.type), span, "list", item, alone, None, made)
    return Call(made.type, span, "index", (listed, Constant(INTEGER, span, 0)))


def _no_property(binder: ExpressionBinder, subject: Expression, key: str, span: Span) -> BindError:
    known = subject.variable if isinstance(subject, Column) else subject.name if isinstance(subject, Local) else None
    name = f"a {subject.type.kind.value.lower()}" if known is None else spoken(known)
    properties: Mapping[str, object] = {}
    if subject.type.kind is Kind.NODE:
        tables = subject.type.tables
        owners = sorted({label for table in tables for label in binder.schema.vertex_tables[table].labels})
        properties = binder.schema.vertex_properties(tables)
    else:
        owners = edge_types(binder.schema, subject.type)
        properties = binder.schema.edge_properties(owners)
    hint = did_you_mean(key, properties) or _listing(properties)
    return BindError(f"{name}{_labelled(owners)} has no property `{key}`", span=span, hint=hint)


def _labelled(names: list[str]) -> str:
    shown = ", ".join(f":{name}" for name in names[:4]) + ("…" if len(names) > 4 else "")
    return f" ({shown})" if names else ""


def _listing(properties: Mapping[str, object]) -> str:
    if not properties:
        return "it has no properties at all"
    return "it has " + ", ".join(f"`{name}`" for name in list(properties)[:8]) + ("…" if len(properties) > 8 else "")
