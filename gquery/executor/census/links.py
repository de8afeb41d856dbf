"""What random graphs are made of: links, in groups within which ends may be exchanged.

A link is an arc, an undirected edge, or a pair of arcs there and back. A group has links of one kind, one type and one
colour at either end, so that whatever is exchanged within it leaves everybody as many neighbours of each type and
colour as before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.census.graph import Arcs


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


class Painted(NamedTuple):
    """colours int32[n]; vertices int32[n], sorted by colour; begins int64[colours + 1]: where each begins."""

    colours: NDArray[np.int32]
    vertices: NDArray[np.int32]
    begins: NDArray[np.int64]


def painted(colours: NDArray[np.int32]) -> Painted:
    """The vertices of each colour."""
    begins = np.concatenate([[0], np.cumsum(np.bincount(colours))])
    return Painted(colours, np.argsort(colours, kind="stable").astype(np.int32), begins)
