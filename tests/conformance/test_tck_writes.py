"""The scenarios of the openCypher TCK that write."""

from __future__ import annotations

import pytest

from tests.conformance.tck_features import Scenario
from tests.conformance.tck_writes import SCENARIOS, run


@pytest.mark.skipif(not SCENARIOS, reason="the TCK (../shared/tck) is not here")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_scenario(scenario: Scenario) -> None:
    run(scenario)
