"""How kernels find the rows of an adjacency."""

from __future__ import annotations

from gquery.executor.cpu.machine.native import address
from gquery.storage.adjacency import Adjacency
from gquery.storage.changes.paged import ChangedAdjacency
from gquery.storage.parted.few_rows import FewRows


def address_of_rows(adjacency: Adjacency) -> int:
    """Address of the offsets; one more than that of the directory where pages tell of the rows (`sorted_rows.row`)."""
    if isinstance(adjacency, (ChangedAdjacency, FewRows)):  # a union takes ten times as long
        return address(adjacency.directory) + 1
    return address(adjacency.offsets)


def rows_of(adjacency: Adjacency) -> tuple[int, int, int]:
    """first, rows, `address_of_rows`: how kernels find a row."""
    return adjacency.first, adjacency.rows, address_of_rows(adjacency)


def lists_of(adjacency: Adjacency) -> tuple[int, int, int, int]:
    """first, rows, `address_of_rows`, address of the neighbours: how kernels walk the rows."""
    return *rows_of(adjacency), address(adjacency.neighbours)
