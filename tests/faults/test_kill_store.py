"""A writer that is killed at any moment loses no version that it has told of, and leaves none in part."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.kill_store import KILLS


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_killed_many_times(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.faults.kill_store", str(tmp_path / "store.gq")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert done.stdout.startswith(f"{KILLS} kills")
