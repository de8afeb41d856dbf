"""What a worker gives away of a search that it has begun, when rows of its input are not enough to share.

One heavy root would keep a worker busy while the others wait. So the shallowest level that has anything left is split:
the other worker goes on from a copy of where the search stands, with half of that level's candidates and nothing of the
levels above. Both sums belong to the same given row, and add up.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.kernels import workspace as work_slots
from gquery.executor.cpu.kernels.blocks import CLOSED, COUNT, CURSOR, NEXT, Blocks, blocks_of
from gquery.executor.cpu.kernels.workspace import DEPTH, EACH, ENTERING, HANDED, MADE, ROW, ROW_END, SPLIT, START, TAKEN
from gquery.executor.cpu.search import packed
from gquery.executor.cpu.search.packed import PackedPlan

if TYPE_CHECKING:
    from gquery.executor.cpu.search.adapting import Matched

Work = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Begun:
    """A part of a search. work: where it stands, in a state of its own; block: of a search that goes block by block,
    the partial matches at its level, as `Blocks` has them; of one in an order of its own what it has matched; rows:
    int64[], those of the giver's input that sums are for."""

    work: Work
    block: Blocks | Matched | None
    rows: NDArray[np.int64]


def half_of_block(plan: PackedPlan, work: Work, blocks: NDArray[np.int64], last: int) -> Begun | None:
    """Half of what is left in the shallowest block before the level `last`."""
    fill = blocks_view(plan, blocks).fill
    for level in range(int(work[START]) - 1, min(int(work[DEPTH]) + 1, last)):
        busy = int(fill[CURSOR, level]) != CLOSED
        begin, end = int(fill[NEXT, level]) + busy, int(fill[COUNT, level])
        given = (end - begin + (busy or level < work[DEPTH])) // 2  # the giver has something to go on with
        if given > 0:
            fill[COUNT, level] = end - given
            return _rest_of_block(plan, work, blocks, level, slice(end - given, end))
    return None


def _rest_of_block(plan: PackedPlan, work: Work, blocks: NDArray[np.int64], level: int, part: slice) -> Begun:
    view = blocks_view(plan, blocks)
    columns = view.columns[level][:, part].copy()
    rows, columns[plan.width] = np.unique(columns[plan.width], return_inverse=True)
    block = Blocks(
        columns,
        view.products[level][part].copy(),
        view.sizes[level][part].copy(),
        view.spans[level][:, part].copy(),
        view.fill,
    )
    return Begun(own_work(plan, work, level, len(rows)), block, rows.astype(np.int64))


def put(plan: PackedPlan, begun: Begun, blocks: NDArray[np.int64]) -> None:
    """Writes the partial matches into another worker's blocks, which are empty otherwise."""
    view, level, block = blocks_view(plan, blocks), int(begun.work[DEPTH]), begun.block
    assert isinstance(block, Blocks)
    count = len(block.products)
    view.fill[[COUNT, NEXT]] = 0
    view.fill[CURSOR] = CLOSED
    view.fill[COUNT, level] = count
    view.columns[level][:, :count] = block.columns
    view.products[level][:count] = block.products
    view.sizes[level][:count] = block.sizes
    view.spans[level][:, :count] = block.spans


def blocks_view(plan: PackedPlan, blocks: NDArray[np.int64]) -> Blocks:
    """The blocks in such an array."""
    view: Blocks = blocks_of.py_func(blocks, plan.width)  # type: ignore[attr-defined]
    return view


def own_work(plan: PackedPlan, work: Work, level: int, rows: int) -> Work:
    """A copy of a search that stands at a level, for so many rows that are taken already."""
    own = work.copy()
    work_slots.found_in(own, plan.width)[:] = 0
    own[[ROW, HANDED, ENTERING, MADE]] = 0
    own[TAKEN] = own[ROW_END] = rows
    own[DEPTH] = level
    return own


def half_of_tree(plan: PackedPlan, work: Work) -> Begun | None:
    """Half of the candidates that are left of the shallowest level in progress. A level whose sum counts as another
    number has to be whole, and so has what is below it."""
    steps = plan.table(packed.STEPS, packed.STEP_COLUMNS)
    path = _in_progress(plan, work, steps)
    parts = _Cursors.of(plan, work)
    for number, level in enumerate(path):
        if steps[level, packed.CAP] != packed.PLAIN:
            return None
        pivot = int(parts.pivots[level])
        if steps[level, packed.BACKWARD_BEGIN] < steps[level, packed.BACKWARD_END]:
            low, high = int(parts.cursors[pivot]), int(parts.ends[pivot])
            if low < high:
                middle = (low + high) // 2
                work[SPLIT] = max(work[SPLIT], level)
                own = own_work(plan, work, level, 1)
                _leave_candidates(plan, own, path[: number + 1], middle, low)
                parts.ends[pivot] = middle
                return Begun(own, None, work[[ROW]] * work[EACH])
    return None


@dataclass(frozen=True, slots=True)
class _Cursors:
    """Where the levels of a search stand, as `Walk` has it."""

    pivots: NDArray[np.int64]
    last: NDArray[np.int64]
    cursors: NDArray[np.int64]
    ends: NDArray[np.int64]
    bitsets: NDArray[np.int64]

    @staticmethod
    def of(plan: PackedPlan, work: Work) -> _Cursors:
        return _Cursors(*work_slots.cursors_in(work, plan.width, plan.rows))


def _in_progress(plan: PackedPlan, work: Work, steps: NDArray[np.int64]) -> list[int]:
    """The levels from the top down to the one where a tree's search stands."""
    level, path = int(work[DEPTH]), []
    if level >= 0 and work[ENTERING]:
        level = int(steps[level, packed.PARENT])
    while level >= work[START]:
        path.append(level)
        level = int(steps[level, packed.PARENT])
    return path[::-1]


def _leave_candidates(plan: PackedPlan, own: Work, path: list[int], middle: int, low: int) -> None:
    """Leaves the candidates from `middle` on to the last level of a path, none to those above; their sums begin
    anew."""
    steps = plan.table(packed.STEPS, packed.STEP_COLUMNS)
    backward = plan.table(packed.BACKWARD, packed.ADJACENCY_COLUMNS)
    parts = _Cursors.of(plan, own)
    kept = np.zeros(plan.rows, np.bool_)
    for level in path:
        begin, end = steps[level, packed.BACKWARD_BEGIN], steps[level, packed.BACKWARD_END]
        kept[begin:end] = True
        if begin < end:
            parts.cursors[parts.pivots[level]] = parts.ends[parts.pivots[level]]
        else:
            parts.last[level] = steps[level, packed.SIZE] - 1
        for sums in work_slots.sums_in(own, plan.width):
            sums[level] = 0
    level = path[-1]
    pivot = parts.pivots[level]
    parts.cursors[pivot] = middle
    if middle > low:  # a neighbour that is repeated beyond the middle is the giver's
        neighbour = int(backward[pivot, packed.NEIGHBOURS]) + 4 * (middle - 1)
        parts.last[level] = ctypes.c_int32.from_address(neighbour).value
    parts.bitsets[~kept] = 0


def moved(plan: PackedPlan, begun: Begun, marks: int, signals: int) -> Work:
    """The work, for a worker with other marks: bitsets that were written there are written anew before they are
    used."""
    work = begun.work
    parts = _Cursors.of(plan, work)
    before = work[work_slots.MARKS_ADDRESS]
    marked = (parts.bitsets >= before) & (parts.bitsets < before + 8 * plan.marks)
    parts.bitsets[marked] += marks - before
    work[work_slots.MARKS_ADDRESS], work[work_slots.SIGNALS] = marks, signals
    return work
