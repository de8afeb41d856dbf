"""What all nodes of the tree have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, fields
from operator import attrgetter
from typing import Any

from gquery.errors import Span
from gquery.records import record


@record(frozen=True, slots=True, kw_only=True)
class Node:
    """Base of every node of the tree (a graph's node is a `NodePattern`)."""

    span: Span = field(compare=False)


def parts_of(node: Node) -> tuple[str, ...]:
    """The names of the fields of a node that may hold others, alone or in a tuple."""
    kind = type(node)
    if kind not in _parts:
        _parts[kind] = tuple(each.name for each in fields(kind) if each.type not in _PLAIN)
    return _parts[kind]


def parts_in(node: Node) -> tuple[object, ...]:
    """What these fields of a node hold."""
    return (_getters.get(type(node)) or _getter(node))(node)


def _getter(node: Node) -> Callable[[Any], tuple[object, ...]]:
    """Made once for a kind of node."""
    names = parts_of(node)
    several = len(names) > 1  # of which one call makes a tuple
    made = attrgetter(*names) if several else lambda each: tuple([getattr(each, name) for name in names])
    _getters[type(node)] = made
    return made


_PLAIN = {
    "Span", "bool", "str", "str | None", "int", "int | None", "bool | int | float | str | None", "Form", "Direction",
    "PathMode | None", "MatchMode | None", "Command | None",
}  # fmt: skip
"""Types of fields that hold no nodes."""

_parts: dict[type[Node], tuple[str, ...]] = {}
_getters: dict[type[Node], Callable[[Any], tuple[object, ...]]] = {}
