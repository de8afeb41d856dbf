"""A program whose sums are pushed, for backends that push them: the far level comes last of each chain; and for those
that have no room for counters, the same program without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gquery.executor.lowering.program import Choice, Level, Program, Rows
from gquery.planner.ir.match_plan import chains_of
from gquery.planner.ir.relations import Types, repeats
from gquery.storage.schema import TURNED


def pushed(program: Program) -> Program:
    """The levels between the root and the far level as chains under the root, without what they ask of the far level;
    and behind all of them one more level for each chain: the far level as its end, which asks that. The number of
    matches of a chain for each match of its end, less the end's `minus`, is the sum of the chain's first level. A chain
    that is like another is a level without rows that is like the other's end. Of the first two levels, where both are
    listed, the far one is under the root like all others; what is asked of both stays with it."""
    levels = list(program.levels)
    end_of: dict[int, int] = {}  # by the only level of a chain
    for chain in chains(program):
        like = program.levels[chain[0]].like
        if like >= 0:
            levels[chain[0]] = levels[chain[0]]._replace(
                backward=(), different=(), smaller=(), parent=0, like=end_of[like], contexts=0.0
            )
            continue
        for parent, inner in zip((0, *chain), chain, strict=False):
            levels[inner] = _without_far(program.levels[inner], parent)
        end_of[chain[0]] = len(levels)
        levels.append(_end(program, chain))
    return replace(program, levels=tuple(levels), listed=min(1, program.listed))


def chains(program: Program) -> Sequence[Sequence[int]]:
    """The chains of a pushed sum, from the top."""
    found = chains_of([(level.parent, level.folded) for level in program.levels])
    assert found is not None
    return found


def searched(program: Program) -> Program:
    """A pushed program as one that is searched depth first. A vertex that was reached once for each data edge is
    matched once, and its data edges are counted: rows that repeat it cannot be intersected."""
    levels, weights = list(program.levels), list(program.weights)
    for number, level in enumerate(levels):
        several = [rows for rows in level.backward if repeats(rows.relation) and not level.folded]
        if several:
            begin = len(weights)
            weights += [Choice(-1, _once(rows), number, (), False) for rows in several]
            own = (*level.weights, *range(begin, len(weights)))
            backward = tuple(_once(rows) if rows in several else rows for rows in level.backward)
            levels[number] = level._replace(backward=backward, weights=own, like=-1)
    return replace(program, levels=tuple(levels), weights=tuple(weights), strategy="tree")


def _once(rows: Rows) -> Rows:
    """Rows that have each vertex once for all data edges."""
    assert isinstance(rows.relation, Types)
    return rows._replace(relation=rows.relation._replace(repeats=False))


def _end(program: Program, chain: Sequence[int]) -> Level:
    far, last = program.levels[1], program.levels[chain[-1]]
    return far._replace(
        backward=tuple(
            _back(program, number, rows)
            for number in chain
            for rows in program.levels[number].backward
            if rows.level == 1
        ),
        different=(*far.different, *(number for number in chain if 1 in program.levels[number].different)),
        pairs=(),
        comparisons=(),
        absent=(),
        parent=chain[-1],
        minus=last.minus,
        rows=last.rows,
    )


def _back(program: Program, number: int, rows: Rows) -> Rows:
    """Rows of a level that lead to the far level, from those that lead from there."""
    return rows._replace(direction=TURNED[rows.direction], tables=program.levels[number].tables, level=number)


def _without_far(level: Level, parent: int) -> Level:
    return level._replace(
        backward=tuple(rows for rows in level.backward if rows.level != 1),
        different=tuple(other for other in level.different if other != 1),
        parent=parent,
        minus=0,
        contexts=0.0,
    )
