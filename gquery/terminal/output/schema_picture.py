"""A graph at a glance: its labels, its types, which go together, their properties and how many there are."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa

from gquery.grammar.literals import is_plain_name, quote_name
from gquery.terminal.messages import counted
from gquery.terminal.output.tables import printable, type_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from gquery.session import Graph
    from gquery.storage.schema import EdgeTableSchema

_MOST_PATTERNS = 40  # of a type: a graph with hundreds of labels would fill screens


def show_schema(graph: Graph, console: Console) -> None:
    """Prints nodes by label set, then relationships by type and ends."""
    for title, rows in (("Nodes", _nodes(graph)), ("Relationships", _relationships(graph))):
        console.print(f"[bold]{title}[/bold]  [bright_black]{sum(count for _, count, _ in rows):,}[/bright_black]")
        _show_rows(rows, console)


Line = tuple[str, int, str]
"""What is drawn, how many there are of it, its properties."""


def _show_rows(rows: list[Line], console: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 3))
    table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for drawing, count, properties in rows:
        table.add_row(Text(f"  {drawing}", "magenta"), f"{count:,}", Text(properties, "bright_black"))
    console.print(table if rows else "  none")


def _nodes(graph: Graph) -> list[Line]:
    return [
        (_node(table.labels), table.count, _properties(table.properties))
        for table in sorted(graph.schema.vertex_tables, key=lambda table: -table.count)
    ]


def _relationships(graph: Graph) -> list[Line]:
    lines: list[Line] = []
    counts = graph.snapshot.counts
    labels = [table.labels for table in graph.schema.vertex_tables]
    for name in graph.schema.types:
        properties = _properties(_of_type(graph.schema.edge_tables, name))
        ends: Counter[tuple[tuple[str, ...], tuple[str, ...]]] = Counter()
        for row in counts.of_type(name).between:
            ends[labels[row.source], labels[row.target]] += row.edges
        drawn = [
            (f"{_node(source)}-[:{_name(name)}]->{_node(target)}", count, properties)
            for (source, target), count in ends.most_common(_MOST_PATTERNS)
        ]
        if len(ends) > _MOST_PATTERNS:
            rest = sum(ends.values()) - sum(count for _, count, _ in drawn)
            drawn.append((f"… {counted(len(ends) - _MOST_PATTERNS, 'pattern')} more with :{_name(name)}", rest, ""))
        lines += drawn or [(f"()-[:{_name(name)}]->()", 0, properties)]
    return lines


def _of_type(tables: tuple[EdgeTableSchema, ...], name: str) -> dict[str, pa.DataType]:
    return {key: kind for table in tables if table.type == name for key, kind in table.properties.items()}


def _node(labels: tuple[str, ...]) -> str:
    return "(" + "".join(f":{_name(label)}" for label in labels) + ")"


def _name(name: str) -> str:
    """A name as it is written in a query."""
    return name if is_plain_name(name) else printable(quote_name(name))


def _properties(properties: Mapping[str, pa.DataType]) -> str:
    return ", ".join(f"{_name(name)} {type_name(kind)}" for name, kind in properties.items())
