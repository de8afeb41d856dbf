"""A program that lists its matches, as one that counts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gquery.executor.lowering.program import Program


def counting(program: Program, given: int, candidates: Sequence[int]) -> Program:
    """The same matches, of which only the first levels, so many as are given, are listed: every other one is summed out
    below the one before. The last levels that each look at the one before alone are folded, if there are no more
    candidates there than partial matches: a sum for each candidate then takes the place of one for each partial match.

    candidates: how many each level has.
    """
    levels = [level._replace(parent=max(0, number - 1)) for number, level in enumerate(program.levels)]
    for number in reversed(range(given, len(levels))):
        above = number - 1
        if program.weights or program.looked_at(number) != {above} or levels[above].rows < candidates[above]:
            break
        levels[number] = levels[number]._replace(folded=True)
    return replace(program, levels=tuple(levels), listed=given)
