"""The links of a random graph while it is made: which there are, told by a table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.census.links import Links
from gquery.executor.cpu.census.tally import ODD
from gquery.executor.cpu.machine.compile import inlined, kernel

_SPARSE = 16  # places in the table for each arc: most looks find none, and should find that at once


class Places(NamedTuple):
    """Which links there are: arcs int32[2^n], -1 for none, open addressing. The arc of link i is 2i, and where it leads
    both ways the one back 2i + 1; whose ends these are is asked of the link, so that the table is small."""

    arcs: NDArray[np.int32]


def no_places(links: Links) -> Places:
    """An empty table with room for the links."""
    arcs = len(links.tails) + int(links.symmetric[links.groups].sum())
    size = 1 << (max(1, _SPARSE * arcs) - 1).bit_length()
    return Places(np.full(size, -1, np.int32))


@inlined
def bucket(links, places, type, tail, head):  # type: ignore[no-untyped-def]
    """Where an arc belongs."""
    mixed = ((np.int64(type) * links.vertices + tail) * links.vertices + head) * ODD
    return (mixed ^ (mixed >> 32)) & (len(places.arcs) - 1)


@inlined
def own_bucket(links, places, arc):  # type: ignore[no-untyped-def]
    """Where an arc that there is belongs."""
    link = arc >> 1
    if arc & 1:
        return bucket(links, places, links.types[link], links.heads[link], links.tails[link])
    return bucket(links, places, links.types[link], links.tails[link], links.heads[link])


@inlined
def find(links, places, type, tail, head):  # type: ignore[no-untyped-def]
    """The link that leads there, -1 where there is none."""
    at = bucket(links, places, type, tail, head)
    while places.arcs[at] >= 0:
        arc = places.arcs[at]
        link = np.int64(arc >> 1)
        begin, end = links.tails[link], links.heads[link]
        if arc & 1:
            begin, end = end, begin
        if begin == tail and end == head and links.types[link] == type:
            return link
        at = (at + 1) & (len(places.arcs) - 1)
    return np.int64(-1)


@inlined
def put(links, places, arc):  # type: ignore[no-untyped-def]
    """Adds an arc that is not there."""
    at = own_bucket(links, places, arc)
    while places.arcs[at] >= 0:
        at = (at + 1) & (len(places.arcs) - 1)
    places.arcs[at] = arc


@inlined
def drop(links, places, arc):  # type: ignore[no-untyped-def]
    """Removes an arc that is there; those behind it move up, so that nothing marks the gap."""
    mask = len(places.arcs) - 1
    gap = own_bucket(links, places, arc)
    while places.arcs[gap] != arc:
        gap = (gap + 1) & mask
    at = (gap + 1) & mask
    while places.arcs[at] >= 0:
        wanted = own_bucket(links, places, places.arcs[at])
        if ((at - wanted) & mask) >= ((at - gap) & mask):
            places.arcs[gap] = places.arcs[at]
            gap = at
        at = (at + 1) & mask
    places.arcs[gap] = -1


@inlined
def put_link(links, places, link):  # type: ignore[no-untyped-def]
    """Adds the arcs of a link."""
    put(links, places, 2 * link)
    if links.symmetric[links.groups[link]]:
        put(links, places, 2 * link + 1)


@inlined
def drop_link(links, places, link):  # type: ignore[no-untyped-def]
    """Removes the arcs of a link, whose ends must be those it was added with."""
    drop(links, places, 2 * link)
    if links.symmetric[links.groups[link]]:
        drop(links, places, 2 * link + 1)


@inlined
def is_free(links, places, type, tail, head):  # type: ignore[no-untyped-def]
    """Whether a link may lead there: it is no loop, and beside no other that it has to be apart from."""
    if tail == head or find(links, places, type, tail, head) >= 0:
        return False
    return links.apart == 0 or find(links, places, type, head, tail) < 0


@kernel
def place_all(links, places):  # type: ignore[no-untyped-def]
    """Fills the table."""
    for at in range(len(places.arcs)):
        places.arcs[at] = -1
    for link in range(len(links.tails)):
        put_link(links, places, link)


@kernel
def unfold(links, arcs):  # type: ignore[no-untyped-def]
    """Writes the arcs of the links; for undirected graphs a pair is one."""
    written = 0
    for link in range(len(links.tails)):
        arcs.tails[written], arcs.heads[written] = links.tails[link], links.heads[link]
        arcs.types[written] = links.types[link]
        written += 1
    for link in range(len(links.tails)):
        if written < len(arcs.tails) and links.symmetric[links.groups[link]]:
            arcs.tails[written], arcs.heads[written] = links.heads[link], links.tails[link]
            arcs.types[written] = links.types[link]
            written += 1
