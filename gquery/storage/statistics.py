"""What the cost-based planner takes to be about so in a graph: vertices per table, edges between tables, degrees.

Plans are better or worse by it, never right or wrong: that is for `invariants.py`. So any numbers will do, also ones
that do not fit together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from gquery.records import record
from gquery.storage.cache import remembered
from gquery.storage.counted.counts import Counts, DegreeSums, TypeCounts
from gquery.storage.schema import Direction


@record(frozen=True, slots=True)
class Degree:
    """Degrees of a set of vertices. `biased` is E[d²] / E[d], the mean degree of a vertex that an edge leads to;
    `with_any` is the number of vertices with an edge."""

    mean: float = 0.0
    biased: float = 0.0
    with_any: int = 0

    @property
    def skew(self) -> float:
        """How many times as many neighbours as the mean vertex one has that an edge leads to."""
        return self.biased / self.mean if self.mean else 1.0


@record(frozen=True, slots=True)
class TypeEstimates:
    """Edges of one type. ahead: from each source table, edges by target table; loops: self-loops by table; sums:
    degrees by table and direction."""

    ahead: Mapping[int, Mapping[int, int]]
    loops: Mapping[int, int]
    sums: Mapping[tuple[int, Direction], DegreeSums]


class Statistics:
    """Estimates for a graph with these counts. Edge types and tables are asked for as tuples."""

    def __init__(self, counts: Counts, unique: Callable[[int, str | None], bool] = lambda *_: False) -> None:
        """unique: looks whether the vertices of a table seem to differ in a property, or in the users' id (None)."""
        self._counts = counts
        self._unique = unique
        self._estimates: dict[str, TypeEstimates] = {}
        self._answers: dict[object, object] = {}

    def vertex_count(self, tables: Iterable[int]) -> int:
        counts = self._counts.vertices
        return sum([counts[table] for table in set(tables)])

    @remembered
    def unique(self, table: int, name: str | None) -> bool:
        """Whether no two vertices of the table share a value of the property, or a users' id where it is None."""
        return self._unique(table, name)

    def few(self, types: tuple[str, ...]) -> bool:
        """Whether it is known, for each of some types, that its edges are few."""
        return False

    @remembered
    def edges(self, types: tuple[str, ...]) -> int:
        """Number of edges of any of `types`."""
        return sum([sum(reached.values()) for entry in self._of(types) for reached in entry.ahead.values()])

    @remembered
    def edges_between(
        self, types: tuple[str, ...], source_tables: tuple[int, ...], target_tables: tuple[int, ...]
    ) -> int:
        """Number of edges of any of `types` from one of the source tables to one of the target tables."""
        total = 0
        for entry in self._of(types):
            for source in source_tables:
                reached = entry.ahead.get(source, {})
                total += sum(reached[target] for target in reached.keys() & set(target_tables))
        return total

    @remembered
    def loops(self, types: tuple[str, ...], tables: tuple[int, ...]) -> int:
        """Number of edges of any of `types` from a vertex of the tables to itself."""
        return sum(entry.loops.get(table, 0) for entry in self._of(types) for table in tables)

    @remembered
    def degree(self, types: tuple[str, ...], direction: Direction, tables: tuple[int, ...]) -> Degree:
        """Degrees of the vertices of `tables` over the edges of any of `types`, which are taken to be independent."""
        sums = self._sums(types, direction, tables)
        total, count = sum(row.total for row in sums), self.vertex_count(tables)
        if total == 0 or count == 0:
            return Degree()
        return Degree(
            mean=total / count,
            biased=sum(row.squares for row in sums) / total,
            with_any=sum(row.with_any for row in sums),
        )

    @remembered
    def skew_across(self, types: tuple[str, ...], tables: tuple[int, ...]) -> float:
        """How many times as many edges leave a vertex of `tables` that one leads to as leave the mean vertex, and the
        other way round: E[in out] / (E[in] E[out]), by the squares of in, out and both together."""
        ways: tuple[Direction, ...] = ("in", "out", "both")
        sums = [self._sums(types, way, tables) for way in ways]
        into, out, _ = (sum(row.total for row in rows) for rows in sums)
        if not (into and out):
            return 1.0
        into_squares, out_squares, both = (sum(row.squares for row in rows) for rows in sums)
        return (both - into_squares - out_squares) / 2 * self.vertex_count(tables) / (into * out)

    def _sums(self, types: tuple[str, ...], direction: Direction, tables: tuple[int, ...]) -> list[DegreeSums]:
        """Of the degrees over edges of any of `types` those of each table."""
        entries = self._of(types)
        return [self._table_sums(entries, direction, table) for table in sorted(set(tables))]

    def _of(self, types: Iterable[str]) -> list[TypeEstimates]:
        """The estimates of those types that have edges, or might have; verified."""
        names = [name for name in sorted(set(types)) if name in self._counts.types]
        for name in names:
            counts = self._counts.of_type(name)
            if name not in self._estimates:
                self._estimates[name] = estimates(counts)
        return [self._estimates[name] for name in names]

    def _table_sums(self, entries: list[TypeEstimates], direction: Direction, table: int) -> DegreeSums:
        """Sums over one table of d = d1 + d2 + ..., one addend a type."""
        combined = DegreeSums(table, direction, 0, 0, 0, 0)
        for entry in entries:
            if (table, direction) in entry.sums:
                count = max(1, self._counts.vertices[table])
                combined = _independent_sum(combined, entry.sums[table, direction], count)
        return combined


def estimates(counts: TypeCounts) -> TypeEstimates:
    """Of the edges of one type."""
    ahead: dict[int, dict[int, int]] = {}
    for row in counts.between:
        ahead.setdefault(row.source, {})[row.target] = row.edges
    loops = {row.source: row.loops for row in counts.between if row.loops}
    return TypeEstimates(ahead, loops, {(row.table, row.direction): row for row in counts.degrees})


def _independent_sum(left: DegreeSums, right: DegreeSums, count: int) -> DegreeSums:
    """Two degrees of each of `count` vertices added up, the second independent of the first."""
    return DegreeSums(
        left.table,
        left.direction,
        with_any=left.with_any + round(right.with_any * max(0.0, 1 - left.with_any / count)),
        total=left.total + right.total,
        squares=left.squares + right.squares + round(2 * left.total * right.total / count),
        maximum=left.maximum + right.maximum,
    )
