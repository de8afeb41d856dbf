"""Saved graphs that lie give a LoadError or a right answer: no crash, no hang, no other error. GQUERY_SLOW=1 tries for
ten minutes instead of some seconds."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest

from gquery.storage import indexes
from gquery.storage.persist import save
from tests.storage.crafted import rich_graph
from tests.storage.scattered import scattered

ROOT = Path(__file__).resolve().parents[2]
SLOW = bool(os.environ.get("GQUERY_SLOW"))
SECONDS = 600 if SLOW else 6  # after the kernels are compiled
SEED = int(os.environ.get("GQUERY_SEED", "0"))
WORKERS = 2 if SLOW else 1


@pytest.mark.skipif(os.name != "posix", reason="bounds its own memory and makes pipes")
@pytest.mark.parametrize("numbered", ["as loaded", "in segments"])
def test_graphs_that_lie(tmp_path: Path, numbered: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexes, "FEWEST", 4)
    saved, segments = tmp_path / "saved.gq", numbered == "in segments"
    save(scattered(rich_graph(), Random(SEED)) if segments else rich_graph(), saved)
    seconds = SECONDS // 2 if segments else SECONDS
    with ExitStack() as stack:
        workers = [stack.enter_context(_worker(saved, number, seconds)) for number in range(WORKERS)]
        for worker in workers:
            stack.callback(worker.kill)
        for worker in workers:
            try:
                output, errors = worker.communicate(timeout=SECONDS + 300)
            except subprocess.TimeoutExpired as stuck:
                pytest.fail(f"stuck at {(stuck.stdout or b'').decode().splitlines()[-1:]}")
            lines = output.splitlines()
            assert worker.returncode == 0, f"ended with {worker.returncode} at {lines[-1:]}\n{errors}"
            assert not [line for line in lines if line.startswith("WRONG")]
            print(lines[-1], "from", lines[0])


def _worker(saved: Path, number: int, seconds: int) -> subprocess.Popen[str]:
    arguments = [str(saved), str(SEED + number), str(WORKERS), str(seconds)]
    command = [sys.executable, "-m", "tests.storage.crafted_worker", *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
