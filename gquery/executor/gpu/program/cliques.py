"""Cliques: all orders of their vertices are alike, so that they may be found in any."""

from __future__ import annotations

from gquery.executor.lowering.program import Level, Program, Rows
from gquery.planner.ir.relations import Types


def clique_rows(program: Program) -> Rows | None:
    """The rows along which a program counts cliques, each once, with larger vertices behind smaller ones; None where it
    does something else. Rows are the same from both ends, and nothing tells the vertices apart."""
    first = next((rows for level in program.levels for rows in level.backward), None)
    if first is None or program.listed or program.space != "vertices" or len(program.levels) < 3:
        return None
    along = first.relation, first.direction, first.edge
    if first.direction != "both" or first.edge is not None or not isinstance(first.relation, Types):
        return None
    same = all(
        (rows.relation, rows.direction, rows.edge) == along for level in program.levels for rows in level.backward
    )
    ascending = all(_is_joined_to_smaller(level, number) for number, level in enumerate(program.levels))
    return first if same and ascending else None


def _is_joined_to_smaller(level: Level, number: int) -> bool:
    """Whether a level is in the rows of all before it, larger than the last of these, and no more is asked of it."""
    told = level.absent or level.pairs or level.comparisons or level.weights or level.cap or level.minus or level.folded
    if told or level.like >= 0 or sorted(rows.level for rows in level.backward) != list(range(number)):
        return False
    return number == 0 or number - 1 in level.smaller
