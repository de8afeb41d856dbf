"""Motifs counted on the card: random graphs are made and counted there, and classes found here."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from gquery.errors import QueryCancelled
from gquery.executor.census.counts import Census, Tallies
from gquery.executor.census.graph import Coloured
from gquery.executor.census.null import Null
from gquery.executor.cpu.census.gathering import Gatherer
from gquery.executor.gpu.census.handing import Handing
from gquery.executor.gpu.census.launching import kernels_of_card
from gquery.executor.gpu.census.tallying import Tallying
from gquery.executor.progress import Control
from gquery.stopping import awaited


def counted_on_card(graph: Coloured, null: Null, graphs: int, threads: int, control: Control) -> Census:
    """The same as `census`. Raises UnsupportedError, in one sentence, where there is no card, and what `Tallying.run`
    raises."""
    stopped = Event()

    def check() -> None:
        control.fraction = tallying.done
        control.check()
        if stopped.is_set():
            raise QueryCancelled("nobody waits for these counts any more")

    kernels = awaited(kernels_of_card, control.check)
    tallying, hand = Tallying(kernels, graph, null, control.memory_limit, check), Handing(check)

    def count() -> None:
        try:
            tallying.run(graphs, hand)
        finally:
            hand.end()

    with ThreadPoolExecutor(1) as card:
        counting = card.submit(count)

        def tallies() -> Iterator[Tallies]:
            yield from hand.taken()
            counting.result()

        try:
            found = Gatherer(graph.layout, graphs, threads, control).gather(tallies())
        finally:
            stopped.set()
    random = found.random._replace(changed=tallying.changed, left_out=tallying.left_out)
    return Census(found.codes, found.counts, random)
