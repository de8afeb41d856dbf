"""How many matches the branches of a pattern have (`branches.py`): all of a version, and those that a change makes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from gquery.continuous.answers import Answering, led_terms
from gquery.continuous.between import Between
from gquery.continuous.numbers.sums import NONE_MET, Met, Sums, met_by, met_in
from gquery.continuous.terms import Terms
from gquery.executor.progress import Control
from gquery.planner.ir.segments import BoundQuery
from gquery.records import record
from gquery.storage.graph import Snapshot
from gquery.storage.parted.snapshot import Parted


@record(frozen=True, slots=True)
class Branch:
    """key: what tells it from others; query: its matches by the cut vertex; terms: those that a change makes."""

    key: Hashable
    query: BoundQuery
    terms: Terms


@record(frozen=True, slots=True)
class Apart:
    """A pattern that falls apart. described: where, and into what; types: of its edges; names: of the properties that
    it reads, None for all."""

    branches: tuple[Branch, ...]
    described: str
    types: frozenset[str]
    names: frozenset[str] | None


class Counting(NamedTuple):
    """By one thread at a time, as what answers."""

    apart: Apart
    answering: Answering

    def of(self, snapshot: Snapshot, control: Control) -> Sums:
        """The numbers of a version. Raises what answering a query raises."""
        branches = self.apart.branches
        control.memory.reserve(8 * len(branches) * snapshot.vertex_count, "the sums that are kept")
        answers = [self.answering.answer_once(each.query, snapshot, control) for each in branches]
        return Sums([met_by(each) for each in answers], snapshot)

    def follow(self, sums: Sums, between: Between, control: Control) -> tuple[int, int]:
        """From the old version to the new one. Returns how many matches of the whole pattern are new, and how many are
        gone. Raises what answering a query raises, and ExecutionError for a branch with more matches than a column has
        room for."""
        lost, gained = between.parted(self.apart.types, self.apart.names)
        for snapshot in (between.old, between.new):
            snapshot.counts.make_sure(self.apart.types, control.check)
        removed = [self._met(each, lost, control) for each in self.apart.branches]
        added = [self._met(each, gained, control) for each in self.apart.branches]
        return sums.follow(added, removed, between.new)

    def _met(self, branch: Branch, parted: Parted | None, control: Control) -> Met:
        """The matches of a branch with an edge that is apart."""
        led = led_terms(branch.key, branch.query, branch.terms, parted, control)
        if parted is None or led is None:
            return NONE_MET
        return met_in(self.answering.rows_of_change(led, parted, control))
