"""What a census finds."""

from __future__ import annotations

from shutil import disk_usage
from tempfile import TemporaryFile, gettempdir
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.errors import MemoryLimitError, UnsupportedError
from gquery.executor.progress import Control
from gquery.records import record


class Random(NamedTuple):
    """counts int64[graphs, classes]. totals int64[graphs]: subgraphs of all classes, also of those that the graph does
    not have. changed, left_out: see `Shuffler`, of all graphs together."""

    counts: NDArray[np.int64]
    totals: NDArray[np.int64]
    changed: int
    left_out: int


@record(frozen=True, slots=True)
class Trial:
    """Of the ways to count random graphs. pays: whether they are counted along a tree of so many nodes. by_tree,
    by_sets: looks at neighbours, or what takes as long, for the first graph; by a tree that does not pay those until
    then."""

    pays: bool
    by_tree: float
    by_sets: float
    nodes: int


@record(frozen=True, slots=True)
class Census:
    """codes int64[classes]: canonical, see `layout.py`, ascending; counts int64[classes]: induced subgraphs of each,
    none is 0. random: the same classes in random graphs. trial: of the ways to count these, where there was one."""

    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    random: Random
    trial: Trial | None = None


class Tallies(NamedTuple):
    """What some graphs have, by code. first: the number of the first graph, -1 for the one that random graphs are like.
    begins int64[graphs + 1], codes, counts int64[*]: each code of a graph once. whole: nothing more comes."""

    first: int
    begins: NDArray[np.int64]
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    whole: bool


def too_many() -> UnsupportedError:
    """Of subgraphs."""
    return UnsupportedError("there are more subgraphs than 64 bits can count", hint="ask for smaller motifs")


def room_for_counts(graphs: int, classes: int, control: Control) -> NDArray[np.int64]:
    """int64[graphs, classes], zeros; in a temporary file where memory does not allow them. Raises MemoryLimitError
    where there is no room for that either."""
    size = 8 * graphs * classes
    try:
        control.memory.reserve(size, "the counts in random graphs")
    except MemoryLimitError:
        if disk_usage(gettempdir()).free < 2 * size:  # a file that cannot be written to would end the process
            raise
        with TemporaryFile(prefix="gquery-") as file:
            return np.memmap(file, np.int64, "w+", shape=(graphs, classes))
    return np.zeros((graphs, classes), np.int64)
