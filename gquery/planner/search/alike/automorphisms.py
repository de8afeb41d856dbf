"""Automorphisms of a graph of coloured vertices and numbered links: colour refinement and a stabiliser chain.

Colours are refined until vertices of one colour have the same links to every colour. The vertices of an order are then
fixed one by one, the colours refined after each, which soon leaves few vertices that could still change places. From
the last vertex back to the first, automorphisms are searched for that take the vertex to others of its colour and fix
those before it; what is found makes orbits together with what was found below, so that few searches are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gquery.records import record
from gquery.stopping import Check

_STEPS = 20_000  # images that are tried for the vertices of one graph; beyond, its symmetry is left alone

Automorphism = dict[int, int]
"""The vertices that move, each with where it goes."""
Links = list[dict[int, int]]
"""For each vertex the numbers of what links it to others."""
Quad = tuple[int, int, int, int]


@record(frozen=True, slots=True)
class Found:
    """A vertex that can change places: its orbit, itself first, under the automorphisms that fix the vertices before
    it, and those of them that make the orbit."""

    orbit: tuple[int, ...]
    generators: tuple[Automorphism, ...]


def refined(links: Links, colours: Sequence[int], check: Check) -> list[int]:
    """Colours that also tell apart vertices whose neighbours look different."""
    partition = _Partition(links, colours, check)
    partition.refine(range(len(links)))
    return partition.colours


def stabiliser_chain(
    links: Links, colours: Sequence[int], quads: Sequence[Quad], order: Sequence[int], check: Check
) -> list[Found]:
    """Along an order, every vertex that can change places with later ones. Nothing when that is too hard to find.
    Automorphisms keep links, refined colours and `quads`, (a, b, c, d) for {{a, b}, {c, d}}."""
    partition = _Partition(links, colours, check)
    levels: list[tuple[int, tuple[int, ...], list[int]]] = []  # vertex, those that it could be, colours
    for vertex in order:
        alike = partition.alike(vertex)
        if len(alike) > 1:
            levels.append((vertex, tuple(sorted(alike)), list(partition.colours)))
            partition.fix(vertex)
    search = _Search(links, quads, check)
    group = _Group(len(links))
    found: list[Found] = []
    for vertex, alike_vertices, finest in reversed(levels):
        refused: set[int] = set()
        for image in alike_vertices:
            if group.leader(image) in refused or group.leader(image) == group.leader(vertex):
                continue
            automorphism = search.run(vertex, image, finest)
            if search.left <= 0:
                return []
            if automorphism is None:
                refused.add(group.leader(image))
            else:
                group.add(automorphism)
                refused = {group.leader(each) for each in refused}
        orbit = group.orbit(vertex, alike_vertices)
        if len(orbit) > 1:
            found.append(Found(orbit, group.moving(orbit)))
    return found[::-1]


def automorphism(
    links: Links, colours: Sequence[int], quads: Sequence[Quad], move: tuple[int, int], check: Check
) -> Automorphism | None:
    """One that keeps links, refined colours and `quads`, and takes the first of two vertices to the second; None when
    there is none, or when that is too hard to find."""
    return _Search(links, quads, check).run(*move, colours)


class _Partition:
    """Vertices by colour, where those of one colour have the same links to every colour."""

    def __init__(self, links: Links, colours: Sequence[int], check: Check) -> None:
        self.links = links
        self.colours = list(colours)
        self.check = check
        self._cells: dict[int, set[int]] = {}
        for vertex, colour in enumerate(colours):
            self._cells.setdefault(colour, set()).add(vertex)
        self._next = max(colours, default=0) + 1

    def alike(self, vertex: int) -> set[int]:
        return self._cells[self.colours[vertex]]

    def fix(self, vertex: int) -> None:
        """Gives a vertex a colour of its own."""
        self.refine(self._recoloured([vertex]))

    def refine(self, changed: Iterable[int]) -> None:
        """Splits colours after these vertices have changed theirs."""
        dirty = set(changed)
        while dirty:
            self.check()
            moved: list[int] = []
            for colour in sorted({self.colours[vertex] for vertex in dirty}):
                cell = self._cells[colour]
                if len(cell) > 1:
                    moved.extend(self._split(cell, cell & dirty))
            dirty = {other for vertex in moved for other in self.links[vertex]}

    def _split(self, cell: set[int], touched: set[int]) -> list[int]:
        """Splits a cell of which only some vertices can look different now; returns those of another colour."""
        looks: dict[tuple[tuple[int, int], ...], list[int]] = {}
        for vertex in sorted(touched):
            looks.setdefault(self._look(vertex), []).append(vertex)
        if len(touched) < len(cell):
            kept = self._look(next(vertex for vertex in cell if vertex not in touched))
        else:
            kept = max(looks, key=lambda look: len(looks[look]))
        changed: list[int] = []
        for look, vertices in looks.items():
            if look != kept:
                self._recoloured(vertices)
                changed += vertices
        return changed

    def _recoloured(self, vertices: list[int]) -> Iterator[int]:
        """Gives some vertices of one colour a new one; returns their neighbours."""
        self._cells[self.colours[vertices[0]]].difference_update(vertices)
        self._cells[self._next] = set(vertices)
        for vertex in vertices:
            self.colours[vertex] = self._next
        self._next += 1
        return (other for vertex in vertices for other in self.links[vertex])

    def _look(self, vertex: int) -> tuple[tuple[int, int], ...]:
        return tuple(sorted((link, self.colours[other]) for other, link in self.links[vertex].items()))


class _Group:
    """Orbits under the automorphisms found so far."""

    def __init__(self, size: int) -> None:
        self._leader = list(range(size))
        self._generators: list[Automorphism] = []

    def add(self, automorphism: Automorphism) -> None:
        self._generators.append(automorphism)
        for vertex, image in automorphism.items():
            one, other = sorted((self.leader(vertex), self.leader(image)))
            self._leader[other] = one

    def leader(self, vertex: int) -> int:
        while self._leader[vertex] != vertex:
            self._leader[vertex] = self._leader[self._leader[vertex]]
            vertex = self._leader[vertex]
        return vertex

    def orbit(self, vertex: int, among: tuple[int, ...]) -> tuple[int, ...]:
        leader = self.leader(vertex)
        return (vertex, *(other for other in among if other != vertex and self.leader(other) == leader))

    def moving(self, orbit: tuple[int, ...]) -> tuple[Automorphism, ...]:
        """The generators that move vertices of an orbit."""
        moved = set(orbit)
        return tuple(generator for generator in self._generators if not moved.isdisjoint(generator))


class _Search:
    """Backtracking for one automorphism at a time. left: images that may still be tried."""

    def __init__(self, links: Links, quads: Sequence[Quad], check: Check) -> None:
        self.links = links
        self.check = check
        self.left = _STEPS
        self._quads = quads
        self._quads_at: dict[int, list[Quad]] = {}
        self._known: set[int] = set()

    def run(self, vertex: int, image: int, colours: Sequence[int]) -> Automorphism | None:
        """An automorphism that keeps the colours and takes `vertex` to `image`."""
        self.check()
        if self._are_twins(vertex, image):
            self.left -= 1
            swap = {vertex: image, image: vertex}
            if self._keeps_quads(swap):
                return swap
        cells: dict[int, list[int]] = {}
        for other, colour in enumerate(colours):
            cells.setdefault(colour, []).append(other)
        free = {other for cell in cells.values() if len(cell) > 1 for other in cell}
        sequence = self._sequence(vertex, free)
        images: Automorphism = {}
        origins: Automorphism = {}
        tries: list[Iterator[int]] = [iter((image,))]
        while tries and self.left > 0:
            moving = sequence[len(tries) - 1]
            if moving in images:  # back from deeper down
                del origins[images.pop(moving)]
            fitting = self._next_fit(tries[-1], moving, images, origins, free)
            if fitting is None:
                tries.pop()
                continue
            images[moving], origins[fitting] = fitting, moving
            if len(tries) < len(sequence):
                following = sequence[len(tries)]
                tries.append(_candidates(following, cells[colours[following]], origins))
                continue
            moved = {one: other for one, other in images.items() if one != other}
            if self._keeps_quads(moved):
                return moved
        return None

    def _next_fit(
        self, candidates: Iterator[int], vertex: int, images: Automorphism, origins: Automorphism, free: set[int]
    ) -> int | None:
        for candidate in candidates:
            self.left -= 1
            if self.left <= 0:
                return None
            if candidate not in origins and self._fits(vertex, candidate, images, origins, free):
                return candidate
        return None

    def _fits(self, vertex: int, image: int, images: Automorphism, origins: Automorphism, free: set[int]) -> bool:
        """Whether the links of the vertex to those that have an image are the image's links to these."""
        theirs = self.links[image]
        count = 0
        for other, link in self.links[vertex].items():
            if other not in free:
                if theirs.get(other) != link:
                    return False
            elif other in images:
                if theirs.get(images[other]) != link:
                    return False
                count += 1
        return count == sum(other in origins for other in theirs)

    def _are_twins(self, one: int, other: int) -> bool:
        """Whether two vertices have the same links to all the others, and each to the other the same."""
        first, second = self.links[one], self.links[other]
        if len(first) != len(second) or first.get(other) != second.get(one):
            return False
        return all(second.get(third) == link for third, link in first.items() if third != other)

    def _sequence(self, vertex: int, free: set[int]) -> list[int]:
        """The vertices that may move, each next to earlier ones where possible."""
        sequence: list[int] = []
        seen: set[int] = set()
        for start in (vertex, *sorted(free)):
            if start in seen:
                continue
            seen.add(start)
            sequence.append(start)
            place = len(sequence) - 1
            while place < len(sequence):
                for other in self.links[sequence[place]]:
                    if other in free and other not in seen:
                        seen.add(other)
                        sequence.append(other)
                place += 1
        return sequence

    def _keeps_quads(self, moved: Automorphism) -> bool:
        if not self._quads:
            return True
        if not self._quads_at:
            for quad in self._quads:
                self._known.add(_number(*quad, len(self.links)))
                for vertex in set(quad):
                    self._quads_at.setdefault(vertex, []).append(quad)
        size, to = len(self.links), list(range(len(self.links)))
        for vertex, image in moved.items():
            to[vertex] = image
        touched = {quad for vertex in moved for quad in self._quads_at.get(vertex, ())}
        return all(_number(to[a], to[b], to[c], to[d], size) in self._known for a, b, c, d in touched)


def _candidates(vertex: int, alike: list[int], origins: Automorphism) -> Iterator[int]:
    """Itself first, as most vertices stay where they are, then what takes its place, then all the others."""
    yield vertex
    origin = origins.get(vertex)
    if origin is not None:
        yield origin
    yield from (other for other in alike if other not in (vertex, origin))


def _number(a: int, b: int, c: int, d: int, size: int) -> int:
    """One number for all the ways to write a quad."""
    first = a * size + b if a < b else b * size + a
    second = c * size + d if c < d else d * size + c
    return first * size * size + second if first < second else second * size * size + first
