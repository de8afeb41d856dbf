"""Broken files: a graph or a LoadError comes back, nothing else."""

from __future__ import annotations

import gzip
import os
import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from gquery.errors import LoadError
from gquery.storage.load import LoadedGraph, load
from tests.storage.loaded import write

ROUNDS = 1500 if os.environ.get("GQUERY_SLOW") else 60
PEOPLE = 'id:ID(P),name,age:int,tags:string[],:LABEL\n1,"a, ""b""",3,x;y,A;B\n2,"c\nd",,z,A\n3,é,5,,\n'
KNOWS = ":START_ID(P),:END_ID(P),since:date,:TYPE\n1,2,2020-01-01,K\n2,3,,L\n3,3,2021-12-31,K\n"
LIST = "# From To\n1\t2\n2\t3\n3\t1\n1\t1\n"
GRAPH = "t 3 2\nv 0 3 1\nv 1 3 2\nv 2 1 1\ne 0 1\ne 1 2\n"
MAPPING = '[vertices.P]\nfile = "P.csv"\nid = "id"\n[[edges]]\ntype = "K"\nsource = "P"\ntarget = "P"\nfile = "K.csv"\n'
PIECES = [
    b"\0",
    b'"',
    b",",
    b"\n",
    b"\r",
    b"\t",
    b"\xff",
    b"\xef\xbb\xbf",
    b"9" * 40,
    b"-",
    b"::",
    b"[]",
    b"#",
    b"t ",
    b"e ",
    b"|",
]


def mutate(data: bytes, source: random.Random) -> bytes:
    """One to four random edits: cut, delete, double, overwrite or insert."""
    for _ in range(source.randint(1, 4)):
        at = source.randint(0, len(data))
        match source.randrange(5):
            case 0:
                data = data[:at]
            case 1:
                data = data[:at] + data[at + source.randint(1, 8) :]
            case 2:
                data = data[:at] + data[max(0, at - 20) : at] + data[at:]
            case 3:
                data = data[:at] + bytes([source.randrange(256)]) + data[at + 1 :]
            case _:
                data = data[:at] + source.choice(PIECES) + data[at:]
    return data


def parquet(folder: Path) -> bytes:
    path = folder / "original.parquet"
    pa.parquet.write_table(pa.table({"source": [1, 2, 3], "target": [2, 3, 1], "x": ["a", None, "c"]}), path)
    return path.read_bytes()


def arrow(folder: Path) -> bytes:
    path = folder / "original.arrow"
    table = pa.table({"source": [1, 2, 3], "target": [2, 3, 1], "x": ["a", None, "c"]})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    return path.read_bytes()


# What is damaged, and the files beside it. The first name is that of the damaged file.
SOURCES: dict[str, tuple[str, Callable[[Path], bytes], dict[str, str]]] = {
    "vertices": ("P.csv", lambda _: PEOPLE.encode(), {"K.csv": KNOWS}),
    "edges": ("K.csv", lambda _: KNOWS.encode(), {"P.csv": PEOPLE}),
    "packed": ("P.csv.gz", lambda _: gzip.compress(PEOPLE.encode()), {"K.csv": KNOWS}),
    "list": ("g.txt", lambda _: LIST.encode(), {}),
    "packed list": ("g.txt.gz", lambda _: gzip.compress(LIST.encode()), {}),
    "edge table": ("g.csv", lambda _: b'source,target,w\n1,2,0.5\n2,"3",1\n', {}),
    "graph": ("g.graph", lambda _: GRAPH.encode(), {}),
    "parquet": ("g.parquet", parquet, {}),
    "arrow": ("g.arrow", arrow, {}),
    "mapping": ("map.toml", lambda _: MAPPING.encode(), {"P.csv": PEOPLE, "K.csv": KNOWS}),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_broken_files(tmp_path: Path, kind: str) -> None:
    name, original, others = SOURCES[kind]
    data = original(tmp_path)
    folder = write(tmp_path / "input", {name: data, **others})
    source = folder if others and kind != "mapping" else folder / name
    for seed in range(ROUNDS):
        random_source = random.Random(f"{kind} {seed}")
        (folder / name).write_bytes(mutate(data, random_source))
        options = {"on_bad_row": random_source.choice(["error", "skip"])}
        options["on_dangling"] = random_source.choice(["error", "skip", "create"])
        try:
            graph = load(source, **options)  # type: ignore[arg-type]
        except LoadError:
            continue
        except BaseException:
            print(f"kind {kind!r}, seed {seed}, options {options}")
            raise
        consistent(graph)


def consistent(graph: LoadedGraph) -> None:
    """Every column has the length of its table, every edge ends at a vertex, every text is valid."""
    snapshot = graph.snapshot
    for table in snapshot.vertex_tables:
        assert len(table.ids) == table.count
        assert len(set(table.ids.to_pylist())) == table.count
        assert table.id_name is None or table.columns[table.id_name].to_pylist() == table.ids.to_pylist()
        for column in table.columns.values():
            column.validate(full=True)
            assert len(column) == table.count
    for edge_table in snapshot.edge_tables:
        for ends in edge_table.ends:
            assert len(ends) == edge_table.count
            assert not len(ends) or (ends.min() >= 0 and ends.max() < snapshot.vertex_count)
        for column in edge_table.columns.values():
            column.validate(full=True)
            assert len(column) == edge_table.count
