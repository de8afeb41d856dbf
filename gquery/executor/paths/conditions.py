"""What is asked of an edge of a path and of what the search has come by: the edge before it, and where paths begin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_arrow, truths
from gquery.errors import ExecutionError
from gquery.executor.chain.checks import Checks
from gquery.executor.lowering.reading import Reading
from gquery.executor.paths.hops import Numbers, Vertices
from gquery.executor.relational.inputs import Inputs
from gquery.executor.relational.selection import named
from gquery.executor.relational.sql.expressions import inputs
from gquery.planner.ir.expr import Expression, Kind, variables
from gquery.planner.ir.segments import Paths


class Conditions:
    """sources: where the paths of each seed begin."""

    def __init__(self, segment: Paths, sources: Vertices, reading: Reading) -> None:
        self._source = segment.graph.vertices[segment.source].variable
        self._edges = segment.edge.variable, segment.before
        self._reading = reading
        self._seeds = pa.record_batch({self._source: to_arrow(sources)})
        self._of_source = self._checks(segment.of_source)
        self._following = self._checks(segment.following)

    def hold(self, seeds: Numbers, before: Numbers | None, edges: Numbers) -> NDArray[np.bool_]:
        """For which edges, found for paths of some seeds, they do. before: the edges that these come after; None where
        they are the first."""
        one, earlier = self._edges
        columns = {one: to_arrow(edges)} | ({} if before is None else {earlier: to_arrow(before)})
        asked = [self._of_source, None if before is None else self._following]
        kept = np.ones(len(edges), np.bool_)
        for checks in asked:
            if checks is not None:
                kept &= self._passing(checks, seeds, pa.record_batch(columns))
        return kept

    def _passing(self, checks: Checks, seeds: Numbers, edges: pa.RecordBatch) -> NDArray[np.bool_]:
        """All, where a condition fails for one: whole paths are asked, too."""
        try:
            return truths(checks.passing(self._seeds, seeds, edges, self._reading.control))
        except ExecutionError as error:
            if type(error) is not ExecutionError:
                raise
            return np.ones(edges.num_rows, np.bool_)

    def _checks(self, conditions: Sequence[Expression]) -> Checks | None:
        if not conditions:
            return None
        snapshot = self._reading.snapshot
        names = named(dict.fromkeys(part for condition in conditions for part in inputs(condition)))
        of_seeds = {name: part for name, part in names.items() if self._source in variables(part)}
        of_edges = {name: part for name, part in names.items() if name not in of_seeds}
        kinds = dict.fromkeys(self._edges, Kind.RELATIONSHIP)
        return Checks(
            conditions,
            Inputs(snapshot, {self._source: Kind.NODE}, of_seeds),
            Inputs(snapshot, kinds, of_edges),
            self._reading.parameters,
        )
