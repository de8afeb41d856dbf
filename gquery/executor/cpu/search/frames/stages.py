"""What all frames of a search have in common."""

from __future__ import annotations

from gquery.executor.cpu.search.frames.columns import Columns
from gquery.executor.cpu.search.packed import PackedPlan
from gquery.records import record


@record(frozen=True, slots=True)
class Stage:
    """Levels `start .. stop - 1`, listed or summed out."""

    start: int
    stop: int
    summing: bool


@record(frozen=True, slots=True)
class Search:
    """What all frames of one search have in common. capacity: of the outputs; modulus: what sums are reduced by, 0 for
    2^64; counting: only the sum over the whole pool is wanted; columns: what is wanted instead of full matches."""

    plan: PackedPlan
    stages: tuple[Stage, ...]
    capacity: int
    modulus: int
    counting: bool
    columns: Columns | None = None
