"""Conditions some of which may fail, such as `10 / n.x > 1`: these are asked where the others do not tell the answer.

DuckDB asks all parts of AND and OR of all rows, and those of a filter in an order of its own; only of a CASE it looks
at nothing but the branch that a row takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce

from gquery.executor.relational.sql.once import once
from gquery.planner.ir.expr import Expression
from gquery.planner.ir.functions.failing import safe_first

_SHORT = 80  # characters of a text that may stand twice

Write = Callable[[Expression], str]


def all_true(conditions: Iterable[Expression], write: Write) -> str:
    """Whether all are true; null may come out as false. At least one."""
    safe, failing = safe_first(conditions)
    together = " AND ".join(map(write, safe))
    if not failing:
        return together
    tests = [*([together] if safe else []), *map(write, failing)]
    return reduce(lambda rest, test: f"CASE WHEN {test} THEN {rest} ELSE FALSE END", reversed(tests))


def joined(operator: str, parts: Sequence[Expression], write: Write) -> str:
    """AND or OR of the parts."""
    safe, failing = safe_first(parts)
    word, told, answer = (" AND ", "NOT ", "FALSE") if operator == "and" else (" OR ", "", "TRUE")

    def before(rest: str, test: str) -> str:
        def text(given: list[str]) -> str:
            return f"CASE WHEN {told}{given[0]} THEN {answer} ELSE {given[0]}{word}{given[1]} END"

        return once([test, f"({rest})"], [len(test) <= _SHORT, True], text)

    tests = [*([f"({word.join(map(write, safe))})"] if safe else []), *map(write, failing)]
    return f"({reduce(before, reversed(tests))})"
