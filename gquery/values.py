"""Python values of an answer: nodes, relationships, paths and rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

_NODE = ("id", "labels", "properties")
_RELATIONSHIP = ("type", "start", "end", "properties")
_PATH = ("nodes", "relationships")


@dataclass(frozen=True, slots=True)
class Node:
    """A whole node: the user's id, its labels, the properties that it has."""

    id: Any
    labels: tuple[str, ...]
    properties: Mapping[str, Any] = field(hash=False)

    def __repr__(self) -> str:
        labels = "".join(f":{label}" for label in self.labels)
        return f"({labels}{' ' if labels and self.properties else ''}{_braces(self.properties)})"

    def __getitem__(self, key: str) -> Any:
        return self.properties[key]


@dataclass(frozen=True, slots=True)
class Relationship:
    """A whole relationship: its type, the user's ids of its ends, the properties that it has."""

    type: str
    start: Any
    end: Any
    properties: Mapping[str, Any] = field(hash=False)

    def __repr__(self) -> str:
        return f"[:{self.type}{' ' if self.properties else ''}{_braces(self.properties)}]"

    def __getitem__(self, key: str) -> Any:
        return self.properties[key]


@dataclass(frozen=True, slots=True)
class Path:
    """Nodes and the relationships between them, one node more than relationships."""

    nodes: tuple[Node, ...]
    relationships: tuple[Relationship, ...]

    def __repr__(self) -> str:
        text = repr(self.nodes[0]) if self.nodes else ""
        for before, relationship, after in zip(self.nodes, self.relationships, self.nodes[1:], strict=False):
            # The ids of a whole graph may be text where those of one label are numbers.
            forward = str(relationship.start) == str(before.id)
            text += f"{'-' if forward else '<-'}{relationship!r}{'->' if forward else '-'}{after!r}"
        return f"<{text}>"

    def __len__(self) -> int:
        return len(self.relationships)


class Row(tuple[Any, ...]):
    """A row: a tuple whose values are also reachable by column name."""

    _names: tuple[str, ...]

    def __new__(cls, names: tuple[str, ...], values: tuple[Any, ...]) -> Row:
        row = super().__new__(cls, values)
        row._names = names
        return row

    def __getnewargs__(self) -> tuple[tuple[str, ...], tuple[Any, ...]]:  # for copy and pickle
        return self._names, tuple(self)

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(self._names.index(key) if isinstance(key, str) else key)

    def keys(self) -> tuple[str, ...]:
        return self._names

    def items(self) -> Iterator[tuple[str, Any]]:
        return zip(self._names, self, strict=True)

    def asdict(self) -> dict[str, Any]:
        return dict(self.items())


def python_values(column: pa.Array) -> list[Any]:
    """The values of a column as Python shows them. Its times of the day and points in time know microseconds; what
    nanoseconds there are beyond them stays in the Arrow column."""
    known = _in_microseconds(column.type)
    values = (column if known == column.type else column.cast(known, safe=False)).to_pylist()
    plain = pa.types.is_primitive(known) or pa.types.is_string(known)
    return values if plain else [to_value(value, known) for value in values]


def _in_microseconds(arrow: pa.DataType) -> pa.DataType:
    if getattr(arrow, "unit", None) == "ns":
        if pa.types.is_timestamp(arrow):
            return pa.timestamp("us", arrow.tz)
        return pa.time64("us") if pa.types.is_time(arrow) else arrow
    if pa.types.is_struct(arrow):
        return pa.struct([field.with_type(_in_microseconds(field.type)) for field in arrow])
    if pa.types.is_list(arrow):
        return pa.list_(arrow.value_field.with_type(_in_microseconds(arrow.value_type)))
    if pa.types.is_large_list(arrow):
        return pa.large_list(arrow.value_field.with_type(_in_microseconds(arrow.value_type)))
    return arrow


def to_value(value: Any, arrow: pa.DataType) -> Any:
    """A value of an Arrow column as Python shows it: elements as Node, Relationship and Path, also inside lists."""
    if value is None:
        return None
    if pa.types.is_struct(arrow):
        names = tuple(field.name for field in arrow)
        parts = {field.name: to_value(value[field.name], field.type) for field in arrow}
        if names == _NODE:
            return Node(parts["id"], tuple(parts["labels"]), _present(parts["properties"]))
        if names == _RELATIONSHIP:
            return Relationship(parts["type"], parts["start"], parts["end"], _present(parts["properties"]))
        if names == _PATH:
            return Path(tuple(parts["nodes"]), tuple(parts["relationships"]))
        return parts
    if pa.types.is_list(arrow) or pa.types.is_large_list(arrow):
        return [to_value(item, arrow.value_type) for item in value]
    if pa.types.is_decimal(arrow) and arrow.scale == 0:  # a count beyond 2^63
        return int(value)
    return value


def _present(properties: Mapping[str, Any] | None) -> dict[str, Any]:
    """The properties that an element has; there are none at all when no element of its tables has any."""
    return {name: value for name, value in (properties or {}).items() if value is not None}


def _braces(properties: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{name}: {value!r}" for name, value in properties.items()) + "}" if properties else ""
