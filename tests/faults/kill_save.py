"""Kills one saving process after another and looks at what each leaves. Run by itself: a process that forks must not
have threads, and the tests' process may."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from gquery.storage.persist import open_snapshot, save
from tests.storage.snapshots import content, rich_snapshot

KILLS = 60
VERSIONS = 10  # a save of version v is followed by one of version v + 1, modulo this


def start_saving(folder: Path, version: int) -> int:
    """A process that saves one version after another for ever; its id."""
    process = os.fork()
    if process:
        return process
    while True:
        version = (version + 1) % VERSIONS
        save(rich_snapshot(version), folder)


def main(folder: Path) -> None:
    """Prints how many kills came in the middle of a save, and after how many another version was there."""
    versions = [content(rich_snapshot(version)) for version in range(VERSIONS)]
    os.fsync = lambda _: None  # what is written outlives its process without it; with it there are fewer saves to kill
    started = time.monotonic()
    for version in (*range(VERSIONS), 0):
        save(rich_snapshot(version), folder)
    seconds = (time.monotonic() - started) / (VERSIONS + 1)  # that one save takes, on this machine and just now
    files = len(os.listdir(folder))
    version, changed, unfinished = 0, 0, 0
    chance = random.Random(11)
    for _ in range(KILLS):
        process = start_saving(folder, version)
        time.sleep(chance.uniform(0.7, 7.0) * seconds)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        unfinished += len(os.listdir(folder)) != files
        found = versions.index(content(open_snapshot(folder)))  # fails when it is none of them
        changed += found != version
        version = found
    save(rich_snapshot(1), folder)
    print(json.dumps({"changed": changed, "unfinished": unfinished, "left over": len(os.listdir(folder)) - files}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
