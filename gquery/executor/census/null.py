"""Which random graphs a graph is compared with."""

from __future__ import annotations

from typing import Literal

from gquery.records import record

Model = Literal["degrees", "mutual", "stubs", "erdos-renyi"]

_FEWEST = 2000  # attempts


@record(frozen=True, slots=True)
class Null:
    """model: `degrees`, switching that keeps in- and out-degrees; `mutual`, with the pairs of arcs there and back of
    every vertex; `stubs`, the ends of all links joined anew; `erdos-renyi`, as many links anywhere. switches: attempts
    for each link, and some thousand at least, since in tiny graphs few are allowed. seed: of all streams."""

    model: Model
    switches: int
    seed: int

    @property
    def switched(self) -> bool:
        """Whether a graph is the end of a chain of switches."""
        return self.model in ("degrees", "mutual")

    def attempts(self, links: int) -> int:
        """How many attempts to switch are made in a graph of so many links."""
        return max(_FEWEST, self.switches * links) if links and self.switched else 0
