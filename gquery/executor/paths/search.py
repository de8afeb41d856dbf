"""One run of a relationship of variable length: from seeds, the distinct bindings of its ends, to rows.

It stands in front of every backend, like the joins between clauses: it reads the graph's adjacencies and no candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

import numpy as np
import pyarrow as pa

from gquery.arrays import to_arrow, to_numpy
from gquery.executor.chain.rows import Rows, batch_of
from gquery.executor.expansion.products import looked_up, products
from gquery.executor.lowering.reading import Reading
from gquery.executor.lowering.seeds import Seeds
from gquery.executor.paths.begun import Begun
from gquery.executor.paths.hops import Vertices
from gquery.executor.paths.leading import led_to, led_to_together
from gquery.executor.paths.listing import Found
from gquery.executor.paths.shortest import counted, shortest
from gquery.executor.progress import Control, Step
from gquery.executor.relational.gather import PATH_IDS
from gquery.executor.relational.scanning.failing import Relevant
from gquery.executor.relational.selection import WEIGHT
from gquery.planner.ir.query_plan import PathsPlan, QueryPlan
from gquery.planner.ir.relations import SEED
from gquery.records import replace
from gquery.storage.sorting import distinct


def _listed(begun: Begun) -> Iterator[Found]:
    """All paths of all seeds."""
    segment = begun.segment
    return begun.listing(segment.least, segment.most).paths(begun.beginnings(begun.seeds))


_PATH_FIELDS = list(PATH_IDS)
_WAYS: Mapping[str, Callable[[Begun], Iterator[Found]]] = {
    "list": _listed, "shortest": shortest, "sweep": led_to, "count": counted,
}  # fmt: skip


class PathSearch:
    """One step of a chain, on so many threads. relevant: for paths of some seeds, of which elements a condition is
    asked that fails for some."""

    def __init__(self, plan: PathsPlan, threads: int, reading: Reading, relevant: Callable[[Seeds], Relevant]) -> None:
        self.plan = plan
        self._threads = threads
        self._reading = reading
        self._relevant = relevant

    def from_seeds(self, seeds: Seeds, listed: Sequence[str]) -> Rows:
        """Rows with the number of the seed in the column SEED, and what is listed of the path and the vertex at its
        end."""
        for paths in self._found(seeds):
            columns = self._columns(paths, listed)
            yield batch_of({**columns, SEED: to_arrow(paths.seeds)}, len(paths.seeds))

    def from_looked_up(self, begins: QueryPlan) -> Rows:
        """Rows of the vertices that are looked up, with what paths between them, or from them, lead to."""
        plan, names = self.plan, [vertex.variable for vertex in begins.graph.vertices]
        if plan.together:
            (sources,) = looked_up(begins, self._reading).values()
            yield from self._led_to(sources)
            return
        listed = [name for name in plan.rows if name not in names]
        for ends in products(begins, self._reading):
            seeds = Seeds(ends.count, {names[vertex]: column for vertex, column in ends.vertices.items()})
            for paths in self._found(seeds):
                bound = {name: to_arrow(seeds.columns[name][paths.seeds]) for name in plan.rows if name in names}
                yield batch_of(bound | self._columns(paths, listed), len(paths.seeds))

    def from_anywhere(self, before: Rows) -> Rows:
        """A row for each vertex that paths lead to from what any of the rows binds, each once."""
        with self._alone() as reading:
            yield from self._led_to(self._bound(before, reading.control))

    def _found(self, seeds: Seeds) -> Iterator[Found]:
        """The paths of some seeds. What is reserved for them is given back when it is closed."""
        with self._alone() as reading:
            yield from _WAYS[self.plan.way](self._begun(seeds, reading))

    def _led_to(self, sources: Vertices) -> Rows:
        """A row for each vertex that paths from any of some vertices lead to."""
        seeds = Seeds(len(sources), {self._source: sources})
        with self._alone() as reading:
            for ends in led_to_together(self._begun(seeds, reading)):
                yield batch_of({name: to_arrow(ends) for name in self.plan.rows}, len(ends))

    def _begun(self, seeds: Seeds, reading: Reading) -> Begun:
        return Begun.of(self.plan, seeds, self._threads, replace(reading, relevant=self._relevant(seeds)))

    @contextmanager
    def _alone(self) -> Iterator[Reading]:
        """Memory of its own, all of which is given back: who reads the paths meanwhile has taken some, too."""
        control = Step(self._reading.control)
        try:
            yield replace(self._reading, control=control)
        finally:
            control.memory.close()

    @property
    def _source(self) -> str:
        """What the vertices are called at which paths begin."""
        return self.plan.graph.vertices[self.plan.segment.source].variable

    def _bound(self, rows: Rows, control: Control) -> Vertices:
        """Where paths begin from some rows, each vertex once."""
        found = [np.zeros(0, np.int32)]
        with closing(rows):  # type: ignore[type-var]
            for batch in rows:
                control.check()
                column = batch.column(self._source)
                found.append(distinct(to_numpy(column.drop_null() if column.null_count else column)))
                control.memory.reserve(found[-1].nbytes, "where paths begin")
        return found[1] if len(found) == 2 else distinct(np.concatenate(found))

    def _columns(self, paths: Found, listed: Sequence[str]) -> dict[str, pa.Array]:
        """What is listed of paths, and how many each stands for where they are not."""
        segment = self.plan.segment
        columns: dict[str, pa.Array] = {}
        for name in listed:
            if name != segment.way:
                columns[name] = to_arrow(np.ascontiguousarray(paths.last))
            elif self.plan.measured:
                columns[name] = to_arrow(paths.lengths)
            else:
                columns[name] = _path_ids(paths.turned() if segment.backwards else paths)
        if paths.weights is not None:
            columns[WEIGHT] = to_arrow(paths.weights)
        return columns


def _path_ids(paths: Found) -> pa.StructArray:
    """Paths as they travel."""
    parts = []
    for ids in (paths.vertices, paths.edges):
        offsets = np.arange(len(ids) + 1, dtype=np.int32) * np.int32(ids.shape[1])
        parts.append(pa.ListArray.from_arrays(to_arrow(offsets), to_arrow(np.ascontiguousarray(ids).reshape(-1))))
    return pa.StructArray.from_arrays(parts, fields=_PATH_FIELDS)
