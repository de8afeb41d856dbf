"""Vertex groups (EGSM section 5.2): the dense part of the core, the rest of the core, the trees."""

from __future__ import annotations

from enum import IntEnum

from gquery.planner.ir.query_graph import QueryGraph


class Region(IntEnum):
    """Where in the query graph a vertex stands, in matching order."""

    DENSE = 0
    SPARSE = 1
    TREE = 2


def regions_of(graph: QueryGraph) -> tuple[Region, ...]:
    """The region of every query vertex."""
    neighbours = _neighbours(graph)
    core = _core(neighbours)
    dense = _dense(neighbours, core)
    return tuple(
        Region.DENSE if vertex in dense else Region.SPARSE if vertex in core else Region.TREE
        for vertex in range(len(neighbours))
    )


def group_sizes(order: tuple[int, ...], regions: tuple[Region, ...]) -> tuple[int, ...]:
    """Lengths of the runs of one region along an order."""
    sizes: list[int] = []
    for level, vertex in enumerate(order):
        if level and regions[vertex] is regions[order[level - 1]]:
            sizes[-1] += 1
        else:
            sizes.append(1)
    return tuple(sizes)


def _neighbours(graph: QueryGraph) -> list[set[int]]:
    neighbours: list[set[int]] = [set() for _ in graph.vertices]
    for edge in graph.edges:
        if edge.source != edge.target:
            neighbours[edge.source].add(edge.target)
            neighbours[edge.target].add(edge.source)
    return neighbours


def _core(neighbours: list[set[int]]) -> set[int]:
    """The 2-core; without one, the edge whose ends have the highest degrees."""
    left = [len(near) for near in neighbours]
    core = set(range(len(neighbours)))
    thin = [vertex for vertex in core if left[vertex] < 2]
    core.difference_update(thin)
    while thin:
        for other in neighbours[thin.pop()] & core:
            left[other] -= 1
            if left[other] < 2:
                core.remove(other)
                thin.append(other)
    if core:
        return core
    links = [(a, b) for a in range(len(neighbours)) for b in neighbours[a] if a < b]
    return set(max(links, key=lambda link: len(neighbours[link[0]]) + len(neighbours[link[1]]), default=()))


def _dense(neighbours: list[set[int]], core: set[int]) -> set[int]:
    """Largest connected union of 4-cliques in the core, else the heaviest triangle, else the heaviest edge."""
    inside = {vertex: neighbours[vertex] & core for vertex in core}
    links = [(a, b) for a in sorted(core) for b in sorted(inside[a]) if a < b]
    triangles: list[tuple[int, ...]] = []
    cliques: set[int] = set()
    for a, b in links:
        common = inside[a] & inside[b]
        if any(not common.isdisjoint(inside[c]) for c in common):
            cliques.update((a, b))
        triangles += [(a, b, c) for c in sorted(common) if b < c]
    if cliques:
        return max(_components(cliques, neighbours), key=len)
    return set(max(triangles or links, key=lambda shape: sum(len(neighbours[vertex]) for vertex in shape), default=()))


def _components(vertices: set[int], neighbours: list[set[int]]) -> list[set[int]]:
    components = []
    left = set(vertices)
    while left:
        component: set[int] = set()
        frontier = {left.pop()}
        while frontier:
            component |= frontier
            frontier = {other for vertex in frontier for other in neighbours[vertex] & left} - component
            left -= frontier
        components.append(component)
    return components
