"""Runs a scenario of the TCK that writes: its set-up, too, is executed on a store."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field

import pytest

import gquery
from gquery.executor.updates.counting import Changes
from tests.conformance.tck_errors import KINDS, SAYS, STEP
from tests.conformance.tck_features import Scenario, Step, read_scenarios
from tests.conformance.tck_run import TCK, expect_result
from tests.conformance.tck_values import Reader

SCENARIOS = list(read_scenarios(TCK / "writes")) if TCK.is_dir() else []

_EFFECTS = {
    "+nodes": "nodes_created",
    "-nodes": "nodes_deleted",
    "+relationships": "relationships_created",
    "-relationships": "relationships_deleted",
    "+properties": "properties_set",
    "-properties": "properties_removed",
    "+labels": "labels_added",
    "-labels": "labels_removed",
}


def run(scenario: Scenario) -> None:
    """Raises AssertionError where the answer, or what is changed, is another."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gquery.QueryWarning)
        _Run().steps(scenario)


@dataclass
class _Run:
    store: gquery.Store = field(default_factory=lambda: gquery.Store(gquery.from_arrow(vertices={}, edges={})))
    parameters: dict[str, object] = field(default_factory=dict)
    query: str = ""
    result: gquery.Result | None = None

    def steps(self, scenario: Scenario) -> None:
        wants_error = any("should be raised" in step.text for step in scenario.steps)
        for step in scenario.steps:
            self.step(step, wants_error)

    def step(self, step: Step, wants_error: bool) -> None:
        if step.text == "having executed:":
            self.execute(step.block)
        elif step.text == "parameters are:":
            self.parameters = {name: Reader(text).cell() for name, text in step.table}
        elif step.text in ("executing query:", "executing control query:"):
            self.query = step.block
            self.result = None if wants_error else self.execute(step.block)
        elif "should be raised" in step.text:
            self.expect_error(step.text)
        elif step.text == "the result should be empty":
            assert self.result is not None
            assert not self.result.rows()
        elif step.text.startswith("the result should be"):
            assert self.result is not None
            expect_result(self.result, step)
        elif step.text in ("no side effects", "the side effects should be:"):
            assert self.result is not None
            expected = {_EFFECTS[effect]: int(count) for effect, count in step.table}
            assert self.result.changes == Changes(**expected)
        else:
            assert re.fullmatch(r"an(y|) (empty )?graph|any graph", step.text), step.text

    def execute(self, text: str) -> gquery.Result:
        return self.store.execute(text, self.parameters, strict=False)

    def expect_error(self, step: str) -> None:
        """Of the kind that the step names; the graph is as it was."""
        wanted = STEP.fullmatch(step)
        assert wanted is not None
        before = self.store.graph
        with pytest.raises(KINDS[wanted["kind"]], match=SAYS[wanted["detail"]]):
            self.execute(self.query)
        assert self.store.graph is before
