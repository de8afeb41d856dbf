"""The openCypher Technology Compatibility Kit.

A scenario passes, or is skipped (gquery answers UnsupportedError, or the set-up cannot be built here), or is listed
with a reason in tck_known_failures.toml; a listed scenario that passes is an error.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import gquery
from tests.conformance.tck_compare import canonical
from tests.conformance.tck_features import Scenario, Step, read_scenarios
from tests.conformance.tck_setup import Store, build
from tests.conformance.tck_values import Reader, UnreadableError
from tests.conftest import SHARED

TCK = SHARED / "tck"
KNOWN = {
    name: group["reason"]
    for group in tomllib.loads((Path(__file__).parent / "tck_known_failures.toml").read_text()).get("failures", [])
    for name in group["scenarios"]
}
SCENARIOS = list(read_scenarios(TCK / "features")) if TCK.is_dir() else []


def _marked(scenario: Scenario) -> object:
    reason = KNOWN.get(scenario.name)
    marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
    return pytest.param(scenario, id=scenario.name, marks=marks)


@pytest.mark.skipif(not SCENARIOS, reason="the TCK (../shared/tck) is not here")
@pytest.mark.parametrize("scenario", [_marked(scenario) for scenario in SCENARIOS])
def test_scenario(scenario: Scenario, device: str) -> None:
    try:
        _run(scenario)
    except gquery.UnsupportedError as error:
        pytest.skip(f"not supported yet: {error.message}")
    except UnreadableError as error:
        pytest.skip(f"the set-up cannot be built here: {error}")


@pytest.mark.skipif(not SCENARIOS, reason="the TCK (../shared/tck) is not here")
def test_known_failures_exist() -> None:
    assert not KNOWN.keys() - {scenario.name for scenario in SCENARIOS}


def _run(scenario: Scenario) -> None:
    store = Store()
    query = ""
    parameters: dict[str, object] = {}
    for step in scenario.steps:
        if step.text == "having executed:":
            store.run(step.block)
        elif step.text.endswith(" graph") and (TCK / "graphs" / (name := step.text.split()[1])).is_dir():
            store.run((TCK / "graphs" / name / f"{name}.cypher").read_text())
        elif step.text == "parameters are:":
            parameters = {name: Reader(text).cell() for name, text in step.table}
        elif step.text == "executing query:":
            query = step.block
        elif "should be raised" in step.text:
            _expect_error(build(store), query, parameters)
        elif step.text.startswith("the result should be"):
            _expect_result(build(store).query(query, parameters), step)


def _expect_error(graph: gquery.Graph, query: str, parameters: dict[str, object]) -> None:
    with pytest.raises(gquery.GQueryError) as caught:
        graph.query(query, parameters).rows()
    if isinstance(caught.value, gquery.UnsupportedError):
        raise caught.value


def _expect_result(result: gquery.Result, step: Step) -> None:
    """Compares columns and rows; the step's words say whether the order of rows and of list elements counts."""
    any_list_order = "ignoring element order" in step.text
    header, *rows = step.table
    expected = [tuple(canonical(Reader(cell).cell(), any_list_order) for cell in row) for row in rows]
    table = result.to_arrow()
    found = [tuple(canonical(value, any_list_order) for value in row) for row in result.rows()]
    assert tuple(table.column_names) == header
    if "in order" in step.text:
        assert found == expected
    else:
        assert sorted(found) == sorted(expected)
