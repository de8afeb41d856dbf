"""A process that is killed in the middle of a save leaves a whole graph: the old one or the new one."""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from pathlib import Path

import pytest

from gquery.storage.persist import open_snapshot, save
from tests.storage.snapshots import content, rich_snapshot

KILLS = 60
VERSIONS = 10  # a save of version v is followed by one of version v + 1, modulo this

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs processes that can be forked and killed")


def save_for_ever(folder: Path, version: int) -> None:
    while True:
        version = (version + 1) % VERSIONS
        save(rich_snapshot(version), folder)


def test_killed_many_times(tmp_path: Path) -> None:
    folder = tmp_path / "saved.gq"
    versions = [content(rich_snapshot(version)) for version in range(VERSIONS)]
    save(rich_snapshot(0), folder)
    files = len(os.listdir(folder))
    version, changes, unfinished = 0, 0, 0
    chance = random.Random(11)
    processes = multiprocessing.get_context("forkserver")  # forks from a process without threads, imports done
    processes.set_forkserver_preload(["__main__", __name__])
    for _ in range(KILLS):
        saver = processes.Process(target=save_for_ever, args=(folder, version))
        saver.start()
        time.sleep(chance.uniform(0.02, 0.1))
        saver.kill()
        saver.join()
        unfinished += len(os.listdir(folder)) != files
        found = versions.index(content(open_snapshot(folder)))
        changes += found != version
        version = found
    assert changes > KILLS // 4  # the savers did save
    assert unfinished > KILLS // 4  # and were killed in the middle of it
    save(rich_snapshot(1), folder)
    assert len(os.listdir(folder)) == files
    assert content(open_snapshot(folder)) == versions[1]
