"""A query that stands: what two versions of a graph make of it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
import pyarrow as pa

from gquery.continuous.answers import Answering
from gquery.continuous.between import Between, schema_key
from gquery.continuous.fitting import Fitting
from gquery.continuous.netting import differences, net
from gquery.continuous.reading import names_read
from gquery.continuous.terms import are_apart, changed, is_row_wise, why_not_by_terms
from gquery.errors import BindError
from gquery.executor.progress import Control
from gquery.grammar import ast
from gquery.grammar.parser import parse
from gquery.planner.binding.clauses import bind
from gquery.planner.ir.expr import Aggregate, Expression, is_aggregated
from gquery.planner.ir.segments import BoundQuery, Match, Project
from gquery.records import record
from gquery.settings import Settings
from gquery.storage.graph import Snapshot
from gquery.storage.parted.snapshot import Parted
from gquery.storage.schema import Schema

Emit = Literal["rows", "counts"]

Tables = tuple[pa.Table, pa.Table]
"""What is added, and what is removed."""

_COUNTED = parse("RETURN count(*) AS count")


@record(frozen=True, slots=True)
class _Bound:
    """A query as one version of the graph understands it. anew: why terms do not tell what changes, if so; is_grouped:
    whether its RETURN aggregates; counts: the columns that count, where nothing else is aggregated; names: the
    properties that it reads; fitting: which relationships of its pattern edges fit, where it begins with one."""

    query: BoundQuery
    key: Hashable
    anew: str
    is_grouped: bool
    counts: tuple[str, ...]
    names: frozenset[str] | None
    fitting: Fitting | None

    @property
    def by_terms(self) -> bool:
        return not self.anew


class Standing:
    """A query that stands.

    What it says of a change: with `rows`, the rows of its answer that are new, and those that are gone; with `counts`,
    what its RETURN makes of the matches that are new, and of those that are gone, where that is an aggregate, else how
    many rows they have.
    """

    def __init__(self, text: str, parameters: Mapping[str, object], settings: Settings, emit: Emit = "rows") -> None:
        self.text = text
        if emit not in get_args(Emit):
            raise BindError(f"`emit` is {' or '.join(map(repr, get_args(Emit)))}, not {emit!r}")
        self.emit = emit
        self._settings = settings
        self._tree = parse(text)
        if self._tree.command is not None:
            raise BindError(f"{self._tree.command.upper()} does not stand", hint="watch the query itself")
        self._answering = Answering(parameters, settings)
        self._bound: dict[Hashable, _Bound] = {}
        self._of_nothing: dict[Hashable, pa.Table] = {}
        self._last: tuple[Snapshot | None, pa.Table] = None, pa.table({})

    def columns(self, snapshot: Snapshot) -> pa.Schema:
        """Of what is added and removed. Raises BindError for what is no query of the graph."""
        bound = self._bound_on(snapshot, schema_key(snapshot.schema))
        if bound.by_terms:
            return self._of_none(bound, snapshot, Control()).schema  # which every change asks for that adds nothing
        if self.emit == "counts" and not bound.is_grouped:
            return _number(0).schema
        return self._answering.chain(bound.query, snapshot, Control()).schema

    def explain(self, snapshot: Snapshot) -> str:
        """What is done for a change of a graph like this, and why, with the plan of it."""
        bound = self._bound_on(snapshot, schema_key(snapshot.schema))
        done = "For each relationship that edges of the change fit, the matches that have one of them there"
        if not bound.by_terms:
            done = f"Answer the query anew and compare, since {bound.anew}"
        plan = self._answering.explained(bound.query, snapshot, bound.by_terms)
        return "\n".join([done, *(f"  {line}" for line in plan.splitlines())])

    def change(self, between: Between) -> Tables:
        """What is added from the old version to the new one, and what is removed. Raises what answering a query
        raises."""
        control = Control(self._settings.timeout, self._settings.memory_limit)
        old, new = map(self._bound_on, (between.old, between.new), between.keys)
        if not (old.by_terms and new.by_terms):
            return self._compared(old, new, between, control)
        names = None if old.names is None or new.names is None else old.names | new.names
        lost, gained = between.parted(frozenset(old.query.edge_types | new.query.edge_types), names)
        removed = self._found(old, between.old, lost, control)
        added = self._found(new, between.new, gained, control)
        return (added, removed) if self.emit == "counts" else net(added, removed, control)

    def _found(self, bound: _Bound, snapshot: Snapshot, parted: Parted | None, control: Control) -> pa.Table:
        """What the query says of the matches with an edge that is apart."""
        match = bound.query.segments[0]
        assert isinstance(match, Match)
        snapshot.counts.make_sure(bound.query.edge_types, control.check)
        places = bound.fitting.places(parted.kinds) if parted is not None and bound.fitting is not None else ()
        if parted is None or not places:
            return self._of_none(bound, snapshot, control)
        alone = len(parted.apart) == 1 and are_apart(match.graph)
        answer = self._answering.answer_of_one_edge if alone else self._answering.answer_of_change
        return answer(bound.key, bound.query, places, parted, control)

    def _of_none(self, bound: _Bound, snapshot: Snapshot, control: Control) -> pa.Table:
        """What the query says of no matches."""
        if bound.key not in self._of_nothing:
            unchanged = Parted(snapshot, np.zeros(0, np.int64), snapshot)
            self._of_nothing[bound.key] = self._answering.answer(changed(bound.query, (0,)), unchanged, control)
        return self._of_nothing[bound.key]

    def _compared(self, old: _Bound, new: _Bound, between: Between, control: Control) -> Tables:
        """Both answers against each other."""
        before = self._whole(old, between.old, control)
        after = self._whole(new, between.new, control)
        if new.counts:
            keys = [name for name in after.column_names if name not in new.counts]
            return differences(after, before, keys, new.counts, control)
        added, removed = net(after, before, control)
        if self.emit == "counts" and not new.is_grouped:
            return _number(added.num_rows), _number(removed.num_rows)
        return added, removed

    def _whole(self, bound: _Bound, snapshot: Snapshot, control: Control) -> pa.Table:
        """The whole answer; that of the newest version is kept until the next one comes."""
        known, answer = self._last
        if known is not snapshot:
            answer = self._answering.answer(bound.query, snapshot, control)
            self._last = snapshot, answer
        return answer

    def _bound_on(self, snapshot: Snapshot, key: Hashable) -> _Bound:
        found = self._bound.get(key)
        if found is None:
            found = self._bind(snapshot.schema, key)
            if found.by_terms:  # others may have been told how many elements there are
                self._bound[key] = found
        return found

    def _bind(self, schema: Schema, key: Hashable) -> _Bound:
        parameters, settings = self._answering.parameters, self._settings

        def bound(tree: ast.Query) -> BoundQuery:
            return bind(tree, schema, parameters, settings.mode, strict=settings.strict)

        query = bound(self._tree)
        if self.emit == "counts" and is_row_wise(query.segments) and isinstance(self._tree.clauses[-1], ast.Return):
            query = bound(replace(self._tree, clauses=(*self._tree.clauses[:-1], *_COUNTED.clauses)))
        *before, last = query.segments
        assert isinstance(last, Project)
        grouped = any(is_aggregated(item.expression) for item in last.projection.items)
        anew = why_not_by_terms(query)
        if not anew and not is_row_wise(query.segments if self.emit == "rows" else before):
            anew = "rows are made of several matches, or cut off"
        if not anew and self.emit == "counts" and not grouped:
            anew = "rows are counted that nothing aggregates"
        counts = _counts_of(last) if self.emit == "counts" else ()
        return _Bound(query, key, anew, grouped, counts, names_read(query), _fitting(query))


def _fitting(query: BoundQuery) -> Fitting | None:
    first = query.segments[0]
    return Fitting(first.graph) if isinstance(first, Match) else None


def _counts_of(last: Project) -> tuple[str, ...]:
    """The columns that count, where nothing else is aggregated and no group is left out."""
    aggregated = [item for item in last.projection.items if is_aggregated(item.expression)]
    cut = last.projection.skip is not None or last.projection.limit is not None
    if cut or not all(_is_count(item.expression) for item in aggregated):
        return ()
    return tuple(item.name for item in aggregated)


def _is_count(expression: Expression) -> bool:
    return isinstance(expression, Aggregate) and expression.function == "count" and not expression.distinct


def _number(rows: int) -> pa.Table:
    return pa.table({"count": pa.array([rows], pa.int64())})
