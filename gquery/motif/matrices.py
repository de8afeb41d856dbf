"""Classes of subgraphs as people and other tools write them."""

from __future__ import annotations

from functools import cache

import numpy as np

from gquery.executor.census.layout import Layout, layout_of
from gquery.executor.cpu.census.canonical import make_canonical, new_search
from gquery.records import record

_LARGEST_OF_IGRAPH = {True: 4, False: 6}  # vertices, by whether graphs are directed


@record(frozen=True, slots=True)
class Matrix:
    """A class in its canonical order. colours: by vertex; arcs: by row and column a bit for each type of the arcs from
    the row's vertex to the column's; for undirected graphs symmetric."""

    colours: tuple[int, ...]
    arcs: tuple[tuple[int, ...], ...]

    @property
    def text(self) -> str:
        """The rows one after the other: `000100110` is the feed-forward loop."""
        return "".join(str(entry) for row in self.arcs for entry in row)


def matrix_of(layout: Layout, code: int) -> Matrix:
    """The class of a canonical code."""
    size, types = layout.size, layout.types
    colours, arcs = [], [[0] * size for _ in range(size)]
    for place in range(size):
        word = code >> int(layout.positions[place])
        colours.append(word & (1 << layout.colour_bits) - 1)
        word >>= layout.colour_bits
        for before in range(place):
            state = word >> before * layout.state_bits & (1 << layout.state_bits) - 1
            arcs[before][place] = state & (1 << types) - 1
            arcs[place][before] = state >> types if layout.directed else state
    return Matrix(tuple(colours), tuple(tuple(row) for row in arcs))


def mfinder_id(matrix: Matrix) -> int:
    """mfinder's number of a class without colours: its matrix as a binary number."""
    return int(matrix.text, 2)


@cache
def igraph_ids(size: int, directed: bool) -> dict[int, int]:
    """igraph's number (`isoclass`) by canonical code; nothing for sizes that igraph does not number.

    igraph writes a graph as a binary number with a digit for each pair of vertices, and numbers the classes in the
    order of the smallest number of each."""
    if size > _LARGEST_OF_IGRAPH[directed]:
        return {}
    layout = layout_of(size, 1, 1, directed)
    pairs = _pairs_of_igraph(size, directed)
    numbers = np.arange(1 << len(pairs))
    codes = np.zeros(len(numbers), np.int64)
    for digit, (tail, head) in enumerate(reversed(pairs)):
        low, high = min(tail, head), max(tail, head)
        bit = int(layout.positions[high]) + low * layout.state_bits + (directed and tail > head)
        codes |= (numbers >> digit & 1) << bit
    make_canonical(codes, layout, new_search(size))
    return {code: number for number, code in enumerate(dict.fromkeys(codes.tolist()))}


def _pairs_of_igraph(size: int, directed: bool) -> list[tuple[int, int]]:
    """From the first digit to the last."""
    if directed:
        return [(tail, head) for head in reversed(range(size)) for tail in reversed(range(size)) if tail != head]
    return [(low, high) for high in reversed(range(size)) for low in reversed(range(high))]
