"""Query graphs of the published benchmarks, as Cypher text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class QueryFile:
    """An undirected query graph. labels: one a vertex, None where any will do; edges: pairs of vertex indices."""

    labels: tuple[str | None, ...]
    edges: tuple[tuple[int, int], ...]

    def pattern(self) -> str:
        """The comma patterns of a MATCH; vertex i is the variable `ui`. Labels are written at the first mention."""
        written: set[int] = set()
        paths = []
        for source, target in self.edges:
            paths.append(f"{self._vertex(source, written)}-[]-{self._vertex(target, written)}")
        lone = [vertex for vertex in range(len(self.labels)) if vertex not in written]
        return ", ".join([*paths, *(self._vertex(vertex, written) for vertex in lone)])

    def _vertex(self, vertex: int, written: set[int]) -> str:
        label = self.labels[vertex]
        first = vertex not in written
        written.add(vertex)
        return f"(u{vertex}:`{label}`)" if first and label is not None else f"(u{vertex})"


def read_query(path: Path) -> QueryFile:
    """Reads the `.graph` text format: `t V E`, `v id label degree`, `e u v`."""
    labels: list[str | None] = []
    edges: list[tuple[int, int]] = []
    for line in path.read_text().splitlines():
        match line.split():
            case ["v", vertex, label, *_]:
                assert int(vertex) == len(labels)
                labels.append(label)
            case ["e", source, target, *_]:
                edges.append((int(source), int(target)))
    return QueryFile(tuple(labels), tuple(edges))


def _unlabelled(edges: str) -> QueryFile:
    pairs = tuple((int(pair[0]), int(pair[2])) for pair in edges.split())
    return QueryFile((None,) * (1 + max(max(pair) for pair in pairs)), pairs)


SMALL_PATTERNS = {
    "P1": _unlabelled("0-1 1-2 0-2"),
    "P2": _unlabelled("0-1 0-2 0-3 1-2 1-3 2-3"),
    "P3": _unlabelled("0-1 1-2 2-3 3-0 0-2"),
    "P4": _unlabelled("0-1 1-2 2-3 3-0"),
    "P5": _unlabelled("0-1 0-2 1-3 2-4 3-4 3-2 1-4"),
    "P6": _unlabelled("0-1 0-2 1-2 1-3 2-4 3-4 1-4 2-3"),
    "P7": _unlabelled("0-1 0-2 0-3 0-4 1-2 2-4 4-3 3-1"),
    "P8": _unlabelled("0-1 0-2 0-3 0-4 1-2 1-3 1-4 2-3 2-4"),
    "P9": _unlabelled("0-1 0-2 0-3 0-4 1-2 1-3 1-4 2-3 2-4 3-4"),
}
