"""What a query edge stands for: between which data vertices it is there, and what is known of that beforehand.

Users write edges of some types. The planner adds edges of other kinds, which no data edge is: nobody tells theirs
apart, they collide with nothing and have no predicates. Whoever wants to know something of an edge asks its relation;
only who builds adjacencies asks for the kind. A relation is a key: equal ones have equal adjacencies in a graph.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from gquery.records import record
from gquery.storage.invariants import Invariants
from gquery.storage.schema import Direction, Hop
from gquery.storage.statistics import Statistics

SEED = " seed"
"""The variable of the vertex that stands for a seed; no user can write it. Matched to the number of the seed."""


_REPEATED = 0.5  # of the vertices with an edge between them those that are thought to have another


class _Made:
    """What there is to know of a relation that no data edge is of, unless it says otherwise."""

    __slots__ = ()

    types: ClassVar[tuple[str, ...]] = ()
    of_data_edges: ClassVar[bool] = False

    def is_simple(self, invariants: Invariants, direction: Direction) -> bool:
        return True

    def may_loop(self, invariants: Invariants, tables: set[int]) -> bool:
        return True

    def row_bound(self, invariants: Invariants, direction: Direction, tables: tuple[int, ...]) -> int | None:
        return 1

    def reached(self, invariants: Invariants, direction: Direction, tables: tuple[int, ...]) -> frozenset[int] | None:
        return None

    def entries(
        self, statistics: Statistics, direction: Direction, sources: tuple[int, ...], targets: tuple[int, ...]
    ) -> float:
        return 0.0

    def as_hops(
        self, invariants: Invariants, direction: Direction, tables: tuple[int, ...], others: tuple[int, ...]
    ) -> tuple[Hop, ...]:
        return ()


class Types(NamedTuple):
    """The data edges of some types, sorted; the planner may ask for some of them alone. number: the first of those
    between two vertices, the second, and so on; 0 for all. loops: self-loops are among them. repeats: who goes along
    it comes to a vertex once for each data edge, as if to another one. A tuple, since those of a large pattern are
    hashed a thousand times."""

    types: tuple[str, ...]
    number: int = 0
    loops: bool = True
    repeats: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether all the data edges of the types fit it."""
        return not self.number and self.loops

    @property
    def of_data_edges(self) -> bool:
        """Whether data edges fit it, so that they can be listed, told apart, and have properties."""
        return True

    def is_simple(self, invariants: Invariants, direction: Direction) -> bool:
        """Whether there is at most one edge between two vertices, as far as anybody asks."""
        return self.number > 0 or self.repeats or invariants.simple(self.types, direction)

    def may_loop(self, invariants: Invariants, tables: set[int]) -> bool:
        """Whether it may lead from a vertex of the tables to itself."""
        if not self.loops or (self.number > 1 and invariants.simple(self.types, "out")):
            return False
        return invariants.has_loop(self.types, tables)

    def lies_in(self, other: Types) -> bool:
        """Whether it leads nowhere from a vertex but where the other does, seen in one direction."""
        narrower = set(self.types) <= set(other.types) and max(1, self.number) >= max(1, other.number)
        return narrower and (other.loops or not self.loops)

    def row_bound(self, invariants: Invariants, direction: Direction, tables: tuple[int, ...]) -> int | None:
        """To how many vertices it leads at most from one of the tables; None when only the adjacency tells. With 1 it
        is functional in this direction."""
        return invariants.largest_degree(self.types, direction, tables)

    def reached(self, invariants: Invariants, direction: Direction, tables: tuple[int, ...]) -> frozenset[int] | None:
        """The tables of all vertices that it leads to from vertices of the tables; None when any may be among them."""
        return invariants.reached(self.types, direction, tables)

    def entries(
        self, statistics: Statistics, direction: Direction, sources: tuple[int, ...], targets: tuple[int, ...]
    ) -> float:
        """About how many pairs of a vertex of the source tables and one of the target tables it holds, of which
        statistics know: none of seeds."""
        total = statistics.edges_between(self.types, sources, targets)
        if direction == "both":
            total += statistics.edges_between(self.types, targets, sources)
        return total * self.share

    @property
    def share(self) -> float:
        """About how many of the data edges fit it, of 1."""
        return _REPEATED ** max(0, self.number - 1)

    def as_hops(
        self, invariants: Invariants, direction: Direction, tables: tuple[int, ...], others: tuple[int, ...]
    ) -> tuple[Hop, ...]:
        """How it is followed from vertices of the tables to some of others; nothing when it cannot be part of a
        composed edge."""
        reached = invariants.reached(self.types, direction, tables)
        return ((self.types, direction, tuple(sorted(reached.intersection(others)))),)


@record(frozen=True, slots=True)
class Identity(_Made):
    """Both ends are the same data vertex."""

    def reached(self, invariants: Invariants, direction: Direction, tables: tuple[int, ...]) -> frozenset[int] | None:
        return frozenset(tables)

    def entries(
        self, statistics: Statistics, direction: Direction, sources: tuple[int, ...], targets: tuple[int, ...]
    ) -> float:
        return float(statistics.vertex_count(set(sources) & set(targets)))


@record(frozen=True, slots=True)
class Loops(_Made):
    """The data edges of some types that lead from a vertex to itself, each from the vertex to what stands for it once
    more. Where edges were told apart by the planner, these are. number: as of `Types`."""

    among: tuple[str, ...]
    number: int = 0

    def is_simple(self, invariants: Invariants, direction: Direction) -> bool:
        return self.number > 0 or invariants.simple(self.among, "out")

    def row_bound(self, invariants: Invariants, direction: Direction, tables: tuple[int, ...]) -> int | None:
        return 1 if self.is_simple(invariants, "out") else None

    def reached(self, invariants: Invariants, direction: Direction, tables: tuple[int, ...]) -> frozenset[int] | None:
        return frozenset(tables)

    def entries(
        self, statistics: Statistics, direction: Direction, sources: tuple[int, ...], targets: tuple[int, ...]
    ) -> float:
        return float(statistics.loops(self.among, tuple(set(sources) & set(targets))))


@record(frozen=True, slots=True)
class Composed(_Made):
    """Several edges as one, each of which leads to at most one vertex. tables: of the vertex that the first begins at;
    count: about how many of its vertices they lead anywhere from."""

    tables: tuple[int, ...]
    hops: tuple[Hop, ...]
    count: float

    def row_bound(self, invariants: Invariants, direction: Direction, tables: tuple[int, ...]) -> int | None:
        return 1 if direction == "out" else None

    def reached(self, invariants: Invariants, direction: Direction, tables: tuple[int, ...]) -> frozenset[int] | None:
        *_, (_, _, last) = self.hops
        return frozenset(last if direction == "out" else self.tables)

    def entries(
        self, statistics: Statistics, direction: Direction, sources: tuple[int, ...], targets: tuple[int, ...]
    ) -> float:
        return self.count

    def as_hops(
        self, invariants: Invariants, direction: Direction, tables: tuple[int, ...], others: tuple[int, ...]
    ) -> tuple[Hop, ...]:
        return self.hops


@record(frozen=True, slots=True)
class Binding(_Made):
    """From each seed to the vertex that a column of the seeds binds; to those that it binds where it is not
    `functional`. Seeds are of no table: how many there are is known when a run begins."""

    column: str
    functional: bool = True

    def may_loop(self, invariants: Invariants, tables: set[int]) -> bool:
        return False

    def row_bound(self, invariants: Invariants, direction: Direction, tables: tuple[int, ...]) -> int | None:
        return 1 if direction == "out" and self.functional else None


@record(frozen=True, slots=True)
class Valued(_Made):
    """From what stands for a value to the vertices that have it: values are vertices of no table, as seeds are. column:
    under which the vertices are found; two edges with one column lead from a value to the same vertices."""

    column: str

    def may_loop(self, invariants: Invariants, tables: set[int]) -> bool:
        return False

    def row_bound(self, invariants: Invariants, direction: Direction, tables: tuple[int, ...]) -> int | None:
        return None if direction == "out" else 1


@record(frozen=True, slots=True)
class End(_Made):
    """From what stands for a data edge to its source, or to its target: data edges that are matched as vertices are of
    no table, as seeds are. among: the types of these edges; count: about how many there are. column: under which the
    ends are found, another one for each query edge."""

    column: str
    among: tuple[str, ...]
    is_source: bool
    count: float

    def may_loop(self, invariants: Invariants, tables: set[int]) -> bool:
        return False

    def row_bound(self, invariants: Invariants, direction: Direction, tables: tuple[int, ...]) -> int | None:
        return 1 if direction == "out" else None

    def entries(
        self, statistics: Statistics, direction: Direction, sources: tuple[int, ...], targets: tuple[int, ...]
    ) -> float:
        return self.count


Relation = Types | Identity | Loops | Composed | Binding | Valued | End


def repeats(relation: Relation) -> bool:
    """Whether rows have a vertex once for each data edge that leads there, though nobody takes them for one."""
    return isinstance(relation, Types) and relation.repeats


def common(one: Relation, other: Relation) -> Relation | None:
    """What the data edges that fit both are; None where that is not known, or where these are no data edges."""
    if not (isinstance(one, Types) and isinstance(other, Types)) or one.number != other.number:
        return None
    narrow, wide = sorted((one, other), key=lambda each: len(each.types))
    return narrow._replace(loops=one.loops and other.loops) if set(narrow.types) <= set(wide.types) else None
