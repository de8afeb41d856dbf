"""Picks the matching order."""

from __future__ import annotations

from gquery.planner.cardinality import PrefixModel
from gquery.planner.grouping import Part

_EXACT = 7  # query vertices up to which all connected orders are weighed


def pick_order(model: PrefixModel, parts: tuple[Part, ...], counting: bool) -> tuple[int, ...]:
    """The cheapest order: by dynamic programming for small query graphs, greedy for larger ones."""
    if len(parts) <= _EXACT:
        return _cheapest(model, len(parts), counting)
    return _greedy(model, parts)


def _cheapest(model: PrefixModel, size: int, counting: bool) -> tuple[int, ...]:
    """Dynamic programming over sets of matched vertices, each with its cheapest order. A set is extended by its
    neighbours, or, when it has none left, by any vertex (a Cartesian product)."""
    full = (1 << size) - 1
    best: dict[int, tuple[float, float, tuple[int, ...]]] = {0: (0.0, 1.0, ())}
    for _ in range(size):
        longer: dict[int, tuple[float, float, tuple[int, ...]]] = {}
        for matched, (cost, rows, order) in best.items():
            extensions = [
                (vertex, *model.extension(vertex, matched)) for vertex in range(size) if not matched >> vertex & 1
            ]
            if matched:
                extensions = [extension for extension in extensions if extension[3]] or extensions
            for vertex, factor, looks, backward in extensions:
                reached = matched | 1 << vertex
                new_rows = max(1.0, rows * factor)
                new_cost = cost + rows * _step_cost(looks, factor, backward, counting and reached == full)
                if reached not in longer or new_cost < longer[reached][0]:
                    longer[reached] = (new_cost, new_rows, (*order, vertex))
        best = longer
    return best[full][2]


def _step_cost(looks: float, factor: float, backward: int, counted: bool) -> float:
    """Cost of extending one partial match. The last level of a count costs its set size only."""
    if counted:
        return 1.0 if backward == 1 else looks
    return looks + factor


def _greedy(model: PrefixModel, parts: tuple[Part, ...]) -> tuple[int, ...]:
    """Dense part, then the rest of the core, then trees (EGSM section 5.2); inside a part the vertex that leaves the
    fewest partial matches, and of those the one with most backward neighbours."""
    order: list[int] = []
    matched = 0
    left = set(range(len(parts)))
    while left:
        extensions = {vertex: model.extension(vertex, matched) for vertex in left}
        connected = [vertex for vertex in left if extensions[vertex][2]] if matched else list(left)
        pool = connected or list(left)
        part = min(parts[vertex] for vertex in pool)
        pool = [vertex for vertex in pool if parts[vertex] is part]
        if not order:
            degree = {vertex: len(model.links[vertex]) for vertex in pool}
            chosen = min(pool, key=lambda vertex: (model.sizes[vertex] / max(1, degree[vertex]), vertex))
        else:
            chosen = min(pool, key=lambda vertex: (extensions[vertex][0], -extensions[vertex][2], vertex))
        order.append(chosen)
        matched |= 1 << chosen
        left.remove(chosen)
    return tuple(order)
