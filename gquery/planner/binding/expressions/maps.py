"""Binds maps, and elements as maps of their properties: `keys`, `properties`, `n {.key, .*}`, `m.key`, `m[key]`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from gquery.errors import BindError, Notice, Span, UnsupportedError, did_you_mean
from gquery.grammar import ast
from gquery.planner.ir.expr import (
    BOOLEAN,
    NULL,
    STRING,
    Attribute,
    Call,
    Case,
    Column,
    Comprehension,
    Constant,
    Expression,
    Kind,
    Local,
    Type,
)
from gquery.planner.ir.types.common_type import list_of, unify

if TYPE_CHECKING:
    from gquery.planner.binding.expressions.binder import ExpressionBinder

_ELEMENTS = frozenset({Kind.NODE, Kind.RELATIONSHIP})
Entries = list[tuple[str, Expression]]


def map_of(entries: Iterable[tuple[str, Expression]], span: Span) -> Call:
    """The map with these values; of two with one key, the last."""
    values = dict(entries)
    folded = {key.lower(): key for key in values}
    if len(folded) < len(values):
        twice = next(key for key in values if folded[key.lower()] != key)
        raise UnsupportedError(f"gquery has no maps whose keys differ in case only, such as `{twice}`", span=span)
    pairs = tuple(part for key, value in values.items() for part in (Constant(STRING, value.span, key), value))
    return Call(
        Type(Kind.MAP, None, None, tuple((key, value.type) for key, value in values.items())), span, "map", pairs
    )


def bind_projection(binder: ExpressionBinder, tree: ast.MapProjection) -> Expression:
    """`n {.key, name, key: value, .*}` is a map, or null where `n` is."""
    subject = binder.bind(tree.subject)
    entries = [(entry.key, binder.bind(entry.value)) for entry in tree.entries]
    if tree.star:
        known = {key for key, _ in entries}
        entries += [(key, value) for key, value in _entries(binder, subject, tree.span) if key not in known]
    return _unless_null(subject, map_of(entries, tree.span))


def bind_properties(binder: ExpressionBinder, subject: Expression, span: Span) -> Expression:
    """The map of an element's properties, null where it does not have one; a map as it is."""
    if subject.type.kind in (Kind.MAP, Kind.NULL):
        return subject
    return _unless_null(subject, map_of(_entries(binder, subject, span), span))


def bind_keys(binder: ExpressionBinder, subject: Expression, span: Span) -> Expression:
    """The keys of a map; of an element those of the properties that it has."""
    if subject.type.kind is Kind.NULL:
        return Constant(NULL, span, None)
    entries, listed = _entries(binder, subject, span), list_of(STRING)
    keys = [Constant(STRING, span, key) for key, _ in entries]
    if subject.type.kind is Kind.MAP or not keys:
        return _unless_null(subject, Call(listed, span, "list", tuple(keys)))
    null = Constant(NULL, span, None)
    held = (
        Case(STRING, span, ((Call(BOOLEAN, span, "is null", (value,)), null),), key)
        for key, (_, value) in zip(keys, entries, strict=True)
    )
    item = Local(STRING, span, "key", max((each.depth + 1 for each in binder.locals.values()), default=0))
    present = Call(BOOLEAN, span, "is not null", (item,))
    own = Comprehension(listed, span, "list", item, Call(listed, span, "list", tuple(held)), present, None)
    return _unless_null(subject, own)


def bind_field(binder: ExpressionBinder, subject: Expression, key: str, key_span: Span, span: Span) -> Expression:
    """`map.key`: null, with a word, where no map of the type has the key."""
    members = subject.type.members or (subject.type,)
    fields = dict(field for member in members for field in member.fields)
    types = [type_ for member in members for name, type_ in member.fields if name == key]
    if not types:
        hint = did_you_mean(key, fields)
        binder.names.notices.append(Notice(f"the map has no key `{key}`: always null", key_span, hint))
        return Constant(NULL, span, None)
    common = unify(types)
    if common is None:
        raise BindError(f"`{key}` is an element in one map and a value in another", span=key_span)
    return Call(common, span, "field", (subject, Constant(STRING, key_span, key)))


def bind_lookup(binder: ExpressionBinder, subject: Expression, key: Expression, span: Span) -> Expression:
    """`subject[key]` with a computed key: of a map, or of an element's properties."""
    if key.type.kind not in (Kind.STRING, Kind.NULL):
        raise BindError(f"a key is a text, not {key.type}", span=key.span)
    entries = _entries(binder, subject, span)
    common = unify(value.type for _, value in entries)
    if common is None:
        raise UnsupportedError("gquery has no computed keys of maps that hold elements and values", span=span)
    if subject.type.kind is Kind.MAP:
        return Call(common, span, "look up", (subject, key))
    branches = tuple((Constant(STRING, span, name), value) for name, value in entries)
    null = Constant(NULL, span, None)
    return Case(common, span, branches, null, key) if branches else null


def is_map(type_: Type) -> bool:
    """Whether all values of the type are maps."""
    return type_.kind is Kind.MAP or (bool(type_.members) and all(each.kind is Kind.MAP for each in type_.members))


def _entries(binder: ExpressionBinder, subject: Expression, span: Span) -> Entries:
    """All that a map holds, or all properties that an element of the type may have."""
    if subject.type.kind is Kind.MAP:
        return [
            (key, Call(type_, span, "field", (subject, Constant(STRING, span, key))))
            for key, type_ in subject.type.fields
        ]
    if subject.type.kind not in _ELEMENTS:
        raise BindError(f"only nodes, relationships and maps have keys, not {subject.type}", span=subject.span)
    if not (isinstance(subject, Column) and subject.attribute is Attribute.ELEMENT):
        raise UnsupportedError(
            "gquery has no properties of computed nodes and relationships",
            span=subject.span,
            hint="give it a name by WITH first, or by UNWIND where it is in a list",
        )
    return [(key, binder.element_property(subject, key, span, span)) for key in binder.keys_of(subject)]


def _unless_null(subject: Expression, value: Expression) -> Case:
    absent = Call(BOOLEAN, subject.span, "is null", (subject,))
    return Case(value.type, value.span, ((absent, Constant(NULL, value.span, None)),), value)


FUNCTIONS: dict[str, Callable[[ExpressionBinder, Expression, Span], Expression]] = {
    "keys": bind_keys, "properties": bind_properties
}  # fmt: skip
