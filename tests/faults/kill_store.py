"""Writers of a store that are killed at random moments of `apply`, `compact`, of a compaction behind the writer and of
`save`, a thousand in some minutes: `python -m tests.faults.kill_store FOLDER [KILLS]`.

Each version is a vertex and an edge to it that have its number. A writer tells of a version when `apply` returns.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import gquery
from gquery.storage.changes.durable.log import open_changed
from gquery.storage.changes.lookups import resolve  # noqa: F401 - before writers are made, of which each would import it
from gquery.storage.graph import Snapshot
from gquery.store import folder as folders

KILLS = 60  # where nobody asks for more


def main(folder: Path, kills: int) -> None:
    """Prints how many writers were killed after how many versions of theirs; AssertionError for one that is lost."""
    random = Random(os.environ.get("GQUERY_SEED", "kill store"))
    start = {("V", "E", "V"): {"source": [0], "target": [0], "number": [0]}}
    gquery.from_arrow({"V": {"id": [0]}}, start).save(folder)
    versions, ways, unfinished, last = Counter[str](), Counter[str](), 0, 0
    for _ in range(kills):
        way = random.choice([*WAYS])
        told = _killed(folder, random.choice([0.01, 0.1, 0.3]) * random.random(), WAYS[way])
        number = _check(open_changed(folder).snapshot)
        assert number >= max(told, last), f"version {max(told, last)} is lost, there is {number}"
        versions["nothing new" if number == last else "told" if number == told else "kept but not told"] += 1
        ways[way] += 1
        unfinished += len([*folder.glob("*.arrow")]) != FILES
        last = number
    gquery.Store.open(folder).close()
    left = sorted(path.suffix for path in folder.iterdir())
    assert left == [*[".arrow"] * FILES, ".json", ".lock", ".log"], left
    print(f"{kills} kills, version {last}:", dict(versions), dict(ways), f"{unfinished} with files of two graphs")


FILES = 6  # of a graph: ids, ends, numbers, two adjacencies, signatures


def _killed(folder: Path, delay: float, write: Callable[[Path, int], None]) -> int:
    """The last version that a writer told of before it was killed, so many seconds after it began; 0 for none."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reader)
        _tried(folder, writer, write)
    os.close(writer)
    os.read(reader, 1)
    time.sleep(delay)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    with open(reader, encoding="ascii") as told:
        *lines, _ = ["0", *told.read().split("\n")]  # a line that is not ended was not told
    return int(lines[-1] or 0)


def _tried(folder: Path, told: int, write: Callable[[Path, int], None]) -> None:
    try:
        write(folder, told)
    except BaseException as error:  # as loud as a lost version
        os.write(told, b"\nfailed\n")
        print(repr(error), file=sys.stderr, flush=True)
        os._exit(1)


def _apply(folder: Path, told: int) -> None:
    with gquery.Store.open(folder) as store:
        os.write(told, b"\n")
        while True:
            _add(store, told)


def _compact(folder: Path, told: int) -> None:
    with gquery.Store.open(folder) as store:
        os.write(told, b"\n")
        while True:
            _add(store, told)
            store.compact()


def _behind(folder: Path, told: int) -> None:
    """Compacts behind the writer all the time."""
    folders._VERSION, folders._LEAST = 1 << 30, 0
    _apply(folder, told)


def _save(folder: Path, told: int) -> None:
    os.write(told, b"\n")
    while True:
        with gquery.Store.open(folder) as store:
            _add(store, told)
            _add(store, told)
        store.graph.save(folder)


WAYS = {"apply": _apply, "compact": _compact, "behind": _behind, "save": _save}


def _add(store: gquery.Store, told: int) -> None:
    number = store.graph.vertex_count
    edge = {"source": [0], "target": [number], "number": [number]}
    store.apply(insert={"V": {"id": [number]}, ("V", "E", "V"): edge})
    os.write(told, b"%d\n" % number)


def _check(snapshot: Snapshot) -> int:
    """The number of the version that is there, all of it."""
    _, target, ids = snapshot.edges.of_types({"E"})
    told = [snapshot.edge_tables[0].columns["number"][int(row)].as_py() for row in range(len(ids))]
    numbers = list(range(len(told)))
    assert told == numbers
    assert snapshot.vertex_tables[0].ids.take(target.tolist()).to_pylist() == numbers
    assert len(snapshot.vertex_tables[0].ids) == len(numbers)
    return len(numbers) - 1


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else KILLS)
