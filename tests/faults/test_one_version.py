"""Readers beside a writer get answers of one version each; `make readers` has sixteen of them for five minutes."""

from __future__ import annotations

import pytest

from gquery.store import folder
from tests.faults.one_version import run


def test_readers_and_a_writer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "_VERSION", 1 << 30)  # which is worth a compaction every time
    monkeypatch.setattr(folder, "_LEAST", 1 << 20)
    told = run(seconds=5, readers=4, seed="for a moment")
    print(told)
    assert "compacted 0 times" not in told
