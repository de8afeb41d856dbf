"""The openCypher Technology Compatibility Kit.

A scenario passes, or is skipped (gquery answers UnsupportedError, or the set-up cannot be built here), or is listed
with a reason in tck_known_failures.toml; a listed scenario that passes is an error. `python -m tests.conformance.table`
counts them.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import gquery
from tests.conformance.tck_features import Scenario
from tests.conformance.tck_run import SCENARIOS, run
from tests.conformance.tck_values import UnreadableError

KNOWN = {
    name: group["reason"]
    for group in tomllib.loads((Path(__file__).parent / "tck_known_failures.toml").read_text()).get("failures", [])
    for name in group["scenarios"]
}


def _marked(scenario: Scenario) -> object:
    reason = KNOWN.get(scenario.name)
    marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
    return pytest.param(scenario, id=scenario.name, marks=marks)


@pytest.mark.skipif(not SCENARIOS, reason="the TCK (../shared/tck) is not here")
@pytest.mark.parametrize("scenario", [_marked(scenario) for scenario in SCENARIOS])
def test_scenario(scenario: Scenario, device: str) -> None:
    try:
        run(scenario)
    except gquery.UnsupportedError as error:
        pytest.skip(f"not supported yet: {error.message}")
    except UnreadableError as error:
        pytest.skip(f"the set-up cannot be built here: {error}")


@pytest.mark.skipif(not SCENARIOS, reason="the TCK (../shared/tck) is not here")
def test_known_failures_exist() -> None:
    assert not KNOWN.keys() - {scenario.name for scenario in SCENARIOS}
