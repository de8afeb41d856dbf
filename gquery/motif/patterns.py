"""Motifs as patterns of a MATCH clause, which find their instances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from gquery.grammar.literals import is_plain_name, quote_name
from gquery.motif.matrices import Matrix
from gquery.motif.question import Question
from gquery.motif.simple import Simple

VERTICES = "abcdefgh"


class Patterns:
    """Writes classes of one graph as `MATCH ...`. Where the graph has more than was chosen, or loops, what a motif does
    not have is said in a WHERE; elsewhere the mode INDUCED says it."""

    def __init__(self, simple: Simple, asked: Question, all_types: tuple[str, ...]) -> None:
        self._labels = [_labels_of(set(labels), simple.labels) for labels in simple.labels] if asked.by_label else []
        self._any = "|".join(_written(label) for label in asked.labels) if asked.labels else ""
        whole = simple.types == all_types
        names = tuple(_written(name) for name in simple.types)
        self._types = names if asked.by_type else ("",) if whole else ("|".join(names),)
        self._directed = asked.directed
        self._possible = _possible(simple, asked.directed)
        self._induced = whole and len(self._types) == 1 and not simple.loops

    def of(self, matrix: Matrix) -> str:
        """The clause. It finds every instance once for each way to map the motif onto itself, and more often where
        edges that are counted as one stand beside each other."""
        named: set[int] = set()
        edges = [self._edge(matrix, *pair, named) for pair in self._pairs(matrix, True)]
        if self._induced:
            return f"MATCH INDUCED {', '.join(edges)}"
        absent = [f"NOT {self._edge(matrix, *pair, None)}" for pair in self._pairs(matrix, False)]
        return f"MATCH DIFFERENT NODES {', '.join(edges)}" + (f" WHERE {' AND '.join(absent)}" if absent else "")

    def _pairs(self, matrix: Matrix, present: bool) -> Iterator[tuple[int, int, int]]:
        """Tail, head and place of the type of all arcs that there are, or are not but could be."""
        size = len(matrix.arcs)
        for tail in range(size):
            for head in range(0 if self._directed else tail + 1, size):
                for place in range(len(self._types)) if tail != head else ():
                    kind = (matrix.colours[tail], matrix.colours[head], place)
                    if bool(matrix.arcs[tail][head] >> place & 1) == present and kind in self._possible:
                        yield tail, head, place

    def _edge(self, matrix: Matrix, tail: int, head: int, place: int, named: set[int] | None) -> str:
        ends = []
        for vertex in (tail, head):
            label = "" if named is None or vertex in named else self._label(matrix.colours[vertex])
            ends.append(f"({VERTICES[vertex]}{':' + label if label else ''})")
            if named is not None:
                named.add(vertex)
        type = f"[:{self._types[place]}]" if self._types[place] else ""
        return f"{ends[0]}-{type}-{'>' if self._directed else ''}{ends[1]}"

    def _label(self, colour: int) -> str:
        return self._labels[colour] if self._labels else self._any


def _possible(simple: Simple, directed: bool) -> set[tuple[int, int, int]]:
    """Between which colours, and of which types, there are arcs at all."""
    graph = simple.graph
    kinds = np.stack([graph.colours[graph.arcs.tails], graph.colours[graph.arcs.heads], graph.arcs.types])
    found = {(tail, head, type) for tail, head, type in np.unique(kinds, axis=1).T.tolist()}
    return found if directed else found | {(head, tail, type) for tail, head, type in found}


def _labels_of(labels: set[str], others: Iterable[tuple[str, ...]]) -> str:
    """An expression that of all these label sets only one has."""
    more = sorted({label for other in others if labels < set(other) for label in set(other) - labels})
    own = [_written(label) for label in sorted(labels)]
    return "&".join([*own, *(f"!{_written(label)}" for label in more)]) if own else "!%"


def _written(name: str) -> str:
    return name if is_plain_name(name) else quote_name(name)
