"""Levels whose leaf is counted for all of their candidates at once, or with what is known of it before one is chosen.

Inside the neighbourhood of a root two vertices may have common neighbours and no edge between them: opposite corners
of a wheel. Where one of them is matched, what the common neighbours can be is known without the other, and is little:
the rows of these, added up, say how many each candidate of the other has. To intersect the rows of the two for each
candidate takes longer, since most have nothing in common.
"""

from __future__ import annotations

from gquery.executor.lowering.program import Level, Program
from gquery.planner.ir.relations import Types


def tallied_levels(program: Program) -> frozenset[int]:
    """The levels of a sum inside neighbourhoods that have no rows but the root's, and nothing below but one leaf and
    others that are like it."""
    if program.strategy != "inside":
        return frozenset()
    below = program.children()
    found = (
        number
        for number, children in enumerate(below)
        if children and not below[children[0]] and _is_tallied(program.levels, number, children)
    )
    return frozenset(found)


def _is_tallied(levels: tuple[Level, ...], number: int, children: list[int]) -> bool:
    first, *others = children
    leaf = levels[first]
    if number == 0 or leaf.folded or number in leaf.smaller or any(levels[each].like != first for each in others):
        return False
    leading = [rows for rows in leaf.backward if rows.level == number]
    tied = any(rows.level not in (0, number) for rows in leaf.backward)
    if any(rows.level for rows in levels[number].backward) or not tied or len(leading) != 1:
        return False
    # Rows are the same from both ends.
    return leading[0].direction == "both" and isinstance(leading[0].relation, Types)


def prepared_levels(program: Program) -> frozenset[int]:
    """The levels of a sum inside neighbourhoods with nothing below but one leaf, and others that are like it, that one
    row leads to from there: all else that the leaf must be in is the same for all of their candidates."""
    if program.strategy != "inside":
        return frozenset()
    below = program.children()
    tallied = tallied_levels(program)
    found = (
        number
        for number, children in enumerate(below)
        if children and not below[children[0]] and number not in tallied
        if _is_prepared(program.levels, number, children)
    )
    return frozenset(found)


def _is_prepared(levels: tuple[Level, ...], number: int, children: list[int]) -> bool:
    first, *others = children
    leaf = levels[first]
    if number == 0 or leaf.folded or number in leaf.different or any(levels[each].like != first for each in others):
        return False
    return sum(rows.level == number for rows in leaf.backward) == 1
