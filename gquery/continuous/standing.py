"""A query that stands: what two versions of a graph make of it."""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_arrow, to_numpy
from gquery.continuous.anchors import Anchored
from gquery.continuous.answers import Answering, LedTerms, led_terms
from gquery.continuous.between import Between, schema_key
from gquery.continuous.netting import alike, differences, net
from gquery.continuous.numbers.branches import branches_of, only_counts
from gquery.continuous.numbers.counting import Apart, Branch
from gquery.continuous.numbers.kept import Kept, half_of
from gquery.continuous.numbers.totals import Totals
from gquery.continuous.reading import names_read
from gquery.continuous.terms import Terms, is_row_wise, terms_of
from gquery.continuous.ways import counts_of, way_of
from gquery.errors import BindError, GQueryError, MemoryLimitError, QueryTimeout
from gquery.executor.chain.rows import batch_of
from gquery.executor.progress import Control
from gquery.grammar import ast
from gquery.grammar.parser import parse
from gquery.planner.binding.clauses import bind
from gquery.planner.binding.mentions import is_random
from gquery.planner.ir.expr import is_aggregated
from gquery.planner.ir.segments import BoundQuery, Project
from gquery.records import record
from gquery.settings import Settings
from gquery.storage.graph import Snapshot
from gquery.storage.parted.snapshot import Parted
from gquery.storage.schema import Schema

Emit = Literal["rows", "counts"]

Tables = tuple[pa.Table, pa.Table]
"""What is added, and what is removed."""

Sides = tuple[Parted | None, Parted | None]
"""With the edges apart that are lost, and with those that are gained; None where there are none."""

_LARGEST = 2**63 - 1
_FEW = 1 << 3  # edges
_COUNTED = parse("RETURN count(*) AS count")


@record(frozen=True, slots=True)
class _Bound:
    """A query as one version of the graph understands it. way: how is told what changes; anew: why neither terms nor
    anchors tell it, if so; is_grouped: whether its RETURN aggregates; is_number: of its matches, which terms tell, and
    nothing else; counts: the columns that count, where nothing else is aggregated; names: the properties that it
    reads; types: of the edges that make a difference; apart: how it falls apart, where it is counted and does."""

    query: BoundQuery
    key: Hashable
    way: Terms | Anchored | None
    anew: str
    is_grouped: bool
    is_number: bool
    counts: tuple[str, ...]
    names: frozenset[str] | None
    types: frozenset[str]
    apart: Apart | None = None


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
        if is_random(self._tree):
            raise BindError("a query with rand() does not stand", hint="no answer of it is the one before and a change")
        self._answering = Answering(parameters, settings)
        self._bound: dict[Hashable, _Bound] = {}
        self._of_nothing: dict[Hashable, pa.Table] = {}
        self._last: tuple[Snapshot | None, pa.Table] = None, pa.table({})
        self._kept = Kept(self._answering)
        self._totals = Totals()

    def columns(self, snapshot: Snapshot) -> pa.Schema:
        """Of what is added and removed. Raises BindError for what is no query of the graph."""
        bound = self._bound_on(snapshot, schema_key(snapshot))
        if isinstance(bound.way, Terms):
            return self._of_none(
                bound, bound.way, snapshot, Control()
            ).schema  # which every change asks for that adds nothing
        if self.emit == "counts" and not bound.is_grouped:
            return _number(0).schema
        return self._answering.chain(bound.query, snapshot, Control()).schema

    def warnings(self, snapshot: Snapshot) -> tuple[str, ...]:
        """What has to be said of the query, though it can be answered."""
        query = self._bound_on(snapshot, schema_key(snapshot)).query
        return tuple(notice.rendered(self.text) for notice in query.notices)

    def explain(self, snapshot: Snapshot) -> str:
        """What is done for a change of a graph like this, and why, with the plan of it."""
        bound = self._bound_on(snapshot, schema_key(snapshot))
        unchanged = Parted.with_none_apart(snapshot)
        parts: list[tuple[str, BoundQuery, Snapshot]]
        if isinstance(bound.way, Terms):
            done = (
                "For each relationship that edges of the change fit by what is around them, the matches with one there"
            )
            parts = [(done, bound.way.query, unchanged)]
        elif isinstance(bound.way, Anchored):
            parts = [("Answer for these before the change and after it, and compare", bound.way.query, unchanged)]
            if bound.way.touched is not None:
                near = f"Find what edges of the change are near, as {', '.join(map(str.strip, bound.way.names))}:"
                parts = [(near, bound.way.touched.query, unchanged), *parts]
        else:
            parts = [(f"Answer the query anew and compare, since {bound.anew}", bound.query, snapshot)]
        lines = []
        for done, query, on in parts:
            lines += [done, *(f"  {line}" for line in self._answering.explained(query, on).splitlines())]
        if bound.is_number:
            lines.append("Of a change that is large beside the graph, count all matches where that is done sooner")
        if bound.apart is not None:
            lines.append(f"Once small changes have taken long, follow the number of matches by {bound.apart.described}")
        return "\n".join(lines)

    def change(self, between: Between) -> Tables:
        """What is added from the old version to the new one, and what is removed: columns of the same types. Raises
        what answering a query raises."""
        limit = self._settings.memory_limit
        shared = half_of(limit) if self._kept.is_making else limit
        try:
            told = self._change(between, Control(self._settings.timeout, shared))
        except MemoryLimitError:
            if shared == limit:
                raise
            self._kept.stop()
            told = self._change(between, Control(self._settings.timeout, limit))
        return alike(*told)

    def close(self) -> None:
        """Leaves no thread behind. Raises what has gone wrong in one."""
        self._kept.close()

    def _change(self, between: Between, control: Control) -> Tables:
        old, new = map(self._bound_on, (between.old, between.new), between.keys)
        if isinstance(old.way, Anchored) and isinstance(new.way, Anchored):
            return self._anchored(old, old.way, new, new.way, between, control)
        if not (isinstance(old.way, Terms) and isinstance(new.way, Terms)):
            before = self._whole(old, between.old, control)
            return self._compared(new, self._whole(new, between.new, control), before, control)
        parted = _parted(old, new, between)
        is_few = _touch_few(parted)
        is_followed = new.apart is not None and is_few and old is new
        if is_followed and (told := self._by_sums(new, between, control)) is not None:
            return told
        if not is_followed:
            self._kept.forget()
        thought = self._thought(new, parted) if new.is_number and old is new and not is_few else None
        if thought is not None and (told := self._by_totals(new, between, thought, control)) is not None:
            return told
        began = time.perf_counter()
        hurried = self._kept.hurried(control) if is_followed else control
        try:
            added, removed = self._by_terms(old, new, between, parted, hurried)
        except QueryTimeout:
            if hurried is control:
                raise
            self._kept.wait(control)
            if (told := self._by_sums(new, between, control)) is not None:
                return told
            began = time.perf_counter()
            added, removed = self._by_terms(old, new, between, parted, control)
        took = time.perf_counter() - began
        if thought is not None:
            self._totals.answered_without(took, thought)
        if new.apart is not None and is_few:
            self._kept.answered_without(new.apart, between, took)
        return (added, removed) if self.emit == "counts" else net(added, removed, control)

    # --- by terms ----------------------------------------------------------------------------------------------

    def _by_terms(self, old: _Bound, new: _Bound, between: Between, parted: Sides, control: Control) -> Tables:
        """What the query says of the matches that are new, and of those that are gone."""
        lost, gained = parted
        removed = self._found(old, between.old, lost, control)
        return self._found(new, between.new, gained, control), removed

    def _found(self, bound: _Bound, snapshot: Snapshot, parted: Parted | None, control: Control) -> pa.Table:
        """What the query says of the matches with an edge that is apart."""
        assert isinstance(bound.way, Terms)
        snapshot.counts.make_sure(bound.query.edge_types, control.check)
        led = led_terms(bound.key, bound.query, bound.way, parted, control)
        if parted is None or led is None:
            return self._of_none(bound, bound.way, snapshot, control)
        return self._answering.answer_of_change(led, parted, control)

    def _of_none(self, bound: _Bound, terms: Terms, snapshot: Snapshot, control: Control) -> pa.Table:
        """What the query says of no matches."""
        if bound.key not in self._of_nothing:
            unchanged = Parted.with_none_apart(snapshot)
            self._of_nothing[bound.key] = self._answering.answer(terms.query, unchanged, control)
        return self._of_nothing[bound.key]

    # --- by sums that are kept ---------------------------------------------------------------------------------

    def _by_sums(self, bound: _Bound, between: Between, control: Control) -> Tables | None:
        """By what the change did to the branches; None where that cannot be told, or not in a column: a branch may have
        more matches than the pattern."""
        assert bound.apart is not None
        numbers = self._kept.told(bound.apart, between, control)
        told = None if numbers is None else self._numbers(bound, between.new, numbers, control)
        if numbers is not None and told is None:
            self._kept.forget()
        return told

    def _numbers(self, bound: _Bound, snapshot: Snapshot, numbers: tuple[int, int], control: Control) -> Tables | None:
        """How many matches are new, and how many are gone; None where a column has no room for that."""
        assert isinstance(bound.way, Terms)
        if max(numbers) > _LARGEST:
            return None
        none = self._of_none(bound, bound.way, snapshot, control)
        come, gone = (
            pa.table([pa.array([number], pa.int64())], schema=none.schema) if number else none for number in numbers
        )
        return come, gone

    # --- by numbers of all matches -----------------------------------------------------------------------------

    def _thought(self, bound: _Bound, parted: Sides) -> float | None:
        """Seconds that terms are thought to take for a large change; None for others."""
        assert isinstance(bound.way, Terms)
        sides = [each for each in parted if each is not None]
        return self._totals.thought(sides, bound.types, len(bound.way.places))

    def _by_totals(self, bound: _Bound, between: Between, most: float, control: Control) -> Tables | None:
        """By how many matches there are before and after; None where that would take so many seconds, or cannot be
        told."""
        trying = Control(min(most, control.left), control.memory_limit)

        def count(snapshot: Snapshot) -> int:
            side = Parted.with_none_apart(snapshot)
            (number,) = self._answering.answer_again((bound.key, "all"), bound.query, side, trying).column(0)
            return int(number.as_py())

        versions = (between.old, between.in_common(bound.types, bound.names), between.new)
        try:
            numbers = self._totals.changed(versions, most, count)
        except GQueryError:  # terms take less, of time or of memory
            return None
        return None if numbers is None else self._numbers(bound, between.new, numbers, control)

    # --- by anchors --------------------------------------------------------------------------------------------

    def _anchored(
        self, old: _Bound, before: Anchored, new: _Bound, after: Anchored, between: Between, control: Control
    ) -> Tables:
        """The answers for the anchors that may have changed against each other."""
        for bound, snapshot in ((old, between.old), (new, between.new)):
            snapshot.counts.make_sure(bound.types, control.check)
        lost, gained = _parted(old, new, between)
        found = [self._touched(*each, control) for each in ((old, before, lost), (new, after, gained))]
        if before.alone:
            found.append(between.vertices(_names(old, new)).astype(np.int64).reshape(1, -1))
        anchors = np.unique(np.hstack(found), axis=1)
        sides = zip((old, new), (before, after), between.sides, strict=True)
        was, there = (self._from(bound, way, anchors, side, control) for bound, way, side in sides)
        return self._compared(new, there, was, control)

    def _touched(self, bound: _Bound, way: Anchored, parted: Parted | None, control: Control) -> NDArray[np.int64]:
        """int64[vertices of an anchor, anchors]: those that the edges are near which are apart."""
        leads = {} if parted is None or way.touched is None else way.touched.sieve.leads(parted, control)
        if parted is None or way.touched is None or not leads:
            return np.zeros((len(way.names), 0), np.int64)
        led = LedTerms((bound.key, "touched"), way.touched, leads)
        found = self._answering.answer_of_change(led, parted, control)
        return np.stack([to_numpy(found[name].combine_chunks()) for name in way.names])

    def _from(
        self, bound: _Bound, way: Anchored, anchors: NDArray[np.int64], side: Parted, control: Control
    ) -> pa.Table:
        """The rows of some anchors, as far as there are such vertices."""
        there = anchors[:, np.all(anchors < side.vertex_count, axis=0)].astype(np.int32)
        if not there.size and bound.key in self._of_nothing:
            return self._of_nothing[bound.key]
        rows = batch_of({name: to_arrow(each) for name, each in zip(way.names, there, strict=True)}, there.shape[1])
        answer = self._answering.answer_from((bound.key, "anchors"), way.query, rows, side, control)
        if not there.size:
            self._of_nothing[bound.key] = answer
        return answer

    # --- anew --------------------------------------------------------------------------------------------------

    def _compared(self, new: _Bound, after: pa.Table, before: pa.Table, control: Control) -> Tables:
        """Both answers against each other."""
        if after.equals(before):
            after = before = after.slice(0, 0)
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
            if found.way is not None:  # others may have been told how many elements there are
                self._bound[key] = found
        return found

    def _bind(self, schema: Schema, key: Hashable) -> _Bound:
        parameters, settings = self._answering.parameters, self._settings

        def bound(tree: ast.Query) -> BoundQuery:
            return bind(tree, schema, parameters, settings.mode, strict=settings.strict, stands=True)

        query = bound(self._tree)
        if self.emit == "counts" and is_row_wise(query.segments) and isinstance(self._tree.clauses[-1], ast.Return):
            query = bound(replace(self._tree, clauses=(*self._tree.clauses[:-1], *_COUNTED.clauses)))
        *before, last = query.segments
        assert isinstance(last, Project)
        grouped = any(is_aggregated(item.expression) for item in last.projection.items)
        counts = counts_of(last) if self.emit == "counts" else ()
        way, anew = way_of(query, schema, query.segments if self.emit == "rows" else before)
        if not anew and self.emit == "counts" and not grouped:
            way, anew = None, "rows are counted that nothing aggregates"
        elif isinstance(way, Anchored) and self.emit == "counts" and not counts:
            way, anew = None, "something else than a number is aggregated"
        types = way.types if isinstance(way, Anchored) else frozenset(query.edge_types)
        names = names_read(query)
        found = branches_of(query) if isinstance(way, Terms) else None
        apart = None
        if found is not None:
            queries = enumerate(found.queries)
            branches = tuple(Branch((key, place), each, terms_of(each, schema)) for place, each in queries)
            apart = Apart(branches, found.described, types, names)
        number = isinstance(way, Terms) and only_counts(query.segments[1:])
        return _Bound(query, key, way, anew, grouped, number, counts, names, types, apart)


def _names(old: _Bound, new: _Bound) -> frozenset[str] | None:
    """The properties that are read; None for all."""
    if old is new:
        return old.names
    return None if old.names is None or new.names is None else old.names | new.names


def _parted(old: _Bound, new: _Bound, between: Between) -> Sides:
    return between.parted(old.types | new.types, _names(old, new))


def _touch_few(parted: Sides) -> bool:
    """Whether the numbers that a change of branches lists are likely to be few."""
    return sum(len(each.apart) for each in parted if each is not None) <= _FEW


def _number(rows: int) -> pa.Table:
    return pa.table({"count": pa.array([rows], pa.int64())})
