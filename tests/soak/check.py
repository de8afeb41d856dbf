"""One case: a graph and a query, judged."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import gquery
from tests.evaluator.answers import Answer, Row, Undecided, answer, rows_after
from tests.evaluator.values import Failure, Graph
from tests.soak.bounded import bounded
from tests.soak.compare import agrees
from tests.soak.render import text_of
from tests.soak.tables import Tables, random_tables, to_evaluator, to_gquery
from tests.soak.tree import Called, Projection, Query, Unwind

MAX_ROWS = 600  # after each clause
QUERIES = 8  # a graph
Ask = Callable[[str, dict[str, Any]], list[Row]]
Make = Callable[[Random, Tables], Query]


@dataclass(frozen=True)
class Case:
    tables: Tables
    query: Query


@dataclass(frozen=True)
class Verdict:
    """kind: `same`, `refused` (by a rule that gquery states before it runs), `failed` (both say that there is an
    error), `undecided` (several answers are right, or too many rows), or what is wrong: `wrong`, `crash`, `error` (only
    gquery has one), `missed` (only it has none)."""

    kind: str
    told: str = ""

    @property
    def summary(self) -> str:
        return f"{self.kind}: {self.told.partition(chr(10))[0][:60]}"

    @property
    def bad(self) -> bool:
        return self.kind in ("wrong", "crash", "error", "missed")


def cases(seed: object, make: Make) -> list[Case]:
    """Queries over one random graph."""
    random = Random(f"{make.__name__} {seed}")
    tables = random_tables(random)
    data = to_evaluator(tables)
    return [Case(tables, _with_matches(random, tables, data, make)) for _ in range(QUERIES)]


def _with_matches(random: Random, tables: Tables, data: Graph, make: Make) -> Query:
    """A query that has some matches, more often than chance would have it."""
    for _ in range(random.choice([1, 10, 10, 10, 10])):
        query = make(random, tables)
        if _has_matches(data, query):
            break
    return query


def _has_matches(data: Graph, query: Query) -> bool:
    try:
        with bounded():
            return bool(rows_after(data, query.clauses[:-1], MAX_ROWS))
    except (Failure, Undecided):
        return False


def judged(case: Case, ask: Ask | None = None) -> Verdict:
    """`ask`: how the case's graph, loaded already, is asked; without it the graph is loaded here."""
    text, parameters = text_of(case.query)
    expected: Answer | Failure
    try:
        with bounded():
            expected = answer(to_evaluator(case.tables), case.query, MAX_ROWS)
    except Failure as failure:
        expected = failure
    except Undecided as reason:
        return Verdict("undecided", str(reason))
    return _compared(case.query, expected, lambda: (ask or plainly(to_gquery(case.tables)))(text, parameters))


def plainly(graph: gquery.Graph) -> Ask:
    """Warnings are as good as none: comparisons that can never be true are asked for on purpose."""

    def ask(text: str, parameters: dict[str, Any]) -> list[Row]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return [tuple(row) for row in graph.query(text, parameters).rows()]

    return ask


def _compared(query: Query, expected: Answer | Failure, ask: Callable[[], list[Row]]) -> Verdict:
    failed = isinstance(expected, Failure)
    try:
        found = ask()
    except (gquery.UnsupportedError, gquery.BindError) as error:
        return Verdict("refused", f"{type(error).__name__}: {error.message}")
    except gquery.GQueryError as error:
        return Verdict("failed" if failed else "error", str(error))
    except Exception as error:  # whatever it is, it is not ours
        return Verdict("crash", f"{type(error).__name__}: {error}")
    if isinstance(expected, Failure) and _may_look_away(query):
        return Verdict("failed")
    if isinstance(expected, Failure):
        return Verdict("missed", f"expected an error ({expected}), got {found}")
    if agrees(query, expected, found):
        return Verdict("same")
    rows = [row for run in expected.runs for row in run]
    more = len(found) - (expected.end - expected.begin)
    what = "too many rows" if more > 0 else "too few rows" if more else "other values"
    return Verdict("wrong", f"{what}\nexpected (rows {expected.begin} to {expected.end} of)\n  {rows}\ngot\n  {found}")


def _may_look_away(query: Query) -> bool:
    """Whether some values need not be looked at: rows that are cut off, what a WITH or UNWIND makes for nobody."""
    cut = query.returned.skip or query.returned.limit is not None
    return bool(cut) or any(isinstance(clause, Projection | Unwind | Called) for clause in query.clauses[:-1])
