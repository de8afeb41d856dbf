"""Orders of vertices. Of symmetric matches one is counted, that whose vertices are smaller where the program asks for
it; any order will do, as long as it is the same for all. By numbers of neighbours some work is saved."""

from __future__ import annotations

from typing import NamedTuple

from gquery.executor.lowering.program import Level, Program, Rows
from gquery.planner.ir.relations import Types


class Ranking(NamedTuple):
    """Vertices by how many neighbours they have along some rows. descending: hubs are first. oriented: rows lead to
    smaller ranks alone, from one end of each edge."""

    rows: Rows
    descending: bool
    oriented: bool


def ranking_of(program: Program) -> Ranking | None:
    """The order that saves most work, None where it is not free."""
    rows = _only_rows(program)
    if rows is None:
        return None
    if _counts_cliques(program):
        return Ranking(rows, descending=True, oriented=True)
    if program.strategy == "push" and any(level.smaller for level in program.levels):
        return Ranking(rows, _are_hubs_first(program), oriented=False)
    # Who must be larger than a hub is one of few where hubs are last.
    return Ranking(rows, descending=False, oriented=False) if program.strategy == "inside" else None


def _counts_cliques(program: Program) -> bool:
    """Whether it counts cliques, each once, with larger vertices behind smaller ones. Found from the vertex with fewest
    neighbours on, towards hubs, each looks at few: hubs have few neighbours with more."""
    ascending = all(_is_joined_to_smaller(level, number) for number, level in enumerate(program.levels))
    return ascending and len(program.levels) > 2


def _are_hubs_first(program: Program) -> bool:
    """Which order lets sums be pushed with little work: where the far vertex is in one row few reach it over a hub if
    hubs come first; where in several, hubs have few to push to if they are last."""
    return all(len(level.backward) < 2 for level in program.levels if _is_end(level, program))


def _only_rows(program: Program) -> Rows | None:
    """The rows along which all levels are matched, if they are the same from both ends, and if nothing that is asked of
    vertices tells these apart."""
    every = [rows for level in program.levels for rows in level.backward]
    if program.listed or program.space != "vertices" or not every or any(map(_tells_apart, program.levels)):
        return None
    along = {(rows.relation, rows.direction, rows.edge) for rows in every}
    first = every[0]
    free = first.direction == "both" and first.edge is None and isinstance(first.relation, Types)
    return first if free and len(along) == 1 else None


def _tells_apart(level: Level) -> bool:
    return bool(level.absent or level.pairs or level.comparisons or level.weights or level.cap)


def _is_end(level: Level, program: Program) -> bool:
    """Whether it is a far level behind a chain: it has the far level's candidates."""
    far = program.levels[1]
    return level is not far and level.candidates == far.candidates and bool(level.backward)


def _is_joined_to_smaller(level: Level, number: int) -> bool:
    """Whether a level is in the rows of all before it, larger than the last of these, and no more is asked of it."""
    if level.minus or level.folded or level.like >= 0:
        return False
    joined = sorted(rows.level for rows in level.backward) == list(range(number))
    return joined and (number == 0 or number - 1 in level.smaller)
