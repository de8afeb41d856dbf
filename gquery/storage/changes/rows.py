"""Adjacencies after a batch: the rows that change are written again where there is room (`paged.py`).

What is no longer looked at there is given back when there is no room any more, or when a batch touches much: then the
whole adjacency is written anew, or was already behind the writer.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gquery.arrays import ranges
from gquery.records import record
from gquery.storage.adjacency import Adjacency, order_of_pairs, seen
from gquery.storage.changes.ahead import renew, renewed
from gquery.storage.changes.paged import Ids, Rows, Vertices, with_room
from gquery.storage.schema import Direction
from gquery.storage.sorting import distinct

EdgeEnds = tuple[Vertices, Vertices, Ids]

_WHOLE = 4  # times the entries that are touched: an adjacency of fewer is written anew
_SMALL = 1 << 12  # entries of one that always is
_TABLE = 64  # numbers for each that is looked up in a table of truths
_HALF = 32  # bits of a number that are a neighbour


@record(frozen=True, slots=True)
class Delta:
    """Edges at one end of them: those that are new, ascending by id, and those that are gone. own: the vertices whose
    rows they are in."""

    own: Vertices
    others: Vertices
    edges: Ids
    gone_own: Vertices
    gone: Ids

    @classmethod
    def of(cls, new: EdgeEnds, gone: EdgeEnds, direction: Direction) -> Delta:
        """Edges, as source, target and id, seen in a direction."""
        own, others, edges = seen(*new, direction)
        gone_own, _, gone_edges = seen(*gone, direction)
        return cls(own, others, edges, gone_own, gone_edges)


def changed(adjacency: Adjacency, delta: Delta) -> Adjacency:
    """The adjacency with the changes of a batch. New edges have higher ids than those that are there."""
    touched = distinct(np.concatenate([delta.own, delta.gone_own])).astype(np.int64)
    if not len(touched):
        return adjacency
    entries = adjacency.entries + len(delta.own) - len(delta.gone_own)
    begins, ends = adjacency.bounds(touched)
    written = int((ends - begins).sum()) + len(delta.own)
    if entries > max(_SMALL, _WHOLE * written):
        base = with_room(adjacency)
        rows = np.searchsorted(touched, delta.own)
        found = _merged(adjacency, begins, ends, rows, delta)
        after = base.with_rows(touched, found, entries)
        if after is None:
            roomy = renewed(base)
            after = None if roomy is None else roomy.with_rows(touched, found, entries)
        if after is not None:
            renew(after)
            return after
    return _anew(adjacency, touched, delta)


def _anew(adjacency: Adjacency, touched: Ids, delta: Delta) -> Adjacency:
    """All rows, written one after the other."""
    first, end = int(touched[0]), int(touched[-1]) + 1
    if adjacency.rows:
        first, end = min(first, adjacency.first), max(end, adjacency.first + adjacency.rows)
    found = _merged(adjacency, *adjacency.bounds(np.arange(first, end)), delta.own - np.int64(first), delta)
    offsets = np.concatenate([[0], np.cumsum(found.lengths)])
    return Adjacency(first, offsets, found.neighbours, found.edges, found.simple)


def _merged(adjacency: Adjacency, begins: Ids, ends: Ids, rows: Ids, delta: Delta) -> Rows:
    """Some rows, all that change among them, as they are then: ascending by neighbour and by edge. begins, ends: of
    their entries; rows: those of the new entries, by their places among these."""
    entries = ranges(begins, ends)
    edges = adjacency.edges[entries]
    keys = np.repeat(np.arange(len(begins)) << _HALF, ends - begins)
    keys |= adjacency.neighbours[entries]
    if len(delta.gone):
        there = ~_among(edges, delta.gone)
        keys, edges = keys[there], edges[there]
    if len(rows):
        new, new_edges = rows << _HALF | delta.others, delta.edges
        if len(rows) > 1:
            order = order_of_pairs(rows.astype(np.int32), delta.others)
            new, new_edges = new[order], new_edges[order]
        places = np.searchsorted(keys, new, side="right") + np.arange(len(new))
        keys, edges = _inserted(places, (keys, new), (edges, new_edges))
    lengths = np.bincount(keys >> _HALF, minlength=len(begins))
    simple = not bool(np.any(keys[1:] == keys[:-1]))
    return Rows(lengths, keys.astype(np.int32), edges, simple)


def _among(edges: Ids, gone: Ids) -> NDArray[np.bool_]:
    """Which of some edges are gone: looked up in a table of all between the first that is and the last, where that is
    not much longer than they are; sorting them takes ten times as long."""
    is_short = int(gone.max()) - int(gone.min()) < _TABLE * len(edges)
    return np.isin(edges, gone, kind="table" if is_short else "sort")


def _inserted(places: Ids, *columns: tuple[Ids, Ids]) -> Iterator[Ids]:
    """Columns in which what comes second has these places, ascending."""
    was = np.ones(len(columns[0][0]) + len(places), np.bool_)
    was[places] = False
    for before, new in columns:
        both = np.empty(len(was), np.int64)
        both[was], both[places] = before, new
        yield both
