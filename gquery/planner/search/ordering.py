"""Picks the order in which vertices are listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heappush
from random import Random

from gquery.planner.search.cardinality import PrefixModel
from gquery.planner.search.grouping import Region
from gquery.stopping import Check


def pick_order(
    model: PrefixModel, regions: Callable[[], Sequence[Region]], vertices: Iterable[int], counting: bool, check: Check
) -> tuple[int, ...]:
    """The cheapest order of some vertices: by dynamic programming when they are few, greedy otherwise."""
    chosen = tuple(vertices)
    if len(chosen) <= model.costs.effort.ordered:
        return _cheapest(model, chosen, counting)
    return _greedy(model, regions(), set(chosen), check)


def rooted_orders(
    model: PrefixModel, vertices: Iterable[int], colours: Sequence[int], check: Check
) -> list[tuple[int, ...]]:
    """The most promising of the orders that begin with each of the vertices and go on with what leaves the fewest
    partial matches. Of the vertices of one colour only one is tried: they look alike."""
    chosen = tuple(vertices)
    found: dict[int, tuple[float, tuple[int, ...]]] = {}
    for root in chosen:
        candidate = _begun(model, (root,), chosen, check)
        found[colours[root]] = min(found.get(colours[root], candidate), candidate)
    return [order for _, order in sorted(found.values())[: model.costs.effort.roots]]


def moved(order: tuple[int, ...], kept: int, near: Sequence[int], random: Random) -> tuple[int, ...] | None:
    """The order with one or two vertices somewhere else, those that are listed among themselves; None where a vertex
    would come before all of its neighbours that was not before."""
    changed = list(order)
    for _ in range(random.choice((1, 1, 2))):
        place = random.randrange(len(order))
        begin, end = (0, kept) if place < kept else (kept, len(order))
        changed.insert(random.randrange(begin, end), changed.pop(place))
    if changed == list(order) or _loose(changed, near) > _loose(order, near):
        return None
    return tuple(changed)


def _loose(order: Sequence[int], near: Sequence[int]) -> int:
    """The vertices that come before all of their neighbours."""
    matched = count = 0
    for vertex in order:
        count += not near[vertex] & matched
        matched |= 1 << vertex
    return count


def led_order(model: PrefixModel, lead: Sequence[int], vertices: Iterable[int], check: Check) -> tuple[int, ...]:
    """The order of some vertices that begins with those of `lead` and goes on with what leaves the fewest partial
    matches."""
    return _begun(model, tuple(lead), tuple(vertices), check)[1]


def _begun(
    model: PrefixModel, lead: tuple[int, ...], vertices: tuple[int, ...], check: Check
) -> tuple[float, tuple[int, ...]]:
    root, forced = lead[0], list(reversed(lead[1:]))
    rows = cost = model.sizes[root]
    order, matched = [root], 1 << root
    left = set(vertices) - {root}
    connected: dict[int, tuple[float, float, int]] = {}  # what is next to the matched, with what extending by it takes
    while left:
        check()
        for vertex in left & model.neighbours[order[-1]]:
            connected[vertex] = model.extension(vertex, matched)
        others = forced[-1:] or left
        extensions = {} if forced else connected
        extensions = extensions or {vertex: model.extension(vertex, matched) for vertex in others}
        del forced[-1:]
        factor, vertex = min((factor, -backward, vertex) for vertex, (factor, _, backward) in extensions.items())[::2]
        cost += rows * (extensions[vertex][1] + factor)
        rows = max(1.0, rows * factor)
        order.append(vertex)
        matched |= 1 << vertex
        left.remove(vertex)
        connected.pop(vertex, None)
    return cost, tuple(order)


def _cheapest(model: PrefixModel, vertices: tuple[int, ...], counting: bool) -> tuple[int, ...]:
    """Dynamic programming over sets of matched vertices, each with its cheapest order. A set is extended by its
    neighbours, or, when it has none left, by any vertex (a Cartesian product)."""
    best: dict[int, tuple[float, float, tuple[int, ...]]] = {0: (0.0, 1.0, ())}
    near, extension, extended = model.near, model.extension, model.costs.extension
    for size in range(1, len(vertices) + 1):
        counted = counting and size == len(vertices)
        longer: dict[int, tuple[float, float, tuple[int, ...]]] = {}
        for matched, (cost, rows, order) in best.items():
            left = [vertex for vertex in vertices if not matched >> vertex & 1]
            for vertex in [vertex for vertex in left if near[vertex] & matched] or left:
                factor, looks, backward = extension(vertex, matched)
                new_cost = cost + rows * extended(looks, factor, backward, counted)
                known = longer.get(matched | 1 << vertex)
                if known is None or new_cost < known[0]:
                    longer[matched | 1 << vertex] = (new_cost, max(1.0, rows * factor), (*order, vertex))
        best = longer
    ((_, _, order),) = best.values()
    return order


def _greedy(model: PrefixModel, regions: Sequence[Region], left: set[int], check: Check) -> tuple[int, ...]:
    """Dense region, then the rest of the core, then trees (EGSM section 5.2); inside a region the vertex that leaves
    the fewest partial matches, and of those the one with most backward neighbours."""
    share = {vertex: model.sizes[vertex] / max(1, len(model.links[vertex])) for vertex in left}
    first = min(left, key=lambda vertex: (regions[vertex], share[vertex], vertex))
    others = [(regions[vertex], model.sizes[vertex], 0, vertex) for vertex in left - {first}]
    heapify(others)  # for when nothing is connected
    connected: list[tuple[Region, float, int, int]] = []
    latest: dict[int, tuple[Region, float, int, int]] = {}
    order, matched, chosen = [first], 0, first
    while True:
        check()
        left.remove(chosen)
        matched |= 1 << chosen
        for vertex in left.intersection(model.neighbours[chosen]):
            factor, _, backward = model.extension(vertex, matched)
            latest[vertex] = (regions[vertex], factor, -backward, vertex)
            heappush(connected, latest[vertex])
        if not left:
            return tuple(order)
        chosen = -1
        while connected and chosen < 0:
            found = heappop(connected)
            if found[-1] in left and latest[found[-1]] == found:
                chosen = found[-1]
        while chosen < 0:
            *_, vertex = heappop(others)
            chosen = vertex if vertex in left else -1
        order.append(chosen)
