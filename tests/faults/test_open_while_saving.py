"""Opening a folder that another process saves to again and again gives one of its graphs, whole, every time."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from gquery.storage.persist import open_snapshot, save
from tests.storage.snapshots import content, rich_snapshot

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 4.0
VERSIONS = 5
SAVER = f"""
import itertools, os, sys
from gquery.storage.persist import save
from tests.storage.snapshots import rich_snapshot
os.fsync = lambda _: None  # more saves in the same time
graphs = [rich_snapshot(version) for version in range({VERSIONS})]
for number in itertools.count():
    save(graphs[number % {VERSIONS}], sys.argv[1])
    if number == 0:
        print("saving", flush=True)
"""


def test_opened_many_times(tmp_path: Path) -> None:
    folder = tmp_path / "saved.gq"
    versions = [content(rich_snapshot(version)) for version in range(VERSIONS)]
    save(rich_snapshot(3), folder)
    early = open_snapshot(folder)  # whose files are gone before anything of them is read
    seen: set[int] = set()
    with subprocess.Popen([sys.executable, "-c", SAVER, str(folder)], cwd=ROOT, stdout=subprocess.PIPE) as saver:
        try:
            assert saver.stdout is not None
            assert saver.stdout.readline() == b"saving\n"
            deadline = time.monotonic() + SECONDS
            opened = 0
            while time.monotonic() < deadline:
                found = open_snapshot(folder)
                if opened % 4 == 0:
                    seen.add(versions.index(content(found)))
                opened += 1
            assert saver.poll() is None
        finally:
            saver.kill()
    assert opened > 20
    assert len(seen) > 1
    assert content(early) == versions[3]
