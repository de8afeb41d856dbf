"""What a backend provides. CPU and GPU run the same plan; a backend adds kernels, never semantics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gquery.executor.lowering.seeds import Seeds
from gquery.executor.profile import Profile
from gquery.executor.progress import Control
from gquery.planner.ir.filters import Filter
from gquery.planner.ir.match_plan import Counted, MatchPlan
from gquery.planner.ir.query_graph import QueryGraph
from gquery.storage.graph import Snapshot

Parameters = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Matches:
    """A batch of matches: internal vertex ids int32[count] by query vertex, internal edge ids int64[count] by query
    edge (only for the edges that the plan tells apart); weights int64[count]: how many matches each row stands for,
    None when each is one."""

    count: int
    vertices: dict[int, NDArray[np.int32]]
    edges: dict[int, NDArray[np.int64]]
    weights: NDArray[np.int64] | None = None

    def first(self, count: int) -> Matches:
        """The first `count` of them."""
        return Matches(
            count,
            {vertex: column[:count] for vertex, column in self.vertices.items()},
            {edge: column[:count] for edge, column in self.edges.items()},
            None if self.weights is None else self.weights[:count],
        )


class Candidates(Protocol):
    """The candidate sets of a query graph, wherever they live."""

    outcomes: list[FilterOutcome]

    @property
    def counted(self) -> Counted: ...

    @property
    def nbytes(self) -> int: ...


@dataclass(frozen=True, slots=True)
class FilterOutcome:
    """What a filter left of a candidate set, for PROFILE."""

    filter: Filter
    before: int
    after: int


class Backend(Protocol):
    """One device. Every method may raise QueryTimeout, QueryCancelled and MemoryLimitError through `control`."""

    name: str

    def filter(
        self,
        graph: QueryGraph,
        plan: tuple[Filter, ...],
        snapshot: Snapshot,
        parameters: Parameters,
        control: Control,
        seeds: Seeds | None = None,
    ) -> Candidates:
        """Candidate sets after the plan's filters. `seeds`: what the graph's bindings begin with."""
        ...

    def refine(self, candidates: Candidates) -> None:
        """Sweeps over the candidate edges (EGSM section 4.2, wedge refinement); narrows the sets in place."""
        ...

    def matches(self, plan: MatchPlan, candidates: Candidates, profile: Profile) -> Iterator[Matches]:
        """The matches, batch by batch; closing the iterator stops the work."""
        ...

    def count(self, plan: MatchPlan, candidates: Candidates, profile: Profile) -> int:
        """The number of matches."""
        ...
