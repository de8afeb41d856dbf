"""What all nodes of the tree have in common."""

from __future__ import annotations

from dataclasses import field, fields

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


_PLAIN = {
    "Span", "bool", "str", "str | None", "int", "int | None", "bool | int | float | str | None", "Form", "Direction",
    "PathMode | None", "MatchMode | None", "Command | None",
}  # fmt: skip
"""Types of fields that hold no nodes."""

_parts: dict[type[Node], tuple[str, ...]] = {}
