"""Python values of an answer: nodes, relationships, paths and rows."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import pc
from gquery.errors import ExecutionError
from gquery.values.durations import Duration
from gquery.values.moments import Moment

_NODE = ("id", "labels", "properties")
_RELATIONSHIP = ("type", "start", "end", "properties")
_PATH = ("nodes", "relationships", "forward")


@dataclass(frozen=True, slots=True)
class Node:
    """A whole node: the user's id, its labels, the properties that it has."""

    id: Any
    labels: tuple[str, ...]
    properties: Mapping[str, Any] = field(hash=False)

    def __repr__(self) -> str:
        return drawn(self, _written)

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
        return drawn(self, _written)

    def __getitem__(self, key: str) -> Any:
        return self.properties[key]


@dataclass(frozen=True, slots=True)
class Path:
    """Nodes and the relationships between them, one node more than relationships. forward: of each relationship whether
    it leads from the node before it to the one behind it."""

    nodes: tuple[Node, ...]
    relationships: tuple[Relationship, ...]
    forward: tuple[bool, ...]

    def __repr__(self) -> str:
        return drawn(self, _written)

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


def rows_of(batch: pa.RecordBatch) -> Iterator[Row]:
    """The rows of a batch as Python values."""
    names = tuple(batch.schema.names)
    for values in zip(*map(python_values, batch.columns), strict=True):
        yield Row(names, values)


def python_values(column: pa.Array) -> list[Any]:
    """The values of a column as Python shows them. Its times of the day and points in time know microseconds; what
    nanoseconds there are beyond them stays in the Arrow column. Raises ExecutionError for years beyond Python's."""
    try:
        return _values(column, _in_microseconds(column.type), _listed_whole)
    except (OverflowError, ValueError) as error:
        raise outside_of_years(error) from None


def written_values(column: pa.Array, fine: bool = False) -> list[Any]:
    """The values of a column as files and tables write them: Python's, but for times that Python does not have, which
    are moments: as text these are ISO 8601's. fine: with nanoseconds."""
    known = column.type if fine else _in_microseconds(column.type)
    try:
        return _values(column, known, _listed_whole)
    except (OverflowError, ValueError):
        return _values(column, known, _listed_one_by_one)


_Listing = Callable[[pa.Array, pa.DataType], list[Any] | None]
"""Lists a column cast to a type; None where that has to be taken apart."""


def _values(column: pa.Array, known: pa.DataType, listing: _Listing) -> list[Any]:
    values = _listed(column, known, listing)
    return values if _is_plain(known) else [to_value(value, known) for value in values]


def _listed(column: pa.Array, known: pa.DataType, listing: _Listing) -> list[Any]:
    values = listing(column, known)
    if values is not None:
        return values
    if pa.types.is_union(known):
        members = [_listed(column.field(index), field.type, listing) for index, field in enumerate(known)]
        return [members[tag][row] for row, tag in enumerate(tags_of(column))]
    if pa.types.is_struct(known):
        names = [field.name for field in known]
        fields = [_listed(column.field(index), field.type, listing) for index, field in enumerate(known)]
        rows = zip(column.is_valid().to_pylist(), *fields, strict=True)
        return [dict(zip(names, row, strict=True)) if there else None for there, *row in rows]
    items, lengths = iter(_listed(column.flatten(), known.value_type, listing)), column.value_lengths().to_pylist()
    return [None if length is None else list(islice(items, length)) for length in lengths]


def _listed_whole(column: pa.Array, known: pa.DataType) -> list[Any] | None:
    """As Arrow lists the values. It casts no unions: what holds some is taken apart."""
    if known != column.type and holds_union(known):
        return None
    values: list[Any] = (column if known == column.type else column.cast(known, safe=False)).to_pylist()
    return values


def _listed_one_by_one(column: pa.Array, known: pa.DataType) -> list[Any] | None:
    """Times that Python does not have as moments; what holds others is taken apart."""
    from gquery.values.time_columns import exact_values  # which asks here what a type is

    if pa.types.is_nested(known):
        return None
    if not pa.types.is_temporal(known) or pa.types.is_interval(known):
        return _listed_whole(column, known)
    cast = column if known == column.type else column.cast(known, safe=False)
    return [_python_or_moment(*each) for each in zip(cast, exact_values(column, column.type), strict=True)]


def _python_or_moment(value: pa.Scalar, moment: Moment | None) -> Any:
    try:
        return value.as_py()
    except (OverflowError, ValueError):
        return moment


def outside_of_years(error: Exception) -> ExecutionError:
    """An error of Python's or Arrow's as ours."""
    return ExecutionError(
        f"a date or a point in time lies outside of Python's years, 1 to 9999: {error}",
        hint="return it as toString(...), or read it by to_arrow()",
    )


@lru_cache
def _is_plain(arrow: pa.DataType) -> bool:
    """Whether Arrow gives Python the values as they are shown."""
    if pa.types.is_list(arrow) or pa.types.is_large_list(arrow):
        return _is_plain(arrow.value_type)
    return bool(pa.types.is_primitive(arrow) or pa.types.is_string(arrow))


@lru_cache
def _in_microseconds(arrow: pa.DataType) -> pa.DataType:
    if getattr(arrow, "unit", None) == "ns":
        if pa.types.is_timestamp(arrow):
            return pa.timestamp("us", arrow.tz)
        return pa.time64("us") if pa.types.is_time(arrow) else arrow
    if pa.types.is_union(arrow):
        return pa.sparse_union([field.with_type(_in_microseconds(field.type)) for field in arrow])
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
        if is_zoned_time(arrow):
            offset = datetime.timezone(datetime.timedelta(seconds=value["offset_seconds"]))
            return value["time"].replace(tzinfo=offset)
        names = tuple(field.name for field in arrow)
        parts = {field.name: to_value(value[field.name], field.type) for field in arrow}
        if names == _NODE:
            return Node(parts["id"], tuple(parts["labels"]), _present(parts["properties"]))
        if names == _RELATIONSHIP:
            return Relationship(parts["type"], parts["start"], parts["end"], _present(parts["properties"]))
        if names == _PATH:
            return Path(*(tuple(parts[name]) for name in _PATH))
        return parts
    if pa.types.is_list(arrow) or pa.types.is_large_list(arrow):
        return [to_value(item, arrow.value_type) for item in value]
    if pa.types.is_union(arrow):
        return to_value(value, _member_type(value, arrow))
    if pa.types.is_decimal(arrow) and arrow.scale == 0:  # a count beyond 2^63
        return int(value)
    return value


def is_zoned_time(arrow: pa.DataType) -> bool:
    """Whether a struct is a time of the day with its offset from UTC; a map with the same keys has other integers."""
    if [field.name for field in arrow] != ["time", "offset_seconds"]:
        return False
    return bool(pa.types.is_time(arrow.field(0).type) and pa.types.is_int32(arrow.field(1).type))


def _member_type(value: Any, union: pa.DataType) -> pa.DataType:
    """The type of a value that came out of a union: it matters for maps and for decimals without places."""
    match value:
        case Mapping():
            fits = pa.types.is_struct
        case list():
            fits = pa.types.is_list
        case Decimal():
            exponent = value.as_tuple().exponent
            return pa.decimal128(38, -exponent if isinstance(exponent, int) and exponent < 0 else 0)
        case _:
            return pa.null()
    return next(field.type for field in union if fits(field.type) and _holds(field.type, value))


def _holds(arrow: pa.DataType, value: Any) -> bool:
    return not isinstance(value, Mapping) or set(value) == {field.name for field in arrow}


# --- values of several types, for those who know no unions --------------------------------------------------------


def holds_union(arrow: pa.DataType) -> bool:
    """Whether values of the type carry types of their own, or hold values that do."""
    if pa.types.is_union(arrow):
        return True
    return bool(pa.types.is_nested(arrow)) and any(holds_union(arrow.field(i).type) for i in range(arrow.num_fields))


def holds_duration(arrow: pa.DataType) -> bool:
    """Whether values of the type are or hold durations."""
    if pa.types.is_nested(arrow):
        return any(holds_duration(arrow.field(i).type) for i in range(arrow.num_fields))
    return bool(pa.types.is_interval(arrow))


def tags_of(values: pa.UnionArray) -> NDArray[np.int8]:
    """The member that each value is of; Arrow's `type_codes` forgets where a slice begins."""
    return np.frombuffer(values.buffers()[1] or b"", np.int8)[values.offset : values.offset + len(values)]


def without_unions(arrow: pa.DataType) -> pa.DataType:
    """The type with float64 in place of numbers of several types, and text in place of other values of several and of
    durations."""
    if pa.types.is_union(arrow):
        return pa.float64() if all(map(_is_number, arrow)) else pa.string()
    if pa.types.is_interval(arrow):
        return pa.string()
    if not holds_union(arrow) and not holds_duration(arrow):
        return arrow
    if pa.types.is_struct(arrow):
        return pa.struct([pa.field(each.name, without_unions(each.type)) for each in arrow])
    return pa.list_(without_unions(arrow.value_type))


def unions_replaced(column: pa.Array) -> pa.Array:
    """The column in the type that `without_unions` gives. Raises ExecutionError for an integer that no float is."""
    arrow, wanted = column.type, without_unions(column.type)
    if arrow == wanted:
        return column
    mask = column.is_null() if column.null_count else None
    if pa.types.is_struct(arrow):
        fields = [unions_replaced(column.field(index)) for index in range(arrow.num_fields)]
        return pa.StructArray.from_arrays(fields, fields=list(wanted), mask=mask)
    if pa.types.is_list(arrow):
        offsets = np.concatenate([[0], np.cumsum(column.value_lengths().fill_null(0))]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), unions_replaced(column.flatten()), type=wanted, mask=mask)
    if wanted == pa.string():
        return pa.array(map(text_of, written_values(column, fine=True)), wanted)
    try:
        return pc.coalesce(*(column.field(index).cast(wanted) for index in range(arrow.num_fields)))
    except pa.ArrowInvalid:
        raise ExecutionError(
            "a column of integers and floats has an integer that no float is",
            hint="return it as toString(...), or read it by to_arrow() or rows()",
        ) from None


def text_of(value: Any) -> str | None:
    """A value of several types as text: texts as they are, everything else as it is written."""
    match value:
        case None | str():
            return value
        case bool():
            return "true" if value else "false"
        case Decimal():
            return f"{value:f}"
        case datetime.date() | datetime.time():
            return value.isoformat()
        case bytes():
            return value.hex()
        case pa.MonthDayNano():
            return duration_text(value)
    return str(value)


def duration_text(value: pa.MonthDayNano) -> str:
    """As ISO 8601 has it, `P1Y2M3DT4.5S`; each part has a sign of its own, and none is made into another."""
    return str(Duration(value.months, value.days, value.nanoseconds))


def _is_number(member: pa.Field) -> bool:
    types = pa.types
    return bool(types.is_integer(member.type) or types.is_floating(member.type) or types.is_decimal(member.type))


def _present(properties: Mapping[str, Any] | None) -> dict[str, Any]:
    """The properties that an element has; there are none at all when no element of its tables has any."""
    return {name: value for name, value in (properties or {}).items() if value is not None}


def drawn(element: Node | Relationship | Path, write: Callable[[Any], str]) -> str:
    """The element as a pattern draws it. write: gives the text of a property's value."""
    match element:
        case Node(labels=names, properties=properties):
            labels = "".join(f":{label}" for label in names)
            return f"({labels}{' ' if labels and properties else ''}{_braces(properties, write)})"
        case Relationship(type=type_, properties=properties):
            return f"[:{type_}{' ' if properties else ''}{_braces(properties, write)}]"
    text = drawn(element.nodes[0], write) if element.nodes else ""
    for relationship, forward, after in zip(element.relationships, element.forward, element.nodes[1:], strict=True):
        begin, end = ("-", "->") if forward else ("<-", "-")
        text += f"{begin}{drawn(relationship, write)}{end}{drawn(after, write)}"
    return f"<{text}>"


def _braces(properties: Mapping[str, Any], write: Callable[[Any], str]) -> str:
    entries = ", ".join(f"{name}: {write(value)}" for name, value in properties.items())
    return f"{{{entries}}}" if entries else ""


def _written(value: Any) -> str:
    return f"{value:f}" if isinstance(value, Decimal) else repr(value)
