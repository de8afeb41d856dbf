"""Clauses that change the graph, half bound: what each computes of the rows, and what it does with that.

A draft says which expressions are computed as columns; when their types are known, it gives the action.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from gquery.errors import BindError
from gquery.grammar import ast
from gquery.planner.binding.mentions import below
from gquery.planner.binding.updates.computed import Computed, Known, expect_storable
from gquery.planner.binding.updates.made import MadePatterns
from gquery.planner.ir.expr import Kind
from gquery.planner.ir.updates import (
    Action,
    Change,
    Create,
    Delete,
    Give,
    GiveLabels,
    GiveMap,
    Given,
    GiveValues,
    Keep,
    Merge,
)
from gquery.records import replace


class Draft(Protocol):
    """A clause whose expressions have columns. clauses: what reads behind them."""

    @property
    def computed(self) -> Computed: ...

    @property
    def clauses(self) -> tuple[ast.Clause, ...]: ...

    def action(self, known: Known) -> Action:
        """What changes for the rows. Raises BindError for values that do not fit."""
        ...


def drafted(clause: ast.Update | None, parameters: Mapping[str, object]) -> Draft:
    """The draft of a clause; of none that nothing changes."""
    match clause:
        case ast.Create(patterns=patterns):
            return _Creating(patterns, parameters)
        case ast.Merge():
            return _Merging(clause, parameters)
        case ast.Set(items=items):
            return _Giving("SET", items, parameters)
        case ast.Remove(items=removed):
            return _Giving("REMOVE", map(_without, removed), parameters)
        case ast.Delete():
            return _Deleting(clause, parameters)
    return _Keeping(parameters)


def _without(item: ast.Property | ast.SetLabels) -> ast.SetItem:
    """REMOVE of a property: it is set to null."""
    return item if isinstance(item, ast.SetLabels) else ast.SetProperty(item, _null(item), span=item.span)


def _null(at: ast.Node) -> ast.Literal:
    return ast.Literal(None, span=at.span)


class _Keeping:
    clauses: tuple[ast.Clause, ...] = ()

    def __init__(self, parameters: Mapping[str, object]) -> None:
        self.computed = Computed("FOREACH", parameters)

    def action(self, known: Known) -> Action:
        return Keep()


class _Creating:
    clauses: tuple[ast.Clause, ...] = ()

    def __init__(self, patterns: Iterable[ast.PathPattern], parameters: Mapping[str, object]) -> None:
        self.computed = Computed("CREATE", parameters)
        self.made = MadePatterns("CREATE", tuple(patterns), self.computed)

    def action(self, known: Known) -> Create:
        return self.made.create(known)


class _Merging:
    def __init__(self, clause: ast.Merge, parameters: Mapping[str, object]) -> None:
        self.computed = Computed("MERGE", parameters)
        self.made = MadePatterns("MERGE", (clause.pattern,), self.computed)
        undirected = any(link.direction == "both" for link in clause.pattern.relationships)
        self.apart = undirected or any(_matters(item, clause.pattern) for item in (*clause.on_create, *clause.on_match))

    @property
    def clauses(self) -> tuple[ast.Clause, ...]:
        return (self.made.matched(),)

    def action(self, known: Known) -> Merge:
        create = self.made.create(known)
        ends = [end for edge in create.edges for end in (edge.source, edge.target) if end in known]
        keys = (*ends, *(given.column for given in create.properties))
        return Merge(create, tuple(dict.fromkeys(keys)), self.apart or _pieces(create) > 1)


def _matters(item: ast.SetItem, pattern: ast.PathPattern) -> bool:
    """Whether what MERGE sets besides may change what the pattern is found for."""
    if isinstance(item, ast.SetLabels):
        labels = {each.name for each in below(pattern) if isinstance(each, ast.LabelName)}
        return any(each.name in labels for each in item.labels)
    keys = {entry.key for entry in below(pattern) if isinstance(entry, ast.MapEntry)}
    if isinstance(item, ast.SetProperty):
        return item.target.key in keys
    given = item.value.entries if isinstance(item.value, ast.MapLiteral) and item.adding else None
    return given is None or not keys.isdisjoint(entry.key for entry in given)


def _pieces(create: Create) -> int:
    """In how many pieces what is made hangs together without what is there."""
    piece = {vertex.variable: {vertex.variable} for vertex in create.vertices}
    loose = 0
    for edge in create.edges:
        ends = [piece[end] for end in (edge.source, edge.target) if end in piece]
        loose += not ends
        whole = set().union(*ends)
        piece.update(dict.fromkeys(whole, whole))
    return loose + len({id(each) for each in piece.values()})


class _Giving:
    clauses: tuple[ast.Clause, ...] = ()

    def __init__(self, word: str, items: Iterable[ast.SetItem], parameters: Mapping[str, object]) -> None:
        self.word = word
        self.computed = Computed(word, parameters)
        self.sources: dict[str, str] = {}  # columns of maps, and of what each is the map of
        self.changes = [(item, self._change(item)) for item in items]

    def _change(self, item: ast.SetItem) -> Change:
        match item:
            case ast.SetProperty(target=target, value=value):
                return GiveValues(self._column(target.subject), (Given(target.key, self._column(value)),))
            case ast.SetLabels(subject=subject, labels=labels):
                return GiveLabels(self._column(subject), tuple(each.name for each in labels), self.word == "REMOVE")
            case ast.SetProperties(value=ast.MapLiteral() as written):
                entries = self.computed.entries(written)
                return GiveValues(self._column(item.subject), entries, not item.adding)
        if isinstance(item.value, ast.Literal) and item.value.value is not None:
            hint = "one property is set by its name, as in SET n.name = 'Ann', those with computed names by a map"
            raise BindError("SET takes a map or an element here, not a plain value", span=item.value.span, hint=hint)
        source, call = _properties_of(item.value)
        change = GiveMap(self._column(item.subject), self._column(call), not item.adding)
        self.sources[change.map] = self._column(source)
        return change

    def _column(self, value: ast.Expression) -> str:
        return self.computed.column(value)

    def action(self, known: Known) -> Give:
        for item, change in self.changes:
            self._expect_fitting(item, change, known)
        return Give(tuple(self._typed(change, known) for _, change in self.changes))

    def _typed(self, change: Change, known: Known) -> Change:
        """The change, where it is known what its map is of."""
        if not isinstance(change, GiveMap):
            return change
        source = known[self.sources[change.map]].type
        return replace(change, sparse=all(each.kind in _ELEMENTS for each in source.members or (source,)))

    def _expect_fitting(self, item: ast.SetItem, change: Change, known: Known) -> None:
        subject = known[change.subject].type
        labels = isinstance(change, GiveLabels)
        if subject.kind not in (_LABELLED if labels else _ELEMENTS):
            wanted = "a node" if labels else "a node or a relationship"
            raise BindError(f"{self.word} takes {wanted}, not {subject}", span=item.span)
        if isinstance(change, GiveValues):
            self.computed.expect_storable(change.properties, known)
        elif isinstance(change, GiveMap):
            given = known[change.map].type
            for member in given.members or (given,):
                if member.kind is not Kind.MAP:
                    raise BindError(f"{self.word} takes a map, not {member}", span=item.span)
                for key, type_ in member.fields:
                    expect_storable(type_, key, item)


def _properties_of(value: ast.Expression) -> tuple[ast.Expression, ast.FunctionCall]:
    """What has properties, a map or an element, and the call that gives them."""
    if isinstance(value, ast.FunctionCall) and value.name.lower() == "properties" and len(value.arguments) == 1:
        return value.arguments[0], value
    return value, ast.FunctionCall("properties", (value,), False, False, name_span=value.span, span=value.span)


_LABELLED = frozenset({Kind.NODE, Kind.NULL})
_ELEMENTS = _LABELLED | {Kind.RELATIONSHIP}


class _Deleting:
    clauses: tuple[ast.Clause, ...] = ()

    def __init__(self, clause: ast.Delete, parameters: Mapping[str, object]) -> None:
        self.computed = Computed("DELETE", parameters)
        self.clause = clause
        self.columns = tuple(self.computed.column(item) for item in clause.items)

    def action(self, known: Known) -> Delete:
        for item, column in zip(self.clause.items, self.columns, strict=True):
            given = known[column].type
            if given.kind not in (*_ELEMENTS, Kind.PATH):
                hint = "a property or a label goes with REMOVE"
                message = f"DELETE takes nodes, relationships and paths, not {given}"
                raise BindError(message, span=item.span, hint=hint)
        return Delete(self.columns, self.clause.detach)
