"""Readers and a writer: every answer is that of one version.

    python -m tests.faults.one_version [--seconds 300] [--readers 16] [--seed SEED]

Each version has a vertex that says what the queries answer in it. Half of the readers are threads beside the writer,
the others are processes that open its folder again and again; the store compacts itself all the while.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from random import Random

import gquery
from gquery.session import Graph
from gquery.store import folder as folders

KNOWS = ("Person", "KNOWS", "Person")
PEOPLE = 200  # about so many

TOLD = "MATCH (c:Clock) RETURN c.version, c.people, c.known, c.hops, c.sum"
ASKED = {
    "people": "MATCH (p:Person) RETURN count(*) AS n",
    "known": "MATCH (a:Person)-[k:KNOWS]->(b:Person) WHERE a.x >= 0 RETURN count(k) AS n",
    "hops": "MATCH (a)-[:KNOWS]->(b)-[:KNOWS]->(c) RETURN count(*) AS n",
    "sum": "MATCH (p:Person) RETURN coalesce(sum(p.x), 0) AS n",
}


def check(graph: Graph, after: int) -> int:
    """The version that all answers are of. AssertionError where they are not of one, or of one before another."""
    ((version, *told),) = graph.query(TOLD).rows()
    found = [graph.query(text).scalar() for text in ASKED.values()]
    assert found == told, f"version {version} is {told}, and answers {found}"
    assert version >= after, f"version {version} after {after}"
    return int(version)


class Writer:
    """Persons that come and go with whom they know, and a plain account of them."""

    def __init__(self, folder: Path, seed: str) -> None:
        self._random = Random(seed)
        self._x = {0: 0}
        self._known: Counter[tuple[int, int]] = Counter()
        self._next, self._version = 1, 0
        clock = {"id": [0], **{name: [value] for name, value in self._told().items()}}
        tables = {"Person": {"id": [0], "x": [0]}, "Clock": clock}
        gquery.from_arrow(tables, {KNOWS: {"source": [], "target": []}}).save(folder)
        self.store = gquery.Store.open(folder)

    def write(self) -> None:
        """One version more."""
        random = self._random
        gone = [each for each in self._x if random.random() < random.choice([0, 0.02, len(self._x) / (8 * PEOPLE)])]
        for each in gone:
            del self._x[each]
        cut = [pair for pair in self._known if not {*pair} <= self._x.keys() or random.random() < 0.05]
        lost = [pair for pair in cut if {*pair} <= self._x.keys()]
        for pair in cut:
            del self._known[pair]
        set_ = {each: random.randrange(100) for each in self._x if random.random() < 0.1}
        new = {self._next + place: random.randrange(100) for place in range(random.randint(0, 8))}
        self._x |= set_ | new
        self._next += len(new)
        pairs = [tuple(random.sample([*self._x], 2)) for _ in range(random.randint(0, 20) if len(self._x) > 1 else 0)]
        self._known.update((source, target) for source, target in pairs)
        self._version += 1
        self.store.apply(
            delete={"Person": {"id": gone}, KNOWS: _ends(lost)},
            insert={"Person": {"id": [*new], "x": [*new.values()]}, KNOWS: _ends(pairs)},
            set={
                "Person": {"id": [*set_], "x": [*set_.values()]},
                "Clock": {"id": [0], **{name: [value] for name, value in self._told().items()}},
            },
        )

    def _told(self) -> dict[str, int]:
        out, into = Counter[int](), Counter[int]()
        for (source, target), count in self._known.items():
            out[source] += count
            into[target] += count
        return {
            "version": self._version,
            "people": len(self._x),
            "known": sum(self._known.values()),
            "hops": sum(out[each] * into[each] for each in self._x),
            "sum": sum(self._x.values()),
        }


def _ends(pairs: list[tuple[int, ...]] | list[tuple[int, int]]) -> dict[str, list[int]]:
    return {"source": [source for source, _ in pairs], "target": [target for _, target in pairs]}


def read_again_and_again(folder: Path, seconds: float) -> None:
    """Another process: opens the folder for every answer."""
    ends, versions, answers, version = time.monotonic() + seconds, set[int](), 0, 0
    while time.monotonic() < ends:
        version = check(gquery.open(folder), version)
        versions.add(version)
        answers += 1
    print(answers, len(versions))


def run(seconds: float, readers: int, seed: str) -> str:
    """What was seen. AssertionError for an answer that is not that of one version."""
    wrong, seen, ended = list[BaseException](), Counter[int](), threading.Event()

    def read() -> None:
        version = 0
        try:
            while not ended.is_set():
                version = check(writer.store.graph, version)
                seen[version] += 1
        except BaseException as error:
            wrong.append(error)
            ended.set()

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "graph.gq"
        writer = Writer(folder, seed)
        command = [sys.executable, "-m", "tests.faults.one_version", "--folder", str(folder), "--seconds", str(seconds)]
        others = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(readers // 2)]
        threads = [threading.Thread(target=read) for _ in range(readers - len(others))]
        for thread in threads:
            thread.start()
        logs, ends = set[str](), time.monotonic() + seconds
        try:
            while time.monotonic() < ends and not ended.is_set():
                writer.write()
                logs |= {path.name for path in folder.glob("*.log")}
        finally:
            ended.set()
            told = [other.communicate()[0].split() for other in others]
            for thread in threads:
                thread.join()
            writer.store.close()
        assert not wrong, wrong
        assert not any(other.returncode for other in others)
        assert check(gquery.open(folder), 0) == writer.store.version
        elsewhere = [(int(answers), int(versions)) for answers, versions in told]
    return (
        f"{writer.store.version:,} versions, compacted {len(logs) - 1} times: "
        f"{seen.total():,} answers of {len(seen):,} versions in {len(threads)} threads, "
        f"{sum(answers for answers, _ in elsewhere):,} answers in {len(others)} processes, "
        f"of {max((versions for _, versions in elsewhere), default=0):,} versions in one"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--readers", type=int, default=16)
    parser.add_argument("--seed", default="one version")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.folder is not None:
        read_again_and_again(given.folder, given.seconds)
    else:
        folders._LEAST = 1 << 20  # some dozen versions
        print(f"{given.readers} readers and a writer for {given.seconds:g} seconds, seed {given.seed!r}", flush=True)
        print(run(given.seconds, given.readers, given.seed))


if __name__ == "__main__":
    main()
