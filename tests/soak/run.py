"""Queries over one random graph, each judged; a failing one as a small script."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.soak.check import Case, Make, Verdict, cases, judged
from tests.soak.doors import DOORS
from tests.soak.render import text_of
from tests.soak.shrink import shrunk
from tests.soak.tables import to_gquery


@dataclass(frozen=True)
class Outcome:
    """place: `maker/seed/number of the query`. door: how the graph was asked."""

    place: str
    door: str
    case: Case
    verdict: Verdict


def soaked(seed: int, make: Make, device: str = "auto") -> Iterator[Outcome]:
    """Every door has its turn, graph by graph."""
    made = cases(seed, make)
    door = DOORS[seed % len(DOORS)]
    ask = door(to_gquery(made[0].tables).with_settings(device=device))
    for number, case in enumerate(made):
        yield Outcome(f"{make.__name__}/{seed}/{number}", door.__name__, case, judged(case, ask))


def reproduction(outcome: Outcome) -> str:
    """A script that runs the case, as small as it could be made. One that fails by its door alone stays as it is."""
    case, verdict = outcome.case, judged(outcome.case)
    if verdict.bad:
        case, verdict = shrunk(case, verdict)
    text, parameters = text_of(case.query)
    told = "\n# ".join(f"{outcome.place} by {outcome.door}: {outcome.verdict.summary}\n{verdict.told}".splitlines())
    return f"""\
# {told}
import datetime
import zoneinfo
from decimal import Decimal
from math import inf, nan

from tests.soak.tables import EdgeTable, Tables, VertexTable, to_gquery

tables = {case.tables}
print(to_gquery(tables).query({text!r}, {parameters!r}).rows())
"""
