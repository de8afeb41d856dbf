"""Writers of a store that are killed at random moments of `apply` and `compact`, a thousand a minute or two:
`python -m tests.faults.kill_store FOLDER [KILLS]`.

Each version is a vertex and an edge to it that have its number. A writer tells of a version when `apply` returns.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

import gquery
from gquery.storage.changes.durable.log import open_changed

KILLS = 60  # where nobody asks for more


def main(folder: Path, kills: int) -> None:
    """Prints how many writers were killed after how many versions of theirs; AssertionError for one that is lost."""
    random = Random(os.environ.get("GQUERY_SEED", "kill store"))
    start = {("V", "E", "V"): {"source": [0], "target": [0], "version": [0]}}
    gquery.from_arrow({"V": {"id": [0]}}, start).save(folder)
    versions, last = Counter[str](), 0
    for _ in range(kills):
        told = _killed(folder, random.choice([0.005, 0.05]) * random.random(), random.random() < 0.3)
        version = _check(folder)
        assert version >= max(told, last), f"version {max(told, last)} is lost, there is {version}"
        versions["kept but not told" if version > told > last else "in between" if told == last else "told"] += 1
        last = version
    print(f"{kills} kills, version {last}:", dict(versions))


def _killed(folder: Path, delay: float, compacts: bool) -> int:
    """The last version that a writer told of before it was killed, so many seconds after it began; 0 for none."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reader)
        _write(folder, writer, compacts)
    os.close(writer)
    os.read(reader, 1)
    time.sleep(delay)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    with open(reader, encoding="ascii") as told:
        *lines, _ = ["0", *told.read().split("\n")]  # a line that is not ended was not told
    return int(lines[-1] or 0)


def _write(folder: Path, told: int, compacts: bool) -> None:
    try:
        with gquery.Store.open(folder) as store:
            os.write(told, b"\n")
            while True:
                version = store.version + 1
                edge = {"source": [0], "target": [version], "version": [version]}
                store.apply(insert={"V": {"id": [version]}, ("V", "E", "V"): edge})
                os.write(told, b"%d\n" % version)
                if compacts:
                    store.compact()
    except BaseException as error:  # as loud as a lost version
        os.write(told, b"\nfailed\n")
        print(error, file=sys.stderr, flush=True)
        os._exit(1)


def _check(folder: Path) -> int:
    """The version that is there, all of it."""
    opened = open_changed(folder)
    numbers = list(range(opened.version + 1))
    snapshot = opened.snapshot
    _, target, ids = snapshot.edges.of_types({"E"})
    told = [snapshot.edge_tables[0].columns["version"][int(row)].as_py() for row in range(len(ids))]
    assert told == numbers
    assert snapshot.vertex_tables[0].ids.take(target.tolist()).to_pylist() == numbers
    assert len(snapshot.vertex_tables[0].ids) == len(numbers)
    return opened.version


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else KILLS)
