"""Shortest paths of pairs length by length: so many of each pair, or from two hops on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gquery.executor.memory import Budget
from gquery.executor.paths.begun import Begun
from gquery.executor.paths.ends import Ends
from gquery.executor.paths.hops import Numbers
from gquery.executor.paths.listing import Found, Listing, LostError
from gquery.executor.paths.several.deviations import deviations
from gquery.executor.paths.several.walks import walks
from gquery.storage.sorting import distinct, either

PATIENCE = 1 << 18  # paths from each vertex that are made on the way to the next that ends

_PAIR = 128  # bytes of a pair and of how many paths it has

_Pair = tuple[int, int]
"""A seed and a vertex that paths end at."""


def by_length(begun: Begun) -> Iterator[Found]:
    """Paths length by length, until every pair has as many as are asked for or there are no longer ones."""
    segment, wanted = begun.segment, begun.ends.wanted
    if segment.mode == "any" and not segment.differ:
        yield from walks(begun)
    elif wanted is None:
        yield from _listed(begun, begun.seeds, None)
    else:
        for target in distinct(wanted).tolist():
            yield from _listed(begun, np.flatnonzero(wanted == target), target)


def _listed(begun: Begun, seeds: Numbers, target: int | None) -> Iterator[Found]:
    """The paths of some seeds. target: the vertex at which all of them end, where it is known. Paths that are asked for
    by their number are looked for one by one as soon as there are too many others before the next of them."""
    segment, enough = begun.segment, _Enough(begun.segment.shortest, begun.reading.control.memory)
    one_by_one = target is not None and isinstance(segment.shortest, int) and segment.least <= 1
    listing = begun.listing(segment.least, None, None if target is None else np.array([target]))
    length = segment.least
    while len(seeds) and (segment.most is None or length <= segment.most):
        of_length = replace(listing, least=length, most=length, patience=PATIENCE * len(seeds) if one_by_one else None)
        found = [seeds[:0]]
        chosen = _chosen(of_length, begun, seeds, target, enough, found)
        try:
            yield from list(chosen) if one_by_one else chosen
            enough.end_length()
            length += 1
            seeds = _longer(begun, of_length, seeds, distinct(np.concatenate(found)))
        except LostError:
            assert target is not None
            yield from deviations(begun, seeds, target, length)
            return
        if begun.ends.wanted is not None:
            seeds = seeds[[not enough.has(pair) for pair in zip(*_lists(seeds, begun.ends.wanted[seeds]), strict=True)]]


def _chosen(
    listing: Listing, begun: Begun, seeds: Numbers, target: int | None, enough: _Enough, found: list[Numbers]
) -> Iterator[Found]:
    """The paths of one length that their pairs lack. found: to which the seeds are added that have some."""
    with closing(listing.paths(begun.beginnings(seeds))) as listed:
        for paths in listed:
            found.append(paths.seeds)
            yield paths.chosen(enough.lacking(paths))
            if target is not None and enough.have((seed, target) for seed in seeds.tolist()):
                return


def _longer(begun: Begun, listing: Listing, seeds: Numbers, found: Numbers) -> Numbers:
    """The seeds that may have longer paths: those for which some were found, and those with a path that is as long and
    may go on to an end."""
    if listing.remaining is None and listing.ends.but is None:
        return found
    remaining = None if listing.remaining is None else np.minimum(listing.remaining, 0)
    anywhere = replace(listing, ends=Ends(None, None), remaining=remaining)
    others = np.setdiff1d(seeds, found, assume_unique=True)
    longer = [seed for seed in others.tolist() if _is_any(anywhere, begun.beginnings(np.array([seed])))]
    return either(found, np.array(longer, np.int64))


def _is_any(listing: Listing, begun: Found) -> bool:
    with closing(listing.paths(begun)) as paths:
        return next(paths, None) is not None


class _Enough:
    """How many paths each pair has. A pair has enough with so many, or with all of one length. What it takes of the
    memory is given back with all that a search took."""

    def __init__(self, asked: int | str | None, memory: Budget) -> None:
        self._all = asked == "all"
        self._asked = asked if isinstance(asked, int) else 1
        self._shorter = Counter[_Pair]()
        self._new = Counter[_Pair]()
        self._memory = memory
        self._room = 0  # for so many pairs

    def has(self, pair: _Pair) -> bool:
        return self._shorter[pair] >= self._asked

    def have(self, pairs: Iterable[_Pair]) -> bool:
        """Whether longer paths, and more of this length, are asked of none of some pairs."""
        return not self._all and all(self._shorter[pair] + self._new[pair] >= self._asked for pair in pairs)

    def lacking(self, paths: Found) -> NDArray[np.bool_]:
        """Which of some paths of one length their pairs lack."""
        lacking = []
        for pair in zip(*_lists(paths.seeds, paths.last), strict=True):
            known = self._shorter[pair] + (0 if self._all else self._new[pair])
            lacking.append(known < self._asked)
            self._new[pair] += lacking[-1]
        self._reserve(len(self._shorter) + len(self._new))
        return np.array(lacking, np.bool_)

    def end_length(self) -> None:
        self._reserve(len(self._shorter) + 2 * len(self._new))
        self._shorter.update(self._new)
        self._new.clear()

    def _reserve(self, pairs: int) -> None:
        if pairs > self._room:
            self._memory.reserve(_PAIR * (pairs - self._room), "how many paths each pair has")
            self._room = pairs


def _lists(*columns: NDArray[np.integer]) -> Iterator[list[int]]:
    return (column.tolist() for column in columns)
