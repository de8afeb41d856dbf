"""One run of a relationship of variable length: from seeds, the distinct bindings of its ends, to rows.

It stands in front of every backend, like the joins between clauses: it reads the graph's adjacencies and no candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing

import numpy as np
import pyarrow as pa

from gquery.arrays import to_arrow, to_numpy
from gquery.executor.chain.rows import Rows, batch_of
from gquery.executor.lowering.reading import Reading
from gquery.executor.lowering.seeds import Seeds
from gquery.executor.paths.begun import Begun
from gquery.executor.paths.hops import Vertices
from gquery.executor.paths.leading import led_to, led_to_together
from gquery.executor.paths.listing import Found
from gquery.executor.paths.shortest import counted, shortest
from gquery.executor.relational.gather import PATH_IDS
from gquery.executor.relational.selection import WEIGHT
from gquery.planner.ir.query_plan import PathsPlan
from gquery.planner.ir.relations import SEED
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
    """One step of a chain, on so many threads."""

    def __init__(self, plan: PathsPlan, threads: int, reading: Reading) -> None:
        self.plan = plan
        self._threads = threads
        self._reading = reading

    def from_seeds(self, seeds: Seeds, listed: Sequence[str]) -> Rows:
        """Rows with the number of the seed in the column SEED, and what is listed of the path and the vertex at its
        end. What is reserved for it is given back when it is closed."""
        memory = self._reading.control.memory
        before = memory.used
        try:
            for paths in _WAYS[self.plan.way](self._begun(seeds)):
                yield self._batch(paths, listed)
        finally:
            memory.release(memory.used - before)

    def _begun(self, seeds: Seeds) -> Begun:
        return Begun.of(self.plan.segment, seeds, self._threads, self._reading)

    def from_anywhere(self, before: Rows) -> Rows:
        """A row for each vertex that paths lead to from what any of the rows binds, each once."""
        segment, memory = self.plan.segment, self._reading.control.memory
        name = segment.graph.vertices[segment.source].variable
        used = memory.used
        try:
            sources = self._bound(before, name)
            for ends in led_to_together(self._begun(Seeds(len(sources), {name: sources}))):
                yield batch_of({name: to_arrow(ends) for name in self.plan.rows}, len(ends))
        finally:
            memory.release(memory.used - used)

    def _bound(self, rows: Rows, name: str) -> Vertices:
        """What rows bind to a name, each vertex once."""
        control, found = self._reading.control, [np.zeros(0, np.int32)]
        with closing(rows):  # type: ignore[type-var]
            for batch in rows:
                control.check()
                column = batch.column(name)
                found.append(distinct(to_numpy(column.drop_null() if column.null_count else column)))
                control.memory.reserve(found[-1].nbytes, "where paths begin")
        return found[1] if len(found) == 2 else distinct(np.concatenate(found))

    def _batch(self, paths: Found, listed: Sequence[str]) -> pa.RecordBatch:
        segment = self.plan.segment
        columns: dict[str, pa.Array] = {}
        for name in listed:
            if name == segment.way:
                columns[name] = _path_ids(paths.turned() if segment.backwards else paths)
            else:
                columns[name] = to_arrow(np.ascontiguousarray(paths.last))
        if paths.weights is not None:
            columns[WEIGHT] = to_arrow(paths.weights)
        return batch_of({**columns, SEED: to_arrow(paths.seeds)}, len(paths.seeds))


def _path_ids(paths: Found) -> pa.StructArray:
    """Paths as they travel."""
    parts = []
    for ids in (paths.vertices, paths.edges):
        offsets = np.arange(len(ids) + 1, dtype=np.int32) * np.int32(ids.shape[1])
        parts.append(pa.ListArray.from_arrays(to_arrow(offsets), to_arrow(np.ascontiguousarray(ids).reshape(-1))))
    return pa.StructArray.from_arrays(parts, fields=_PATH_FIELDS)
