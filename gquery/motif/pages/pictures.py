"""Small pictures as SVG: a motif, and what random graphs have of it."""

from __future__ import annotations

from html import escape
from math import cos, hypot, pi, sin

import numpy as np
from numpy.typing import NDArray

from gquery.motif.matrices import Matrix
from gquery.motif.patterns import VERTICES

_SIZE, _RADIUS, _VERTEX = 120, 42, 9  # of a motif's picture, its circle, a vertex
_WIDTH, _HEIGHT, _BARS = 180, 60, 30  # of a distribution
_COLOURS = (
    "#4e79a7",
    "#f28e2b",
    "#59a14f",
    "#e15759",
    "#b07aa1",
    "#76b7b2",
    "#edc948",
    "#9c755f",
)  # told apart by most


def motif_picture(matrix: Matrix, directed: bool) -> str:
    """The vertices on a circle, named as in the pattern and coloured by label. Arcs there and back are one line."""
    size = len(matrix.arcs)
    angles = [2 * pi * vertex / size - pi / 2 for vertex in range(size)]
    points = [(_SIZE / 2 + _RADIUS * cos(angle), _SIZE / 2 + _RADIUS * sin(angle)) for angle in angles]
    lines = [
        _arc(points[tail], points[head], directed)
        for tail in range(size)
        for head in range(size)
        if matrix.arcs[tail][head] and (directed or tail < head)
    ]
    for vertex, (x, y) in enumerate(points):
        colour = _COLOURS[matrix.colours[vertex] % len(_COLOURS)]
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_VERTEX}" fill="{colour}"/>')
        lines.append(f'<text x="{x:.1f}" y="{y + 3.5:.1f}" {_TEXT} fill="white">{VERTICES[vertex]}</text>')
    return _svg(_SIZE, _SIZE, f"motif {matrix.text}", lines)


def distribution_picture(random: NDArray[np.int64], count: int) -> str:
    """How many random graphs have how many; a line stands where the graph itself is."""
    low, high = min(count, int(random.min(initial=count))), max(count, int(random.max(initial=count)))
    bars, _ = np.histogram(random, bins=_BARS, range=(low, high + 1))
    most, step = max(1, int(bars.max())), _WIDTH / _BARS
    lines = [
        f'<rect x="{place * step:.1f}" y="{_HEIGHT * (1 - bar / most):.1f}" width="{step - 1:.1f}" '
        f'height="{_HEIGHT * bar / most:.1f}" fill="#9aa5b1"/>'
        for place, bar in enumerate(bars.tolist())
        if bar
    ]
    x = (count + 0.5 - low) / (high + 1 - low) * _WIDTH
    lines.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{_HEIGHT}" stroke="#e15759" stroke-width="2"/>')
    for place, anchor, number in ((0, "start", low), (_WIDTH, "end", high)):
        lines.append(f'<text x="{place}" y="{_HEIGHT + 12}" font-size="10" text-anchor="{anchor}">{number:,}</text>')
    return _svg(_WIDTH, _HEIGHT + 15, f"{count:,} beside random graphs", lines)


_TEXT = 'font-size="10" text-anchor="middle" font-family="sans-serif"'


def _arc(tail: tuple[float, float], head: tuple[float, float], directed: bool) -> str:
    """A line from the rim of one vertex to that of another; arcs there and back lie on each other."""
    length = hypot(head[0] - tail[0], head[1] - tail[1])
    dx, dy = (head[0] - tail[0]) / length, (head[1] - tail[1]) / length
    end = (head[0] - dx * _VERTEX, head[1] - dy * _VERTEX)
    line = f'<line x1="{tail[0]:.1f}" y1="{tail[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" stroke="#333"/>'
    if not directed:
        return line
    corners = ((0.0, 0.0), (-8.0, 3.5), (-8.0, -3.5))
    points = " ".join(f"{end[0] + dx * x - dy * y:.1f},{end[1] + dy * x + dx * y:.1f}" for x, y in corners)
    return f'{line}<polygon points="{points}" fill="#333"/>'


def _svg(width: int, height: int, title: str, lines: list[str]) -> str:
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img">'
    return f"{opening}<title>{escape(title)}</title>{''.join(lines)}</svg>"
