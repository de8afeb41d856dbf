"""One spelling for a value of a TCK table and for the same value as gquery answers it."""

from __future__ import annotations

from collections.abc import Mapping

import gquery
from tests.conformance import tck_values


def canonical(value: object, any_list_order: bool = False) -> str:
    """A text that two values share when the TCK calls them the same: 1 and 1.0 differ, map order does not count."""
    match value:
        case tck_values.Node(labels=labels, properties=properties) | gquery.Node(labels=labels, properties=properties):
            return f"({''.join(f':{label}' for label in sorted(labels))}{_properties(properties, any_list_order)})"
        case tck_values.Relationship(types=(type,), properties=properties):
            return f"[:{type}{_properties(properties, any_list_order)}]"
        case gquery.Relationship(type=type, properties=properties):
            return f"[:{type}{_properties(properties, any_list_order)}]"
        case tck_values.Path() | gquery.Path():
            return _path(value)
        case Mapping():
            entries = sorted((str(key), canonical(item, any_list_order)) for key, item in value.items())
            return "{" + ", ".join(f"{key}: {text}" for key, text in entries) + "}"
        case list() | tuple():
            items = [canonical(item, any_list_order) for item in value]
            return "[" + ", ".join(sorted(items) if any_list_order else items) + "]"
        case float():
            return repr(value + 0.0)  # 0.0 and -0.0 are equal, and the TCK writes both as 0.0
        case _:
            return repr(value)


def _properties(properties: Mapping[str, object] | None, any_list_order: bool) -> str:
    """Without those that are null, which is to say absent."""
    present = {key: value for key, value in (properties or {}).items() if value is not None}
    return " " + canonical(present, any_list_order) if present else ""


def _path(path: tck_values.Path | gquery.Path) -> str:
    if isinstance(path, tck_values.Path):
        forward = path.forward
    else:
        forward = tuple(
            relationship.start == node.id for node, relationship in zip(path.nodes, path.relationships, strict=False)
        )
    text = canonical(path.nodes[0])
    for onward, relationship, node in zip(forward, path.relationships, path.nodes[1:], strict=True):
        middle = canonical(relationship)
        text += f"{f'-{middle}->' if onward else f'<-{middle}-'}{canonical(node)}"
    return text
