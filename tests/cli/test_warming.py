"""`gquery warm` compiles the kernels of the common queries."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gquery.executor.cpu.machine import kernel_cache
from gquery.terminal import warming

Cli = Callable[..., tuple[int, bytes, str]]


def test_warm(cli: Cli) -> None:
    code, out, err = cli("warm")
    assert (code, out) == (0, b"")
    assert err.endswith("all common kernels are compiled\n")
    found = {path.name.split("-")[0] for path in kernel_cache.folder().glob("**/*.nbi")}
    assert {"list_blocks.extend", "tree.total", "chain.sweep", "branch.multiply"} <= found


def test_a_process_that_fails_is_told_of(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "GROUPS", ("MATCH (a:Nobody) RETURN a",))
    code, _, err = cli("warm")
    assert code == 1
    assert "the kernels cannot be compiled" in err
