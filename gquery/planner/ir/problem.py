"""A query graph with all tests on its matches. Indices are those of the query graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from gquery.lasting.properties import cached_property
from gquery.planner.ir.expr import Attribute, Call, Column, Expression, Kind, Type, is_volatile, variables
from gquery.planner.ir.hashed import Hashed
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.types.common_type import is_number
from gquery.records import record, replace
from gquery.storage.schema import TURNED, Direction

Pair = tuple[int, int]
Absence = tuple[int, int, Direction, tuple[str, ...]]


def ascending(one: int, other: int) -> Pair:
    """Two query vertices as tests name them."""
    return (one, other) if one < other else (other, one)


@record(frozen=True, slots=True)
class Comparison:
    """A predicate over two vertices: `left_value operator right_value`, operator one of `= <> < <=`.

    Both sides are evaluated once per candidate and compared by rank inside the enumeration.
    """

    left: int
    left_value: Expression
    operator: str
    right: int
    right_value: Expression

    def renumbered(self, vertices: Mapping[int, int]) -> Comparison:
        return replace(self, left=vertices[self.left], right=vertices[self.right])


@record(frozen=True, slots=True)
class EdgeChoice:
    """A query edge whose data edges have to be told apart. `collides`: query edges that must be other data edges.
    `vertices`: the ends of all edges that it may collide with, directly or through others, and its own. `listed`:
    the data edges are part of the answer; otherwise their number is a factor."""

    edge: int
    collides: tuple[int, ...]
    vertices: tuple[int, ...]
    listed: bool

    def renumbered(self, vertices: Mapping[int, int], edges: Mapping[int, int]) -> EdgeChoice:
        own = tuple(sorted({vertices[vertex] for vertex in self.vertices}))
        return EdgeChoice(edges[self.edge], tuple(edges[other] for other in self.collides), own, self.listed)


@record(frozen=True, slots=True)
class Constraints:
    """What the match modes demand beyond labels and edges. Pairs of query vertices are ascending.

    different: pairs that must be different vertices. apart: pairs that are different anyway, because of an edge between
    them. different_pairs: (a, b, c, d), not both a = b and c = d. absent: (u, w, direction, types), no data edge of the
    types between them, as seen from u. loopless: vertices without a self-loop. choices: the query edges whose data
    edges are told apart.
    """

    different: frozenset[Pair] = frozenset()
    apart: frozenset[Pair] = frozenset()
    different_pairs: tuple[tuple[int, int, int, int], ...] = ()
    absent: tuple[Absence, ...] = ()
    loopless: tuple[int, ...] = ()
    choices: tuple[EdgeChoice, ...] = ()

    @property
    def tests(self) -> int:
        """How many pairs of vertices, of pairs and of edges are told apart."""
        collisions = sum(len(choice.collides) for choice in self.choices) // 2
        return len(self.different) + len(self.different_pairs) + len(self.absent) + collisions

    @property
    def size(self) -> int:
        """How many tests there are, and vertices and edges that choices speak of."""
        tests = len(self.different) + len(self.apart) + len(self.different_pairs) + len(self.absent)
        return tests + sum(len(choice.vertices) + len(choice.collides) for choice in self.choices)

    def renumbered(self, vertices: Mapping[int, int], edges: Mapping[int, int]) -> Constraints | None:
        """In terms of other vertices and edges, by the old ones; several old vertices may become one. None when a test
        can never be passed then."""

        def pair_of(one: int, other: int) -> Pair:
            return ascending(vertices[one], vertices[other])

        different = {pair_of(*pair) for pair in self.different}
        apart = {pair_of(*pair) for pair in self.apart}
        quads: list[tuple[int, int, int, int]] = []
        for a, b, c, d in self.different_pairs:
            first, second = pair_of(a, b), pair_of(c, d)
            if first[0] == first[1] and second[0] == second[1]:
                return None
            if first[0] == first[1]:
                different.add(second)
            elif second[0] == second[1]:
                different.add(first)
            else:
                quads.append((*first, *second))
        if any(low == high for low, high in different | apart):
            return None
        implied = different | apart
        absent = ((vertices[one], vertices[other], direction, types) for one, other, direction, types in self.absent)
        return Constraints(
            frozenset(different - apart),
            frozenset(apart),
            tuple(dict.fromkeys(quad for quad in quads if not {quad[:2], quad[2:]} & implied)),
            tuple(dict.fromkeys(absent)),
            tuple(sorted({vertices[vertex] for vertex in self.loopless})),
            tuple(choice.renumbered(vertices, edges) for choice in self.choices),
        )


@record(frozen=True)
class Problem:
    """A query graph with all tests on its matches: the query's own, or one that was made from it to count by.

    merged: for each vertex the vertices of the query that it stands for. edges: for each edge the query's edge, or None
    for one that was added. coefficient: how often its matches count, negative for those that were counted too much.
    """

    graph: QueryGraph
    constraints: Constraints
    comparisons: tuple[Comparison, ...]
    merged: tuple[tuple[int, ...], ...]
    edges: tuple[int | None, ...]
    coefficient: int = 1

    def of(self, vertices: Collection[int]) -> frozenset[int]:
        """The vertices that stand for some of the query's; of several the first, from which self-loops lead to the
        others."""
        return frozenset(next(own for own, group in enumerate(self.merged) if vertex in group) for vertex in vertices)

    def tests(self) -> Iterator[tuple[int, ...]]:
        """Sets of vertices that are spoken of together by more than an edge whose data edges all count."""
        yield from self.plain_tests()
        yield from self.constraints.different_pairs
        yield from self.checks()

    def plain_tests(self) -> Iterator[tuple[int, ...]]:
        """Those of the tests that take something away from a set, or that an edge exists."""
        existence = (
            edge for edge in self.graph.edges if self.edges[edge.index] is None or self.graph.is_existence(edge)
        )
        yield from ((edge.source, edge.target) for edge in existence)
        yield from self.different

    def checks(self) -> Iterator[tuple[int, ...]]:
        """Those of the tests that each candidate has to be looked at for, pairs that differ (`different_pairs`)
        apart."""
        yield from ((comparison.left, comparison.right) for comparison in self.comparisons)
        yield from ((one, other) for one, other, *_ in self.constraints.absent)
        for choice in self.constraints.choices:
            if choice.collides or choice.listed or len(choice.vertices) == 1:
                yield choice.vertices

    def without_choices(self) -> Problem:
        """The same where one data edge is as good as several."""
        return replace(self, constraints=replace(self.constraints, choices=()))

    @cached_property
    def different(self) -> frozenset[tuple[int, int]]:
        """The pairs that have to be tested for being different vertices: not those of which one is a neighbour of a
        third vertex and the other must not be."""
        pairs = self.constraints.different
        if not self.constraints.absent or not pairs or self.graph.parts:
            return pairs
        strangers: dict[tuple[int, Direction, tuple[str, ...]], int] = defaultdict(int)  # masks of vertices
        for one, other, direction, types in self.constraints.absent:
            strangers[one, direction, types] |= 1 << other
            strangers[other, TURNED[direction], types] |= 1 << one
        incident = self.graph.incident
        implied = [0] * len(self.graph.vertices)
        for (centre, direction, types), far in strangers.items():
            for edge in incident[centre]:
                if not edge.relation.of_data_edges or direction not in ("both", edge.direction(centre)):
                    continue
                if set(edge.types) <= set(types):
                    implied[edge.other(centre)] |= far
        return frozenset(
            (one, other) for one, other in pairs if not (implied[one] >> other | implied[other] >> one) & 1
        )

    @cached_property
    def key(self) -> Hashed:
        """What tells the problems of one query apart, but for their coefficients."""
        edges = tuple((edge.source, edge.target, edge.relation, edge.directed) for edge in self.graph.edges)
        return Hashed((self.merged, self.edges, edges, self.constraints))


# --- which conditions are comparisons ------------------------------------------------------------------------------

_MIRRORED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def parts_are_checked(graph: QueryGraph) -> bool:
    """Whether all that the optional and negated parts of a query graph ask of several elements, of paths, of none, or
    of chance is compared while these are matched: nothing of them can be asked afterwards."""
    if not graph.parts:
        return True
    index = {vertex.variable: vertex.index for vertex in graph.vertices}
    paths = {path.name for path in graph.paths}
    told = ((each, variables(each)) for part in graph.parts for each in part.predicates)
    asked = (each for each, names in told if len(names) != 1 or names <= paths or is_volatile(each))
    return all(compared(each, index) is not None for each in asked)


def compared(predicate: Expression, index: dict[str, int]) -> Comparison | None:
    """The predicate as a comparison of two vertices, whose places `index` gives by their variables; None where it is
    none that ranks decide."""
    if not (isinstance(predicate, Call) and predicate.function in _MIRRORED and len(predicate.arguments) == 2):
        return None
    left, right = predicate.arguments
    operator = predicate.function
    if operator in (">", ">="):
        left, right, operator = right, left, _MIRRORED[operator]
    ends = [next(iter(names)) if len(names) == 1 else None for names in (variables(left), variables(right))]
    if ends[0] == ends[1] or ends[0] not in index or ends[1] not in index:
        return None
    if not _comparable(left, right, operator):
        return None
    return Comparison(index[ends[0]], left, operator, index[ends[1]], right)


def _comparable(left: Expression, right: Expression, operator: str) -> bool:
    """Whether comparing ranks is comparing values. NaN differs from itself, and families of values have no order among
    them: `<>` where there may be NaN, and an order of several families, are left to the tail."""
    kinds = (left.type.kind, right.type.kind)
    if kinds == (Kind.NODE, Kind.NODE):
        plain = all(isinstance(side, Column) and side.attribute is Attribute.ELEMENT for side in (left, right))
        return plain and operator in ("=", "<>")
    if Kind.NULL in kinds:
        return False
    if operator == "<>" and any(Kind.FLOAT in _kinds(side.type) for side in (left, right)):
        return False
    if is_number(left.type) and is_number(right.type):
        return True
    if Kind.ANY in kinds:
        nested = any(_kinds(side.type) & _NESTED for side in (left, right))
        return operator in ("=", "<>") and not nested
    if kinds in ((Kind.STRING,) * 2, (Kind.BOOLEAN,) * 2):
        return True
    return kinds == (Kind.TEMPORAL, Kind.TEMPORAL) and left.type.arrow == right.type.arrow


_NESTED = frozenset({Kind.LIST, Kind.MAP, Kind.PATH, Kind.NODE, Kind.RELATIONSHIP})


def _kinds(type_: Type) -> frozenset[Kind]:
    return frozenset(member.kind for member in type_.members or (type_,))
