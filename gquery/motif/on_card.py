"""Motifs counted on the card: random graphs are made and counted there, and classes found here."""

from __future__ import annotations

from gquery.executor.census.counts import Census
from gquery.executor.census.graph import Coloured
from gquery.executor.census.null import Null
from gquery.executor.cpu.census.gathering import Gatherer
from gquery.executor.gpu.census.launching import kernels_of_card
from gquery.executor.gpu.census.tallying import Tallying
from gquery.executor.progress import Control


def counted_on_card(graph: Coloured, null: Null, graphs: int, threads: int, control: Control) -> Census:
    """The same as `census`. Raises UnsupportedError, in one sentence, where there is no card, and what `Tallying.run`
    raises."""
    tallying = Tallying(kernels_of_card(), graph, null, control)
    found = Gatherer(graph.layout, graphs, threads, control).gather(tallying.run(graphs))
    random = found.random._replace(changed=tallying.changed, left_out=tallying.left_out)
    return Census(found.codes, found.counts, random)
