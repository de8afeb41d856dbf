"""Numbers of all matches: by them is told what a change does that is large beside the graph.

A match that both versions have is one of what they have in common. So what is new is what the new version has more than
that, and what is gone what the old one has more. Terms look at each edge of the change once for each edge of the
pattern; where these are a fair share of the graph's edges, all matches are counted sooner, by one plan for all
versions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from weakref import ReferenceType, ref

from gquery.storage.graph import Snapshot
from gquery.storage.parted.snapshot import Parted

_SHARE = 1 / 32  # of the graph's edges that terms look at, from which on it is worth to think of all
_TERM, _EDGE = 1.5e-3, 5e-7  # seconds that a term is thought to take, and for each edge, before any has been seen

Versions = tuple[Snapshot, Snapshot, Snapshot]
"""The old one, one that has what the old and the new one have in common, and the new one."""


class Totals:
    """For one version at a time: how many matches it has. Both ways are timed, and the one is taken that seems to be
    done sooner; counting ends when terms would have been done."""

    def __init__(self) -> None:
        self._version: ReferenceType[Snapshot] | None = None
        self._number = 0
        self._took = 0.0  # seconds for one version
        self._pace = 1.0  # of terms: seconds for each that was thought of

    def thought(self, sides: Sequence[Parted], types: Collection[str], terms: int) -> float | None:
        """Seconds that so many terms are likely to take for the edges that are apart; None where these are few beside
        all of their types."""
        looks = terms * sum(len(each.apart) for each in sides)
        if looks < _SHARE * max((each.edges.count_of(types) for each in sides), default=0):
            return None
        return self._pace * (_TERM * terms * len(sides) + _EDGE * looks)

    def answered_without(self, seconds: float, thought: float) -> None:
        """Terms have taken so long."""
        self._pace *= seconds / thought

    def changed(self, versions: Versions, most: float, count: Callable[[Snapshot], int]) -> tuple[int, int] | None:
        """How many matches are new, and how many are gone; None where it is likely to take so many seconds to count
        them, or more. Raises what counting raises."""
        old, common, new = versions
        known = {old: self._number} if self._version is not None and self._version() is old else {}
        asked = dict.fromkeys(each for each in versions if each not in known)
        if len(asked) * self._took >= most:
            return None
        self._took = most / len(asked)  # at least, where it is not done then
        began = time.perf_counter()
        known |= {each: count(each) for each in asked}
        self._took = (time.perf_counter() - began) / len(asked)
        self._version, self._number = ref(new), known[new]
        return known[new] - known[common], known[old] - known[common]
