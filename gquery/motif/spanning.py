"""Small undirected graphs as parts of each other: from matches of patterns to induced subgraphs.

A pattern is matched wherever its edges are, whatever else is there. A set of vertices with a graph of some class among
them therefore has as many matches of a pattern as that graph has spanning subgraphs of the pattern's class, times the
ways to map the pattern onto itself. These numbers are a triangular matrix when classes are sorted by edges: the clique
is never too much, and every other class follows from those with more edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import factorial

import numpy as np

from gquery.executor.census.layout import layout_of
from gquery.executor.cpu.census.canonical import make_canonical, new_search
from gquery.motif.matrices import Matrix, matrix_of
from gquery.motif.patterns import VERTICES
from gquery.records import record
from gquery.storage.sorting import distinct


@record(frozen=True, slots=True)
class Spanning:
    """The connected undirected graphs of so many vertices, those with more edges first. codes: canonical; patterns:
    what MATCH finds them by, each match a way to map the class into the graph; ways: for each class to map it onto
    itself; parts[i][j]: spanning subgraphs of class i that a graph of class j has."""

    codes: tuple[int, ...]
    patterns: tuple[str, ...]
    ways: tuple[int, ...]
    parts: tuple[tuple[int, ...], ...]

    def induced(self, matches: Sequence[int]) -> list[int]:
        """Of each class, how many induced subgraphs there are, from how many matches."""
        found: list[int] = []
        for place, (matched, ways) in enumerate(zip(matches, self.ways, strict=True)):
            within = sum(parts * count for parts, count in zip(self.parts[place], found, strict=False))
            found.append(matched // ways - within)
        return found


@cache
def spanning(size: int) -> Spanning:
    """For up to five vertices: all graphs that can be written are looked at."""
    layout = layout_of(size, 1, 1, False)
    graphs = np.arange(1 << int(layout.positions[-1]))  # a bit for every pair
    classes = graphs.copy()
    make_canonical(classes, layout, new_search(size))
    matrices = {int(code): matrix_of(layout, int(code)) for code in distinct(classes)}
    codes = [code for code, matrix in matrices.items() if _is_connected(matrix)]
    codes.sort(key=lambda code: (-code.bit_count(), code))
    written = {code: int(np.count_nonzero(classes == code)) for code in codes}
    within = {code: classes[graphs & ~code == 0] for code in codes}
    return Spanning(
        tuple(codes),
        tuple(_pattern(matrices[code]) for code in codes),
        tuple(factorial(size) // written[code] for code in codes),
        tuple(tuple(int(np.count_nonzero(within[larger] == code)) for larger in codes) for code in codes),
    )


def _is_connected(matrix: Matrix) -> bool:
    near = np.array(matrix.arcs) + np.eye(len(matrix.arcs), dtype=np.int64)
    return bool(np.linalg.matrix_power(near, len(near)).all())


def _pattern(matrix: Matrix) -> str:
    size = len(matrix.arcs)
    edges = [(tail, head) for tail in range(size) for head in range(tail + 1, size) if matrix.arcs[tail][head]]
    return ", ".join(f"({VERTICES[tail]})--({VERTICES[head]})" for tail, head in edges)
