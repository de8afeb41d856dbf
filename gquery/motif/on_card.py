"""Motifs counted on the card: random graphs are made and counted there, and classes found here."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Event

from gquery.errors import QueryCancelled
from gquery.executor.census.counts import Census, Tallies
from gquery.executor.census.graph import Coloured
from gquery.executor.census.null import Null
from gquery.executor.cpu.census.gathering import Gatherer
from gquery.executor.gpu.census.launching import kernels_of_card
from gquery.executor.gpu.census.tallying import Tallying
from gquery.executor.progress import Control


def counted_on_card(graph: Coloured, null: Null, graphs: int, threads: int, control: Control) -> Census:
    """The same as `census`. Raises UnsupportedError, in one sentence, where there is no card, and what `Tallying.run`
    raises."""
    stopped = Event()

    def check() -> None:
        control.check()
        if stopped.is_set():
            raise QueryCancelled("nobody waits for these counts any more")

    tallying = Tallying(kernels_of_card(), graph, null, control.memory_limit, check)
    with closing(_ahead(tallying.run(graphs), stopped)) as tallies:
        found = Gatherer(graph.layout, graphs, threads, control).gather(tallies)
    random = found.random._replace(changed=tallying.changed, left_out=tallying.left_out)
    return Census(found.codes, found.counts, random)


def _ahead(tallies: Iterator[Tallies], stopped: Event) -> Generator[Tallies, None, None]:
    """The same, of which the next is made while one is worked on. stopped: set when nobody wants more."""
    with ThreadPoolExecutor(1) as card:
        coming = card.submit(next, tallies, None)
        try:
            while (some := coming.result()) is not None:
                coming = card.submit(next, tallies, None)
                yield some
        finally:
            stopped.set()
