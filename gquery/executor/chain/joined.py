"""Joins the matches of a segment back to the rows that they were found for.

The rows are kept as an Arrow table, within the query's budget. Their distinct bindings are the seeds of the matching.
The rows of a match are looked up by its seed's number, and what conditions ask of rows and matches together is asked of
these pairs; DuckDB joins where it alone can ask, or where there are no seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_arrow, to_numpy, truths
from gquery.errors import Span
from gquery.executor.chain.checks import Checks
from gquery.executor.chain.lookups import RowLookup
from gquery.executor.chain.paired import ROW, SEEDS, Paired, Pairs
from gquery.executor.chain.rows import HANDED_ON, Rows, batch_of, hidden_variables, kept, product, repeated, too_many
from gquery.executor.chain.seeds import Numbers, seeds_of
from gquery.executor.lowering.seeds import Seeds
from gquery.executor.progress import Control
from gquery.executor.relational.database import running
from gquery.executor.relational.database.translation import translated
from gquery.executor.relational.gather import plain_type
from gquery.executor.relational.inputs import Inputs
from gquery.executor.relational.selection import WEIGHT, WEIGHTS, named
from gquery.executor.relational.sql.expressions import inputs
from gquery.executor.relational.unions import cast
from gquery.executor.relational.widths import Copies
from gquery.planner.ir.expr import INTEGER, Attribute, Column, Expression, Parameter, variables, walk
from gquery.planner.ir.query_plan import PathsPlan, QueryPlan
from gquery.planner.ir.relations import SEED
from gquery.planner.ir.segments import Exists, NotExists, OptionalMatch
from gquery.storage.graph import Snapshot
from gquery.storage.sorting import grouped, order_of

_ROW = 26  # bytes of a row while rows with the same seed are looked for
_BOUND = 22  # besides, for each vertex of a seed
_NUMBERED = 32  # bytes of a row then: its seed, its place in the order of these, whether it has met a match

FromSeeds = Callable[[Seeds, tuple[str, ...]], Rows]
"""The matches for seeds, with some of the query graph's variables."""


class Join:
    """The join of a segment's matches. variables: what the stream of matches has to carry besides SEED and WEIGHT."""

    def __init__(self, plan: QueryPlan | PathsPlan, snapshot: Snapshot, parameters: Mapping[str, object]) -> None:
        segment = plan.segment
        self.plan = plan
        self.snapshot = snapshot
        self._filters = isinstance(segment, Exists | NotExists)
        self._before = {variable.name: variable.type for variable in segment.input}
        own = (*hidden_variables(plan.graph), *segment.output)
        self._types = {variable.name: variable.type for variable in own}
        conditions = self._conditions = (*segment.predicates, *plan.residual)
        told = {name for condition in conditions for name in variables(condition)}
        self._counts = plan.weighted and not self._filters
        self.weighted = plan.merging or self._counts or plan.counting
        self._new = tuple(name for name in plan.rows if name not in self._before)
        self.variables = tuple(dict.fromkeys((*self._new, *sorted(told - self._before.keys()))))
        self._carried = [Column(self._types[name], Span(0, 0), name, Attribute.ELEMENT) for name in self._new]
        self._carried += [WEIGHTS] if self._counts else []
        self._names_carried = [column.variable for column in self._carried]
        self._checks, self._paired = self._conditioned(parameters) if self._conditions else (None, None)
        self._lookups = [RowLookup(lookup, plan, snapshot, parameters) for lookup in segment.lookups]

    @property
    def asks_parameters(self) -> bool:
        """Whether it depends on the values of parameters."""
        asked = (*self._conditions, *(lookup.value for lookup in self.plan.segment.lookups))
        return any(isinstance(part, Parameter) for expression in asked for part in walk(expression))

    def _conditioned(self, parameters: Mapping[str, object]) -> tuple[Checks | None, Paired | None]:
        """Who asks the conditions: Arrow of what has a seed in common, where it computes them all, else DuckDB."""
        seeded = bool(self.plan.segment.seeded)
        read = [part for condition in self._conditions for part in inputs(condition)]
        names = named(dict.fromkeys([*read, *self._carried, *([SEEDS] if seeded else [])]))
        kinds = {name: type_.kind for name, type_ in (self._types | {WEIGHT: INTEGER, SEED: INTEGER}).items()}
        of_rows = Inputs(
            self.snapshot,
            {name: type_.kind for name, type_ in self._before.items()},
            {name: part for name, part in names.items() if self._is_before(part)},
        )
        told = {name: part for name, part in names.items() if not self._is_before(part)}
        of_matches = Inputs(self.snapshot, kinds, told)
        if seeded:
            asked = {name: part for name, part in told.items() if part in read}
            checks = Checks(self._conditions, of_rows, replace(of_matches, read=asked), parameters)
            if checks.is_direct:
                return checks, None
        return None, Paired(self._conditions, of_rows, of_matches, self._carried, seeded, parameters)

    def _is_before(self, part: Expression) -> bool:
        """Whether it is read of the rows, and not of the matches."""
        return any(variable in self._before for variable in variables(part))

    # --- running -----------------------------------------------------------------------------------------------

    def run(self, before: Rows, find: FromSeeds, control: Control) -> Rows:
        """The rows after the match. Closing it closes both streams."""
        reserved = [0]
        try:
            rows = kept(before, control, reserved)
            if rows is not None:
                yield from self._joined(rows, find, control)
        finally:
            control.memory.release(reserved[0])

    def multiplied(self, before: Rows, count: Callable[[], int], control: Control) -> Rows:
        """The rows, each as many times as there are matches, which have nothing to do with them."""
        times = None
        with closing(before):  # type: ignore[type-var]
            for batch in before:
                control.check()
                if times is None:
                    times = max(count(), int(isinstance(self.plan.segment, OptionalMatch)))
                if times == 0:
                    return
                weights = [batch.column(WEIGHT)] if WEIGHT in batch.schema.names else []
                columns = {name: batch.column(name) for name in self.plan.rows}
                weights.append(repeated(times, batch.num_rows))
                yield batch_of({**columns, WEIGHT: product(weights)}, batch.num_rows)

    def _joined(self, rows: pa.Table, find: FromSeeds, control: Control) -> Iterator[pa.RecordBatch]:
        found = {each.vertex: each.found(rows, control) for each in self._lookups}
        width = _ROW + _BOUND * len(self.plan.segment.seeded)
        with control.memory.taken(width * rows.num_rows, HANDED_ON):
            seeds, numbers = seeds_of(rows, self.plan.segment.bound, found)
            if self.plan.merging:
                rows, numbers = _merged(rows, numbers)
        with control.memory.taken(_NUMBERED * rows.num_rows, HANDED_ON):
            yield from self._found(rows, seeds, numbers, find, control)

    def _found(
        self, rows: pa.Table, seeds: Seeds, numbers: Numbers, find: FromSeeds, control: Control
    ) -> Iterator[pa.RecordBatch]:
        """The rows with their matches. numbers: the seed of each."""
        met, copies = np.zeros(rows.num_rows, np.bool_), Copies(rows, control)
        if seeds.count:
            matches, most = find(seeds, self.variables), running.rows_of(self._width(rows), control)
            if self._paired is not None:
                pairs = self._paired.pairs(rows, numbers, matches, most, control)
            else:
                pairs = self._looked_up(rows, numbers, matches, most, copies, control)
            try:
                for batch in pairs:
                    places = to_numpy(batch.column(0))
                    met[places] = True
                    for some in copies.parts(places) if not self._filters else ():
                        yield self._together(rows, places[some], batch[some].columns[1:])
            finally:
                pairs.close()
        left = self._left(met)
        for some in copies.parts(left):
            control.check()
            yield self._together(rows, left[some], None)

    def _left(self, met: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The rows that go out once all matches are known, by which rows have met one."""
        match self.plan.segment:
            case Exists():
                return np.flatnonzero(met)
            case OptionalMatch() | NotExists():
                return np.flatnonzero(~met)
        return np.zeros(0, np.int64)

    def _looked_up(
        self, rows: pa.Table, numbers: Numbers, matches: Rows, most: int, copies: Copies, control: Control
    ) -> Pairs:
        """Which match belongs to which row, by the seed's number, and by what is asked of such pairs."""
        order, begins = _by_seed(numbers)
        pairs = _one_each if begins[-1] - begins[0] == numbers.max() + 1 else _several_each
        (whole,) = rows.to_batches()
        with closing(matches):  # type: ignore[type-var]
            for batch in matches:
                found = to_numpy(batch.column(SEED)) if self.plan.segment.seeded else np.zeros(batch.num_rows, np.int64)
                for at, part in pairs(batch, found, begins, most):
                    control.check()
                    every = order[at]
                    for some in copies.parts(every) if self._checks is not None else (slice(None),):
                        yield self._passing(whole, every[some], part[some], control)

    def _passing(
        self, rows: pa.RecordBatch, places: NDArray[np.int64], matches: pa.RecordBatch, control: Control
    ) -> pa.RecordBatch:
        """What is carried of the matches that belong to the rows at these places, if conditions say so."""
        if self._checks is not None:
            passing = self._checks.passing(rows, places, matches, control)
            places, matches = places[truths(passing)], matches.filter(passing)
        carried = {name: matches.column(name) for name in self._names_carried}
        return batch_of({ROW: to_arrow(places), **carried}, len(places))

    def _width(self, rows: pa.Table) -> float:
        """About the bytes of a row that goes out."""
        return float(rows.nbytes / rows.num_rows + 8 * len(self._carried))

    def _together(self, rows: pa.Table, places: NDArray[np.int64], found: list[pa.Array] | None) -> pa.RecordBatch:
        """Rows with what was found for them; nulls where nothing was."""
        chosen = to_arrow(places)
        columns: dict[str, pa.Array] = {}
        with translated():
            for name in self.plan.rows:
                if name in self._before:
                    columns[name] = rows.column(name).chunk(0).take(chosen)
                else:
                    type_ = plain_type(self._types[name])
                    values = None if found is None else found[self._new.index(name)]
                    columns[name] = pa.nulls(len(places), type_) if values is None else cast(values, type_)
        weights = [rows.column(WEIGHT).chunk(0).take(chosen)] if WEIGHT in rows.column_names else []
        if self._counts:
            weights.append(to_arrow(np.ones(len(places), np.int64)) if found is None else found[-1])
        if weights:
            columns[WEIGHT] = product(weights)
        return batch_of(columns, len(places))


Placed = tuple[Numbers, pa.RecordBatch]
"""The places of rows, in the order of their seeds, and the matches that belong to them."""


def _by_seed(numbers: Numbers) -> tuple[Numbers, Numbers]:
    """The rows in the order of their seeds, and where those of each begin; before them are those without one."""
    own = np.arange(len(numbers) + 1)
    if np.array_equal(numbers, own[:-1]):
        return own[:-1], own
    return order_of(numbers + 1), np.cumsum(np.bincount(numbers + 1))


def _one_each(matches: pa.RecordBatch, seeds: Numbers, begins: Numbers, most: int) -> Iterator[Placed]:
    """The pairs, at most so many at once, where every seed has one row."""
    for begin in range(0, len(seeds), most):
        yield begins[seeds[begin : begin + most]], matches.slice(begin, most)


def _several_each(matches: pa.RecordBatch, seeds: Numbers, begins: Numbers, most: int) -> Iterator[Placed]:
    """The pairs, at most so many at once. begins: where the rows of a seed begin, and where the last ones end."""
    ends = np.cumsum(begins[seeds + 1] - begins[seeds])
    firsts = begins[seeds + 1] - ends  # where the rows of a match begin, less those before
    for begin in range(0, int(ends[-1]) if len(ends) else 0, most):
        pairs = np.arange(begin, min(begin + most, ends[-1]))
        match = np.searchsorted(ends, pairs, side="right")
        yield firsts[match] + pairs, matches.take(to_arrow(match))


def _merged(rows: pa.Table, numbers: Numbers) -> tuple[pa.Table, Numbers]:
    """One row for all with the same seed, with their number; rows without a seed stay apart."""
    weights = to_numpy(rows.column(WEIGHT)) if WEIGHT in rows.column_names else np.ones(rows.num_rows, np.int64)
    own = np.where(numbers < 0, np.arange(len(numbers)) + numbers.max() + 1, numbers)
    first, group = grouped(own)
    if np.any(np.bincount(group, weights) >= 2.0**63):
        raise too_many()
    together = np.zeros(len(first), np.int64)
    np.add.at(together, group, weights)
    columns = {name: rows.column(name).chunk(0).take(to_arrow(first)) for name in rows.column_names}
    return pa.Table.from_batches([batch_of({**columns, WEIGHT: to_arrow(together)}, len(first))]), numbers[first]
