"""What a run reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from gquery.errors import ExecutionError
from gquery.executor.lowering.seeds import Seeds
from gquery.executor.progress import Control
from gquery.executor.relational.scanning.failing import Failing, Relevant
from gquery.planner.ir.expr import Expression
from gquery.records import record
from gquery.storage.graph import Snapshot
from gquery.storage.sorting import distinct

AHEAD, BACK = 1, 2  # ways in which a data edge may be at a query edge, as in `cpu/kernels/nearby.py`


class Leads(NamedTuple):
    """The few data edges that may be at the query edge which is of few. ends: int32[2, edges], sources and targets of
    all that were looked at; ways: uint8[edges], AHEAD for those that fit as they are, BACK for those that fit turned,
    or both."""

    ends: NDArray[np.int32]
    ways: NDArray[np.uint8]

    @property
    def size(self) -> int:
        """Of the edges that fit."""
        return int(np.count_nonzero(self.ways))

    def at(self, source: bool) -> NDArray[np.int32]:
        """The vertices, ascending, at the source of the query edge, or at its target."""
        ahead, back = self.ends if source else self.ends[::-1]
        return distinct(np.concatenate([ahead[self.ways & AHEAD > 0], back[self.ways & BACK > 0]]))


def all_relevant(expression: Expression, error: ExecutionError, failing: Failing) -> NoReturn:
    """Where it is asked of all."""
    raise error


@record(frozen=True, slots=True)
class Reading:
    """A graph, the parameters of a query over it, the control that the query obeys, and what the clauses before have
    bound, if any did. leads: of the data edges that it begins with those that are left, where that is known. threads:
    that may work for it outside a backend. relevant: of which elements a condition is asked that fails for some."""

    snapshot: Snapshot
    parameters: Mapping[str, object]
    control: Control
    seeds: Seeds | None = None
    leads: Leads | None = None
    threads: int = 1
    relevant: Relevant = all_relevant
