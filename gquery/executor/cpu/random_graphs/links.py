"""What random graphs are made of: links, in groups within which ends may be exchanged.

A link is an arc, an undirected edge, or a pair of arcs there and back. A group has links of one kind, one type and one
colour at either end, so that whatever is exchanged within it leaves everybody as many neighbours of each type and
colour as before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.census.pairs import Arcs
from gquery.executor.cpu.census.tally import ODD
from gquery.executor.cpu.machine.compile import inlined, kernel

_SPARSE = 4  # places in the table for each arc


class Links(NamedTuple):
    """tails, heads, types, groups int32[m], sorted by group. By group: begins int64[g + 1]; symmetric int8[g], whether
    its links lead both ways; turnable int8[g], whether these may be turned: their ends have one colour. apart: 1 where
    no link may come beside another that leads back. vertices: of the graph."""

    tails: NDArray[np.int32]
    heads: NDArray[np.int32]
    types: NDArray[np.int32]
    groups: NDArray[np.int32]
    begins: NDArray[np.int64]
    symmetric: NDArray[np.int8]
    turnable: NDArray[np.int8]
    apart: int
    vertices: int


class Places(NamedTuple):
    """Which link leads from one vertex to another: keys int64[2^n], -1 for none, open addressing; links int32[2^n]."""

    keys: NDArray[np.int64]
    links: NDArray[np.int32]


def links_of(arcs: Arcs, colours: NDArray[np.int32], directed: bool, mutual: bool) -> Links:
    """The links of a graph. mutual: arcs there and back are one."""
    tails, heads, types = (side.astype(np.int64) for side in arcs)
    symmetric = np.full(len(tails), not directed)
    if directed and mutual:
        keys = (types * len(colours) + tails) * len(colours) + heads
        symmetric = np.isin(keys, (types * len(colours) + heads) * len(colours) + tails)
    kept = ~symmetric | (tails < heads) if directed else np.ones(len(tails), np.bool_)
    tails, heads, types, symmetric = tails[kept], heads[kept], types[kept], symmetric[kept]
    turned = symmetric & (colours[tails] > colours[heads])
    tails, heads = np.where(turned, heads, tails), np.where(turned, tails, heads)
    kinds = np.stack([symmetric, types, colours[tails], colours[heads]])
    distinct, groups = np.unique(kinds, axis=1, return_inverse=True)
    order = np.argsort(groups.ravel(), kind="stable")
    sides = [np.ascontiguousarray(side[order], np.int32) for side in (tails, heads, types, groups.ravel())]
    begins = np.concatenate([[0], np.cumsum(np.bincount(groups.ravel(), minlength=distinct.shape[1]))])
    both, equal = distinct[0].astype(np.int8), (distinct[2] == distinct[3]).astype(np.int8)
    apart = int(mutual or not directed)
    return Links(sides[0], sides[1], sides[2], sides[3], begins, both, both * equal, apart, len(colours))


def copy_of(links: Links) -> Links:
    """The same links, to be changed."""
    changing = ("tails", "heads", "types", "groups")
    return links._replace(**{name: getattr(links, name).copy() for name in changing})


def no_places(links: Links) -> Places:
    """An empty table with room for the links."""
    size = 1 << (max(1, _SPARSE * 2 * len(links.tails)) - 1).bit_length()
    return Places(np.full(size, -1, np.int64), np.zeros(size, np.int32))


@inlined
def key_of(links, type, tail, head):  # type: ignore[no-untyped-def]
    """The key of an arc."""
    return (np.int64(type) * links.vertices + tail) * links.vertices + head


@inlined
def bucket(places, key):  # type: ignore[no-untyped-def]
    """Where a key belongs."""
    mixed = key * ODD
    return (mixed ^ (mixed >> 32)) & (len(places.keys) - 1)


@inlined
def find(places, key):  # type: ignore[no-untyped-def]
    """The link of a key, -1 where there is none."""
    at = bucket(places, key)
    while places.keys[at] != key:
        if places.keys[at] < 0:
            return np.int64(-1)
        at = (at + 1) & (len(places.keys) - 1)
    return np.int64(places.links[at])


@inlined
def put(places, key, link):  # type: ignore[no-untyped-def]
    """Adds a key that is not there."""
    at = bucket(places, key)
    while places.keys[at] >= 0:
        at = (at + 1) & (len(places.keys) - 1)
    places.keys[at], places.links[at] = key, link


@inlined
def drop(places, key):  # type: ignore[no-untyped-def]
    """Removes a key that is there; those behind it move up, so that nothing marks the gap."""
    mask = len(places.keys) - 1
    gap = bucket(places, key)
    while places.keys[gap] != key:
        gap = (gap + 1) & mask
    at = (gap + 1) & mask
    while places.keys[at] >= 0:
        wanted = bucket(places, places.keys[at])
        if ((at - wanted) & mask) >= ((at - gap) & mask):
            places.keys[gap], places.links[gap] = places.keys[at], places.links[at]
            gap = at
        at = (at + 1) & mask
    places.keys[gap] = -1


@inlined
def put_link(links, places, link):  # type: ignore[no-untyped-def]
    """Adds the arcs of a link."""
    tail, head, type = links.tails[link], links.heads[link], links.types[link]
    put(places, key_of(links, type, tail, head), link)
    if links.symmetric[links.groups[link]]:
        put(places, key_of(links, type, head, tail), link)


@inlined
def drop_link(links, places, link):  # type: ignore[no-untyped-def]
    """Removes the arcs of a link."""
    tail, head, type = links.tails[link], links.heads[link], links.types[link]
    drop(places, key_of(links, type, tail, head))
    if links.symmetric[links.groups[link]]:
        drop(places, key_of(links, type, head, tail))


@inlined
def is_free(links, places, type, tail, head):  # type: ignore[no-untyped-def]
    """Whether a link may lead there: it is no loop, and beside no other that it has to be apart from."""
    if tail == head or find(places, key_of(links, type, tail, head)) >= 0:
        return False
    return links.apart == 0 or find(places, key_of(links, type, head, tail)) < 0


@kernel
def place_all(links, places):  # type: ignore[no-untyped-def]
    """Fills the table."""
    for at in range(len(places.keys)):
        places.keys[at] = -1
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
