"""Subqueries: chains that run for all rows at once, and whose rows are put beside those that they were found for.

The rows are kept and numbered. A subquery begins with the numbers, and with what it reads of the rows; whatever it does
carries the number on. One that reads nothing of them runs once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_arrow, to_numpy
from gquery.executor.chain.rows import Rows, batch_of, kept, product, repeated, too_many
from gquery.executor.progress import Control
from gquery.executor.relational.gather import plain_type
from gquery.executor.relational.selection import WEIGHT
from gquery.executor.relational.unions import cast
from gquery.executor.relational.widths import BATCH_ROWS, Copies, batch_bytes
from gquery.planner.ir.query_plan import ApplyPlan
from gquery.storage.sorting import is_ascending, order_of

_COLLECTED = "what a subquery collects"

Branch = Callable[[Rows | None, int], Rows]
"""Runs a branch over rows, of so many of the outer query; without rows, where it asks nothing of them."""


class Applied:
    """One step of a chain. weighted: some branch's rows have a column with the number of rows that each stands for."""

    def __init__(self, plan: ApplyPlan, weighted: bool) -> None:
        apply = plan.segment
        self._apply = apply
        self._rows_out = plan.rows
        self._weighted = weighted
        self._row = None if apply.row is None else apply.row.name
        before = {variable.name for variable in apply.input}
        self._before = tuple(name for name in plan.rows if name in before)
        self._new = {each.name: plain_type(each.type) for each in apply.new if each.name in plan.rows}

    def run(self, before: Rows, branches: Sequence[Branch], control: Control) -> Rows:
        """The rows with what the subquery has for them. Closing it closes all streams."""
        reserved = [0]
        try:
            rows = kept(before, control, reserved)
            if rows is not None:
                found = self._rows if self._apply.asked == "rows" else self._values
                yield from found(rows, branches, control)
        finally:
            control.memory.release(reserved[0])

    def _begun(self, rows: pa.Table, branch: Branch) -> Rows:
        """The rows of a branch."""
        if self._row is None:
            return branch(None, 1)
        columns = {each.name: rows.column(each.name).chunk(0) for each in self._apply.imported}
        columns[self._row] = to_arrow(np.arange(rows.num_rows))
        return branch((each for each in (batch_of(columns, rows.num_rows),)), rows.num_rows)

    # --- rows of their own -------------------------------------------------------------------------------------

    def _rows(self, rows: pa.Table, branches: Sequence[Branch], control: Control) -> Rows:
        met, copies = np.zeros(rows.num_rows, np.bool_), Copies(rows, control)
        for branch in branches:
            found = self._begun(rows, branch)
            try:
                for batch in found:
                    for places, part in self._placed(batch, rows.num_rows, control):
                        met[places] = True
                        for some in copies.parts(places):
                            control.check()
                            yield self._together(rows, places[some], part[some])
            finally:
                found.close()  # type: ignore[attr-defined]
        left = np.flatnonzero(~met) if self._apply.optional else np.zeros(0, np.int64)
        for some in copies.parts(left):
            control.check()
            yield self._together(rows, left[some], None)

    def _placed(
        self, batch: pa.RecordBatch, rows: int, control: Control
    ) -> Iterator[tuple[NDArray[np.int64], pa.RecordBatch]]:
        """What a branch has found, with the numbers of the rows that it belongs to: to all, where it asks nothing of
        them."""
        if self._row is not None:
            yield to_numpy(batch.column(self._row)), batch
            return
        size = _times(batch.num_rows, batch.nbytes, control)
        for begin in range(0, rows, size):
            places = np.arange(begin, min(begin + size, rows))
            again = np.tile(np.arange(batch.num_rows), len(places))
            yield np.repeat(places, batch.num_rows), batch if len(places) == 1 else batch.take(to_arrow(again))

    def _together(self, rows: pa.Table, places: NDArray[np.int64], found: pa.RecordBatch | None) -> pa.RecordBatch:
        """Rows with what was found for them; nulls where nothing was."""
        chosen = to_arrow(places)
        columns = {name: rows.column(name).chunk(0).take(chosen) for name in self._before}
        for name, type_ in self._new.items():
            columns[name] = pa.nulls(len(places), type_) if found is None else cast(found.column(name), type_)
        weights = [rows.column(WEIGHT).chunk(0).take(chosen)] if WEIGHT in rows.column_names else []
        if found is not None and WEIGHT in found.schema.names:
            weights.append(found.column(WEIGHT))
        elif self._weighted:
            weights.append(repeated(1, len(places)))
        if weights:
            columns[WEIGHT] = product(weights)
        return batch_of(columns, len(places))

    # --- one value a row ---------------------------------------------------------------------------------------

    def _values(self, rows: pa.Table, branches: Sequence[Branch], control: Control) -> Rows:
        (branch,) = branches
        asked = {"exists": self._exist, "count": self._count, "collect": self._collect}[self._apply.asked]
        found = self._begun(rows, branch)
        reserved = [0]
        try:
            values = asked(found, 1 if self._row is None else rows.num_rows, control, reserved)
            new = {name: cast(values, type_) for name, type_ in self._new.items()}
            size = BATCH_ROWS if self._row is not None else _times(1, values.nbytes, control)
            for begin in range(0, rows.num_rows, size):
                control.check()
                yield self._valued(rows.slice(begin, size), new, begin)
        finally:
            control.memory.release(reserved[0])
            found.close()  # type: ignore[attr-defined]

    def _valued(self, rows: pa.Table, values: Mapping[str, pa.Array], begin: int) -> pa.RecordBatch:
        """Some rows, of which this is the first, with their values, or the only one where nothing is asked of rows."""
        count = rows.num_rows
        if self._row is None:
            new = {name: value if count == 1 else _again(value, count) for name, value in values.items()}
        else:
            new = {name: value.slice(begin, count) for name, value in values.items()}
        columns = {name: rows.column(name).chunk(0) for name in self._before} | new
        columns |= {WEIGHT: rows.column(WEIGHT).chunk(0)} if WEIGHT in rows.column_names else {}
        return batch_of(columns, count)

    def _places(self, batch: pa.RecordBatch) -> NDArray[np.int64]:
        places: NDArray[np.int64]
        places = np.zeros(batch.num_rows, np.int64) if self._row is None else to_numpy(batch.column(self._row))
        return places

    def _exist(self, found: Rows, rows: int, control: Control, reserved: list[int]) -> pa.Array:
        met = np.zeros(rows, np.bool_)
        for batch in found:
            control.check()
            met[self._places(batch)] = True
            if self._row is None and batch.num_rows:
                break
        return to_arrow(met)

    def _count(self, found: Rows, rows: int, control: Control, reserved: list[int]) -> pa.Array:
        counts, about = np.zeros(rows, np.int64), np.zeros(rows)
        for batch in found:
            control.check()
            places = self._places(batch)
            weights = to_numpy(batch.column(WEIGHT)) if WEIGHT in batch.schema.names else np.ones(len(places), np.int64)
            np.add.at(counts, places, weights)
            np.add.at(about, places, weights.astype(np.float64))
        if np.any(about >= 2.0**63):
            raise too_many()
        return to_arrow(counts)

    def _collect(self, found: Rows, rows: int, control: Control, reserved: list[int]) -> pa.Array:
        """The values of each row in the order in which they come."""
        places, values = [np.zeros(0, np.int64)], []
        for batch in found:
            control.check()
            (column,) = (name for name in batch.schema.names if name != self._row)
            control.memory.reserve(batch.nbytes, _COLLECTED)
            reserved[0] += batch.nbytes
            if self._row is not None:
                places.append(to_numpy(batch.column(self._row)))
            values.append(batch.column(column))
        item = plain_type(self._apply.new[0].type).value_type
        with control.memory.taken(reserved[0], _COLLECTED):  # in one piece, beside the pieces
            together = pa.concat_arrays([cast(each, item) for each in values]) if values else pa.nulls(0, item)
        values.clear()
        if self._row is None:
            return pa.ListArray.from_arrays(pa.array([0, len(together)], pa.int32()), together)
        with control.memory.taken(reserved[0], _COLLECTED):  # in the order of the rows
            all_places = np.concatenate(places)
            places.clear()
            ends = np.concatenate([[0], np.cumsum(np.bincount(all_places, minlength=rows))])
            in_order = together if is_ascending(all_places) else together.take(to_arrow(order_of(all_places)))
            return pa.ListArray.from_arrays(to_arrow(ends.astype(np.int32)), in_order)


def _times(rows: int, size: int, control: Control) -> int:
    """How often so many rows, of so many bytes, are repeated at once."""
    return max(1, min(BATCH_ROWS // max(1, rows), batch_bytes(control) // max(1, size)))


def _again(value: pa.Array, times: int) -> pa.Array:
    return value.take(to_arrow(np.zeros(times, np.int64)))


def with_totals(
    rows: Rows, project: Callable[[Rows], Rows], of_none: Callable[[], Rows], row: str, count: int, random: bool
) -> Rows:
    """What a projection that gives one row of aggregates makes of rows, for each of so many rows of the outer query:
    also for those for which there are none. of_none: what it makes of no rows, without the number. random: whether that
    is another thing each time."""
    met = np.zeros(count, np.bool_)

    def watched() -> Rows:
        for batch in rows:
            met[to_numpy(batch.column(row))] = True
            yield batch

    yield from project(watched())
    left = np.flatnonzero(~met)
    for alike in np.split(left, len(left) if random else 1) if len(left) else ():
        for batch in of_none():
            again = batch.take(to_arrow(np.repeat(np.arange(batch.num_rows), len(alike))))
            columns = {name: again.column(name) for name in again.schema.names}
            yield batch_of({**columns, row: to_arrow(np.tile(alike, batch.num_rows))}, again.num_rows)
