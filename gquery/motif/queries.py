"""Motifs counted by queries: one for each class of connected undirected graphs, which the planner sums out.

No subgraph is visited. What the planner makes of a pattern grows with the edges of the graph and its triangles rather
than with its connected sets, so that large graphs take seconds where a census takes hours.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from gquery.executor.census.counts import Census, Random, room_for_counts, too_many
from gquery.executor.census.graph import Arcs, Coloured
from gquery.executor.census.null import Null
from gquery.executor.cpu.census.looks import looks_of_census
from gquery.executor.cpu.random_graphs.shuffled import Shuffler
from gquery.executor.progress import Control
from gquery.motif.spanning import Spanning, spanning
from gquery.records import record
from gquery.session import Prepared
from gquery.settings import Settings
from gquery.stopping import Check
from gquery.storage.graph import Snapshot
from gquery.storage.tables import EdgeTable, VertexTable

LARGEST = 5  # vertices: of six there are 112 classes
_WORTH = 1e8  # looks of a census, a quarter of a second, from which on queries are planned at all
_PLANNED = 1e7  # looks that could be made while a query is planned and started
_DOUBT = 16.0  # the planner expects too little of dense graphs


class Queries:
    """A graph's patterns, planned."""

    def __init__(self, arcs: Arcs, vertices: int, known: Spanning, settings: Settings, check: Check) -> None:
        ids = pa.chunked_array([pa.array(np.arange(vertices))])
        table = VertexTable.from_arrow((), ids, pa.table({}), None)
        edges = EdgeTable.from_arrow("EDGE", arcs.tails, arcs.heads, pa.table({}))
        snapshot = Snapshot([table], [edges])
        self._known = known
        self._check = check
        self._queries = [
            Prepared(snapshot, f"MATCH DIFFERENT NODES {pattern} RETURN count(*)", {}, settings, check=check)
            for pattern in known.patterns
        ]

    @property
    def looks(self) -> float:
        """What the planner expects them to cost."""
        halves = (half for query in self._queries for half in query.matchings.values())
        return sum(plan.cost for half in halves for plan in half.estimated(self._check))

    def counts(self, control: Control) -> list[int]:
        """Of each class, how many induced subgraphs there are. Raises UnsupportedError for more than int64 has."""
        matches = [_only(query.run(control)) for query in self._queries]
        counts = self._known.induced(matches)
        if max(counts) >= 2**63:
            raise too_many()
        return counts


def _only(batches: Iterable[pa.RecordBatch]) -> int:
    """The number of a result that is one; wide ones are decimals."""
    (value,) = (value for batch in batches for value in batch.column(0).to_pylist())
    return int(value)


@record(frozen=True, slots=True)
class Choice:
    """The looks at neighbours that either way is expected to take."""

    queried: float
    census: float

    @property
    def queries(self) -> bool:
        return self.queried < self.census


def choose(graph: Coloured, settings: Settings, control: Control) -> Choice | None:
    """How to count; None where there is no choice, or it is not worth thinking about."""
    layout = graph.layout
    if layout.directed or layout.colour_bits or layout.types > 1 or layout.size > LARGEST:
        return None
    census = looks_of_census(graph.arcs, len(graph.colours), layout.size)
    if census < _WORTH:
        return None
    known = spanning(layout.size)
    planned = Queries(graph.arcs, len(graph.colours), known, settings, control.check).looks
    looks = _DOUBT * planned + _PLANNED * len(known.codes)
    return Choice(looks, census)


def counted_by_queries(graph: Coloured, null: Null, graphs: int, settings: Settings, control: Control) -> Census:
    """The same as `census`, of undirected graphs without colours."""
    known = spanning(graph.layout.size)

    def counts(arcs: Arcs) -> list[int]:
        return Queries(arcs, len(graph.colours), known, settings, control.check).counts(control)

    own = np.array(counts(graph.arcs), np.int64)
    shown = np.flatnonzero(own)
    shown = shown[np.argsort(np.array(known.codes)[shown])]
    random, totals = room_for_counts(graphs, len(shown), control), np.zeros(graphs, np.int64)
    shuffler = Shuffler(graph.arcs, graph.colours, False, null)
    for number in range(graphs):
        found = np.array(counts(shuffler.make(number, control.check)), np.int64)
        random[number], totals[number] = found[shown], found.sum()
        control.fraction += 1 / graphs
    made = Random(random, totals, shuffler.changed, shuffler.left_out)
    return Census(np.array(known.codes, np.int64)[shown], own[shown], made)
