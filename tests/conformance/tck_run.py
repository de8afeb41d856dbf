"""Runs a scenario of the openCypher Technology Compatibility Kit."""

from __future__ import annotations

import pytest

import gquery
from tests.conformance.tck_compare import canonical
from tests.conformance.tck_features import Scenario, Step, read_scenarios
from tests.conformance.tck_setup import Store, build
from tests.conformance.tck_values import Reader
from tests.conftest import SHARED

TCK = SHARED / "tck"
SCENARIOS = list(read_scenarios(TCK / "features")) if TCK.is_dir() else []


def run(scenario: Scenario) -> None:
    """Raises AssertionError where the answer is another, UnsupportedError or UnreadableError where there is none."""
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
