"""Binds maps, and elements as maps of their properties: `keys`, `properties`, `n {.key, .*}`, `m.key`, `m[key]`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from gquery.errors import BindError, Notice, Span, did_you_mean
from gquery.grammar import ast
from gquery.planner.binding.expressions.elements import bind_element_property, once
from gquery.planner.ir.expr import (
    BOOLEAN,
    NULL,
    STRING,
    Call,
    Case,
    Comprehension,
    Constant,
    Expression,
    Kind,
    Type,
)
from gquery.planner.ir.types.common_type import list_of, type_of_stored, unify
from gquery.planner.ir.types.elements import ELEMENTS, stored_properties, stored_property
from gquery.planner.ir.types.value_types import expect_keys_apart, expect_told_apart

if TYPE_CHECKING:
    from gquery.planner.binding.expressions.binder import ExpressionBinder

Entries = list[tuple[str, Expression]]


def map_of(entries: Iterable[tuple[str, Expression]], span: Span) -> Call:
    """The map with these values; of two with one key, the last."""
    values = dict(entries)
    expect_keys_apart(values, span)
    pairs = tuple(part for key, value in values.items() for part in (Constant(STRING, value.span, key), value))
    return Call(
        Type(Kind.MAP, None, None, tuple((key, value.type) for key, value in values.items())), span, "map", pairs
    )


def bind_projection(binder: ExpressionBinder, tree: ast.MapProjection) -> Expression:
    """`n {.key, name, key: value, .*}` is a map, or null where `n` is."""
    subject = binder.bind(tree.subject)
    entries = [(entry.key, binder.bind(entry.value)) for entry in tree.entries]
    if tree.star:
        if subject.type.members:
            hint = "name the keys, as in {.a, .b}"
            raise BindError(
                "`.*` cannot tell the keys of values of several types, or of maps that have others",
                span=tree.span,
                hint=hint,
            )
        known = {key for key, _ in entries}
        entries += [(key, value) for key, value in _entries(binder, subject, tree.span) if key not in known]
    return _unless_null(subject, map_of(entries, tree.span))


def bind_properties(binder: ExpressionBinder, subject: Expression, span: Span) -> Expression:
    """The map of an element's properties, null where it does not have one; a map as it is."""
    if all(each.kind in (Kind.MAP, Kind.NULL) for each in subject.type.members or (subject.type,)):
        return subject
    if has_keys(subject.type) and subject.type.members:
        return _of_each_member(binder, subject, span, "properties")

    def of(element: Expression) -> Expression:
        return _unless_null(element, map_of(_entries(binder, element, span), span))

    return once(binder, subject, span, of)


def bind_keys(binder: ExpressionBinder, subject: Expression, span: Span) -> Expression:
    """The keys of a map; of an element those of the properties that it has."""
    if subject.type.kind is Kind.NULL:
        return Constant(NULL, span, None)
    if subject.type.kind is Kind.MAP:
        keys = tuple(Constant(STRING, span, key) for key, _ in subject.type.fields)
        return _unless_null(subject, Call(list_of(STRING), span, "list", keys))
    if has_keys(subject.type) and subject.type.members:
        return _of_each_member(binder, subject, span, "keys")
    return once(binder, subject, span, lambda element: _unless_null(element, _present_keys(binder, element, span)))


def _of_each_member(binder: ExpressionBinder, subject: Expression, span: Span, function: str) -> Expression:
    """`keys` or `properties` of values of several types; of those that have no keys it fails when the query runs."""

    def of(value: Expression) -> Expression:
        held = [Call(member, span, "member", (value,)) for member in value.type.members]
        made = [FUNCTIONS[function](binder, each, span) for each in held if has_keys(each.type)]
        type_ = unify(each.type for each in made)
        failing = (Call(type_, span, function, (each,)) for each in held if not has_keys(each.type))
        return Call(type_, span, "coalesce", (*made, *failing))

    return once(binder, subject, span, of)


def _present_keys(binder: ExpressionBinder, element: Expression, span: Span) -> Expression:
    """The keys of the properties that are not null."""
    null, listed = Constant(NULL, span, None), list_of(STRING)
    held = tuple(
        Case(STRING, span, ((Call(BOOLEAN, span, "is null", (value,)), null),), Constant(STRING, span, key))
        for key, value in _entries(binder, element, span)
    )
    item = binder.local("key", STRING, span)
    present = Call(BOOLEAN, span, "is not null", (item,))
    return Comprehension(listed, span, "list", item, Call(listed, span, "list", held), present, None)


def bind_field(binder: ExpressionBinder, subject: Expression, key: str, key_span: Span, span: Span) -> Expression:
    """`map.key`: null, with a word, where no map of the type has the key. Of values of several types, some of which
    have no keys, it fails when the query runs."""
    expect_told_apart(subject.type, span)
    members = subject.type.members or (subject.type,)
    types = [type_ for member in members for name, type_ in member.fields if name == key]
    held = (stored_property(binder.schema, member, key) for member in members if member.kind in ELEMENTS)
    types += map(type_of_stored, filter(None, held))
    if not types:
        hint = did_you_mean(key, dict(field for member in members for field in member.fields))
        binder.names.notices.append(Notice(f"the map has no key `{key}`: always null", key_span, hint))
        return Constant(NULL, span, None)
    return Call(unify(types), span, "field", (subject, Constant(STRING, key_span, key)))


def bind_lookup(binder: ExpressionBinder, subject: Expression, key: Expression, span: Span) -> Expression:
    """`subject[key]` with a computed key: of a map, or of an element's properties."""
    if key.type.kind not in (Kind.STRING, Kind.NULL):
        raise BindError(f"a key is a text, not {key.type}", span=key.span)
    if subject.type.kind is Kind.MAP:
        expect_told_apart(subject.type, span)
        return Call(unify(type_ for _, type_ in subject.type.fields), span, "look up", (subject, key))

    def of(element: Expression) -> Expression:
        entries, null = _entries(binder, element, span), Constant(NULL, span, None)
        branches = tuple((Constant(STRING, span, name), value) for name, value in entries)
        return Case(unify(value.type for _, value in entries), span, branches, null, key) if branches else null

    return once(binder, subject, span, of)


def has_keys(type_: Type) -> bool:
    """Whether values of the type may be maps, or elements among others."""
    return any(each.kind in (Kind.MAP, *ELEMENTS) for each in type_.members or (type_,))


def _entries(binder: ExpressionBinder, subject: Expression, span: Span) -> Entries:
    """All that a map holds, or all properties that an element of the type may have."""
    if subject.type.kind is Kind.MAP:
        return [
            (key, Call(type_, span, "field", (subject, Constant(STRING, span, key))))
            for key, type_ in subject.type.fields
        ]
    if subject.type.kind is Kind.ANY and all(map(has_keys, subject.type.members)):
        members = subject.type.members
        every = (key for each in members for key in (dict(each.fields) or stored_properties(binder.schema, each)))
        return [(key, bind_field(binder, subject, key, span, span)) for key in dict.fromkeys(every)]
    if subject.type.kind not in ELEMENTS:
        raise BindError(f"only nodes, relationships and maps have keys, not {subject.type}", span=subject.span)
    keys = stored_properties(binder.schema, subject.type)
    return [(key, bind_element_property(binder, subject, key, span, span)) for key in keys]


def _unless_null(subject: Expression, value: Expression) -> Case:
    absent = Call(BOOLEAN, subject.span, "is null", (subject,))
    return Case(value.type, value.span, ((absent, Constant(NULL, value.span, None)),), value)


FUNCTIONS: dict[str, Callable[[ExpressionBinder, Expression, Span], Expression]] = {
    "keys": bind_keys, "properties": bind_properties
}  # fmt: skip
