"""Vertex groups (EGSM section 5.2): the dense part of the core, the rest of the core, the trees."""

from __future__ import annotations

from enum import IntEnum
from itertools import combinations

from gquery.planner.query_graph import QueryGraph


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
    """Lengths of the runs of one region along an order: between two runs partial matches are materialised."""
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
    core = set(range(len(neighbours)))
    while thin := {vertex for vertex in core if len(neighbours[vertex] & core) < 2}:
        core -= thin
    if core:
        return core
    links = [(a, b) for a in range(len(neighbours)) for b in neighbours[a] if a < b]
    return set(max(links, key=lambda link: len(neighbours[link[0]]) + len(neighbours[link[1]]), default=()))


def _dense(neighbours: list[set[int]], core: set[int]) -> set[int]:
    """Largest connected union of 4-cliques in the core, else the heaviest triangle, else the heaviest edge."""
    triangles = [
        (a, b, c)
        for a in core
        for b in neighbours[a] & core
        if a < b
        for c in neighbours[a] & neighbours[b] & core
        if b < c
    ]
    cliques = [
        {*triangle, d}
        for triangle in triangles
        for d in neighbours[triangle[0]] & neighbours[triangle[1]] & neighbours[triangle[2]] & core
        if d > max(triangle)
    ]
    if cliques:
        return max(_components(set().union(*cliques), neighbours), key=len)
    links = [(a, b) for a, b in combinations(sorted(core), 2) if b in neighbours[a]]
    shapes: list[tuple[int, ...]] = list(triangles) or list(links)
    return set(max(shapes, key=lambda shape: sum(len(neighbours[vertex]) for vertex in shape), default=()))


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
