"""Which internal ids the rows of tables have.

Ids are given out in segments. The rows of a table that was loaded are one segment; rows that a table gets later are
another, at the end of all ids. So no id ever changes, and the rows of a table are its segments one after the other. An
element that goes to another table keeps its id, so its row there is between those of lower and of higher ids; one that
is deleted leaves a hole: its id is no row's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from gquery.lasting.properties import cached_property

Ids = NDArray[np.integer[Any]]
Where = slice | NDArray[np.int64]
Value = TypeVar("Value", bound=np.generic)

HOLE = -1  # the table of ids that no row has
_SEVERAL = 32  # segments that are cut out of ascending ids one by one
_FEW = 4  # segments that are gone through one by one in less time than each id is looked up among all


class Segment(NamedTuple):
    """The ids [begin, end) are the rows from `row` on of a table."""

    begin: int
    end: int
    table: int
    row: int


class Numbering:
    """Ids 0 .. count - 1, of all rows of some tables, and of none in holes.

    segments: ascending; none is empty, none goes on with the table before it. The same as arrays: `starts`,
    int64[segments + 1], where each begins and the last ends; `tables` and `rows`, int64[segments]. The table of a hole
    is HOLE.
    """

    def __init__(self, tables: Sequence[int] | Ids, counts: Sequence[int] | Ids) -> None:
        """Segments of so many rows of these tables, in order."""
        table, count = np.asarray(tables, np.int64), np.asarray(counts, np.int64)
        table, count = table[count > 0], count[count > 0]
        first = np.flatnonzero(np.diff(table, prepend=HOLE - 1))  # of those that go on with the same table
        ends = np.concatenate([[0], np.cumsum(count)])
        self.starts = np.append(ends[first], ends[-1])
        self.tables = table[first]
        self.rows = _rows_before(self.tables, np.diff(self.starts))

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        starts = self.starts.tolist()
        return tuple(map(Segment, starts, starts[1:], self.tables.tolist(), self.rows.tolist()))

    @classmethod
    def consecutive(cls, counts: Iterable[int]) -> Numbering:
        """Of tables of so many rows, one after the other: what a load makes."""
        each = np.fromiter(counts, np.int64)
        return cls(np.arange(len(each)), each)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Numbering) and self.segments == other.segments

    def __hash__(self) -> int:
        return hash(self.segments)

    def added(self, tables: Sequence[int], counts: Sequence[int]) -> Numbering:
        """With more rows of some tables, behind all others."""
        more = [(table, count) for table, count in zip(tables, counts, strict=True) if count]
        if len(more) != 1:
            return Numbering(
                np.append(self.tables, [table for table, _ in more]),
                np.append(np.diff(self.starts), [count for _, count in more]),
            )
        ((table, count),) = more  # the same in less time
        after = object.__new__(Numbering)
        if len(self.tables) and self.tables[-1] == table:
            after.starts, after.tables, after.rows = self.starts.copy(), self.tables, self.rows
            after.starts[-1] += count
        else:
            before = (self.starts[1:] - self.starts[:-1])[self.tables == table].sum()
            after.starts = np.append(self.starts, self.starts[-1] + count)
            after.tables, after.rows = np.append(self.tables, table), np.append(self.rows, before)
        return after

    @property
    def count(self) -> int:
        """Of ids, those in holes among them."""
        return int(self.starts[-1])

    @property
    def is_consecutive(self) -> bool:
        """Whether the tables are numbered one after the other, without holes."""
        return bool(np.all(np.diff(self.tables, prepend=HOLE) > 0))

    @property
    def has_holes(self) -> bool:
        return bool(np.any(self.tables == HOLE))

    @cached_property
    def _by_table(self) -> Mapping[int, list[Segment]]:
        found: dict[int, list[Segment]] = {}
        for segment in self.segments:
            found.setdefault(segment.table, []).append(segment)
        return found

    def of(self, tables: Iterable[int]) -> list[Segment]:
        """The segments of some tables, ascending."""
        return sorted(segment for table in set(tables) for segment in self._by_table.get(table, ()))

    def within(self, begin: int, end: int) -> Iterator[Segment]:
        """The segments that hold the ids [begin, end), cut to them."""
        first, stop = np.searchsorted(self.starts, begin, "right") - 1, np.searchsorted(self.starts, end)
        for low, high, table, row in self.segments[first:stop]:
            cut = max(begin - low, 0)
            yield Segment(low + cut, min(high, end), table, row + cut)

    def ids(self, tables: Iterable[int], dtype: type[Value]) -> NDArray[Value]:
        """The ids of all rows of some tables, ascending; those of one table are in the order of its rows."""
        ranges = [np.arange(begin, end, dtype=dtype) for begin, end, *_ in self.of(tables)]
        return ranges[0] if len(ranges) == 1 else np.concatenate([np.zeros(0, dtype), *ranges])

    def ids_at(self, table: int, rows: Ids) -> Ids:
        """The ids of some rows of a table, ascending as they are."""
        segments = self.of([table])
        if len(segments) <= 1:
            shift = segments[0].begin - segments[0].row if segments else 0
            return rows + np.int64(shift) if shift else rows
        begins = np.array([segment.begin - segment.row for segment in segments])
        ids: Ids = rows + begins.take(np.searchsorted([segment.row for segment in segments], rows, side="right") - 1)
        return ids

    def by_id(self, values: Mapping[int, NDArray[Value]], dtype: type[Value]) -> NDArray[Value]:
        """One value a row for each of some tables, in the order of the rows' ids."""
        parts = [values[table][row : row + end - begin] for begin, end, table, row in self.of(values)]
        return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, dtype), *parts])

    def segments_of(self, ids: Ids | Sequence[int]) -> NDArray[np.int64]:
        """The segment that each id is in, by its place among all."""
        return np.searchsorted(self.starts, ids, side="right") - 1

    def tables_of(self, ids: Ids) -> NDArray[np.int64]:
        """The table that each id is of."""
        tables: NDArray[np.int64] = self.tables.take(self.segments_of(ids))
        return tables

    def tables_near(self, ids: Ids) -> set[int]:
        """The tables that there are between the lowest of the ids, of which there is one at least, and the highest."""
        first, last = self.segments_of([ids.min(), ids.max()]).tolist()
        return {segment.table for segment in self.segments[first : last + 1]}

    def each_table(self) -> NDArray[Any]:
        """The table of every id, in the smallest type that holds it; HOLE where there is none."""
        lowest = HOLE if self.has_holes else 0
        narrow = self.tables.astype(np.result_type(*map(np.min_scalar_type, (lowest, int(self.tables.max(initial=0))))))
        return np.repeat(narrow, np.diff(self.starts))

    def parts(self, ids: Ids) -> Iterator[tuple[int, Where, Ids]]:
        """(table, where in `ids`, rows of the table) for each table that some of the ids are of: most often one."""
        if not len(ids):
            return
        first, last = (0, 0) if len(self.segments) == 1 else self.segments_of([ids.min(), ids.max()]).tolist()
        if first == last:
            shift = int(self.starts[first] - self.rows[first])
            yield int(self.tables[first]), slice(None), ids - shift if shift else ids
            return
        between = self.segments[first : last + 1]
        if len(between) <= _FEW and len({segment.table for segment in between}) == len(between):
            for begin, end, table, row in between:
                where = np.flatnonzero((ids >= begin) & (ids < end))
                if len(where):
                    yield table, where, ids[where] - (begin - row)
            return
        segments = self.segments_of(ids)
        tables, rows = self.tables.take(segments), ids - (self.starts[:-1] - self.rows).take(segments)
        for table in np.flatnonzero(np.bincount(tables)).tolist():
            where = np.flatnonzero(tables == table)
            yield table, where, rows[where]

    def ascending_parts(self, ids: NDArray[Any]) -> Iterator[tuple[int, Where, Ids]]:
        """The same of ascending ids, of which each segment has some beside each other; maybe several for a table."""
        first, last = self.segments_of(ids[[0, -1]]).tolist() if len(ids) else (0, -1)
        if last - first >= _SEVERAL:
            yield from self.parts(ids)
            return
        bounds = np.searchsorted(ids, self.starts[first : last + 2]).tolist()
        for number in np.flatnonzero(np.diff(bounds)).tolist():
            begin, _, table, row = self.segments[first + number]
            where = slice(bounds[number], bounds[number + 1])
            yield table, where, ids[where] - (begin - row)

    def of_tables(self, ids: NDArray[Any], tables: Iterable[int]) -> NDArray[Any]:
        """Those of ascending ids that are of some tables."""
        segments = self.of(tables)
        if len(segments) == len(self.segments):
            return ids
        if len(segments) > _SEVERAL:
            return ids[np.isin(self.tables_of(ids), list(tables))]
        found = [ids[slice(*ids.searchsorted(segment[:2]))] for segment in segments]
        return found[0] if len(found) == 1 else np.concatenate([ids[:0], *found])


def _rows_before(tables: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each segment, how many rows its table has in those before."""
    order = np.argsort(tables, kind="stable")
    before = np.cumsum(counts[order]) - counts[order]
    sorted_tables = tables[order]
    first = np.searchsorted(sorted_tables, sorted_tables)
    rows = np.empty(len(tables), np.int64)
    rows[order] = before - before[first]
    return rows
