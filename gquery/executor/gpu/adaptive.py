"""One run of a program on the device whose partial matches have an order of their own each: by warps, depth first."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence

import numpy as np

from gquery.executor.backend import Item, PartialMatches
from gquery.executor.gpu.candidates.sets import CandidateSets
from gquery.executor.gpu.program.adapting import Adapting
from gquery.executor.gpu.search import added_up
from gquery.executor.lowering.program import Program
from gquery.executor.progress import OrdersGivenUp
from gquery.lasting.properties import cached_property


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

    @cached_property
    def _adapting(self) -> Adapting:
        """Written when a run begins, and not before."""
        return Adapting(self.program, self._candidates)

    def batches(self, behind: Callable[[PartialMatches], Iterable[Item]]) -> Generator[Item, None, None]:
        raise NotImplementedError("what is listed has one order")

    def total(self, modulus: int) -> tuple[int, float]:
        with self.device.guarded():
            adapting = self._adapting
            run = adapting.tape.start(self.control, modulus)
            for _ in run.launches():
                self.found = run.cells(adapting.found, len(self.program.levels)).copy()
                self.control.reached(adapting.fraction(run))
                if not run.ended and run.steps > self.program.tried > 0:
                    raise OrdersGivenUp
            return added_up(run, adapting.totals, self.device.blocks, modulus)
