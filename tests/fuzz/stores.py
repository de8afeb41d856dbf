"""Broken folders of stores: what is damaged is refused by name, or the graph is that of a version, whole.

Files are cut, bent, moved and enlarged as they lie, which checksums tell; and records are written anew by somebody who
knows the format, with right checksums: these may say anything that a batch can say, and nothing else.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pyarrow as pa

import gquery
from gquery.errors import GQueryError
from gquery.session import Graph
from gquery.storage.changes.batch import Batch, NewLabels, NewVertices
from gquery.storage.changes.durable import log as logs
from tests.fuzz.mutations import mutate

KNOWS, LIVES = ("Person", "KNOWS", "Person"), ("Person", "LIVES_IN", "City")
QUERIES = (
    "MATCH (a) RETURN id(a) AS id, labels(a) AS l, a",
    "MATCH (a)-[r]->(b) RETURN id(a) AS a, r, id(b) AS b",
    "MATCH (a)-[:KNOWS]-(b)-[:KNOWS]-(c) RETURN count(*) AS n",
)
_HUGE = 1 << 40  # bytes of a file that is a hole


@cache
def versions() -> tuple[Path, tuple[list[str], ...]]:
    """A store's folder, and the answers of each of its versions."""
    folder = Path(mkdtemp(prefix="gquery-fuzz-")) / "graph.gq"
    people = {"id": [1, 2, 3, 4], "name": ["Ann", None, "Cid", "Dua"], "age": [30, 41, None, 5]}
    knows = {"source": [1, 1, 2, 3], "target": [2, 2, 3, 3], "since": [2001, 2002, None, 2004]}
    gquery.from_arrow({"Person": people}, {KNOWS: knows}).save(folder)
    changes: list[dict[str, Any]] = [
        {"insert": {"City": {"id": ["o"], "size": [1.5]}, LIVES: {"source": [1, 2], "target": ["o", "o"]}}},
        {"delete": {"Person": {"id": [2]}}},
        {"set": {"Person": {"id": [1, 3], "age": ["old", None]}, KNOWS: {"source": [3], "target": [3], "since": [7]}}},
        {"insert": {KNOWS: {"source": [4] * 5, "target": [1] * 5, "since": range(5), "why": ["x"] * 5}}},
        {"delete": {KNOWS: {"source": [4], "target": [1], "since": [3]}}},
    ]
    answers = [answer(gquery.open(folder))]
    with gquery.Store.open(folder) as store:
        for change in changes:
            store.apply(**change)
            answers.append(answer(store.graph))
        made = NewVertices(("Made",), pa.table({"x": [1, 2]}))  # which get their ids here
        store.commit([Batch((made,), labels=(NewLabels(np.array([0], np.int32), ("Person", "Old")),)), Batch((made,))])
        answers.append(answer(store.graph))
    return folder, tuple(answers)


def answer(graph: Graph) -> list[str]:
    return sorted(str(row) for text in QUERIES for row in graph.query(text).rows())


def run_store(chance: Random, place: Path) -> None:
    """Breaks a copy of the folder, and looks at it. AssertionError for a graph that is no version."""
    folder, answers = versions()
    broken = place / "graph.gq"
    shutil.copytree(folder, broken)
    how = chance.choice([*AS_THEY_LIE, *SEALED])
    how(broken, chance)
    try:
        graph = gquery.open(broken)
        found = answer(graph)
        assert how in SEALED or found in answers, f"{how.__name__}: {found}"
        with gquery.Store.open(broken) as store:
            assert answer(store.graph) == found
            store.apply(
                insert={"New": {"id": ["new"]}, ("New", "KNOWS", "New"): {"source": ["new"], "target": ["new"]}}
            )
            found = answer(store.graph)
            store.compact()
            assert answer(store.graph) == found
        assert answer(gquery.open(broken)) == found
    except GQueryError as error:
        str(error)
    finally:
        shutil.rmtree(place)


def _log(folder: Path) -> Path:
    (path,) = folder.glob("changes-*.log")
    return path


# --- files as they lie -----------------------------------------------------------------------------------------------


def bent_log(folder: Path, chance: Random) -> None:
    _log(folder).write_bytes(mutate(_log(folder).read_bytes(), chance))


def bent_file(folder: Path, chance: Random) -> None:
    path = chance.choice(sorted(folder.iterdir()))
    path.write_bytes(mutate(path.read_bytes(), chance))


def enlarged_file(folder: Path, chance: Random) -> None:
    path = chance.choice([_log(folder), *sorted(folder.iterdir())])
    os.truncate(path, path.stat().st_size + chance.choice([1, 4096, 1 << 20, _HUGE]))
    if chance.random() < 0.3:
        with open(path, "ab") as file:
            file.write(b"gqry behind a hole")


def something_else(folder: Path, chance: Random) -> None:
    """In place of the log."""
    path = _log(folder)
    path.rename(folder / "moved")
    match chance.randrange(4):
        case 0:
            path.mkdir()
        case 1:
            path.symlink_to(folder / "moved")
        case 2:
            os.mkfifo(path)
        case _:
            path.write_bytes(b"")


# --- records with right checksums ------------------------------------------------------------------------------------


def _rewritten(folder: Path, records: list[tuple[int, bytes]]) -> None:
    _log(folder).write_bytes(b"".join(logs._head(version, content) + content for version, content in records))


def _records(folder: Path) -> list[tuple[int, bytes]]:
    path = _log(folder)
    return [(version, bytes(content)) for version, content, _ in logs._records(path.read_bytes(), path)]


def other_records(folder: Path, chance: Random) -> None:
    """Some left out, twice there, in another order, of other versions."""
    records = _records(folder)
    place, other = (chance.randrange(len(records)) for _ in range(2))
    match chance.randrange(4):
        case 0:
            del records[place]
        case 1:
            records.insert(place, records[other])
        case 2:
            records[place], records[other] = records[other], records[place]
        case _:
            records[place] = chance.choice([0, 1, records[place][0] + 1, 2**63, 2**64 - 1]), records[place][1]
    if chance.random() < 0.5:  # one after the other
        records = [(number, content) for number, (_, content) in enumerate(records)]
    _rewritten(folder, records)


def other_words(folder: Path, chance: Random) -> None:
    """What is told of the parts of a record."""
    records = _records(folder)
    place = chance.randrange(1, len(records))
    told, streams = records[place][1].split(b"\n", 1)
    heads = json.loads(told)
    inside = [heads, *heads, *(part for head in heads for part in head["parts"])]
    for _ in range(chance.randint(1, 2)):
        target = chance.choice(inside)
        key = chance.choice([*target] if isinstance(target, dict) else [*range(len(target))])
        values = [
            None,
            -1,
            0,
            1,
            2**31,
            2**62,
            2**63 - 1,
            2**70,
            "",
            "\0",
            "Person",
            "labels",
            [],
            {},
            1.5,
            True,
            ["A", "A"],
        ]
        target[key] = chance.choice([*values, chance.choice(inside)])
        if isinstance(target, list):
            break
    try:
        told = json.dumps(heads).encode()
    except ValueError:  # it holds itself
        told = b"[" * 100_000
    records[place] = records[place][0], told + b"\n" + streams
    _rewritten(folder, records)


def bent_records(folder: Path, chance: Random) -> None:
    records = _records(folder)
    for _ in range(chance.choice([1, 1, 3])):
        place = chance.randrange(len(records))
        content = bytearray(records[place][1])
        for _ in range(chance.choice([1, 1, 2, 20]) if content else 0):
            content[chance.randrange(len(content))] = chance.choice([0, 1, 127, 128, 255, chance.randrange(256)])
        records[place] = records[place][0], bytes(content)
    _rewritten(folder, records)


def cut_records(folder: Path, chance: Random) -> None:
    _rewritten(folder, [(version, mutate(content, chance)) for version, content in _records(folder)])


AS_THEY_LIE: tuple[Callable[[Path, Random], None], ...] = (bent_log, bent_file, enlarged_file, something_else)
SEALED: tuple[Callable[[Path, Random], None], ...] = (other_records, other_words, bent_records, cut_records)
