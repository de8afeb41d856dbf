"""A graph again, with ids of vertices and edges as a long life of inserts would have left them."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gquery.storage.edges import Edges
from gquery.storage.graph import Snapshot
from gquery.storage.numbering import Numbering
from gquery.storage.tables import EdgeTable


def scattered(snapshot: Snapshot, random: Random) -> Snapshot:
    """The same tables, whose rows are numbered in many segments, those of all tables mixed."""
    vertices = random_numbering([table.count for table in snapshot.vertex_tables], random)
    new_ids = np.zeros(snapshot.vertex_count, np.int32)
    for begin, end, table, row in vertices.segments:
        first = snapshot.vertex_numbers.of([table])[0].begin
        new_ids[first + row : first + row + end - begin] = np.arange(begin, end)
    tables = [_renamed(table, new_ids) for table in snapshot.edge_tables]
    edges = Edges(tables, random_numbering([table.count for table in tables], random))
    return Snapshot(snapshot.vertex_tables, edges, vertices)


def random_numbering(counts: list[int], random: Random) -> Numbering:
    """Rows of so many tables in segments of random length and order."""
    left = {table: count for table, count in enumerate(counts) if count}
    segments: list[tuple[int, int]] = []
    while left:
        table = random.choice(list(left))
        length = random.randint(1, left[table])
        segments.append((table, length))
        left[table] -= length
        if not left[table]:
            del left[table]
    return Numbering([table for table, _ in segments], [length for _, length in segments])


def _renamed(table: EdgeTable, new_ids: NDArray[Any]) -> EdgeTable:
    source, target = table.ends
    return EdgeTable(table.type, table.count, table.columns, lambda: (new_ids[source], new_ids[target]))
