"""Query graphs by name and size: vertices and edges."""

from __future__ import annotations

import random

Edges = list[tuple[int, int]]
MODES = ("DIFFERENT EDGES", "DIFFERENT NODES", "REPEATABLE ELEMENTS", "INDUCED")


def shape(name: str, size: int) -> tuple[int, Edges]:
    """A number of vertices and the edges between them."""
    path = [(place, place + 1) for place in range(size - 1)]
    match name:
        case "path":
            return size, path
        case "cycle":
            return size, [*path, (size - 1, 0)]
        case "star":
            return size + 1, [(0, leaf + 1) for leaf in range(size)]
        case "clique":
            return size, [(one, other) for other in range(size) for one in range(other)]
        case "tree":
            return size, [((vertex - 1) // 2, vertex) for vertex in range(1, size)]
        case "caterpillar":
            return 2 * size, path + [(vertex, size + vertex) for vertex in range(size)]
        case "grid":
            across = [(size * row + place, size * row + place + 1) for row in range(size) for place in range(size - 1)]
            return size * size, across + [(vertex, vertex + size) for vertex in range(size * (size - 1))]
        case "barbell":
            _, half = shape("clique", size)
            return 2 * size, [*half, *((one + size, other + size) for one, other in half), (0, size)]
        case "parallel":
            return 2, [(0, 1)] * size
        case "pieces":
            return 2 * size, [(2 * piece, 2 * piece + 1) for piece in range(size)]
    raise AssertionError(name)


def pattern(edges: Edges, label: str = "", types: str = "", arrow: str = "") -> str:
    """The edges as a list of paths over v0, v1, ...; every vertex with the label, every edge with the types."""
    seen: set[int] = set()

    def node(index: int) -> str:
        written = f"(v{index})" if index in seen else f"(v{index}{label})"
        seen.add(index)
        return written

    return ", ".join(f"{node(one)}-[{types}]-{arrow}{node(other)}" for one, other in edges)


def any_tree(vertices: int, more: int, seed: int) -> Edges:
    """A random tree, and some more edges."""
    choose = random.Random(seed)
    edges = [(choose.randrange(vertex), vertex) for vertex in range(1, vertices)]
    everything = [(one, other) for other in range(vertices) for one in range(other)]
    return edges + choose.sample([edge for edge in everything if edge not in edges], more)
