"""What the cost-based planner knows about a graph: vertices per table, edges between tables, degrees. Plain numbers.

Tables are vertex tables by index; edges are counted by type. A snapshot counts itself once, when first asked, and keeps
the numbers; a saved graph has them in its manifest; a test writes them down as literals.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast, get_args

from gquery.stopping import Check, unchecked
from gquery.storage.schema import Direction

if TYPE_CHECKING:
    from gquery.storage.graph import Snapshot


SIGNATURE_BITS = 64
_DIRECTIONS = frozenset(get_args(Direction))
_MOST_ANSWERS = 10_000  # that are remembered of one graph

Question = TypeVar("Question", bound=Callable[..., Any])


class Between(NamedTuple):
    """Edges of one type from a source table to a target table; `loops` of them start and end in the same vertex."""

    source: int
    target: int
    edges: int
    loops: int = 0


class DegreeSums(NamedTuple):
    """Degrees of one type in one direction over the vertices of a table: how many are positive, Σ d, Σ d², max d.

    In direction "both" a self-loop counts once, as it does in `(a)--(a)`.
    """

    table: int
    direction: Direction
    with_any: int
    total: int
    squares: int
    maximum: int

    def and_of(self, others: DegreeSums) -> DegreeSums:
        """With other vertices of the table."""
        return DegreeSums(
            self.table,
            self.direction,
            self.with_any + others.with_any,
            self.total + others.total,
            self.squares + others.squares,
            max(self.maximum, others.maximum),
        )


@dataclass(frozen=True, slots=True)
class TypeStatistics:
    """Edges of one type. `simple`: no two edges have the same source and target; `simple_both`: nor the two swapped."""

    between: tuple[Between, ...] = ()
    degrees: tuple[DegreeSums, ...] = ()
    simple: bool = True
    simple_both: bool = True
    loops: Mapping[int, int] = field(init=False, compare=False)  # self-loops by vertex table, where there are any
    ahead: Mapping[int, set[int]] = field(init=False, compare=False)  # source table -> target tables
    back: Mapping[int, set[int]] = field(init=False, compare=False)  # target table -> source tables
    edges: Mapping[tuple[int, int], int] = field(init=False, compare=False)  # by source and target table
    sums: Mapping[tuple[int, Direction], DegreeSums] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "loops", {row.source: row.loops for row in self.between if row.loops})
        object.__setattr__(self, "edges", {(row.source, row.target): row.edges for row in self.between})
        object.__setattr__(self, "sums", {(row.table, row.direction): row for row in self.degrees})
        ahead: dict[int, set[int]] = {}
        back: dict[int, set[int]] = {}
        for row in self.between:
            ahead.setdefault(row.source, set()).add(row.target)
            back.setdefault(row.target, set()).add(row.source)
        object.__setattr__(self, "ahead", ahead)
        object.__setattr__(self, "back", back)


@dataclass(frozen=True, slots=True)
class Degree:
    """Degrees of a set of vertices. `biased` is E[d²] / E[d], the mean degree of a vertex that an edge leads to;
    `with_any` is the number of vertices with an edge."""

    mean: float = 0.0
    biased: float = 0.0
    maximum: int = 0
    with_any: int = 0


def _remembered(question: Question) -> Question:
    """Answers a question once for each combination of types and tables: planning asks few, again and again."""

    @wraps(question)
    def answer(statistics: Statistics, *arguments: Any) -> Any:
        key = (question.__name__, *arguments)
        if key not in statistics._answers:
            if len(statistics._answers) >= _MOST_ANSWERS:
                statistics._answers.clear()
            statistics._answers[key] = question(statistics, *arguments)
        return statistics._answers[key]

    return cast(Question, answer)


@dataclass(frozen=True, slots=True)
class Statistics:
    """`vertices`: count per vertex table; `types`: by edge type, where a missing type has no edges. `verify` is called
    with an edge type before its numbers are relied on, and raises LoadError when they are wrong: others wrote them.
    It calls its second argument often, which raises what is to end it.

    Edge types and tables are asked for as tuples.
    """

    vertices: tuple[int, ...]
    types: Mapping[str, TypeStatistics]
    verify: Callable[[str, Check], None] | None = field(default=None, compare=False, repr=False)
    _answers: dict[object, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def vertex_count(self, tables: Iterable[int]) -> int:
        return sum(self.vertices[table] for table in set(tables))

    @_remembered
    def edges_between(
        self, types: tuple[str, ...], source_tables: tuple[int, ...], target_tables: tuple[int, ...]
    ) -> int:
        """Number of edges of any of `types` from one of the source tables to one of the target tables."""
        total = 0
        for entry in self._entries(types):
            for source in source_tables:
                reached = entry.ahead.get(source, set())
                total += sum(entry.edges[source, target] for target in reached.intersection(target_tables))
        return total

    def leads_only_to(
        self, types: tuple[str, ...], direction: Direction, tables: tuple[int, ...], others: tuple[int, ...]
    ) -> bool:
        """Whether every edge of `types` at a vertex of `tables`, seen in this direction, leads to one of `others`."""
        return self.reached(types, direction, tables) <= set(others)

    @_remembered
    def reached(self, types: tuple[str, ...], direction: Direction, tables: tuple[int, ...]) -> frozenset[int]:
        """The tables that edges of `types` at vertices of `tables` lead to, seen in this direction."""
        entries = self._entries(types)
        maps = [entry.ahead for entry in entries if direction != "in"]
        maps += [entry.back for entry in entries if direction != "out"]
        return frozenset(other for table in tables for reached in maps for other in reached.get(table, ()))

    def loops(self, types: Iterable[str], tables: Collection[int] | None = None) -> int:
        """Number of self-loops of any of `types` on vertices of `tables` (of all when None)."""
        found = (loops for entry in self._entries(types) for loops in entry.loops.items())
        return sum(count for table, count in found if tables is None or table in tables)

    @_remembered
    def kinds(self) -> Mapping[tuple[str, Direction, int], int]:
        """The bits of a vertex's signature: (edge type, direction, neighbour's table), those with most edges first; the
        last bit is shared by all that are left. Of all types, so nothing is verified: signatures are, bit by bit."""
        edges: Counter[tuple[str, Direction, int]] = Counter()
        for name, entry in self.types.items():
            for row in entry.between:
                edges[name, "out", row.target] += row.edges
                edges[name, "in", row.source] += row.edges
        ordered = sorted(edges, key=lambda kind: (-edges[kind], kind))
        return {kind: min(place, SIGNATURE_BITS - 1) for place, kind in enumerate(ordered)}

    @_remembered
    def signature(self, types: tuple[str, ...], direction: Direction, tables: tuple[int, ...]) -> int | None:
        """The bits of which a vertex has one when, and only when, an edge of `types` seen in this direction leads to a
        vertex of `tables`. None when signatures cannot tell."""
        seen: tuple[Direction, ...] = ("out", "in") if direction == "both" else (direction,)
        kinds = self.kinds()
        asked = {kind for kind in itertools.product(types, seen, tables) if kind in kinds}
        bits = {kinds[kind] for kind in asked}
        if any(bit in bits and kind not in asked for kind, bit in kinds.items()):
            return None
        return sum(1 << bit for bit in bits)

    @_remembered
    def degree(self, types: tuple[str, ...], direction: Direction, tables: tuple[int, ...]) -> Degree:
        """Degrees of the vertices of `tables` over the edges of any of `types`.

        Exact for one type. For several, `mean` is exact, `maximum` is a bound from above, and the others take the types
        to be independent.
        """
        chosen, entries = sorted(set(tables)), self._entries(types)
        sums = [self._table_sums(entries, direction, table) for table in chosen]
        total = sum(row.total for row in sums)
        if total == 0:
            return Degree()
        return Degree(
            mean=total / self.vertex_count(chosen),
            biased=sum(row.squares for row in sums) / total,
            maximum=max(row.maximum for row in sums),
            with_any=sum(row.with_any for row in sums),
        )

    @_remembered
    def simple(self, types: tuple[str, ...], direction: Direction) -> bool:
        """Whether no row of this adjacency repeats a neighbour. Exact for one type; for several, a no can be wrong."""
        entries = self._entries(types)
        if len(entries) == 1:
            return entries[0].simple_both if direction == "both" else entries[0].simple
        seen: set[tuple[int, int]] = set()
        for entry in entries:
            pairs = {(row.source, row.target) for row in entry.between}
            if direction == "both":
                pairs = {(min(pair), max(pair)) for pair in pairs}
            if seen & pairs or not (entry.simple_both if direction == "both" else entry.simple):
                return False
            seen |= pairs
        return True

    def of_type(self, name: str) -> TypeStatistics:
        """The numbers of one type; LoadError when they are not those of its edges."""
        if name not in self.types:
            return TypeStatistics()
        self.make_sure([name])
        return self.types[name]

    def make_sure(self, types: Iterable[str], check: Check = unchecked) -> None:
        """Verifies the numbers of some types: what is asked of them later takes no time. LoadError when they are wrong;
        what `check` raises, when that is to end."""
        for name in types:
            if self.verify is not None and name in self.types:
                self.verify(name, check)

    def _entries(self, types: Iterable[str]) -> list[TypeStatistics]:
        return [self.of_type(name) for name in sorted(set(types)) if name in self.types]

    def _table_sums(self, entries: list[TypeStatistics], direction: Direction, table: int) -> DegreeSums:
        """Sums over one table of d = d1 + d2 + ..., one addend a type."""
        count = self.vertices[table]
        combined = DegreeSums(table, direction, 0, 0, 0, 0)
        for entry in entries:
            if (table, direction) in entry.sums:
                combined = _independent_sum(combined, entry.sums[table, direction], count)
        return combined


def _independent_sum(left: DegreeSums, right: DegreeSums, count: int) -> DegreeSums:
    """Two degrees of each of `count` vertices added up, the second independent of the first."""
    return DegreeSums(
        left.table,
        left.direction,
        with_any=left.with_any + round(right.with_any * (1 - left.with_any / count)),
        total=left.total + right.total,
        squares=left.squares + right.squares + round(2 * left.total * right.total / count),
        maximum=left.maximum + right.maximum,
    )


def to_json(statistics: Statistics) -> dict[str, Any]:
    """As lists, numbers and strings."""
    types = {
        name: {"between": t.between, "degrees": t.degrees, "simple": t.simple, "simple_both": t.simple_both}
        for name, t in statistics.types.items()
    }
    return {"vertices": statistics.vertices, "types": types}


def from_json(value: Mapping[str, Any]) -> Statistics:
    """The inverse of `to_json`; ValueError, KeyError, TypeError or AttributeError when `value` is something else. That
    its numbers are those of a graph is for the reader to find out."""
    types = {
        name: TypeStatistics(
            tuple(Between(*row) for row in t["between"]),
            tuple(DegreeSums(*row) for row in t["degrees"]),
            _flag(t["simple"]),
            _flag(t["simple_both"]),
        )
        for name, t in value["types"].items()
    }
    found = Statistics(tuple(value["vertices"]), types)
    numbers = [*found.vertices]
    for entry in types.values():
        for between in entry.between:
            numbers += between
        for table, direction, *sums in entry.degrees:
            if direction not in _DIRECTIONS:
                raise ValueError(direction)
            numbers += (table, *sums)
    if numbers and not (set(map(type, numbers)) == {int} and min(numbers) >= 0 and max(numbers) < 2**63):
        raise ValueError("counts are whole numbers")
    return found


def _flag(value: object) -> bool:
    if type(value) is not bool:
        raise TypeError(value)
    return value


def statistics_of(snapshot: Snapshot) -> Statistics:
    """The statistics of a graph: counted when first asked for, then kept by it."""
    return snapshot.statistics
