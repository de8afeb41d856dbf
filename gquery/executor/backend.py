"""What a backend provides: the protocol that the engine speaks with every device.

A backend adds kernels, never semantics. In front of it predicates have become masks and comparisons ranks (`lowering`);
behind it partial matches become matches (`expansion`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from gquery.arrays import raised, room
from gquery.executor.lowering.kept import Kept, KeptEdges
from gquery.executor.lowering.program import Program
from gquery.executor.lowering.seeds import StandsFor
from gquery.executor.profile import EnumerationCounters
from gquery.executor.progress import Control
from gquery.planner.ir.filters import Filter
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.walks import Sampler
from gquery.records import record
from gquery.storage.graph import Snapshot

Item = TypeVar("Item")


@record(frozen=True, slots=True)
class Masks:
    """What predicates and bindings leave. vertices: by the place of a filter among all, those that it keeps, unless it
    keeps all. edges: by query edge, those for which its predicates are true, and which can be in a match. seeds: what
    the query vertices of no table stand for."""

    vertices: Mapping[int, Kept]
    edges: Mapping[int, KeptEdges]
    seeds: Mapping[int, StandsFor] = field(default_factory=dict)


@record(frozen=True, slots=True)
class PartialMatches:
    """positions int32[width, capacity], column-major in the sense that one query vertex is one row; `count` in use.

    sums uint64[count]: the ways to finish each of them, modulo 2^64 or the run's modulus, once they are known; sizes
    float64[count]: about the same numbers. columns: what was gathered for them, and is asked for instead of positions.
    """

    positions: NDArray[np.int32]
    count: int
    sums: NDArray[np.uint64] | None = None
    sizes: NDArray[np.float64] | None = None
    columns: Sequence[NDArray[Any]] | None = None


@record(frozen=True, slots=True)
class Stored:
    """Numbers of data vertices that lie side by side. first: the vertex that the first number is of. values: them, None
    where they are int64 and count up from `begin` on."""

    first: int
    values: NDArray[Any] | None
    begin: int = 0

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.int64) if self.values is None else self.values.dtype

    def at(self, vertices: NDArray[np.int32]) -> NDArray[Any]:
        """The numbers of some vertices."""
        if self.values is None:
            return raised(vertices, self.begin - self.first)
        places = vertices - np.int32(self.first) if self.first else vertices
        return self.values.take(places, out=room(len(places), self.dtype), mode="clip")  # others write to a copy first


@record(frozen=True, slots=True)
class VertexValues:
    """A number for each of some data vertices. key: what tells it from others of the graph; make: gives the array, of
    one entry for each vertex of the graph. stored: gives them as they are, if they lie side by side; about as many are
    gathered as it is told."""

    key: Hashable
    make: Callable[[], NDArray[Any]]
    stored: Callable[[float], Stored] | None


@record(frozen=True, slots=True)
class FilterOutcome:
    """What a filter left of a candidate set, for PROFILE."""

    filter: Filter
    before: int
    after: int


Ranks = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Both sides of a comparison by position: equal values have equal ranks, order is kept, NULL_RANK is the rank of what
no comparison holds for."""


class Slices(EnumerationCounters, Protocol):
    """One run of a program from its start pool: either `batches`, once, or `total`, once for each modulus."""

    def batches(self, behind: Callable[[PartialMatches], Iterable[Item]]) -> Generator[Item, None, None]:
        """What `behind` makes of partial matches as wide as what is listed, with their sums when anything is summed
        out; a row may come several times, with a part of its sum each. `behind` is called by whoever finds them, in
        several threads at once. Closing the generator stops the work."""
        ...

    def total(self, modulus: int) -> tuple[int, float]:
        """The number of matches modulo 2^64 (modulus 0) or a modulus below 2^32, and about how many there are."""
        ...


@runtime_checkable
class GathersColumns(Protocol):
    """Slices that gather columns of the answer themselves, where they find matches."""

    def gathered(
        self, columns: Sequence[tuple[int, VertexValues]], copied: bool
    ) -> Generator[Sequence[Any], None, None]:
        """For each batch of partial matches, which have no sums, the values at some levels: arrays on the device, or
        copies of them on the host."""
        ...


@runtime_checkable
class SharesWorkers(Protocol):
    """Slices that take so many workers for themselves when they run. Others run beside them."""

    workers: int


class Candidates(Protocol):
    """The candidate sets of a query graph, wherever they live."""

    @property
    def outcomes(self) -> Sequence[FilterOutcome]:
        """What the filters did, in order."""
        ...

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of candidates by query vertex."""
        ...

    @property
    def edge_counts(self) -> Mapping[int, int]:
        """Candidate edges by query edge, once `refine` has counted them."""
        ...

    @property
    def nbytes(self) -> int: ...

    def refine(self) -> None:
        """Sweeps over the candidate edges (EGSM section 4.2, wedge refinement); narrows the sets in place."""
        ...

    @property
    def sampler(self) -> Sampler | None:
        """Tells planning how many partial matches there are, once the sets are refined; None where a backend cannot."""
        ...

    def vertices(self, merged: tuple[int, ...]) -> NDArray[np.int32]:
        """The data vertices, ascending, that are candidates of all of some query vertices."""
        ...

    def start(self, program: Program, ranks: Sequence[Ranks], pool: NDArray[np.int32] | None = None) -> Slices:
        """Makes a run ready. pool: partial matches to start from, data vertices int32[width, n] of the first levels,
        of at least one and at most as many as are listed. They pass the tests of these levels; those that are no
        candidates are left out; where a level is matched once for each data edge they come as often. Without it the
        run starts from all candidates of the first level."""
        ...


@runtime_checkable
class Movable(Protocol):
    """Candidates that others can be made of on snapshots with the same vertices, where what narrowed them speaks of
    vertices alone."""

    def mover(self) -> Callable[[Snapshot, Control], Candidates]:
        """Makes them. It holds nothing of this snapshot, and keeps what starting a program makes ready, so that the
        same program (the object) starts again sooner."""
        ...


@runtime_checkable
class Repeatable(Protocol):
    """Candidates that other runs on the same snapshot can go on with, one after the other."""

    def repeated(self) -> tuple[Callable[[Snapshot, Control], Candidates], int]:
        """Makes them for a run, as they are now. It holds nothing of this run, and of the snapshot nothing but
        adjacencies, and keeps what starting a program makes ready, so that the same program (the object) starts again
        sooner. With the bytes that it keeps besides adjacencies of the snapshot."""
        ...


class DeviceGraph(Protocol):
    """A snapshot where the backend can read it."""

    def filter(
        self,
        graph: QueryGraph,
        filters: tuple[Filter, ...],
        masks: Masks,
        control: Control,
    ) -> Candidates:
        """Candidate sets after the filters."""
        ...


class Backend(Protocol):
    """One device. Whatever runs on it may raise QueryTimeout, QueryCancelled and MemoryLimitError through `control`.

    lacks: what it cannot do, of the names in `Program.needs`. gathers: what its slices gather, as `GathersColumns`:
    nothing, only numbers that are stored side by side, or any. workers: that
    programs which run at the same time can share; 1 where its slices are no `SharesWorkers`.
    """

    @property
    def name(self) -> str: ...

    @property
    def lacks(self) -> frozenset[str]: ...

    @property
    def gathers(self) -> Literal["nothing", "stored", "any"]: ...

    @property
    def workers(self) -> int: ...

    def upload(self, snapshot: Snapshot) -> DeviceGraph:
        """The graph as the device reads it; what is there already is not copied again."""
        ...
