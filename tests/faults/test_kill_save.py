"""A process that is killed in the middle of a save leaves a whole graph: the old one or the new one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.kill_save import KILLS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(os.name != "posix", reason="needs a system that forks")
def test_killed_many_times(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.faults.kill_save", str(tmp_path / "saved.gq")]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    counts = json.loads(run.stdout)
    assert counts["changed"] > KILLS // 10  # the processes did save,
    assert counts["unfinished"] > KILLS // 10  # were killed in the middle of it,
    assert counts["left over"] == 0  # and the next save tidied up
