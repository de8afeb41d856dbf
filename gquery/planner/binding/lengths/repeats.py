"""Whether it matters how often a row comes, as far as the tree tells: where it does not, nobody has to list paths.

What is said here decides which patterns are bound, and so how dear an answer is, never which rows it has: a plan makes
up its mind by what is bound (`passes/demand.py`).
"""

from __future__ import annotations

from collections.abc import Iterable

from gquery.grammar import ast
from gquery.planner.binding.mentions import below, names_in
from gquery.planner.ir.functions.calls import is_aggregate

_UNREPEATED = ("min", "max")  # aggregates that a repeated row does not change


def repeats_matter(later: Iterable[ast.Clause], whole: bool) -> bool | None:
    """Whether it does to the clauses behind one; None where that hangs on what is made of their rows. whole: nothing
    is."""
    for clause in later:
        if not isinstance(clause, ast.Projecting):
            continue
        calls = (each for item in clause.items for each in below(item) if isinstance(each, ast.FunctionCall))
        aggregates = [each for each in calls if is_aggregate(each.name)]
        if clause.distinct or aggregates:
            return not all(each.distinct or each.name in _UNREPEATED for each in aggregates)
        if clause.skip is not None or clause.limit is not None:
            return True
    return True if whole else None


def names_no_path(clause: ast.Match) -> bool:
    """Whether nobody can ask which relationships a path of variable length has, and no condition does."""
    plain = all(path.variable is None and path.mode is None for path in clause.patterns)
    lengths = (each for path in clause.patterns for each in path.relationships if each.length is not None)
    return plain and not any(name for each in lengths for name in names_in(each))
