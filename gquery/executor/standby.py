"""What a run has made ready stands by for the next run that needs the same: candidates, plans, programs, packed tables.

It stands by beside the snapshot and is found by all that it depends on: the second half of a plan, the backend with its
threads, the bytes that it may take, and the values of the parameters that are asked. One run at a time has it. What it
took of the first one's memory counts as that of each. Matching itself is done each time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from datetime import date, datetime, time, timezone
from decimal import Decimal

from gquery.executor.backend import Backend, Candidates, Masks, Repeatable
from gquery.executor.engine import Engine, SecondHalf
from gquery.executor.lowering.reading import Reading
from gquery.executor.matcher import Begun, Matcher, Prepared
from gquery.executor.progress import Control
from gquery.records import record
from gquery.storage.graph import Snapshot

_MOST_ITEMS = 64  # of a list or map: to look up a long one takes longer than it saves
_LONGEST = 1 << 8  # characters or bytes


@record(frozen=True, slots=True)
class Standby:
    """A matcher between two runs; it holds nothing of either. candidates: makes them for a run. nbytes: of all its
    arrays. whole: they have been weighed after a run to the end, which makes all that there is to make."""

    prepared: Prepared
    masks: Masks
    begun: dict[int, Begun]
    candidates: Callable[[Snapshot, Control], Candidates]
    nbytes: int
    whole: bool


class _Resumed(Matcher):
    """A matcher that stood by."""

    def __init__(self, standby: Standby, backend: Backend, reading: Reading) -> None:
        prepared, control = standby.prepared, reading.control
        prepared.reserved.again(control.memory, "what an earlier run has made ready")
        candidates = standby.candidates(reading.snapshot, control)
        super().__init__(backend, standby.masks, candidates, reading, standby.begun, prepared)
        self.standby = standby


def taken(key: Hashable, backend: Backend, reading: Reading) -> Matcher | None:
    """A matcher that stood by; None where there is none."""
    standby: Standby | None = reading.snapshot.idle.take(key)
    return None if standby is None else _Resumed(standby, backend, reading)


@contextmanager
def standing_by(matcher: Matcher) -> Iterator[None]:
    """The matcher runs, and stands by for the next run unless this one fails; to have read enough is not to fail."""
    try:
        yield
    except GeneratorExit:
        _stand_by(matcher, whole=False)
        raise
    _stand_by(matcher, whole=True)


def _stand_by(matcher: Matcher, whole: bool) -> None:
    prepared, idle = matcher.prepared, matcher.reading.snapshot.idle
    if prepared is None or not idle.expects(prepared.key):
        return
    known = matcher.standby if isinstance(matcher, _Resumed) else None
    standby = known if known is not None and known.whole else _weighed(matcher, prepared, whole)
    if standby is None:
        return
    idle.put(prepared.key, standby, standby.nbytes, prepared.epoch, matcher.reading.control.memory_limit)


def _weighed(matcher: Matcher, prepared: Prepared, whole: bool) -> Standby | None:
    masks, candidates = matcher.masks, matcher.candidates
    if not isinstance(candidates, Repeatable):
        return None
    again, nbytes = candidates.repeated()
    nbytes += sum([vertices.nbytes for vertices in masks.vertices.values()])
    nbytes += sum([edges.nbytes for edges in masks.edges.values()])
    ranks = [ranks for begun in matcher.begun.values() for ranks in begun.beginning.ranks]
    nbytes += sum([left.nbytes + right.nbytes for left, right in ranks])
    return Standby(prepared, masks, matcher.begun, again, nbytes, whole)


def key_of(second_half: SecondHalf, engine: Engine, backend: Backend, control: Control) -> Hashable | None:
    """What filtering and planning depend on; None where they may come out in another way in each run."""
    names = second_half.parameters if engine.keeps else None
    if names is None or engine.snapshot.deleted is not None:
        return None
    memory = control.memory
    values = [frozen(engine.parameters[name]) for name in names]
    if None in values:
        return None
    return second_half.identity, backend.name, engine.threads, memory.limit, memory.available, *values


def frozen(value: object) -> Hashable | None:
    """What is equal only for values that no query can tell apart; None for those of which that is not known."""
    if isinstance(value, list) and len(value) <= _MOST_ITEMS:
        parts = [_scalar(item) for item in value]
        return None if None in parts else (list, *parts)
    if isinstance(value, dict) and len(value) <= _MOST_ITEMS:
        parts = [_scalar(part) for pair in value.items() for part in pair]
        return None if None in parts else (dict, *parts)
    return _scalar(value)


def _scalar(value: object) -> Hashable | None:
    kind = type(value)
    if kind is float:
        return kind, float(value).hex()  # type: ignore[arg-type]  # tells -0.0 from 0.0, and NaN is itself
    if kind in (str, bytes) and len(value) > _LONGEST:  # type: ignore[arg-type]
        return None
    if kind in (int, bool, str, bytes, type(None)):
        return kind, value
    if kind in (date, Decimal):
        return kind, repr(value)
    if kind in (datetime, time) and type(value.tzinfo) in (type(None), timezone):  # type: ignore[attr-defined]
        return kind, repr(value)
    return None
