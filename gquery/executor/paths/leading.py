"""Where paths lead, which nobody lists: a row for each seed and end, or for each end of any seed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gquery.executor.paths.begun import Begun
from gquery.executor.paths.hops import Numbers, Vertices
from gquery.executor.paths.listing import Found
from gquery.executor.paths.sweep import Sweep
from gquery.storage.sorting import distinct, order_of

SHARED = 16  # seeds with one vertex that their paths begin at, from which on these are looked for together


def led_to(begun: Begun) -> Iterator[Found]:
    """A row for each end of the paths of each seed."""
    if begun.ends.wanted is not None:
        seeds = _joined(begun, begun.ends.wanted)
        yield Found.none_yet(seeds, begun.ends.wanted[seeds])
        return
    segment, sources = begun.segment, begun.sources
    back = segment.returns_another_way
    sweep = Sweep(begun.along, segment.most, back or segment.least == 0, begun.threads, begun.reading)
    for reached in sweep.each(sources):
        places, vertices = reached.places, reached.vertices
        fit = begun.ends.fit(places, vertices)
        if back:
            fit &= vertices != sources[places]
        yield Found.none_yet(places[fit], vertices[fit])
    if back:
        yield begun.beginnings(_closed(begun, begun.seeds[begun.ends.fit(begun.seeds, sources)]))


def led_to_together(begun: Begun) -> Iterator[Vertices]:
    """The ends of the paths of all seeds, each once."""
    segment, allowed = begun.segment, begun.ends.allowed
    if segment.depends_on_source:
        yield from _each_once(begun)
        return
    for reached in Sweep(begun.along, segment.most, segment.least == 0, 1, begun.reading).together(begun.sources):
        yield reached.vertices if allowed is None else reached.vertices[allowed[reached.vertices]]


def _each_once(begun: Begun) -> Iterator[Vertices]:
    """The ends, looked for from each seed by itself."""
    count = begun.reading.snapshot.vertex_count
    if len(begun.sources) == 1:
        yield from (paths.last for paths in led_to(begun))
        return
    begun.reading.control.memory.reserve(count, "the vertices that paths lead to")
    met = np.zeros(count, np.bool_)
    for paths in led_to(begun):
        new = distinct(paths.last[~met[paths.last]])
        met[new] = True
        yield new


def by_source(begun: Begun, seeds: Numbers) -> tuple[list[Numbers], Numbers]:
    """Some seeds, parted: groups of many that begin at the same vertex, and the others."""
    if len(seeds) < SHARED:
        return [], seeds
    order = seeds[order_of(begun.sources[seeds].astype(np.int64))]
    groups = np.split(order, np.flatnonzero(np.diff(begun.sources[order])) + 1)
    few = [group for group in groups if len(group) < SHARED]
    return [group for group in groups if len(group) >= SHARED], np.sort(np.concatenate([seeds[:0], *few]))


def _joined(begun: Begun, wanted: Vertices) -> Numbers:
    """The seeds for which there is a path between the vertices that they bind."""
    sources, least = begun.sources, begun.segment.least
    round_, others = begun.seeds[sources == wanted], begun.seeds[sources != wanted]
    many, few = by_source(begun, others)
    found = [round_ if least == 0 else _closed(begun, round_)]
    found.append(few[begun.pairs().reach(sources[few], wanted[few])] if len(few) else few)
    return np.concatenate([*found, *_reached(begun, wanted, many)])


def _reached(begun: Begun, wanted: Vertices, groups: list[Numbers]) -> Iterator[Numbers]:
    """Of groups of seeds with the same source, each swept from once, those whose ends are reached."""
    if not groups:
        return
    begun.reading.control.memory.reserve(begun.reading.snapshot.vertex_count, "the vertices that paths lead to")
    met = np.zeros(begun.reading.snapshot.vertex_count, np.bool_)
    sources = begun.sources[[group[0] for group in groups]]
    for reached in Sweep(begun.along, begun.segment.most, True, begun.threads, begun.reading).each(sources):
        for place, vertices in enumerate(np.split(reached.vertices, reached.ends[:-1]), reached.first):
            met[vertices] = True
            yield groups[place][met[wanted[groups[place]]]]
            met[vertices] = False


def _closed(begun: Begun, seeds: Numbers) -> Numbers:
    """The seeds from whose source a path leads back to it."""
    rounds = begun.rounds() if len(seeds) else None
    return seeds[[rounds is not None and rounds.length(int(begun.sources[seed])) is not None for seed in seeds]]
