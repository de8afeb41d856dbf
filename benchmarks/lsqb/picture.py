"""Grouped bars on a logarithmic scale, as SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

_COLOURS = ("#2563eb", "#f59e0b", "#6b7280", "#10b981")
_BAR, _GAP, _HEIGHT, _LEFT, _TOP = 9, 12, 260, 60, 50


def bars(title: str, groups: Sequence[tuple[str, Mapping[str, float | None]]]) -> str:
    """One group of bars for each (label, seconds by name); a missing bar is an engine that gave no answer."""
    names = list(groups[0][1])
    milliseconds = [seconds * 1000 for _, values in groups for seconds in values.values() if seconds is not None]
    low, high = math.floor(math.log10(min(milliseconds))), math.ceil(math.log10(max(milliseconds)))
    step = len(names) * _BAR + _GAP
    width = _LEFT + len(groups) * step + 20

    def height(value: float) -> float:
        return _HEIGHT * (math.log10(value) - low) / max(1, high - low)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{_TOP + _HEIGHT + 70}" '
        'font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{_LEFT}" y="18" font-size="14">{escape(title)}</text>',
    ]
    for index, name in enumerate(names):
        x = _LEFT + index * 90
        parts.append(f'<rect x="{x}" y="28" width="10" height="10" fill="{_COLOURS[index]}"/>')
        parts.append(f'<text x="{x + 14}" y="37">{escape(name)}</text>')
    for power in range(low, high + 1):
        y = _TOP + _HEIGHT - height(10.0**power)
        parts.append(f'<line x1="{_LEFT}" x2="{width - 10}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e5e7eb"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for place, (label, values) in enumerate(groups):
        x = _LEFT + 6 + place * step
        for index, name in enumerate(names):
            seconds = values[name]
            if seconds is not None:
                tall = max(1.0, height(seconds * 1000))
                parts.append(f'<rect x="{x + index * _BAR}" y="{_TOP + _HEIGHT - tall:.1f}" width="{_BAR - 1}" '
                             f'height="{tall:.1f}" fill="{_COLOURS[index]}"/>')  # fmt: skip
        middle, base = x + step / 2 - _GAP, _TOP + _HEIGHT + 14
        turned = f'transform="rotate(45 {middle:.1f} {base})"'
        parts.append(f'<text x="{middle:.1f}" y="{base}" {turned}>{escape(label)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
