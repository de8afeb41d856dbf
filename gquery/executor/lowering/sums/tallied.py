"""Levels whose leaf is counted for all of their candidates at once, or with what is known of it before one is chosen.

Inside the neighbourhood of a root two vertices may have common neighbours and no edge between them: opposite corners
of a wheel. Where one of them is matched, what the common neighbours can be is known without the other, and is little:
the rows of these, added up, say how many each candidate of the other has. To intersect the rows of the two for each
candidate takes longer, since most have nothing in common.
"""

from __future__ import annotations

from collections.abc import Iterator

from gquery.executor.lowering.program import Level, Program
from gquery.planner.ir.relations import Types


def tallied_levels(program: Program) -> frozenset[int]:
    """The levels of a sum inside neighbourhoods that have no rows but the root's, and nothing below but one leaf and
    others that are like it."""
    levels, above = program.levels, _above_leaves(program)
    return frozenset(number for number, leaf in above if _is_tallied(levels[number], levels[leaf], number))


def prepared_levels(program: Program) -> frozenset[int]:
    """The other levels with nothing below but one leaf, and others that are like it, that one row leads to from there:
    all else that the leaf must be in is the same for all of their candidates."""
    prepared = (number for number, leaf in _above_leaves(program) if _is_prepared(program.levels[leaf], number))
    return frozenset(prepared) - tallied_levels(program)


def _above_leaves(program: Program) -> Iterator[tuple[int, int]]:
    """The levels inside a neighbourhood above a leaf, and others that are like it, with that leaf."""
    below = program.children() if program.strategy == "inside" else []
    for number, children in enumerate(below):
        if number == 0 or not children:
            continue
        leaf, *others = children
        alike = all(program.levels[each].like == leaf for each in others)
        if alike and not below[leaf] and not program.levels[leaf].folded:
            yield number, leaf


def _is_tallied(level: Level, leaf: Level, number: int) -> bool:
    leading = [rows for rows in leaf.backward if rows.level == number]
    tied = any(rows.level not in (0, number) for rows in leaf.backward)
    if any(rows.level for rows in level.backward) or number in leaf.smaller or not tied or len(leading) != 1:
        return False
    # Rows are the same from both ends.
    return leading[0].direction == "both" and isinstance(leading[0].relation, Types)


def _is_prepared(leaf: Level, number: int) -> bool:
    return number not in leaf.different and sum(rows.level == number for rows in leaf.backward) == 1
