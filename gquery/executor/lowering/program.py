"""The lowered plan: all that a backend is told, by name.

Levels are the matching order; nothing here is an address, a thread, a cache or a budget. Query vertices and edges are
only named where candidates and masks are kept by them. Arrays (masks, ranks, seeds) travel beside the program. It is
made for every run: its parts are named tuples, which take a third of a data class's time.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

from gquery.planner.ir.match_plan import Space, Strategy
from gquery.planner.ir.query_graph import PartKind
from gquery.planner.ir.relations import Relation, Types
from gquery.records import record
from gquery.storage.schema import Direction

NULL_RANK = -(2**63)
"""The rank of what no comparison holds for: null and NaN."""


class Rows(NamedTuple):
    """The rows of a relation, one for each vertex that may be matched at a level.

    direction: as seen from there. tables: the vertex tables that such a vertex may be of. edge: the query edge whose
    mask says which data edges count, None when all do.
    """

    relation: Relation
    direction: Direction
    tables: tuple[int, ...]
    level: int
    edge: int | None = None


class Compare(NamedTuple):
    """The rank at level `left` against the rank at level `right`, operator one of `= <> < <=`. pair: index of the
    program's rank pairs."""

    left: int
    right: int
    operator: str
    pair: int


class Choice(NamedTuple):
    """A query edge whose data edges have to be told apart: those in the row of `rows` that lead to what is matched at
    level `to`. collides: other choices of the same tuple that must be other data edges. clique: whether these collide
    with each other, too, and with no others."""

    edge: int
    rows: Rows
    to: int
    collides: tuple[int, ...]
    clique: bool

    @property
    def ends(self) -> tuple[int, int]:
        """The levels whose vertices the edge is between."""
        return self.rows.level, self.to


class Level(NamedTuple):
    """Matches one more vertex: it is in all `backward` rows and passes all tests.

    candidates: query vertices in all of whose candidate sets it must be; tables: the vertex tables that these are of.
    absent: rows that it must not be in. different: levels whose vertices must be others; pairs: (a, b, c, d), not both
    a = b and c = d; smaller: levels whose vertices must have smaller ids. weights: the program's weights that are known
    from here on. rows: about how many partial matches there will be.

    For what is summed: parent, the level under which this one is searched. cap: what the sum over this level and all
    below it counts as: at least one (`optional`), one if there is any (`exists`), one if there is none (`absent`).
    folded: the sum depends on the parent's vertex alone and is computed for all of its candidates at once. context: the
    levels that the sum depends on; contexts: about how many different ones there will be when their sums are worth
    remembering, else 0. minus: so many of the candidates of a leaf do not count; they are there whenever the rest of
    the pattern is. like: another leaf under the same parent, a level before, that has the same candidates but for the
    minus of both; -1 for none.
    """

    candidates: tuple[int, ...]
    tables: tuple[int, ...]
    backward: tuple[Rows, ...]
    absent: tuple[Rows, ...]
    different: tuple[int, ...]
    pairs: tuple[tuple[int, int, int, int], ...]
    smaller: tuple[int, ...]
    comparisons: tuple[Compare, ...]
    weights: tuple[int, ...]
    rows: float
    parent: int
    cap: PartKind | None
    folded: bool
    context: tuple[int, ...]
    contexts: float
    minus: int
    like: int
    described: str


def may_enumerate(choices: Iterable[Choice]) -> bool:
    """Whether the ways to choose edges may have to be tried one by one: unless of the edges that two choices may take
    those of one are always among those of the other, or none, and all that collide with one collide with each other."""
    colliding = [choice for choice in choices if choice.collides]
    kinds = {(choice.rows.relation, choice.rows.direction == "both", choice.rows.edge) for choice in colliding}
    return not all(choice.clique for choice in colliding) or not all(
        _lies_in(one, other) or _lies_in(other, one) for one, other in combinations(kinds, 2)
    )


def _lies_in(inner: tuple[Relation, bool, int | None], outer: tuple[Relation, bool, int | None]) -> bool:
    """Whether edges of one kind are edges of the other wherever both are between the same two vertices."""
    (inner_relation, inner_both, _), (outer_relation, outer_both, mask) = inner, outer
    if not (isinstance(inner_relation, Types) and isinstance(outer_relation, Types)):
        return False
    return mask is None and outer_both >= inner_both and set(inner_relation.types) <= set(outer_relation.types)


@record(frozen=True, slots=True)
class Program:
    """What runs.

    space: where positions are taken from: `candidates` enumerates on the candidate graph, where a position is an index
    in a candidate set; `vertices` walks the raw adjacency, where a position is the vertex. listed: the first so
    many levels are listed, the others are summed out. strategy: how the sum goes, None when there is none. weights:
    the choices whose numbers multiply, by the level where they are known; edges: the choices that are part of the
    answer, made after the backend is done. limit: so many matches are enough. cost: estimated neighbours looked at.
    tried: looks after which workers raise OrdersGivenUp, 0 for none."""

    space: Space
    levels: tuple[Level, ...]
    listed: int
    strategy: Strategy | None
    weights: tuple[Choice, ...]
    edges: tuple[Choice, ...]
    limit: int | None
    cost: float
    tried: float = 0.0

    @property
    def summing(self) -> bool:
        """Whether partial matches come with sums."""
        return self.listed < len(self.levels) or bool(self.weights)

    def looked_at(self, number: int) -> set[int]:
        """The levels that a level's rows, tests and weights speak of; itself among them where its tests do."""
        level = self.levels[number]
        rows = {rows.level for rows in (*level.backward, *level.absent)}
        compared = {each for compare in level.comparisons for each in (compare.left, compare.right)}
        pairs = {each for pair in level.pairs for each in pair}
        chosen = {each for weight in level.weights for each in self.weights[weight].ends}
        return rows | compared | pairs | chosen | set(level.different) | set(level.smaller)

    def children(self) -> list[list[int]]:
        """For each level the summed levels that are searched right under it."""
        found: list[list[int]] = [[] for _ in self.levels]
        for level in range(max(1, self.listed), len(self.levels)):
            found[self.levels[level].parent].append(level)
        return found

    @property
    def needs(self) -> frozenset[str]:
        """What a backend must be able to do for it, by name."""
        levels = self.levels
        asked = {
            f"the space of {self.space}": True,
            f"a sum by {self.strategy}": self.strategy is not None,
            "folded sums": any(level.folded for level in levels),
            "parts": any(level.cap for level in levels),
            "missing edges": any(level.absent for level in levels),
            "different pairs": any(level.pairs for level in levels),
            "constant collisions": any(level.minus for level in levels),
            "symmetry": any(level.smaller for level in levels),
            "comparisons": any(level.comparisons for level in levels),
            "choices of edges": bool(self.weights),
        }
        return frozenset(name for name, needed in asked.items() if needed)
