"""Clauses that change the graph as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from gquery.grammar import ast

Text = Callable[[ast.Node], str]
"""The canonical text of other nodes."""


def update_text(clause: ast.Update, text: Text) -> str:
    """The canonical text of a clause."""
    match clause:
        case ast.Create(patterns=patterns):
            return f"CREATE {_listed(map(text, patterns))}"
        case ast.Merge(pattern=pattern):
            return " ".join([f"MERGE {text(pattern)}", *_actions(clause, text)])
        case ast.Set(items=items):
            return f"SET {_listed(_set_item(item, text) for item in items)}"
        case ast.Remove(items=removed):
            return f"REMOVE {_listed(_removed(item, text) for item in removed)}"
        case ast.Delete(items=deleted, detach=detach):
            return f"{'DETACH ' if detach else ''}DELETE {_listed(map(text, deleted))}"
        case ast.Foreach(variable=variable, items=given, updates=updates):
            inside = " ".join(map(text, updates))
            return f"FOREACH ({text(variable)} IN {text(given)} | {inside})"
    raise AssertionError(clause)


def _actions(clause: ast.Merge, text: Text) -> Iterator[str]:
    for event, items in (("CREATE", clause.on_create), ("MATCH", clause.on_match)):
        if items:
            yield f"ON {event} SET {_listed(_set_item(item, text) for item in items)}"


def _set_item(item: ast.SetItem, text: Text) -> str:
    match item:
        case ast.SetProperty(target=target, value=value):
            return f"{text(target)} = {text(value)}"
        case ast.SetProperties(subject=subject, value=value, adding=adding):
            return f"{_subject(subject, text)} {'+=' if adding else '='} {text(value)}"
        case ast.SetLabels(subject=subject, labels=labels):
            return _subject(subject, text) + "".join(f":{text(label)}" for label in labels)


def _removed(item: ast.Property | ast.SetLabels, text: Text) -> str:
    return text(item) if isinstance(item, ast.Property) else _set_item(item, text)


def _subject(subject: ast.Expression, text: Text) -> str:
    return text(subject) if isinstance(subject, ast.Variable) else f"({text(subject)})"


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(texts)
