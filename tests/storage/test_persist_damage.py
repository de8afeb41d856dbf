"""A damaged saved graph gives a LoadError that names the file, or the right answer; never a wrong one or a crash."""

from __future__ import annotations

import json
import os
import random
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.errors import LoadError
from gquery.storage.graph import Snapshot
from gquery.storage.persist import open_snapshot, save
from gquery.storage.persist.files import write_file
from gquery.storage.tables import VertexTable
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


def test_a_manifest_with_lines_is_one_of_before(folder: Path) -> None:
    """The checksum is of the graph without the lines."""
    document = json.loads((folder / "gquery.json").read_text())
    expected = content(open_snapshot(folder))
    (folder / "gquery.json").write_text(json.dumps(document, indent=1))
    assert content(open_snapshot(folder)) == expected
    document["graph"]["edge_tables"].pop()
    (folder / "gquery.json").write_text(json.dumps(document, indent=1))
    with pytest.raises(LoadError, match="damaged"):
        open_snapshot(folder)


@pytest.mark.parametrize("also", [', "graph": {}', ', "x": {"graph": {}}', "}", " ", ', "version": 1'])
def test_what_else_stands_in_a_manifest_is_damage(folder: Path, also: str) -> None:
    text = (folder / "gquery.json").read_text()
    (folder / "gquery.json").write_text(text[:-1] + also + "}")
    with pytest.raises(LoadError, match="damaged"):
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


def _types(graph: dict[str, Any]) -> dict[str, Any]:
    types: dict[str, Any] = graph["statistics"]["types"]
    return types


def _no_parallel_edges(graph: dict[str, Any]) -> None:
    _types(graph)["KNOWS"]["simple"] = True


def _none_both_ways(graph: dict[str, Any]) -> None:
    _types(graph)["LIKES"]["simple"] = _types(graph)["KNOWS"]["simple_both"] = True


def _rows_without_repeats(graph: dict[str, Any]) -> None:
    for entry in graph["adjacencies"]:
        entry["simple"] = True


def _at_most_one(graph: dict[str, Any]) -> None:
    for row in _types(graph)["KNOWS"]["degrees"]:
        row[-1] = 1


def _no_loops(graph: dict[str, Any]) -> None:
    for row in _types(graph)["KNOWS"]["between"]:
        row[-1] = 0


def _one_table_reached(graph: dict[str, Any]) -> None:
    del _types(graph)["KNOWS"]["between"][-1]


def _more_vertices(graph: dict[str, Any]) -> None:
    graph["vertex_tables"][-1]["count"] += 1
    graph["statistics"]["vertices"][-1] += 1


def _more_edges_of_another_type(graph: dict[str, Any]) -> None:
    (table,) = [table for table in graph["edge_tables"] if table["type"] == "NEVER"]
    table["count"] = 2**47


def _one_type_less(graph: dict[str, Any]) -> None:
    del _types(graph)["LIKES"]


def _not_a_number(graph: dict[str, Any]) -> None:
    _types(graph)["KNOWS"]["between"][0][2] = float("nan")


def _nested(graph: dict[str, Any]) -> None:
    for _ in range(400):
        graph["statistics"] = [graph["statistics"]]


def _the_planners_own_type(graph: dict[str, Any]) -> None:
    for table in graph["edge_tables"]:
        table["type"] = table["type"].replace("LIKES", "\0same")
    for entry in graph["adjacencies"]:
        entry["key"]["types"] = [name.replace("LIKES", "\0same") for name in entry["key"]["types"]]
    _types(graph)["\0same"] = _types(graph).pop("LIKES")


def _a_name_of_no_characters(graph: dict[str, Any]) -> None:
    graph["vertex_tables"][0]["labels"] = ["\ud800"]


@pytest.mark.parametrize(
    "lie",
    [
        _no_parallel_edges,
        _none_both_ways,
        _rows_without_repeats,
        _at_most_one,
        _no_loops,
        _one_table_reached,
        _more_vertices,
        _more_edges_of_another_type,
        _one_type_less,
        _not_a_number,
        _nested,
        _the_planners_own_type,
        _a_name_of_no_characters,
    ],
)
@pytest.mark.parametrize("block", [2, 1 << 17])
def test_nothing_that_plans_rely_on_is_believed(
    folder: Path, lie: Callable[[dict[str, Any]], None], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gquery.storage.persist.verify._BLOCK", block)
    tamper(folder, lie)
    with pytest.raises(LoadError, match=r"damaged|cannot begin with NUL"):
        gquery.open(folder).query("MATCH (a)-[:KNOWS|LIKES]-(b)-[:KNOWS]->(c) RETURN count(*) AS n").scalar()


def test_signatures_are_compared_with_the_edges(folder: Path) -> None:
    document = json.loads((folder / "gquery.json").read_text())
    entry = document["graph"]["signatures"]
    right = open_snapshot(folder).signatures()
    for bits in (right ^ np.uint64(1), np.zeros_like(right), right | np.uint64(2)):
        write = write_file(folder / "00000000-1.arrow", pa.table({"signature": bits}))
        (folder / write.name).rename(folder / entry["name"])
        tamper(folder, lambda graph, write=write: graph["signatures"].update(size=write.size, checksum=write.checksum))  # type: ignore[misc]
        with pytest.raises(LoadError, match="other signatures"):
            open_snapshot(folder).signatures()


def test_a_manifest_without_end(folder: Path) -> None:
    (folder / "gquery.json").write_text("[" * 10**5)
    with pytest.raises(LoadError, match="damaged"):
        open_snapshot(folder)
    with open(folder / "gquery.json", "r+b") as file:
        file.truncate(2**40)
    with pytest.raises(LoadError, match="damaged"):
        open_snapshot(folder)


@pytest.mark.skipif(os.name != "posix", reason="needs pipes and links")
@pytest.mark.parametrize("name", ["gquery.json", "gquery.lock", "*.arrow"])
@pytest.mark.parametrize("kind", ["pipe", "link", "folder"])
def test_what_is_no_file(folder: Path, name: str, kind: str) -> None:
    """A pipe would be waited for, and a link may lead anywhere."""
    path = max(folder.glob(name))
    path.rename(folder.parent / "elsewhere")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(folder.parent / "elsewhere")
    else:
        path.mkdir()
    with pytest.raises(LoadError):
        save(rich_snapshot(1), folder) if name == "gquery.lock" else open_snapshot(folder)


def test_a_file_that_is_mostly_a_hole(folder: Path) -> None:
    victim = max(folder.glob("*.arrow"), key=lambda path: path.stat().st_size)
    with open(victim, "r+b") as file:
        data = file.read()
        file.truncate(2**40)
        file.seek(2**40 - 256)
        file.write(data[-256:])  # the footer, where Arrow looks for it

    def grow(graph: dict[str, Any]) -> None:
        for entry in [table["ids"] for table in graph["vertex_tables"]] + [
            each["file"] for each in graph["adjacencies"]
        ]:
            if entry["name"] == victim.name:
                entry["size"] = 2**40
        for table in graph["vertex_tables"] + graph["edge_tables"]:
            for entry in table["columns"].values():
                if entry["name"] == victim.name:
                    entry["size"] = 2**40

    tamper(folder, grow)
    with pytest.raises(LoadError, match="damaged"):
        content(open_snapshot(folder))


def test_a_type_that_no_property_can_have(tmp_path: Path) -> None:
    ids = pa.chunked_array([[1, 2]])
    maps = pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64()))
    for column in (maps, pa.array([[maps[0].as_py()]] * 2, pa.list_(maps.type))):
        table = VertexTable.from_arrow(("A",), ids, pa.table({"x": column}), None)
        save(Snapshot([table], []), tmp_path / "saved.gq")
        with pytest.raises(LoadError, match="damaged"):
            open_snapshot(tmp_path / "saved.gq")
