"""The match plan: what the executor is told, and all that it is told. Indices are those of the query graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from gquery.planner.ir.problem import Comparison, EdgeChoice, Problem
from gquery.planner.ir.query_graph import PartKind, QueryGraph
from gquery.records import record
from gquery.storage.schema import Direction

Space = Literal["candidates", "vertices"]
Strategy = Literal["chain", "tree", "fold", "inside", "push", "adaptive"]


@record(frozen=True, slots=True)
class ExtendStep:
    """Matches one more query vertex.

    backward: query edges to vertices matched before; their rows are intersected.
    different_from: vertices that must be others, and are looked for. constants: vertices matched anywhere that must be
    others, too; the pattern puts them among the candidates of this one, a leaf of a sum, so that each takes exactly one
    away. like: a vertex, another leaf under the same parent, that has the same candidates but for both constants.
    different_pairs: (a, b, c, d), not both a = b and c = d, which is how two query edges collide. comparisons:
    indices of the plan's comparisons that can be checked from here on. absent: vertices matched before that must not be
    neighbours, with the direction seen from them and the edge types. above: vertices matched before whose data vertices
    must have smaller ids (symmetry breaking).
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
    constants: tuple[int, ...] = ()
    like: int | None = None


@record(frozen=True, slots=True)
class Counted:
    """What a run has counted. vertices[u] = |C(u)|; edges: candidate edges, for query edges where they are known.
    shares[u, e]: the share of the vertices that stayed when those without an edge like e went; they had none to lose.
    vain: (u, e) where asking for neighbours along e took no candidate of u away.
    """

    vertices: tuple[float, ...]
    edges: Mapping[int, int]
    shares: Mapping[tuple[int, int], float]
    vain: frozenset[tuple[int, int]] = frozenset()


@record(frozen=True, slots=True)
class Cardinalities:
    """vertices[u] = |C(u)|; edges[e] = candidate edges of query edge e; degrees[e] = mean row of the raw adjacency
    seen from (source, target); having[e] = shares of the vertices there that a filter has found to have such an edge,
    1 where none has asked. Estimates before the filters ran, true numbers after. vain: as in `Counted`, of the query's
    own vertices and edges; certain, and empty before."""

    vertices: tuple[float, ...]
    edges: tuple[float, ...]
    degrees: tuple[tuple[float, float], ...]
    having: tuple[tuple[float, float], ...]
    vain: frozenset[tuple[int, int]] = frozenset()


@record(frozen=True, slots=True)
class MatchPlan:
    """How a problem is solved.

    space: `candidates` refines the candidate sets in `sweeps` and enumerates on the candidate graph; `vertices` walks
    the raw adjacency and tests membership. kept: the first so many steps are listed, the others are summed out: of
    them only the number of matches is known. groups: lengths of the vertex groups, in matching order: the dense
    part of the core, the rest of it, trees; the summed steps are the last group. strategy: how the sum over them
    goes: every vertex in one pass for all candidates of its parent (`fold`), else block by block when each has at
    most one below it (`chain`), depth first (`tree`), or so inside the neighbourhood of each match of the first
    vertex (`inside`), or pushed, from the first vertex along chains to the second (`push`), or depth first in an
    order of its own for each partial match (`adaptive`), of which that of the steps is the beginning; None when
    there are none below what is listed or scanned. factor: matches that each one found stands for (symmetry);
    permutations: of what is listed, in each of which query vertex v is matched to what was found for p[v].
    weighted: what is listed comes with the number of matches that it stands for, rather than as often. limit: stop
    after so many matches. cost: estimated neighbours looked at. tried: looks after which a run stops to be planned
    anew, 0 for none. repeated: the edges along which a vertex is matched once for each data edge. scanned: the data
    edges of the one query edge are gone through as they are stored, and each that fits is a match; no vertex is
    extended."""

    problem: Problem
    space: Space
    steps: tuple[ExtendStep, ...]
    kept: int
    groups: tuple[int, ...]
    strategy: Strategy | None
    factor: int
    permutations: tuple[tuple[int, ...], ...]
    weighted: bool
    limit: int | None
    cardinalities: Cardinalities
    cost: float
    reason: str
    tried: float = 0.0
    repeated: frozenset[int] = frozenset()
    scanned: bool = False

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
    def times(self) -> int:
        """How many matches stand for each that is found and turned: what is summed out may change places, too."""
        return self.factor // max(1, len(self.permutations))

    @property
    def counting(self) -> bool:
        """Whether nothing is listed: only the number of matches is wanted."""
        return self.kept == 0


def chains_of(levels: Sequence[tuple[int, bool]]) -> list[list[int]] | None:
    """Of the levels below the second those that are one under the other, from the top; None when they are no such
    chains, or have something folded into them. levels: parent, and whether it is folded."""
    below: list[list[int]] = [[] for _ in levels]
    for number, (parent, folded) in enumerate(levels):
        if folded and parent > 1:
            return None
        if number and not folded:
            below[parent].append(number)
    if below[0] != [1] or not below[1]:
        return None
    chains = []
    for first in below[1]:
        chain = [first]
        while below[chain[-1]]:
            if len(below[chain[-1]]) > 1:
                return None
            chain.append(below[chain[-1]][0])
        chains.append(chain)
    return chains
