"""What tests do with sums that are made behind who asks for changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gquery.continuous.numbers.kept import Kept
from gquery.continuous.standing import Standing
from gquery.storage.graph import Snapshot


def waited_for(answered: Callable[..., None]) -> Callable[..., None]:
    """What begins to make sums, and returns when they are made."""

    def answer(kept: Kept, *given: Any) -> None:
        answered(kept, *given)
        if kept._making is not None:
            kept._making._thread.join()

    return answer


def are_there(standing: Standing, snapshot: Snapshot) -> bool:
    """Whether the next change of a version is told by sums."""
    kept = standing._kept
    making = kept._making
    if making is not None and making.is_done and making.leads_to(snapshot) and making.taken() is not None:
        return True
    return kept._sums is not None and kept._sums.are_of(snapshot)
