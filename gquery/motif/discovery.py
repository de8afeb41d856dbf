"""The way of a search for motifs: question, simple graph, census, random graphs, table."""

from __future__ import annotations

from typing import Any, Protocol, Unpack, runtime_checkable

from gquery.errors import BindError, MemoryLimitError, UnsupportedError
from gquery.executor.census.counts import Census, Trial
from gquery.executor.census.graph import Coloured
from gquery.executor.cpu.census.counting import census
from gquery.executor.devices import card_beside
from gquery.executor.progress import Control
from gquery.motif.found import Motifs, found
from gquery.motif.on_card import counted_on_card
from gquery.motif.placing import Place, placed
from gquery.motif.queries import Choice, choose, counted_by_queries
from gquery.motif.question import SETTINGS, Options, read_question
from gquery.motif.simple import Simple, simplified
from gquery.session import Graph
from gquery.stopping import stoppable
from gquery.storage.load import from_arrow


@runtime_checkable
class Edges(Protocol):
    """A table."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class Discovery:
    """A search that can be watched and stopped. asked: the question; progress: share that is done. Run it once."""

    def __init__(self, graph: Graph | Edges, size: int, **options: Unpack[Options]) -> None:
        """Raises BindError for what cannot be asked, LoadError for edges that are none."""
        graph = graph if isinstance(graph, Graph) else _of_edges(graph)
        given: dict[str, Any] = dict(options)
        chosen = {name: given.pop(name) for name in SETTINGS if name in given}
        self._settings = graph.settings.changed(**chosen)
        self.asked = read_question(size, given)
        self._snapshot = graph.snapshot
        self.progress = Control(self._settings.timeout, self._settings.memory_limit)

    def cancel(self) -> None:
        """Ends the search; may be called from any thread."""
        self.progress.cancel()

    def run(self) -> Motifs:
        """Raises BindError, UnsupportedError, QueryTimeout, QueryCancelled and MemoryLimitError."""
        with stoppable(self.progress.check):
            return self._found()

    def _found(self) -> Motifs:
        asked, control = self.asked, self.progress
        control.stage = "reading edges"
        simple = simplified(self._snapshot, asked)
        control.stage = "counting motifs"
        choice = choose(simple.graph, self._settings, control)
        place, counted = self._counted(simple.graph, choice)
        notes = (*simple.notes, *self._way(counted, simple, choice, place))
        return found(counted, simple, asked, self._snapshot, notes)

    def _counted(self, graph: Coloured, choice: Choice | None) -> tuple[Place, Census]:
        null, graphs, threads, control = self.asked.null, self.asked.random, self._settings.threads, self.progress
        if choice is not None and choice.queries:
            return Place(False), counted_by_queries(graph, null, graphs, self._settings, control)
        beside, place = card_beside(self._settings), Place(self._settings.device == "gpu")
        if beside is not None:
            place = placed(graph, null, graphs, threads, beside)
        if not place.on_card:
            return place, census(graph, null, graphs, threads, control)
        try:
            if beside is not None:
                beside.wait(control.check)
            return place, counted_on_card(graph, null, graphs, threads, control)
        except (MemoryLimitError, UnsupportedError) as error:
            if beside is None:
                raise
            place = Place(False, f"on the CPU: {error.message}")
        control.fraction = 0.0
        return place, census(graph, null, graphs, threads, control)

    def _way(self, counted: Census, simple: Simple, choice: Choice | None, place: Place) -> tuple[str, ...]:
        """How it was counted, line by line."""
        asked, links, subgraphs = self.asked, len(simple.graph.arcs.tails), int(counted.counts.sum())
        sets = "single vertices" if asked.size == 3 else f"connected sets of {asked.size - 2}"
        way = f"counted from {sets} and what two more vertices can be beside them"
        if place.on_card:
            way += ", on the GPU"
        if choice is not None and choice.queries:
            way = "counted by a query for each class, from which what others have in them is taken"
        if choice is not None:
            expected = f"{choice.queried:,.0f} looks at neighbours by queries, {choice.census:,.0f} by sets"
            way += f": about {expected}, in each graph"
        lines = [f"{subgraphs:,} connected subgraphs of {len(counted.codes):,} classes, {way}"]
        if asked.random:
            lines.append(f"{asked.random:,} random graphs, seed {asked.seed}: {_MODELS[asked.model]}")
        if place.why:
            lines.append(place.why)
        if counted.trial is not None:
            lines.append(_told(counted.trial))
        if asked.random and asked.model in ("degrees", "mutual"):
            made = counted.random.changed / asked.random / max(1, links)
            attempts = asked.null.attempts(links) / max(1, links)
            lines.append(f"{attempts:,.0f} attempts to switch an edge each, of which {made:.1f} changed a graph")
        if counted.random.left_out:
            lost = counted.random.left_out / asked.random
            lines.append(f"{lost:,.1f} of {links:,} edges found no place in a random graph, on average")
        return tuple(lines)


def _told(trial: Trial) -> str:
    way = f"along a tree of its classes with {trial.nodes:,} nodes" if trial.pays else "as the graph itself"
    more = "" if trial.pays else "more than "
    looks = f"{more}{trial.by_tree:,.0f} looks at neighbours along the tree, {trial.by_sets:,.0f} by sets of vertices"
    return f"these were counted {way}: about {looks}, in each graph"


def _of_edges(edges: object) -> Graph:
    """A graph of a table's edges, whose vertices are their ends."""
    if not isinstance(edges, Edges):
        raise BindError(f"motifs are those of a graph, not of a {type(edges).__name__}",
                        hint="or of edges: a query's result, or another table, with two columns of ids")  # fmt: skip
    return Graph(from_arrow({}, {("", "EDGE", ""): edges}, on_dangling="create").snapshot)


def motifs(graph: Graph | Edges, k: int, **options: Unpack[Options]) -> Motifs:
    """Which connected patterns of `k` vertices, 3 to 8, a graph has more often than random graphs like it.

    graph: or its edges, as the result of a query or anything else that Arrow reads: the columns `source` and `target`,
    else the first two, have the ids of their ends.
    All connected induced subgraphs are counted by class, in the graph and in `random` others (1,000). Options: see
    `Options`. The same seed gives the same table, for any number of threads and on the GPU. Raises BindError for a
    wrong option, UnsupportedError for too many labels or types at once or without a GPU, QueryTimeout and
    MemoryLimitError.
    """
    return Discovery(graph, k, **options).run()


_MODELS = {
    "degrees": "edges are switched, every vertex keeps its degrees",
    "mutual": "edges are switched, every vertex keeps its degrees and its pairs of edges there and back",
    "stubs": "the ends of all edges are joined anew; loops and edges beside another are left out",
    "erdos-renyi": "as many edges between any vertices (Erdős and Rényi)",
}
