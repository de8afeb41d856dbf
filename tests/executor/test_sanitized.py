"""What tools look at that watch a card's memory is all that a card does."""

from __future__ import annotations

import pytest

from gquery.executor.devices import BACKENDS
from tests import sanitized
from tests.emulated.device import COMPILER, emulated


@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler for the kernels of the GPU")
def test_the_selection_needs_every_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "gpu", emulated)
    assert list(sanitized.differing()) == []
