"""Symmetry breaking: of all matches that differ by an automorphism of the query graph, only one is looked for.

Along the matching order, each vertex takes the smallest data vertex of its orbit under the automorphisms that fix the
vertices before it (a stabiliser chain), so exactly one match of each class is found, and the product of the orbits'
sizes says how many it stands for. That needs an orbit's vertices to be different vertices in every match.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from itertools import chain
from math import factorial, prod

from gquery.lasting.properties import cached_property
from gquery.planner.ir.expr import Expression
from gquery.planner.ir.problem import Problem
from gquery.planner.ir.rename import unnamed
from gquery.planner.search.alike.automorphisms import Automorphism, Links, automorphism, refined, stabiliser_chain
from gquery.planner.search.cardinality import ENDLESS
from gquery.records import record
from gquery.stopping import Check
from gquery.storage.schema import TURNED


@record(frozen=True, slots=True)
class Breaking:
    """How symmetry is broken along a matching order. size: query vertices; orbits: of every level that is broken the
    orbit of its vertex, which comes first; generators: automorphisms that fix the vertices before, and that make the
    orbit."""

    size: int
    orbits: tuple[tuple[int, ...], ...]
    generators: tuple[tuple[Automorphism, ...], ...]

    @property
    def factor(self) -> int:
        """How many matches each one that is found stands for."""
        return prod(map(len, self.orbits))

    @property
    def above(self) -> Mapping[int, tuple[int, ...]]:
        """For query vertices those earlier ones whose data vertices must have smaller ids; not those that are smaller
        than another of them anyway."""
        smaller: defaultdict[int, list[int]] = defaultdict(list)
        for vertex, *others in self.orbits:
            for other in others:
                smaller[other].append(vertex)
        masks = {vertex: sum(1 << other for other in those) for vertex, those in smaller.items()}
        needed = {}
        for vertex, those in smaller.items():
            implied = 0
            for other in those:
                implied |= masks.get(other, 0)
            needed[vertex] = tuple(other for other in those if not implied >> other & 1)
        return needed

    @property
    def vertices(self) -> tuple[int, ...]:
        """Those that are the smallest of their orbits."""
        return tuple(orbit[0] for orbit in self.orbits)

    def at(self, vertices: Collection[int]) -> Breaking:
        """Broken at some of the vertices only: every orbit is that of a group of its own, inside the one before."""
        kept = [place for place, orbit in enumerate(self.orbits) if orbit[0] in vertices]
        orbits = tuple(self.orbits[place] for place in kept)
        return Breaking(self.size, orbits, tuple(self.generators[place] for place in kept))

    def sparing(self, constants: Mapping[int, tuple[int, ...]]) -> Breaking:
        """Without the orbits that would have a vertex be larger than another, but not its constants."""
        needed = [(vertex, constant) for vertex, those in constants.items() for constant in those]
        spared = (o for o in self.orbits if not any(v in o[1:] and constant not in o[1:] for v, constant in needed))
        return self.at({orbit[0] for orbit in spared})

    def permutations(self) -> tuple[tuple[int, ...], ...]:
        """What each match that is found stands for: in another of its class, vertex v is matched to what p[v] is in
        this one. As many as the factor, itself among them.

        A match m becomes the one with the smallest vertices by taking at each level the automorphism t that brings the
        smallest of the orbit to the front: m t1 t2 ... Back again goes the inverse of the product.
        """
        products = [tuple(range(self.size))]
        for orbit, generators in zip(self.orbits, self.generators, strict=True):
            turns = _turns(orbit[0], generators)
            products = [
                tuple(product[turns[image].get(vertex, vertex)] for vertex in range(self.size))
                for product in products
                for image in orbit
            ]
        return tuple(tuple(sorted(range(self.size), key=product.__getitem__)) for product in products)


def _turns(vertex: int, generators: Sequence[Automorphism]) -> dict[int, Automorphism]:
    """For every vertex of an orbit an automorphism that takes `vertex` there."""
    turns: dict[int, Automorphism] = {vertex: {}}
    pending = [vertex]
    for point in pending:
        for generator in generators:
            image = generator.get(point, point)
            if image not in turns:
                turn = turns[point]
                moved = {moving: generator.get(to, to) for moving, to in turn.items()}
                turns[image] = {**{moving: to for moving, to in generator.items() if moving not in turn}, **moved}
                pending.append(image)
    return turns


class Symmetry:
    """The automorphisms of a problem: permutations of its vertices that keep labels, predicates, edges and tests.

    told_apart: what else to tell a vertex by. kept: the vertices that are listed, which change places with each other
    only. colours: numbers of the query vertices; only those of equal colour can change places.
    """

    def __init__(
        self,
        problem: Problem,
        check: Check,
        told_apart: Sequence[Hashable] | None = None,
        kept: Collection[int] = (),
    ) -> None:
        self.problem = problem
        self.size = len(problem.graph.vertices)
        self._links: Links = []
        self.colours = _colours(problem, told_apart, kept)
        if not self.is_trivial:
            self._links = _links(problem, check)
            self.colours = refined(self._links, self.colours, check)

    @property
    def is_trivial(self) -> bool:
        """Whether no two vertices look alike."""
        return len(set(self.colours)) == self.size

    @property
    def at_most(self) -> float:
        """A bound on the number of automorphisms: the permutations that keep the colours."""
        bound = 1.0
        for count in Counter(self.colours).values():
            bound = min(ENDLESS, bound * factorial(min(count, 60)))
        return bound

    def generators(self, check: Check) -> list[Automorphism]:
        """Automorphisms that make all others, where these are not too hard to find: whether vertices that change places
        may be one data vertex is not asked."""
        quads, order = self.problem.constraints.different_pairs, range(self.size)
        found = stabiliser_chain(self._links, self.colours, quads, order, check)
        return [generator for level in found for generator in level.generators]

    def taking(self, vertex: int, image: int, check: Check) -> Automorphism | None:
        """An automorphism that takes a vertex to another of its colour; None where there is none, or none that is found
        soon enough."""
        return automorphism(self._links, self.colours, self.problem.constraints.different_pairs, (vertex, image), check)

    def break_along(self, order: tuple[int, ...], check: Check) -> Breaking:
        """How symmetry can be broken along a matching order: not at all when automorphisms are too hard to find."""
        found = stabiliser_chain(self._links, self.colours, self.problem.constraints.different_pairs, order, check)
        broken = [level for level in found if _is_within(level.orbit, self._different)]
        return Breaking(self.size, tuple(level.orbit for level in broken), tuple(level.generators for level in broken))

    @cached_property
    def _different(self) -> list[int]:
        """For each vertex the mask of those that are other data vertices in every match."""
        masks = [1 << vertex for vertex in range(self.size)]
        for one, other in self.problem.constraints.different | self.problem.constraints.apart:
            masks[one] |= 1 << other
            masks[other] |= 1 << one
        return masks


def _is_within(orbit: tuple[int, ...], different: list[int]) -> bool:
    mask = 0
    for vertex in orbit:
        mask |= 1 << vertex
    return all(not mask & ~different[vertex] for vertex in orbit)


def _colours(problem: Problem, told_apart: Sequence[Hashable] | None, kept: Collection[int]) -> list[int]:
    """Vertices of equal colour may change places as far as they alone are concerned. Those that a comparison
    speaks of, and those of parts, stay where they are; so do in problems made from a query the ends of edges that may
    still be one data edge: others of their clause may be allowed to."""
    speaking = {vertex for comparison in problem.comparisons for vertex in (comparison.left, comparison.right)}
    speaking |= {vertex for part in problem.graph.parts for vertex in part.vertices}
    if told_apart is not None:
        speaking |= {end for choice in problem.constraints.choices if choice.collides for end in choice.vertices}
    loopless = set(problem.constraints.loopless)
    loops: dict[int, list[Hashable]] = {}
    for edge in problem.graph.edges:
        if edge.source == edge.target:
            loops.setdefault(edge.source, []).append((edge.relation, _anonymous(edge.predicates)))
    in_quads = Counter(chain.from_iterable(problem.constraints.different_pairs))
    return _numbered(
        (
            vertex.index if vertex.index in speaking else -1,
            vertex.index in kept,
            vertex.tables,
            _anonymous(vertex.predicates),
            frozenset(Counter(loops.get(vertex.index, ())).items()),
            vertex.index in loopless,
            in_quads[vertex.index],
            None if told_apart is None else told_apart[vertex.index],
        )
        for vertex in problem.graph.vertices
    )  # fmt: skip


_Fact = tuple[Hashable, ...]
_NOTHING: tuple[_Fact, ...] = ()


def _links(problem: Problem, check: Check) -> Links:
    """Numbers of what stands between two vertices, as seen from the first. What most pairs have in common, such as
    being different vertices, tells nothing and is left out. Which data edges may collide with which is left to the
    scopes: only within one of them do they."""
    size = len(problem.graph.vertices)
    facts = _tests_between(problem)
    check()
    common = _most_common(facts, size)
    if common:
        for one in range(size):
            check()
            for other in range(one + 1, size):
                if facts.setdefault((one, other), _NOTHING) == common:
                    del facts[one, other]
    for (one, other), between in _edges_between(problem).items():
        facts[one, other] = (*facts.get((one, other), common), between)
    numbers: dict[object, int] = {}
    links: Links = [{} for _ in range(size)]
    for (one, other), found in facts.items():
        links[one][other] = numbers.setdefault(frozenset(found), len(numbers))
        links[other][one] = numbers.setdefault(frozenset(map(_turned, found)), len(numbers))
    return links


def _tests_between(problem: Problem) -> dict[tuple[int, int], tuple[_Fact, ...]]:
    """What tests say of pairs, the lower first, as seen from there."""
    different = (("different",),)
    facts: dict[tuple[int, int], tuple[_Fact, ...]] = dict.fromkeys(problem.constraints.different, different)
    known: dict[object, tuple[_Fact, ...]] = {}  # one object for equal facts
    for one, other, direction, types in problem.constraints.absent:
        pair, seen = ((one, other), direction) if one < other else ((other, one), TURNED[direction])
        earlier = facts.get(pair, _NOTHING)
        key = (earlier, seen, types)
        if key not in known:
            known[key] = (*earlier, ("absent", seen, types))
        facts[pair] = known[key]
    return facts


def _most_common(facts: Mapping[tuple[int, int], tuple[_Fact, ...]], size: int) -> tuple[_Fact, ...]:
    """What stands between most pairs, if it is the same from both sides."""
    if not facts:
        return _NOTHING
    ((common, count),) = Counter(facts.values()).most_common(1)
    if 2 * count <= size * (size - 1) // 2 or set(common) != set(map(_turned, common)):
        return _NOTHING
    return common


def _edges_between(problem: Problem) -> dict[tuple[int, int], _Fact]:
    """The edges of every pair that has any, the lower vertex first, as seen from there."""
    found: defaultdict[tuple[int, int], Counter[Hashable]] = defaultdict(Counter)
    choices = {choice.edge: (len(choice.collides), choice.listed) for choice in problem.constraints.choices}
    scopes_of: defaultdict[int, list[int]] = defaultdict(list)
    for number, scope in enumerate(problem.graph.scopes):
        for edge_index in scope.edges:
            scopes_of[edge_index].append(number)
    for edge in problem.graph.edges:
        if edge.source == edge.target:
            continue
        origin, choice = problem.edges[edge.index], choices.get(edge.index)
        scopes = tuple(scopes_of[origin]) if origin is not None and choice is not None and choice[0] else ()
        low, high = min(edge.source, edge.target), max(edge.source, edge.target)
        kind = (edge.relation, _anonymous(edge.predicates), scopes, choice)
        found[low, high][(*kind, edge.direction(low))] += 1
    return {pair: ("edges", frozenset(counter.items())) for pair, counter in found.items()}


def _turned(fact: _Fact) -> _Fact:
    """A fact as seen from the other vertex."""
    match fact:
        case ("absent", direction, types):
            return "absent", TURNED[direction], types  # type: ignore[index]
        case ("edges", counted):
            return "edges", frozenset(((*kind, TURNED[seen]), n) for (*kind, seen), n in counted)  # type: ignore
        case _:
            return fact


def _anonymous(predicates: tuple[Expression, ...]) -> frozenset[Expression]:
    """Predicates on one element without its name."""
    return frozenset(unnamed(predicate) for predicate in predicates)


def _numbered(values: object) -> list[int]:
    numbers: dict[object, int] = {}
    return [numbers.setdefault(value, len(numbers)) for value in values]  # type: ignore[attr-defined]
