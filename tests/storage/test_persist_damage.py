"""A damaged saved graph gives a LoadError that names the file, or the right answer; never a wrong one or a crash."""

from __future__ import annotations

import json
import random
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gquery.errors import LoadError
from gquery.storage.persist import open_snapshot, save
from tests.storage.snapshots import content, rich_snapshot

WHOLE = content(rich_snapshot())


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damage") / "saved.gq"
    save(rich_snapshot(), folder)
    return folder


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "saved.gq"))


def flip(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice([1, 1, 1, 5, 100])):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def cut(path: Path, chance: random.Random) -> None:
    path.write_bytes(path.read_bytes()[: chance.randrange(path.stat().st_size)])


def lengthen(path: Path, chance: random.Random) -> None:
    path.write_bytes(path.read_bytes() + chance.randbytes(chance.randrange(1, 5000)))


def swap(path: Path, chance: random.Random) -> None:
    path.write_bytes(chance.choice(sorted(path.parent.glob("*.arrow"))).read_bytes())


def remove(path: Path, chance: random.Random) -> None:
    path.unlink()


DAMAGES: tuple[Callable[[Path, random.Random], None], ...] = (flip, flip, cut, lengthen, swap, remove)


@pytest.mark.parametrize("seed", range(150))
def test_random_damage(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    victim = chance.choice(sorted(path for path in folder.iterdir() if path.name != "gquery.lock"))
    damage, late = chance.choice(DAMAGES), chance.random() < 0.3
    if not late:
        damage(victim, chance)
    try:
        opened = open_snapshot(folder)
        if late:
            damage(victim, chance)
        found = content(opened)
    except LoadError as error:
        place, hint, found = Path(error.file or ""), error.hint, WHOLE
    else:
        place, hint = victim, "none needed"
    assert place in (victim, folder)  # the folder itself when it has lost its manifest
    assert hint
    assert found == WHOLE


def test_a_file_cut_after_opening_is_named(folder: Path) -> None:
    opened = open_snapshot(folder)
    for path in folder.glob("*.arrow"):
        with open(path, "r+b") as file:
            file.truncate(100)
    for table in opened.vertex_tables:
        for name in table.columns:
            with pytest.raises(LoadError, match="100 bytes"):
                table.columns[name]
    with pytest.raises(LoadError, match="100 bytes"):
        opened.adjacency(["KNOWS"], "out")


def test_an_error_names_the_file_and_what_to_do(folder: Path) -> None:
    victim = max(folder.glob("*.arrow"), key=lambda path: path.stat().st_size)
    data = bytearray(victim.read_bytes())
    data[len(data) // 2] ^= 1
    victim.write_bytes(data)
    with pytest.raises(LoadError, match="does not have the content that was saved") as raised:
        content(open_snapshot(folder))
    assert str(victim) in str(raised.value)
    assert "save it again" in str(raised.value)


def test_a_graph_of_another_version(folder: Path) -> None:
    document = json.loads((folder / "gquery.json").read_text())
    (folder / "gquery.json").write_text(json.dumps(document | {"version": 99, "graph": "something new"}))
    with pytest.raises(LoadError, match="version 99"):
        open_snapshot(folder)


def test_a_graph_that_cannot_be_read_can_be_saved_over(folder: Path) -> None:
    (folder / "gquery.json").write_text("{")
    with pytest.raises(LoadError, match="damaged"):
        open_snapshot(folder)
    save(rich_snapshot(5), folder)
    assert content(open_snapshot(folder)) == content(rich_snapshot(5))


def tamper(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the manifest so that its checksum is right."""
    document = json.loads((folder / "gquery.json").read_text())
    change(document["graph"])
    document["checksum"] = zlib.crc32(json.dumps(document["graph"]).encode())
    (folder / "gquery.json").write_text(json.dumps(document))


def _fewer_vertices(graph: dict[str, Any]) -> None:
    graph["vertex_tables"][0]["count"] = 1


def _more_edges(graph: dict[str, Any]) -> None:
    graph["edge_tables"][0]["count"] = 10**15


def _negative(graph: dict[str, Any]) -> None:
    graph["vertex_tables"][0]["count"] = -1


def _huge(graph: dict[str, Any]) -> None:
    graph["vertex_tables"][0]["count"] = 10**30


def _no_number(graph: dict[str, Any]) -> None:
    graph["edge_tables"][0]["count"] = "5"


def _other_types(graph: dict[str, Any]) -> None:
    graph["vertex_tables"][0]["types"] = graph["edge_tables"][0]["types"]


def _broken_types(graph: dict[str, Any]) -> None:
    graph["vertex_tables"][0]["types"] = graph["vertex_tables"][0]["types"][:-40]


def _other_file(graph: dict[str, Any]) -> None:
    graph["adjacencies"][0]["file"] = graph["vertex_tables"][0]["ids"]


def _file_outside(graph: dict[str, Any]) -> None:
    graph["adjacencies"][0]["file"]["name"] = "../../../../etc/passwd"


def _other_rows(graph: dict[str, Any]) -> None:
    graph["adjacencies"][0]["first"] = 10**6


def _missing_key(graph: dict[str, Any]) -> None:
    del graph["edge_tables"]


def _added_key(graph: dict[str, Any]) -> None:
    graph["vertex_tables"][0]["more"] = 1


@pytest.mark.parametrize(
    "change",
    [
        _fewer_vertices,
        _more_edges,
        _negative,
        _huge,
        _no_number,
        _other_types,
        _broken_types,
        _other_file,
        _file_outside,
        _other_rows,
        _missing_key,
        _added_key,
    ],
)
def test_a_manifest_changed_by_hand(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    tamper(folder, change)
    with pytest.raises(LoadError):
        content(open_snapshot(folder))
