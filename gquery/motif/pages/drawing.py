"""A graph on a page, as SVG, with some of its vertices and edges in colour."""

from __future__ import annotations

from html import escape
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gquery.executor.census.graph import Arcs
from gquery.storage.sorting import distinct

_SIZE, _MARGIN = 640, 16  # of the page
_MOST = 600  # vertices: of larger graphs only the instances are drawn
_STEPS = 80
_PULL = 0.4  # to the middle, so that parts do not drift apart


class Drawing(str):
    """An SVG text, which notebooks show as a picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def drawn(arcs: Arcs, names: list[str], instances: NDArray[np.int64], title: str) -> Drawing:
    """A graph whose instances of a motif are in colour. names: of its vertices; instances int64[*, size]: vertices.
    Where it has many vertices, the part that is the instances."""
    kept = np.arange(len(names)) if len(names) <= _MOST else distinct(instances.ravel())
    ends = _within(np.stack([arcs.tails, arcs.heads]), kept)
    coloured = np.searchsorted(kept, instances)
    points = _placed(len(kept), ends)
    marked = set(coloured.ravel().tolist())
    pairs = {pair for instance in coloured.tolist() for pair in combinations(instance, 2)}
    of_instances = np.array([(min(pair), max(pair)) in pairs for pair in ends.T.tolist()], np.bool_)
    lines = [
        _edges(points, ends[:, ~of_instances], "#cccccc", 0.7),
        _edges(points, ends[:, of_instances], "#e15759", 1.5),
        *(_vertex(points[at], names[kept[at]], at in marked) for at in range(len(kept))),
    ]
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" width="{_SIZE}" height="{_SIZE}" role="img">'
    return Drawing(f"{opening}<title>{escape(title)}</title>{''.join(lines)}</svg>")


def _within(ends: NDArray[np.int32], kept: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[2, *]: the edges between some vertices, which are numbered anew."""
    there = ends[:, np.isin(ends, kept).all(axis=0)]
    return np.searchsorted(kept, there)


def _placed(count: int, ends: NDArray[np.int64]) -> NDArray[np.float64]:
    """float64[count, 2]: where vertices stand. All push each other away, edges pull, and steps become shorter
    (Fruchterman and Reingold, Software: Practice and Experience 21(11), 1991). The same graph gives the same places."""
    angles = np.arange(count) * np.pi * (3 - np.sqrt(5))  # a sunflower's: nobody stands on another
    points = np.sqrt(np.arange(count) / max(1, count))[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    apart = np.sqrt(1 / max(1, count))
    for step in range(_STEPS):
        away = points[:, None] - points[None]
        distances = np.maximum((away**2).sum(axis=2), 1e-9)
        moves = (away * (apart**2 / distances)[:, :, None]).sum(axis=1) - _PULL * points
        pulled = points[ends[0]] - points[ends[1]]
        pulled *= np.sqrt((pulled**2).sum(axis=1))[:, None] / apart
        np.subtract.at(moves, ends[0], pulled)
        np.add.at(moves, ends[1], pulled)
        lengths = np.maximum(np.sqrt((moves**2).sum(axis=1)), 1e-9)
        points = points + moves * (np.minimum(lengths, 0.1 * (1 - step / _STEPS)) / lengths)[:, None]
    low, high = points.min(axis=0, initial=np.inf), points.max(axis=0, initial=-np.inf)
    placed: NDArray[np.float64] = (points - low) / np.maximum(high - low, 1e-9)
    return _MARGIN + placed * (_SIZE - 2 * _MARGIN)


def _edges(points: NDArray[np.float64], ends: NDArray[np.int64], colour: str, width: float) -> str:
    steps = (
        f"M{x:.0f} {y:.0f}L{to_x:.0f} {to_y:.0f}"
        for (x, y), (to_x, to_y) in zip(points[ends[0]].tolist(), points[ends[1]].tolist(), strict=True)
    )
    return f'<path d="{"".join(steps)}" stroke="{colour}" stroke-width="{width}" fill="none"/>'


def _vertex(point: NDArray[np.float64], name: str, marked: bool) -> str:
    radius, colour = (4, "#4e79a7") if marked else (2, "#bbbbbb")
    shape = f'<circle cx="{point[0]:.0f}" cy="{point[1]:.0f}" r="{radius}" fill="{colour}">'
    return f"{shape}<title>{escape(name)}</title></circle>"
