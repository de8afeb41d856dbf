"""Random walks through the candidate graph: how planning asks what it cannot know of the data.

A walk goes down a tree of levels like a sum, with a sample of the partial matches at each. It is about vertices and
edges of the query itself; a problem in which some of them are one has a level for each, where all but the first must
be the same data vertex.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class WalkLevel(NamedTuple):
    """vertex: of the query. parent: the level above, -1 for the first. same: the level whose data vertex this must be,
    -1 for none; such levels are right behind it. different, smaller: levels above whose data vertices must be
    others, or have smaller ids."""

    vertex: int
    parent: int
    same: int
    different: tuple[int, ...]
    smaller: tuple[int, ...]


class Walked(NamedTuple):
    """What the walks have seen, by level. rows: about how many partial matches there are; looks: the neighbours that
    are looked at to find them."""

    rows: Sequence[float]
    looks: Sequence[float]


class Sampler(Protocol):
    """Walks through refined candidate sets. It is seeded: the same walk finds the same."""

    def walk(self, levels: Sequence[WalkLevel], width: int) -> Walked:
        """Walks with at most so many partial matches a level. Each is joined to the levels above by all edges of the
        query."""
        ...
