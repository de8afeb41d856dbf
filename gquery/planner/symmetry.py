"""Symmetry breaking: of all matches that differ by an automorphism of the query graph, only one is looked for.

Along the matching order, each vertex takes the smallest data vertex of its orbit under the automorphisms that fix the
vertices before it (a stabiliser chain), so exactly one match of each class is found, and the product of the orbits'
sizes says how many it stands for. That needs an orbit's vertices to be different vertices in every match.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from math import factorial, prod

from gquery.planner.expr import Column, Expression, children
from gquery.planner.physical import Problem

_STEPS = 5_000  # in the search for automorphisms of one query graph; beyond, its symmetry is left alone

Automorphism = dict[int, int]


@dataclass(frozen=True, slots=True)
class Breaking:
    """How symmetry is broken along a matching order. size: query vertices; orbits: of every level that is broken the
    orbit of its vertex, which comes first, with an automorphism that takes the vertex to each and fixes those before.
    """

    size: int
    orbits: tuple[Mapping[int, Automorphism], ...]

    @property
    def factor(self) -> int:
        """How many matches each one that is found stands for."""
        return prod(len(orbit) for orbit in self.orbits)

    @property
    def above(self) -> Mapping[int, tuple[int, ...]]:
        """For query vertices those earlier ones whose data vertices must have smaller ids."""
        smaller: dict[int, list[int]] = {}
        for orbit in self.orbits:
            vertex, *others = orbit
            for other in others:
                smaller.setdefault(other, []).append(vertex)
        return {vertex: _needed(those, smaller) for vertex, those in smaller.items()}

    def permutations(self) -> tuple[tuple[int, ...], ...]:
        """What each match that is found stands for: in another of its class, vertex v is matched to what p[v] is in
        this one. As many as the factor, itself among them.

        A match m becomes the one with the smallest vertices by taking at each level the automorphism t that brings the
        smallest of the orbit to the front: m t1 t2 ... Back again goes the inverse of the product.
        """
        products = [tuple(range(self.size))]
        for orbit in self.orbits:
            products = [
                tuple(product[turn[vertex]] for vertex in range(self.size))
                for product in products
                for turn in orbit.values()
            ]
        return tuple(tuple(sorted(range(self.size), key=product.__getitem__)) for product in products)


class Symmetry:
    """The automorphisms of a problem: permutations of its vertices that keep labels, predicates, edges and tests.

    colours: numbers of the query vertices; only those of equal colour can change places.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.size = len(problem.graph.vertices)
        self._links: list[list[int]] = []
        self.colours = _colours(problem)
        if not self.is_trivial:
            self._links = _links(problem)
            self.colours = self._refined(self.colours)
        self._quads = {_canonical(quad) for quad in problem.constraints.different_pairs}
        self._left = _STEPS
        self._found: list[Automorphism] = []

    @property
    def is_trivial(self) -> bool:
        """Whether no two vertices look alike."""
        return len(set(self.colours)) == self.size

    @property
    def at_most(self) -> int:
        """A bound on the number of automorphisms: the permutations that keep the colours."""
        return prod(factorial(count) for count in Counter(self.colours).values())

    def break_along(self, order: tuple[int, ...]) -> Breaking:
        """How symmetry can be broken along a matching order: not at all when automorphisms are too hard to find."""
        constraints = self.problem.constraints
        apart = constraints.different | constraints.apart
        broken = []
        for level, vertex in enumerate(order):
            images = ((other, self._mapping(order[:level], vertex, other)) for other in order[level:])
            orbit = {image: mapping for image, mapping in images if mapping is not None}
            if self._left <= 0:
                return Breaking(self.size, ())
            if all((min(pair), max(pair)) in apart for pair in combinations(orbit, 2)):
                broken.append(orbit)
        return Breaking(self.size, tuple(broken))

    def _mapping(self, fixed: tuple[int, ...], vertex: int, image: int) -> Automorphism | None:
        """An automorphism that fixes some vertices and takes `vertex` to `image`."""
        if vertex == image:
            return {other: other for other in range(self.size)}
        if self.colours[vertex] != self.colours[image]:
            return None
        for known in self._found:
            if known[vertex] == image and all(known[other] == other for other in fixed):
                return known
        images = {other: other for other in fixed}
        return self._completed({**images, vertex: image}) if self._fits(images, vertex, image) else None

    def _completed(self, images: Automorphism) -> Automorphism | None:
        self._left -= 1
        if self._left <= 0:
            return None
        if len(images) == self.size:
            moved = {frozenset(frozenset(images[v] for v in pair) for pair in quad) for quad in self._quads}
            if moved != self._quads:
                return None
            self._found.append(images)
            return images
        vertex = max(
            (v for v in range(self.size) if v not in images),
            key=lambda v: sum(self._links[v][other] != 0 for other in images),
        )
        taken = set(images.values())
        # Itself first: most vertices stay where they are.
        for image in sorted(range(self.size), key=lambda other: other != vertex):
            if image in taken or self.colours[image] != self.colours[vertex]:
                continue
            if self._fits(images, vertex, image):
                completed = self._completed({**images, vertex: image})
                if completed is not None:
                    return completed
        return None

    def _fits(self, images: dict[int, int], vertex: int, image: int) -> bool:
        return all(self._links[vertex][other] == self._links[image][images[other]] for other in images)

    def _refined(self, colours: list[int]) -> list[int]:
        """Colours that also tell apart vertices whose neighbours look different."""
        while True:
            looks = [
                (colours[vertex], tuple(sorted((link, colours[other]) for other, link in enumerate(links) if link)))
                for vertex, links in enumerate(self._links)
            ]
            finer = _numbered(looks)
            if len(set(finer)) == len(set(colours)):
                return finer
            colours = finer


def _canonical(quad: tuple[int, ...]) -> frozenset[frozenset[int]]:
    return frozenset((frozenset(quad[:2]), frozenset(quad[2:])))


def _needed(smaller: list[int], above: dict[int, list[int]]) -> tuple[int, ...]:
    """Without those that are smaller than another of them."""
    return tuple(one for one in smaller if not any(one in above.get(other, ()) for other in smaller))


def _colours(problem: Problem) -> list[int]:
    """Vertices of equal colour may change places as far as they alone are concerned. Those that a comparison
    speaks of, and those of parts, stay where they are."""
    speaking = {vertex for comparison in problem.comparisons for vertex in (comparison.left, comparison.right)}
    speaking |= {vertex for part in problem.graph.parts for vertex in part.vertices}
    loops: dict[int, list[Hashable]] = {}
    for edge in problem.graph.edges:
        if edge.source == edge.target:
            loops.setdefault(edge.source, []).append((edge.types, _anonymous(edge.predicates)))
    return _numbered(
        (
            vertex.index if vertex.index in speaking else -1,
            vertex.tables,
            _anonymous(vertex.predicates),
            frozenset(Counter(loops.get(vertex.index, ())).items()),
            vertex.index in problem.constraints.loopless,
        )
        for vertex in problem.graph.vertices
    )  # fmt: skip


def _links(problem: Problem) -> list[list[int]]:
    """Numbers of what stands between two vertices, as seen from the first; 0 for nothing. Which data edges may collide
    with which is left to the scopes: only within one of them do they."""
    found: defaultdict[tuple[int, int], Counter[Hashable]] = defaultdict(Counter)
    choices = {choice.edge: (len(choice.collides), choice.listed) for choice in problem.constraints.choices}
    for edge in problem.graph.edges:
        origin = problem.edges[edge.index]
        scopes = frozenset(
            number
            for number, scope in enumerate(problem.graph.scopes)
            if origin in scope.edges and choices.get(edge.index, (0, False))[0]
        )
        kind = (edge.types, _anonymous(edge.predicates), scopes, choices.get(edge.index))
        found[edge.source, edge.target][(*kind, "out" if edge.directed else "both")] += 1
        found[edge.target, edge.source][(*kind, "in" if edge.directed else "both")] += 1
    for one, other in problem.constraints.different:
        found[one, other]["different"] += 1
        found[other, one]["different"] += 1
    turned = {"out": "in", "in": "out", "both": "both"}
    for one, other, direction, types in problem.constraints.absent:
        found[one, other]["absent", direction, types] += 1
        found[other, one]["absent", turned[direction], types] += 1
    size = len(problem.graph.vertices)
    links = [[0] * size for _ in range(size)]
    numbers: dict[object, int] = {}
    for (one, other), counter in found.items():
        links[one][other] = numbers.setdefault(frozenset(counter.items()), len(numbers) + 1)
    return links


def _anonymous(predicates: tuple[Expression, ...]) -> frozenset[Expression]:
    """Predicates on one element without its name."""
    return frozenset(unnamed(predicate) for predicate in predicates)


def unnamed(expression: Expression) -> Expression:
    """A predicate on one element without the element's name."""
    if isinstance(expression, Column):
        return replace(expression, variable="")
    if not children(expression):
        return expression
    changes = {}
    for name in ("arguments", "branches", "default", "argument"):
        value = getattr(expression, name, None)
        if value is not None:
            changes[name] = _unnamed_parts(value)
    return replace(expression, **changes)  # type: ignore[arg-type]


def _unnamed_parts(value: object) -> object:
    if isinstance(value, Expression):
        return unnamed(value)
    if isinstance(value, tuple):
        return tuple(_unnamed_parts(part) for part in value)
    return value


def _numbered(values: object) -> list[int]:
    numbers: dict[object, int] = {}
    return [numbers.setdefault(value, len(numbers)) for value in values]  # type: ignore[attr-defined]
