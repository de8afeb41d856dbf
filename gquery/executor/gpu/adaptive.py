"""One run of a program on the device whose partial matches have an order of their own each: by warps, depth first."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence

import numpy as np

from gquery.errors import MemoryLimitError
from gquery.executor.backend import Item, PartialMatches
from gquery.executor.gpu.candidates.sets import CandidateSets
from gquery.executor.gpu.program.adapting import MOST_LEVELS, Adapting
from gquery.executor.gpu.search import added_up
from gquery.executor.lowering.program import Program
from gquery.executor.progress import OrdersGivenUp


class AdaptiveSlices:
    """A count of all that a program matches."""

    def __init__(self, program: Program, candidates: CandidateSets) -> None:
        self.program = program
        self.device = candidates.device
        self.control = candidates.control
        self.seconds_until: Mapping[int, float] = {}
        self.worker_seconds: Sequence[float] = ()
        self.found = np.zeros(len(program.levels), np.int64)
        self._candidates = candidates
        self._adapting: Adapting | None = None

    def batches(self, behind: Callable[[PartialMatches], Iterable[Item]]) -> Generator[Item, None, None]:
        raise NotImplementedError("what is listed has one order")

    def total(self, modulus: int) -> tuple[int, float]:
        with self.device.guarded():
            adapting = self._written()
            run = adapting.tape.start(self.control, modulus)
            for _ in run.launches():
                self.found = run.cells(adapting.found, len(self.program.levels)).copy()
                self.control.reached(adapting.fraction(run))
                if not run.ended and run.steps > self.program.tried:
                    raise OrdersGivenUp
            return added_up(run, adapting.totals, self.device.blocks, modulus)

    def _written(self) -> Adapting:
        """What runs, which is not written before. Raises OrdersGivenUp where the card has no room for it: one order for
        all takes less."""
        if self._adapting is None:
            if len(self.program.levels) > MOST_LEVELS:
                raise OrdersGivenUp
            try:
                with self.device.guarded():
                    self._adapting = Adapting(self.program, self._candidates)
            except MemoryLimitError:
                raise OrdersGivenUp from None
        return self._adapting
