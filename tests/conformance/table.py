"""How much of the openCypher TCK gquery passes, by folder: `python -m tests.conformance.table` runs it and writes
`docs/conformance.md`; with the beginning of a folder's or file's name it prints what these do not pass, and why.

A scenario counts when every row of its examples passes.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

import gquery
from tests.conformance import tck_writes
from tests.conformance.tck_features import Scenario
from tests.conformance.tck_run import SCENARIOS, run
from tests.conformance.tck_values import UnreadableError

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
OUTCOMES = ("passes", "is not supported", "differs", "has a set-up that the tests cannot build")
_HEAD = """\
# Conformance

openCypher's Technology Compatibility Kit describes the language by scenarios: a graph, a query, its answer. This table
counts those that `../shared/tck` has; `make conformance` runs them and writes it anew. A scenario passes
when all rows of its examples do. Where gquery differs, `tests/conformance/tck_known_failures.toml` says why; where it
raises `UnsupportedError`, [the language](language.md#not-yet) says what is missing. Some graphs hold what Arrow has no
type for.

openCypher's graphs have no schema, so the scenarios run with `strict=False`: a label, type or property that the graph
does not have is [no error there](language.md#names-that-the-graph-does-not-have). A scenario that expects an error
passes when it is of that kind and says what is wrong, before the query runs where the scenario wants that.

"""
_COLUMNS = """\
| scenarios | all | pass | not supported | differ | not built |
|---|---:|---:|---:|---:|---:|
"""
_WRITING = """
## Scenarios that write

[Statements](writing.md) on a store: their answers, the counts of what they change, the graph afterwards, and errors,
after which the graph is as it was. Their set-ups are executed in the same way.

"""


def outcome(scenario: Scenario) -> tuple[str, str]:
    """What became of it, and why."""
    try:
        (tck_writes.run if scenario in tck_writes.SCENARIOS else run)(scenario)
    except gquery.UnsupportedError as error:
        return OUTCOMES[1], error.message
    except UnreadableError as error:
        return OUTCOMES[3], str(error)
    except (gquery.GQueryError, AssertionError, pytest.fail.Exception) as error:
        return OUTCOMES[2], f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    return OUTCOMES[0], ""


def worst(scenarios: Iterable[Scenario]) -> dict[str, tuple[str, str]]:
    """The outcome of each scenario by its name without the row: that of the row that comes last in OUTCOMES."""
    found: dict[str, tuple[str, str]] = {}
    for scenario in scenarios:
        name, new = scenario.name.partition(" #")[0], outcome(scenario)
        found[name] = max(found.get(name, new), new, key=lambda each: OUTCOMES.index(each[0]))
    return found


def table(found: dict[str, tuple[str, str]]) -> str:
    counts = Counter((name.partition("/")[0], how) for name, (how, _) in found.items())
    folders = list(dict.fromkeys(name.partition("/")[0] for name in found))
    rows = [(folder, [counts[folder, how] for how in OUTCOMES]) for folder in folders]
    rows.append(("**all**", [sum(column) for column in zip(*(each for _, each in rows), strict=True)]))
    return "".join(f"| {name} | {sum(each)} | {' | '.join(map(str, each))} |\n" for name, each in rows)


def main(wanted: str) -> None:
    tables = []
    for scenarios in (SCENARIOS, tck_writes.SCENARIOS):
        found = worst(scenario for scenario in scenarios if scenario.name.startswith(wanted))
        tables.append(_COLUMNS + table(found))
        for name, (how, why) in found.items() if wanted else ():
            if how != OUTCOMES[0]:
                print(f"{name} {how}: {why}")
    text = _WRITING.join(tables)
    if not wanted:
        PAGE.write_text(_HEAD + text)
    print(text, end="")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
