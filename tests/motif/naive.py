"""A census by trying all sets of vertices, in plain Python."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations

from gquery.executor.census.graph import Coloured

Matrix = tuple[tuple[int, ...], ...]  # by row and column: a bit for each type of the arcs between two vertices
Form = tuple[tuple[int, ...], Matrix]  # colours, matrix


def matrix_of(graph: Coloured) -> list[list[int]]:
    """Of the whole graph."""
    vertices = len(graph.colours)
    matrix = [[0] * vertices for _ in range(vertices)]
    for tail, head, type in zip(*(side.tolist() for side in graph.arcs), strict=True):
        matrix[tail][head] |= 1 << type
        if not graph.layout.directed:
            matrix[head][tail] |= 1 << type
    return matrix


def naive_census(graph: Coloured) -> Counter[Form]:
    """How many connected induced subgraphs of each class there are; a class is named by its least form."""
    matrix, colours = matrix_of(graph), graph.colours.tolist()
    found: Counter[Form] = Counter()
    for chosen in combinations(range(len(colours)), graph.layout.size):
        if _is_connected(matrix, chosen):
            found[least_form([[matrix[a][b] for b in chosen] for a in chosen], [colours[a] for a in chosen])] += 1
    return found


def connected_sets(graph: Coloured) -> int:
    """How many there are of the size."""
    matrix = matrix_of(graph)
    return sum(_is_connected(matrix, chosen) for chosen in combinations(range(len(matrix)), graph.layout.size))


def least_form(matrix: list[list[int]], colours: list[int]) -> Form:
    """The least of all orders: colours first, then the matrix row by row."""
    orders = permutations(range(len(colours)))
    return min(
        (tuple(colours[a] for a in order), tuple(tuple(matrix[a][b] for b in order) for a in order)) for order in orders
    )


def _is_connected(matrix: list[list[int]], chosen: tuple[int, ...]) -> bool:
    reached, waiting = {chosen[0]}, [chosen[0]]
    while waiting:
        own = waiting.pop()
        new = {other for other in chosen if (matrix[own][other] or matrix[other][own]) and other not in reached}
        reached |= new
        waiting += new
    return len(reached) == len(chosen)
