"""The state of one running vertex group: what `extend` needs to go on after a slice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu import extend as kernel
from gquery.executor.packed import SET_COUNT, SIZE, PackedPlan

SLICE = 1 << 16  # looks at neighbours in one slice: about a millisecond


@dataclass(frozen=True, slots=True)
class PartialMatches:
    """positions int32[width, capacity], column-major in the sense that one query vertex is one row; `count` in use."""

    positions: NDArray[np.int32]
    count: int


@dataclass(frozen=True, slots=True)
class Stage:
    """One vertex group: levels `start .. stop - 1`. The last stage of a counting plan counts."""

    start: int
    stop: int
    counting: bool


class Frame:
    """Extends the rows `begin .. end - 1` of `given` through one stage."""

    def __init__(self, plan: PackedPlan, stage: int, stages: tuple[Stage, ...], given: PartialMatches) -> None:
        self.plan = plan
        self.stage = stage
        self.stages = stages
        self.given = given
        width, rows = plan.width, len(plan.backward)
        self.state = np.zeros(kernel.STATE_SLOTS + width, np.int64)
        self.state[kernel.ROW_END] = given.count
        self.state[kernel.DEPTH] = -1
        self._positions = np.zeros(width, np.int32)
        self._vertices = np.zeros(width, np.int32)
        self._begins, self._cursors, self._ends = np.zeros((3, max(1, rows)), np.int64)
        self._pivots = np.zeros(width, np.int64)
        self._last = np.zeros(width, np.int32)
        self._scratch = np.zeros((4, max(1, len(plan.choices))), np.int64)
        counted = stages[stage].counting and plan.steps[-1, SET_COUNT] == 1
        self._marks = np.zeros((int(plan.steps[-1, SIZE]) >> 6) + 1 if counted else 1, np.uint64)
        self._marked = np.full(2, -1, np.int64)

    def run(self, output: NDArray[np.int32]) -> int:
        """One slice; returns the status. `output` int32[stop, capacity] must be the same until it was drained."""
        stage = self.stages[self.stage]
        kernel.extend(
            *self.plan.tables,
            stage.start,
            stage.stop,
            stage.counting,
            SLICE,
            self.given.positions,
            output,
            self.state,
            self._positions,
            self._vertices,
            self._begins,
            self._cursors,
            self._ends,
            self._pivots,
            self._last,
            self._scratch,
            self._marks,
            self._marked,
        )
        return int(self.state[kernel.STATUS])

    def drain(self) -> int:
        """Number of rows in the output since the last drain; they are the caller's now."""
        made = int(self.state[kernel.MADE])
        self.state[kernel.MADE] = 0
        return made

    @property
    def counted(self) -> int:
        """Matches counted in the last slice."""
        return int(self.state[kernel.TOTAL])

    @property
    def found(self) -> NDArray[np.int64]:
        """Matches found at each level so far."""
        return self.state[kernel.STATE_SLOTS :]

    @property
    def rows_left(self) -> int:
        return int(self.state[kernel.ROW_END] - self.state[kernel.ROW])

    def split(self) -> PartialMatches:
        """Gives away the second half of the input that is left."""
        end = int(self.state[kernel.ROW_END])
        middle = end - self.rows_left // 2
        self.state[kernel.ROW_END] = middle
        return PartialMatches(np.ascontiguousarray(self.given.positions[:, middle:end]), end - middle)
