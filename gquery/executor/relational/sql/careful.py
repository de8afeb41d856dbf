"""Conditions some of which may fail, such as `10 / n.x > 1`: these are asked where the others do not tell the answer.

DuckDB asks all parts of AND and OR of all rows, and those of a filter in an order of its own; only of a CASE it looks
at nothing but the branch that a row takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gquery.executor.relational.sql.once import once
from gquery.planner.ir.expr import Call, Expression, walk
from gquery.planner.ir.functions.failing import may_fail, safe_first
from gquery.records import record

_SHORT = 80  # characters of a text that may stand twice

Write = Callable[[Expression], str]


def all_true(conditions: Iterable[Expression], write: Write, first: str = "") -> str:
    """Whether all are true; null may come out as false. At least one. first: SQL of what else is true of all rows that
    one which may fail is asked of."""
    safe, failing = safe_first(conditions)
    together = " AND ".join(map(write, safe))
    if not failing:
        return together
    *tests, last = [*filter(None, (first, together)), *map(write, failing)]
    cases = " ".join(f"WHEN ({test}) IS NOT TRUE THEN FALSE" for test in tests)
    return f"CASE {cases} ELSE {last} END" if tests else last


def joined(operator: str, parts: Sequence[Expression], write: Write) -> str:
    """AND or OR of the parts."""
    safe, failing = safe_first(parts)
    form = _Form(*((" AND ", "NOT ", "FALSE") if operator == "and" else (" OR ", "", "TRUE")))
    tests = [*([f"({form.word.join(map(write, safe))})"] if safe else []), *map(write, failing)]
    is_flat = all(not _is_joined(inner) for part in failing for inner in walk(part) if inner is not part)
    return f"({form.flat(tests) if is_flat else form.halved(tests)})"


def _is_joined(part: Expression) -> bool:
    return isinstance(part, Call) and part.function in ("and", "or") and may_fail(part)


@record(frozen=True, slots=True)
class _Form:
    """word: between the parts. told: before a part that tells the `answer` alone."""

    word: str
    told: str
    answer: str

    def flat(self, tests: list[str]) -> str:
        """One after the other; all again where none tells the answer, which may be null."""
        if len(tests) == 1:
            return tests[0]
        cases = " ".join(f"WHEN {self.told}{test} THEN {self.answer}" for test in tests[:-1])
        return f"CASE {cases} ELSE {self.word.join(tests)} END"

    def halved(self, tests: list[str]) -> str:
        """The first half, then the other: parts within parts within parts would stand there again and again."""
        if len(tests) == 1:
            return tests[0]
        half = len(tests) // 2
        test, rest = f"({self.halved(tests[:half])})", f"({self.halved(tests[half:])})"
        return once([test, rest], [len(test) <= _SHORT, True], self.flat)
