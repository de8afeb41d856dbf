"""What a run did, step by step: the numbers behind PROFILE."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class EnumerationCounters(Protocol):
    """found: matches at each level, int64[width]; seconds_until: kernel time of all threads by the level at which a
    stage ends; nothing for what is summed without a search. worker_seconds: CPU
    time in kernels by worker."""

    @property
    def found(self) -> NDArray[np.int64]: ...

    @property
    def seconds_until(self) -> Mapping[int, float]: ...

    @property
    def worker_seconds(self) -> Sequence[float]: ...


@dataclass(slots=True)
class Profile:
    """seconds: by stage of the pipeline, in order. enumerations: one for each match plan that has begun."""

    seconds: dict[str, float] = field(default_factory=dict)
    enumerations: list[EnumerationCounters] = field(default_factory=list)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Adds the time of a block to a stage."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - began

    def add_seconds(self, other: Profile) -> None:
        """Of what was done in another run for the same answer."""
        for stage, seconds in other.seconds.items():
            self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds
