"""Counters of pushed sums, which come back as zero."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import gquery
from gquery.executor.devices import BACKENDS
from gquery.executor.gpu.search import GpuSlices
from gquery.executor.gpu.zeros import Zeros
from tests.differential.test_neighbourhoods import WAYS
from tests.emulated.device import COMPILER, emulated, emulated_device
from tests.executor.test_gpu_orders import PUSHED, skewed, written

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler for the kernels of the GPU")


def test_what_is_zero_again_is_lent_again() -> None:
    zeros = Zeros(emulated_device())
    lent = zeros.lend(100)
    first = lent.array
    lent.is_zero = True
    del lent
    assert zeros.lend(100).array is first
    assert zeros.lend(100).array is not first  # nobody has said that it is zero again


@pytest.mark.parametrize("pattern", PUSHED)
def test_counters_come_back_as_zero(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "gpu", emulated)
    for owner, name, value in WAYS["pushed"]:
        monkeypatch.setattr(owner, name, value)
    lent, lend = [], Zeros.lend

    def lend_and_see(self: Zeros, size: int) -> object:
        found = lend(self, size)
        assert not np.any(found.array)
        lent.append(found.array)
        return found

    monkeypatch.setattr(Zeros, "lend", lend_and_see)
    graph, text = skewed(Random("zeros")), written(PUSHED[pattern])
    counts = {graph.query(f"{text} // {run}", device="gpu").scalar() for run in range(3)}
    assert len(counts) == 1
    assert len(set(map(id, lent))) < len(lent)


def test_what_a_stopped_run_leaves_is_lent_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "gpu", emulated)
    for owner, name, value in WAYS["pushed"]:
        monkeypatch.setattr(owner, name, value)
    graph, text = skewed(Random("stopped")), written(PUSHED["squares"])
    count = graph.query(text, device="gpu").scalar()

    def stopped(self: GpuSlices, run: object) -> None:
        raise gquery.QueryCancelled("in the middle")

    with monkeypatch.context() as patched:
        patched.setattr(GpuSlices, "_look", stopped)
        with pytest.raises(gquery.QueryCancelled):
            graph.query(f"{text} // stopped", device="gpu").scalar()
    assert graph.query(f"{text} // again", device="gpu").scalar() == count
