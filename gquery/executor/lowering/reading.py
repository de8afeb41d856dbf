"""What a run reads."""

from __future__ import annotations

from collections.abc import Mapping

from gquery.executor.lowering.seeds import Seeds
from gquery.executor.progress import Control
from gquery.records import record
from gquery.storage.graph import Snapshot


@record(frozen=True, slots=True)
class Reading:
    """A graph, the parameters of a query over it, the control that the query obeys, and what the clauses before have
    bound, if any did."""

    snapshot: Snapshot
    parameters: Mapping[str, object]
    control: Control
    seeds: Seeds | None = None
