"""Whether motifs are counted on a card, where the user leaves that open: by what either takes, as for queries."""

from __future__ import annotations

from gquery.executor.census.graph import Coloured
from gquery.executor.census.null import Null
from gquery.executor.cpu.census.looks import looks_of_census
from gquery.executor.devices import CardBeside
from gquery.records import record

# All in looks at neighbours of one thread of the CPU, some nanoseconds each. Of the CPU:
_ATTEMPT = 5.0  # to switch an edge
_GRAPH = 40_000.0  # what is done for each graph by one thread after the other
# Of a card:
_LOOK = 0.011  # for a look
_CHAIN = 500.0  # to switch an edge, in all graphs of a batch
_BATCH = 4096  # graphs
_BEGIN = 7e6  # launches, and what comes back
_START = 1.2e8  # where the process has not used the card: CuPy and the kernels are loaded


@record(frozen=True, slots=True)
class Place:
    """on_card: where motifs are counted. why: nothing where there was no choice."""

    on_card: bool
    why: str = ""


def placed(graph: Coloured, null: Null, graphs: int, threads: int, beside: CardBeside) -> Place:
    """Where a graph and random graphs like it are counted best. beside: the card that there may be."""
    attempts = null.attempts(len(graph.arcs.tails))
    looks = (graphs + 1) * looks_of_census(graph.arcs, len(graph.colours), graph.layout.size)
    cpu = (looks + _ATTEMPT * attempts * graphs) / threads + _GRAPH * graphs
    start = 0.0 if beside.started() else _START
    card = start + _BEGIN + _CHAIN * attempts * -(-graphs // _BATCH) + _LOOK * looks
    if card < cpu:
        return Place(True, f"on a card: about {card:,.0f} looks at neighbours against {cpu:,.0f} on the CPU")
    before = ", which has not begun" if start else ""
    return Place(False, f"on the CPU: about {cpu:,.0f} looks at neighbours against {card:,.0f} on a card{before}")
