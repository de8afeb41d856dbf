"""How packed levels hang together: the tree of a sum, and what a chain that is summed breadth first needs to know."""

from __future__ import annotations

import itertools

from gquery.executor.cpu.search import packed
from gquery.executor.lowering.program import Level, Program

_EVERY_LEVEL = -1  # the set of all levels


def link(steps: list[list[int]], program: Program) -> None:
    """Writes the tree of the summed levels into the packed steps, and how each level is extended."""
    for number, (row, level) in enumerate(zip(steps, program.levels, strict=True)):
        row[packed.PARENT], row[packed.CHILD], row[packed.SIBLING] = level.parent, -1, -1
        row[packed.SPANS] = _spans(row, level) if number else 0
        row[packed.LIVE] = _EVERY_LEVEL
        row[packed.LIKE] = level.like if row[packed.SET_COUNT] and steps[level.like][packed.SET_COUNT] else -1
    for row, below in zip(steps, program.children(), strict=True):
        children = [child for child in below if not program.levels[child].folded]
        row[packed.CHILD] = children[0] if children else -1
        row[packed.BOTTOM] = all(
            steps[child][packed.SET_COUNT] and not steps[child][packed.SLOTS] for child in children
        )
        for child, sibling in itertools.pairwise(children):
            steps[child][packed.SIBLING] = sibling


def link_chain(steps: list[list[int]], program: Program) -> None:
    """Writes which levels are still needed below each level of a chain."""
    needed: set[int] = set()
    for number in range(len(steps) - 1, max(1, program.listed) - 1, -1):
        if not program.levels[number].folded:
            steps[number][packed.LIVE] = sum(1 << other for other in needed)
            needed = (needed | _asks(program.levels[number])) - {number}


def link_counters(steps: list[list[int]], program: Program, kinds: int) -> None:
    """Writes which counters the chains of a pushed sum add to: their ends are behind all other levels."""
    first = len(steps) - kinds
    for number, (row, level) in enumerate(zip(steps, program.levels, strict=True)):
        row[packed.COUNTER] = (number if level.like < 0 else level.like) - first
        row[packed.LIKE] = level.like


def _spans(row: list[int], level: Level) -> int:
    """How many rows of a level can be looked up for a whole block of partial matches."""
    rows = row[packed.BACKWARD_END] - row[packed.BACKWARD_BEGIN]
    if not row[packed.SIMPLE]:
        return 0
    if level.comparisons and row[packed.SET_COUNT]:
        return 0
    if not row[packed.SET_COUNT]:
        return int(rows == 1 and not (level.smaller or level.pairs or level.absent))
    if row[packed.LENGTH]:
        return 1
    pair = rows + len(level.absent) == 2 and len(level.different) <= 1
    return 2 if pair and not (level.absent and row[packed.WORDS]) else 0


def _asks(level: Level) -> set[int]:
    """The levels that a level looks at, and maybe itself."""
    asked = {rows.level for rows in (*level.backward, *level.absent)}
    asked.update(level.different, level.smaller, *level.pairs)
    asked.update(*((each.left, each.right) for each in level.comparisons))
    return asked
