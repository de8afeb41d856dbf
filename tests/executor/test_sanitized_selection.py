"""The queries that tools watch on a card (`tests/sanitized.py`), on an emulated one."""

from __future__ import annotations

import pytest

from gquery.executor.devices import BACKENDS
from tests.emulated.device import COMPILER, emulated
from tests.sanitized import differing


@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler to make an emulated card with")
def test_every_operation_is_needed_and_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "gpu", emulated)
    assert not list(differing())
