"""What all tests share: the outside data, the backends, the hypothesis profiles, the plan verifier."""

from __future__ import annotations

import inspect
import os
import pickle
import signal
from collections.abc import Callable, Iterator
from functools import cache, wraps
from itertools import count
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

from gquery.errors import UnsupportedError
from gquery.executor import devices
from gquery.executor.backend import Backend
from gquery.executor.devices import BACKENDS
from gquery.planner.ir.match_plan import MatchPlan
from gquery.planner.ir.query_plan import QueryPlan
from gquery.planner.passes.draft import Draft, Pass
from gquery.planner.plan import PASSES
from gquery.planner.search.context import Context
from gquery.planner.search.matching import plan_matching
from gquery.planner.verify import verify, verify_draft
from gquery.settings import Settings
from tests.emulated.device import COMPILER, emulated
from tests.reference.backend import reference

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it, and so do its children

settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", deadline=None, max_examples=2000)
settings.load_profile("long" if os.environ.get("GQUERY_SLOW") else "ci")

VERIFIED = 128  # vertices
PICKLED = 8  # plans of a test

SHARED = Path(__file__).resolve().parents[2] / "shared"


def patience() -> float:
    """How many times as long as promised something may take just now: once where nothing else runs, up to five times
    where more processes want to run than there are cores. With GQUERY_SLOW=1 promises are promises."""
    if os.environ.get("GQUERY_SLOW") or not hasattr(os, "getloadavg"):
        return 1.0
    wanted = os.getloadavg()[0] / (os.cpu_count() or 1)  # the tests alone want about one core each
    return min(5.0, max(1.0, 2 * wanted - 1))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of outside data; tests that need it are skipped where it is absent."""
    if not (SHARED / "data").is_dir():
        pytest.skip("the outside data (../shared/data) is not here")
    return SHARED / "data"


# The engine suite runs on each of these: whatever takes `device`.
SUITE: dict[str, Callable[[Settings], Backend]] = {
    "cpu": BACKENDS["cpu"],
    "reference": reference,
    "emulated": emulated,
    "gpu": BACKENDS["gpu"],
}
SHARES = {"reference": 8, "emulated": 24}  # of so many cases that differ by a number alone they run one: they are slow
_TURNS = 5  # seeds, at least, that ways are tried with


@cache
def missing(name: str) -> str:
    """Why a backend of the suite cannot run here; empty when it can."""
    if name == "emulated" and COMPILER is None:
        return "there is no C++ compiler for the kernels of the GPU"
    try:
        SUITE[name](Settings())
    except UnsupportedError as error:
        return str(error)
    return ""


@pytest.fixture(params=SUITE)
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each backend in turn: all queries of the test go there. GQUERY_REQUIRE_GPU=1 turns a skipped GPU test into a
    failure."""
    if problem := missing(request.param):
        if os.environ.get("GQUERY_REQUIRE_GPU") == "1":
            pytest.fail(problem)
        pytest.skip(problem)
    for name in BACKENDS:
        monkeypatch.setitem(BACKENDS, name, SUITE[request.param])
    return "auto"


_planned = count()

# A promise of seconds that was not kept is asked for twice more, since others may share the processors; nothing else
# is. The plugin is told of these tests alone: for each that it knows of it asks another process, which takes 40 ms.
_PROMISES = pytest.mark.flaky(reruns=2, only_rerun=r"patience\(\)")


def pytest_runtest_setup() -> None:
    """The plans of each test are counted anew."""
    global _planned
    _planned = count()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Slow backends take their share of the cases, and none of the large ones. Promises of seconds are looked for."""
    left_out = {item for item in items if _is_more_of_the_same(item)}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item.module, patience.__name__):
            item.add_marker(_PROMISES)


def _is_more_of_the_same(item: pytest.Item) -> bool:
    given = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    device = given.get("device")
    if device == "gpu" and missing("gpu"):
        return "scenario" in given  # one skipped test says as much as two thousand
    if device not in SHARES:
        return False
    number = given.get("chunk", given.get("seed", 0))
    if "scenario" in given:
        number = crc32(given["scenario"].name.encode())
    elif "seed" in given and "way" in given:  # every way, not all of them on one graph
        number -= crc32(given["way"].encode()) % _TURNS
    return number % SHARES[device] > 0 or item.get_closest_marker("large") is not None


@pytest.fixture(scope="session", autouse=True)
def _no_card_by_itself() -> Iterator[None]:
    """Whether the machine has a card decides nothing where a test does not ask for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(devices, "has_cupy", lambda: False)
        yield


@pytest.fixture(scope="session", autouse=True)
def _verified_plans() -> Iterator[None]:
    """Every plan that any test makes is verified, and its draft after every pass, unless it is too large for looking at
    every pair of vertices."""

    def plan_and_verify(plan: QueryPlan, *rest: Any) -> tuple[MatchPlan, ...]:
        matchings = plan_matching(plan, *rest)
        if len(plan.graph.vertices) <= VERIFIED:
            _expect_data(plan, *matchings)
            for matching in matchings:
                verify(plan, matching)
        return matchings

    def verified(step: Pass) -> Pass:
        @wraps(step)
        def step_and_verify(draft: Draft, context: Context) -> Draft:
            after = step(draft, context)
            if len(after.graph.vertices) <= VERIFIED:
                verify_draft(after)
            return after

        return step_and_verify

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gquery.planner.search.second_half.plan_matching", plan_and_verify)
        patch.setattr("gquery.planner.plan.PASSES", tuple(map(verified, PASSES)))
        yield


@pytest.fixture
def unverified(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planning as users have it: verifying a large plan after every pass takes longer than making it."""
    monkeypatch.setattr("gquery.planner.plan.PASSES", tuple(map(inspect.unwrap, PASSES)))
    monkeypatch.setattr("gquery.planner.search.second_half.plan_matching", plan_matching)


def _expect_data(*plans: QueryPlan | MatchPlan) -> None:
    """Plans are nothing but data: what is read back is the same. Their texts tell, where NaN differs from itself. The
    first plans of each test are looked at: to do so with all took a fifth of the time of the random tests."""
    if next(_planned) >= PICKLED:
        return
    again = pickle.loads(pickle.dumps(plans))
    assert again == plans or repr(again) == repr(plans)
