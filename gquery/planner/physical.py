"""The physical plan: what the executor is told, and all that it is told. Indices are those of the query graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from gquery.planner.expr import Expression
from gquery.planner.query_graph import PartKind, QueryGraph
from gquery.planner.recent import Hashed
from gquery.storage.schema import Direction

Space = Literal["candidates", "vertices"]
Absence = tuple[int, int, Direction, tuple[str, ...]]
TURNED: Mapping[Direction, Direction] = {"out": "in", "in": "out", "both": "both"}


@dataclass(frozen=True, slots=True)
class LabelFilter:
    """C(vertex) starts as the vertices of these tables."""

    vertex: int
    tables: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PredicateFilter:
    """Keeps the vertices for which all predicates are true: a column scan of each table."""

    vertex: int
    predicates: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class LoopFilter:
    """Keeps the vertices with (`present`) or without an edge to themselves among `types`."""

    vertex: int
    types: tuple[str, ...]
    present: bool
    edge: int | None


@dataclass(frozen=True, slots=True)
class NeighbourFilter:
    """Keeps the vertices with at least `required` entries of the edge's adjacency that lead to vertices with the
    labels and predicates of the other end: EGSM's neighbour-label count (section 4.2, step 1), typed and directed.
    alike: all query edges at the vertex that ask for the same. share: of the vertices that are thought to stay.
    signature: bits of which a vertex's signature has one exactly when it stays (G-Morph section 3); None: the rows have
    to be looked at."""

    vertex: int
    edge: int
    required: int
    alike: tuple[int, ...] = ()
    share: float = 1.0
    signature: int | None = None


@dataclass(frozen=True, slots=True)
class EdgePredicateFilter:
    """Only the data edges for which all predicates are true are candidates of the query edge."""

    edge: int
    predicates: tuple[Expression, ...]


Filter = LabelFilter | PredicateFilter | LoopFilter | NeighbourFilter | EdgePredicateFilter


@dataclass(frozen=True, slots=True)
class Comparison:
    """A predicate over two vertices: `left_value operator right_value`, operator one of `= <> < <=`.

    Both sides are evaluated once per candidate and compared by rank inside the enumeration.
    """

    left: int
    left_value: Expression
    operator: str
    right: int
    right_value: Expression


@dataclass(frozen=True, slots=True)
class ExtendStep:
    """Matches one more query vertex.

    backward: query edges to vertices matched before; their rows are intersected.
    different_from: vertices that must be others. different_pairs: (a, b, c, d), not both a = b and c = d, which is how
    two query edges collide. comparisons: indices of the plan's comparisons that can be checked from here on.
    absent: vertices matched before that must not be neighbours, with the direction seen from them and the edge types.
    above: vertices matched before whose data vertices must have smaller ids (symmetry breaking).
    rows: estimated embeddings after this step.

    cap: what the sum over this vertex and all below it counts as, when they are a part of the query graph: at least one
    (`optional`), one if there is any (`exists`), or one if there is none (`absent`).
    folded: the sum over this vertex is computed for all candidates of its parent at once.
    parent: the level under which this one is searched; for a vertex that is listed, the level before. context: when the
    vertex is summed out, the vertices matched before that the sum depends on. contexts: about how many different ones
    there will be when their sums are remembered, 0 when they are not.
    """

    vertex: int
    backward: tuple[int, ...]
    different_from: tuple[int, ...]
    different_pairs: tuple[tuple[int, int, int, int], ...]
    comparisons: tuple[int, ...]
    absent: tuple[tuple[int, Direction, tuple[str, ...]], ...]
    above: tuple[int, ...]
    rows: float
    parent: int
    context: tuple[int, ...] = ()
    contexts: float = 0.0
    cap: PartKind | None = None
    folded: bool = False


@dataclass(frozen=True, slots=True)
class EdgeChoice:
    """A query edge whose data edges have to be told apart. `collides`: query edges that must be other data edges.
    `vertices`: the ends of all edges that it may collide with, directly or through others, and its own. `listed`:
    the data edges are part of the answer; otherwise their number is a factor."""

    edge: int
    collides: tuple[int, ...]
    vertices: tuple[int, ...]
    listed: bool


@dataclass(frozen=True, slots=True)
class Constraints:
    """What the match modes demand beyond labels and edges. Pairs of query vertices are ascending.

    different: pairs that must be different vertices. apart: pairs that are different anyway, because of an edge between
    them. different_pairs: (a, b, c, d), not both a = b and c = d. absent: (u, w, direction, types), no data edge of the
    types between them, as seen from u. loopless: vertices without a self-loop. choices: the query edges whose data
    edges are told apart.
    """

    different: frozenset[tuple[int, int]]
    apart: frozenset[tuple[int, int]]
    different_pairs: tuple[tuple[int, int, int, int], ...]
    absent: tuple[Absence, ...]
    loopless: tuple[int, ...]
    choices: tuple[EdgeChoice, ...]

    @property
    def size(self) -> int:
        """How many tests there are, and vertices and edges that choices speak of."""
        tests = len(self.different) + len(self.apart) + len(self.different_pairs) + len(self.absent)
        return tests + sum(len(choice.vertices) + len(choice.collides) for choice in self.choices)


@dataclass(frozen=True)
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
        incident = self.graph.incident()
        implied = [0] * len(self.graph.vertices)
        for (centre, direction, types), far in strangers.items():
            for edge in incident[centre]:
                if direction in ("both", edge.direction(centre)) and set(edge.types) <= set(types):
                    implied[edge.other(centre)] |= far
        return frozenset(
            (one, other) for one, other in pairs if not (implied[one] >> other | implied[other] >> one) & 1
        )

    @cached_property
    def key(self) -> Hashed:
        """What tells the problems of one query apart, but for their coefficients."""
        edges = tuple((edge.source, edge.target, edge.types, edge.directed) for edge in self.graph.edges)
        return Hashed((self.merged, self.edges, edges, self.constraints))


@dataclass(frozen=True, slots=True)
class Counted:
    """What a run has counted. vertices[u] = |C(u)|; edges: candidate edges, for query edges where they are known.
    shares[u, e]: the share of the vertices that stayed when those without an edge like e went; they had none to lose.
    """

    vertices: tuple[float, ...]
    edges: Mapping[int, int]
    shares: Mapping[tuple[int, int], float]


@dataclass(frozen=True, slots=True)
class Cardinalities:
    """vertices[u] = |C(u)|; edges[e] = candidate edges of query edge e; degrees[e] = mean row of the raw adjacency
    seen from (source, target). Estimates before the filters ran, true numbers after."""

    vertices: tuple[float, ...]
    edges: tuple[float, ...]
    degrees: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """How a problem is solved.

    space: `candidates` refines the candidate sets in `sweeps` and enumerates on the candidate graph; `vertices` walks
    the raw adjacency and tests membership. kept: the first so many steps are listed, the others are summed out: of them
    only the number of matches is known. groups: lengths of the vertex groups, in matching order: partial matches
    are materialised between groups (BFS); the summed steps are the last group.
    factor: matches that each one found stands for (symmetry); permutations: which, when they are listed: in each of
    them query vertex v is matched to what was found for p[v]. weighted: what is listed comes with the number of matches
    that it stands for, rather than as often. limit: stop after so many matches. cost: estimated
    neighbours looked at.
    """

    problem: Problem
    space: Space
    steps: tuple[ExtendStep, ...]
    kept: int
    groups: tuple[int, ...]
    factor: int
    permutations: tuple[tuple[int, ...], ...]
    weighted: bool
    limit: int | None
    cardinalities: Cardinalities
    cost: float
    reason: str

    @property
    def graph(self) -> QueryGraph:
        return self.problem.graph

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        return self.problem.comparisons

    @property
    def choices(self) -> tuple[EdgeChoice, ...]:
        return self.problem.constraints.choices

    @property
    def order(self) -> tuple[int, ...]:
        """The matching order: query vertices by level."""
        return tuple(step.vertex for step in self.steps)

    @property
    def counting(self) -> bool:
        """Whether nothing is listed: only the number of matches is wanted."""
        return self.kept == 0
