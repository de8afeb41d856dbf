"""An answer as a table for people: types aligned, nodes readable, cut to the screen."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa

from gquery.terminal.messages import counted
from gquery.values.elements import Node, Path, Relationship, drawn, duration_text, written_values

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from gquery.result import Result

LOOKED_AT = 1_000
"""Rows that are fetched for a table: up to here the number of rows is known exactly, beyond it the query is stopped."""

_NARROW = 14  # characters: what a column keeps when the screen is small
_ELEMENTS = {
    ("id", "labels", "properties"): "node",
    ("type", "start", "end", "properties"): "relationship",
    ("nodes", "relationships", "forward"): "path",
}


@dataclass(frozen=True, slots=True)
class Head:
    """The first rows of an answer; `more` when it has others beyond."""

    table: pa.Table
    more: bool

    @property
    def row_count(self) -> str:
        """`1 row`, `1,000+ rows`."""
        return f"{self.table.num_rows:,}+ rows" if self.more else counted(self.table.num_rows, "row")


def head(result: Result, limit: int = LOOKED_AT) -> Head:
    """Runs a query until it has given more than `limit` rows, then stops it."""
    found: list[pa.RecordBatch] = []
    rows = 0
    with closing(result.batches()) as batches:
        for batch in batches:
            found.append(batch)
            rows += batch.num_rows
            if rows > limit:
                break
    return Head(pa.Table.from_batches(found, result.schema).slice(0, limit), rows > limit)


def answer(head: Head, shown: int, console: Console) -> RenderableType:
    """The first `shown` rows as a table as wide as the console; plans are given line by line."""
    from rich.text import Text

    if head.table.schema.names == ["plan"] and head.table.schema.types == [pa.string()]:
        return Text("\n".join(head.table["plan"].to_pylist()), no_wrap=True, overflow="ignore")
    return _table(head.table.slice(0, shown), console.width)


def _table(table: pa.Table, width: int) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    columns = [[cell(value) for chunk in column.chunks for value in written_values(chunk)] for column in table.columns]
    rows = list(zip(*columns, strict=True))
    types = [type_name(field.type) for field in table.schema]
    wanted = [
        max([cell_width(name), len(kind), *(cell_width(row[index]) for row in rows)])
        for index, (name, kind) in enumerate(zip(table.column_names, types, strict=True))
    ]
    # A number cut short would be another number.
    numbers = [_is_number(field.type) for field in table.schema]
    least = [want if number else min(want, _NARROW) for want, number in zip(wanted, numbers, strict=True)]
    widths = fit(wanted, least, width)
    drawn = Table(box=box.ROUNDED, header_style="bold", border_style="bright_black", pad_edge=True)
    for name, kind, number, wide in zip(table.column_names, types, numbers, widths, strict=False):
        title = Text.assemble(printable(name), "\n", (kind, "bright_black"))
        drawn.add_column(title, justify="right" if number else "left", width=wide, no_wrap=True,
                         overflow="ellipsis")  # fmt: skip
    hidden = len(wanted) - len(widths)
    if hidden:
        drawn.add_column(Text(f"… {hidden} more", "bright_black"), width=len(f"… {hidden} more"), no_wrap=True)
    for row in rows:
        drawn.add_row(*(Text(text, "" if text != "null" else "bright_black") for text in row[: len(widths)]),
                      *(["…"] if hidden else []))  # fmt: skip
    return drawn


def fit(wanted: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Column widths that fit a screen: wide columns give way down to their least, then the last ones are left out."""
    frame = 3  # a border and two blanks a column, and one border more
    room = width - 1
    kept = len(wanted)
    while kept > 1 and sum(least[:kept]) + frame * kept + _more(kept, wanted) > room:
        kept -= 1
    widths = list(wanted[:kept])
    room -= _more(kept, wanted) + frame * kept
    while sum(widths) > max(room, kept):
        slack = [(have > low, have) for have, low in zip(widths, least, strict=False)]
        widths[slack.index(max(slack))] -= 1
    return widths


def _more(kept: int, wanted: Sequence[int]) -> int:
    """The width of the column that stands for the ones left out."""
    return len(f"… {len(wanted) - kept} more") + 3 if kept < len(wanted) else 0


def cell_width(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)


def cell(value: object) -> str:
    """A value on one line; text stands without quotes here, but has them within lists, maps and nodes."""
    return printable(value) if isinstance(value, str) else _written(value)


def _written(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value) if math.isfinite(value) else str(value)
        case str():
            return f"'{printable(value)}'"
        case datetime.datetime():
            return value.isoformat(" ")
        case datetime.date() | datetime.time():
            return value.isoformat()
        case Decimal():
            return f"{value:f}"
        case bytes():
            return f"0x{value.hex()}"
        case pa.MonthDayNano():
            return duration_text(value)
        case list() | tuple():
            return "[" + ", ".join(map(_written, value)) + "]"
        case dict():
            return "{" + ", ".join(f"{printable(str(key))}: {_written(item)}" for key, item in value.items()) + "}"
        case Node() | Relationship() | Path():
            return printable(drawn(value, _written))
    return printable(str(value))


_VISIBLE = {"\n": "↵", "\r": "␍", "\t": "⇥"}


def printable(text: str) -> str:
    """The text without anything that a terminal would act on."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else _VISIBLE.get(character, f"\\u{ord(character):04x}")
        for character in text
    )


def type_name(arrow: pa.DataType) -> str:
    """The name of a type as the language has it, in lower case: `integer`, `list of string`, `integer or string`."""
    types = pa.types
    if types.is_struct(arrow):
        return _ELEMENTS.get(tuple(field.name for field in arrow), "map")
    if types.is_list(arrow) or types.is_large_list(arrow) or types.is_fixed_size_list(arrow):
        return f"list of {type_name(arrow.value_type)}"
    if types.is_dictionary(arrow):
        return type_name(arrow.value_type)
    if types.is_union(arrow):
        return " or ".join(dict.fromkeys(type_name(member.type) for member in arrow))
    named = (
        (types.is_integer, "integer"),
        (types.is_floating, "float"),
        (types.is_decimal, "decimal"),
        (types.is_boolean, "boolean"),
        (lambda kind: types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind), "string"),
        (types.is_date, "date"),
        (types.is_timestamp, "datetime"),
        (types.is_time, "time"),
        (lambda kind: types.is_duration(kind) or types.is_interval(kind), "duration"),
        (types.is_null, "null"),
    )
    return next((name for fits, name in named if fits(arrow)), str(arrow))


def _is_number(arrow: pa.DataType) -> bool:
    return set(type_name(arrow).split(" or ")) <= {"integer", "float", "decimal"}
