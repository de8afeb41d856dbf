"""One code for all codes of isomorphic graphs.

A graph is written with its vertices in some order: their colours, then row by row of the adjacency matrix the types of
the arcs from a vertex to each of the others, as a number. The order that makes this smallest gives the canonical code.
The search fixes one row after the other: a vertex of those that the rows so far do not tell apart comes next, and what
it makes of the others sorts them; a row greater than the best one ends it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.census.pairs import turned
from gquery.executor.cpu.machine.compile import inlined, inner, kernel

_SOME = 4  # bits of a number of vertices


class Search(NamedTuple):
    """arcs int64[k, k]: types from one vertex to another; colours int64[k]; twins int64[k]: the first vertex that can
    take each one's place. By depth: orders int64[k + 1, k], the vertices as the rows so far sort them; cells
    int64[k + 1, k], for each position where those begin that are alike so far; tried int64[k + 1], positions; heads
    int64[k + 1, k + 1], see `head_of`, by position, and behind these the least. rows int64[k]: the best; known
    int64[1]: how many of them are. best int64[k]: the order that gives them."""

    arcs: NDArray[np.int64]
    colours: NDArray[np.int64]
    twins: NDArray[np.int64]
    orders: NDArray[np.int64]
    cells: NDArray[np.int64]
    tried: NDArray[np.int64]
    heads: NDArray[np.int64]
    rows: NDArray[np.int64]
    known: NDArray[np.int64]
    best: NDArray[np.int64]


def new_search(size: int) -> Search:
    """The memory of a search among graphs of so many vertices."""
    flat, square, deep = (np.zeros(shape, np.int64) for shape in ((6, size), (size, size), (2, size + 1, size)))
    tried, known, heads = np.zeros(size + 1, np.int64), np.zeros(1, np.int64), np.zeros((size + 1, size + 1), np.int64)
    return Search(square, flat[0], flat[1], deep[0], deep[1], tried, heads, flat[2], known, flat[3])


@kernel
def make_canonical(codes, layout, search):  # type: ignore[no-untyped-def]
    """Replaces each code by the canonical one of its graph."""
    for index in range(len(codes)):
        codes[index] = canonical(codes[index], layout, layout.size, search)


@inlined
def ways_of(code, layout, search):  # type: ignore[no-untyped-def]
    """How many connected sets of two vertices less a graph has."""
    size = layout.size
    everyone = (np.int64(1) << size) - 1
    unpack(code, layout, size, search)
    beside_each(search, size)
    found = 0
    for one in range(size):
        for other in range(one):
            found += is_connected(search.rows, size, everyone ^ (np.int64(1) << one) ^ (np.int64(1) << other))
    return found


@inner
def canonical(code, layout, size, search):  # type: ignore[no-untyped-def]
    """The canonical code of a graph of so many vertices; `search.best` is its order."""
    unpack(code, layout, size, search)
    find_twins(search, size)
    find_order(search, size)
    return pack(search, layout, size)


@inlined
def unpack(code, layout, size, search):  # type: ignore[no-untyped-def]
    """Writes the matrix and the colours of a code."""
    arcs, colours = search.arcs, search.colours
    state_mask = (np.int64(1) << layout.state_bits) - 1
    type_mask = (np.int64(1) << layout.types) - 1
    for place in range(size):
        word = code >> layout.positions[place]
        colours[place] = word & ((np.int64(1) << layout.colour_bits) - 1)
        word >>= layout.colour_bits
        arcs[place, place] = 0
        for before in range(place):
            state = word & state_mask
            arcs[before, place] = state & type_mask
            arcs[place, before] = turned(layout, state) & type_mask
            word >>= layout.state_bits


@inlined
def pack(search, layout, size):  # type: ignore[no-untyped-def]
    """The code of the matrix in the best order."""
    code = np.int64(0)
    for place in range(size):
        vertex, shift = search.best[place], layout.positions[place]
        code |= search.colours[vertex] << shift
        shift += layout.colour_bits
        for before in range(place):
            other = search.best[before]
            state = search.arcs[other, vertex]
            if layout.directed:
                state |= search.arcs[vertex, other] << layout.types
            code |= state << shift
            shift += layout.state_bits
    return code


@inlined
def beside_each(search, size):  # type: ignore[no-untyped-def]
    """Writes to `search.rows` a bit for each neighbour of each vertex."""
    for vertex in range(size):
        neighbours = np.int64(0)
        for other in range(size):
            if search.arcs[vertex, other] | search.arcs[other, vertex]:
                neighbours |= np.int64(1) << other
        search.rows[vertex] = neighbours


@inlined
def is_connected(neighbours, size, among):  # type: ignore[no-untyped-def]
    """Whether the vertices whose bits are set hang together: 1 or 0."""
    reached, before = among & -among, np.int64(0)
    while reached != before:
        before = reached
        for vertex in range(size):
            if (reached >> vertex) & 1:
                reached |= neighbours[vertex] & among
    return 1 if reached == among else 0


@inlined
def find_twins(search, size):  # type: ignore[no-untyped-def]
    """Finds vertices that can change places without any other: of those that do, one stands for all."""
    arcs = search.arcs
    for vertex in range(size):
        search.twins[vertex] = vertex
        for other in range(vertex):
            if search.twins[other] != other or search.colours[vertex] != search.colours[other]:
                continue
            alike = arcs[vertex, other] == arcs[other, vertex]
            for third in range(size):
                if third != vertex and third != other:
                    alike &= arcs[vertex, third] == arcs[other, third] and arcs[third, vertex] == arcs[third, other]
            if alike:
                search.twins[vertex] = other
                break


@inlined
def find_order(search, size):  # type: ignore[no-untyped-def]
    """Finds the best order."""
    begin_order(search, size)
    search.known[0] = 0
    search.tried[0] = 0
    depth = 0
    while depth >= 0:
        if depth == size:
            for at in range(size):
                search.best[at] = search.orders[size, at]
            depth -= 1
            continue
        position = depth + search.tried[depth]
        if position == size or search.cells[depth, position] != search.cells[depth, depth]:
            depth -= 1
            continue
        if search.tried[depth] == 0:
            find_heads(search, size, depth)
        search.tried[depth] += 1
        if search.heads[depth, position] > search.heads[depth, size] or has_twin_before(search, depth, position):
            continue
        row = sort_by(search, size, depth, position)
        if depth < search.known[0] and row > search.rows[depth]:
            continue
        if depth >= search.known[0] or row < search.rows[depth]:
            search.rows[depth] = row
            search.known[0] = depth + 1
        depth += 1
        search.tried[depth] = 0


@inlined
def begin_order(search, size):  # type: ignore[no-untyped-def]
    """Sorts by colour."""
    order, cells, colours = search.orders[0], search.cells[0], search.colours
    for vertex in range(size):
        at = vertex
        while at > 0 and colours[order[at - 1]] > colours[vertex]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = vertex
    for at in range(size):
        cells[at] = cells[at - 1] if at > 0 and colours[order[at - 1]] == colours[order[at]] else at


@inlined
def find_heads(search, size, depth):  # type: ignore[no-untyped-def]
    """Writes those of all vertices that can come next, and behind them the least: no others do."""
    heads, cells = search.heads[depth], search.cells[depth]
    heads[depth] = heads[size] = 0
    if depth + 1 == size or cells[depth + 1] != depth:
        return  # there is only one
    heads[depth] = heads[size] = head_of(search, size, depth, depth)
    position = depth + 1
    while position < size and cells[position] == depth:
        heads[position] = head_of(search, size, depth, position)
        heads[size] = min(heads[size], heads[position])
        position += 1


@inlined
def head_of(search, size, depth, position):  # type: ignore[no-untyped-def]
    """What is looked at first of the row of the vertex of a position: its arcs to those before it, and to how many of
    its own cell it has any. Where this is greater, so is the row."""
    order, cells = search.orders[depth], search.cells[depth]
    arcs = search.arcs[order[position]]
    width = 63 // size
    head, met = np.int64(0), np.int64(0)
    for before in range(depth):
        head = (head << width) | arcs[order[before]]
    for at in range(depth, size):
        met += cells[at] == depth and arcs[order[at]] != 0
    return (head << _SOME) | met


@inlined
def has_twin_before(search, depth, position):  # type: ignore[no-untyped-def]
    """Whether a vertex that can take the place of this one has been tried."""
    order, twins = search.orders[depth], search.twins
    for before in range(depth, position):  # noqa: SIM110 - compiled
        if twins[order[before]] == twins[order[position]]:
            return True
    return False


@inlined
def sort_by(search, size, depth, position):  # type: ignore[no-untyped-def]
    """Puts the vertex of a position next and sorts the others behind it by its arcs, as far as they were alike. Returns
    its row as one number."""
    above, order = search.orders[depth], search.orders[depth + 1]
    cells_above, cells = search.cells[depth], search.cells[depth + 1]
    arcs = search.arcs[above[position]]
    for at in range(depth):
        order[at], cells[at] = above[at], at
    order[depth], cells[depth] = above[position], depth
    filled = depth + 1
    for at in range(depth, size):
        if at == position:
            continue
        vertex = above[at]
        begin = max(cells_above[at], depth + 1)
        into = filled
        while into > begin and arcs[order[into - 1]] > arcs[vertex]:
            order[into] = order[into - 1]
            into -= 1
        order[into] = vertex
        filled += 1
    for at in range(depth + 1, size):
        cells[at] = at
    return close_row(search, size, depth, position)


@inlined
def close_row(search, size, depth, position):  # type: ignore[no-untyped-def]
    """Says who is still alike, and writes the row of the vertex that came next."""
    above, order = search.orders[depth], search.orders[depth + 1]
    cells_above, cells = search.cells[depth], search.cells[depth + 1]
    arcs = search.arcs[above[position]]
    for at in range(depth + 2, size):
        # The cell of the first position is one vertex shorter now; the others are where they were.
        same = (cells_above[at] == cells_above[at - 1]) and arcs[order[at]] == arcs[order[at - 1]]
        cells[at] = cells[at - 1] if same else at
    width = 63 // size  # bits: layouts have no more types
    row = np.int64(0)
    for at in range(size):
        row = (row << width) | arcs[order[at]]
    return row
