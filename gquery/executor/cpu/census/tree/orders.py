"""In which order a class is matched, and how every subgraph of it is found once.

Classes that begin alike are matched together as long as they are (g-tries: Ribeiro and Silva, ACM SAC 2010; NEMO's
matching order: Lin et al., IEEE TKDE 29(3), 2017, 4.3). An order begins where a class is dense: little else in a graph
begins so.

Of the ways to map a class into one set of vertices one is kept: each vertex is the lowest of those that could take its
place when all before it stay where they are (Grochow and Kellis, RECOMB 2007).
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.census.canonical import beside_each, pack, unpack
from gquery.executor.cpu.machine.compile import inlined, inner, kernel

_WORD_BITS, _DEGREE_BITS = 45, 4


@kernel
def find_orders(codes, layout, search, orders, conditions):  # type: ignore[no-untyped-def]
    """Writes each class as a code in its order, and its conditions: a bit, see `condition_at`, for two places of which
    the earlier has the lower vertex."""
    size = layout.size
    for index in range(len(codes)):
        unpack(codes[index], layout, size, search)
        order_by_density(layout, search, size)
        orders[index] = pack(search, layout, size)
        unpack(orders[index], layout, size, search)
        conditions[index] = conditions_of(search, size)


@inlined
def condition_at(place):  # type: ignore[no-untyped-def]
    """The bit of a place and the first one; those of the others follow."""
    return place * (place - 1) // 2


@inner
def order_by_density(layout, search, size):  # type: ignore[no-untyped-def]
    """Writes to `search.best` an order in which the next vertex has most edges to those before it; of several that
    have, one with most types and directions to the first, so that classes agree; of these one with most edges."""
    beside_each(search, size)
    taken = 0
    for place in range(size):
        chosen, most = 0, np.int64(-1)
        for vertex in range(size):
            if taken >> vertex & 1:
                continue
            near, word, degree = np.int64(0), np.int64(0), np.int64(0)
            for before in range(place):
                other = search.best[before]
                state = search.arcs[vertex, other] | search.arcs[other, vertex] << layout.types
                near += state != 0
                word = word << 2 * layout.types | state
            for other in range(size):
                degree += search.rows[vertex] >> other & 1
            rank = (near << _WORD_BITS | word) << _DEGREE_BITS | degree
            if rank > most:
                chosen, most = vertex, rank
        search.best[place] = chosen
        taken |= 1 << chosen


@inner
def conditions_of(search, size):  # type: ignore[no-untyped-def]
    """The conditions of a class whose vertices are in order."""
    found = 0
    for place in range(size - 1):
        for image in range(place + 1, size):
            if can_become(search, size, place, image):
                found |= 1 << condition_at(image) + place
    return found


@inner
def can_become(search, size, place, image):  # type: ignore[no-untyped-def]
    """Whether the class can be mapped onto itself so that those before a place stay, and its vertex becomes another."""
    images = search.best
    for before in range(place):
        images[before] = before
    images[place] = image
    if not fits(search, place):
        return False
    at = place + 1
    if at < size:
        images[at] = -1
    while place < at < size:
        images[at] += 1
        if images[at] == size:
            at -= 1
        elif fits(search, at):
            at += 1
            if at < size:
                images[at] = -1
    return at == size


@inlined
def fits(search, at):  # type: ignore[no-untyped-def]
    """Whether the image of a vertex has its colour, and to the images before it its arcs."""
    arcs, images = search.arcs, search.best
    image = images[at]
    if search.colours[at] != search.colours[image]:
        return False
    for before in range(at):
        other = images[before]
        if other == image or arcs[at, before] != arcs[image, other] or arcs[before, at] != arcs[other, image]:
            return False
    return True
