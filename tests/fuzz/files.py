"""Broken files: a graph or an error of gquery's comes back, in time, and nothing else.

    python -m tests.fuzz.files --count 20000 [--first SEED]

A case is made from its seed alone. The cases run in processes of their own, so that one that dies is named by its seed.
"""

from __future__ import annotations

import argparse
import faulthandler
import gzip
import io
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from gquery.errors import GQueryError
from gquery.storage.load import LoadedGraph, load
from tests.fuzz.mutations import mutate
from tests.fuzz.stores import run_store
from tests.storage.loaded import write

SECONDS = 5
FIRST = 20261121  # the seed of the first case
STORES = 0.1  # the share of cases that break the folder of a store
_BATCH = 500

PEOPLE = 'id:ID(P),name,age:int,tags:string[],:LABEL\n1,"a, ""b""",3,x;y,A;B\n2,"c\nd",,z,A\n3,é,5,,\n'
KNOWS = ":START_ID(P),:END_ID(P),since:date,:TYPE\n1,2,2020-01-01,K\n2,3,,L\n3,3,2021-12-31,K\n"
PLAIN = "id,name,balance,day\n1,a,0.5,2020-01-01\n2,b,n/a,2020-01-02\n3,c,7,x\n"
LIST = "# From To\n1\t2\n2\t3\n3\t1\n1\t1\n"
SCORES = "protein1 protein2 score\n9606.A 9606.B 490\n9606.B 9606.C 20\n"
GRAPH = "t 3 2\nv 0 3 1\nv 1 3 2\nv 2 1 1\ne 0 1\ne 1 2\n"
SIF = "A pp B C\nB pd C\nD\n"
MAPPING = '[vertices.P]\nfile = "P.csv"\nid = "id"\n[[edges]]\ntype = "K"\nsource = "P"\ntarget = "P"\nfile = "K.csv"\n'
SCHEMA = """\
CREATE NODE TABLE P(id INT64, name STRING, xs INT64[], PRIMARY KEY(id));
CREATE REL TABLE K(FROM P TO P, w DOUBLE);
"""
COPY = "COPY P FROM \"p.csv\" (header=false);\nCOPY K (w) FROM \"k.csv\" (from='P', to='P');\n"
KUZU = {"schema.cypher": SCHEMA, "copy.cypher": COPY, "p.csv": '1,a,"[1,2]"\n2,b,[]\n', "k.csv": "1,2,0.5\n"}
OPTIONS: dict[str, list[Any]] = {
    "on_bad_row": ["error", "skip"],
    "on_dangling": ["error", "skip", "create"],
    "header": [None, None, None, True, False],
    "quote": ['"', '"', '"', "", "'"],
    "delimiter": [None, None, None, None, ";", "\t", " "],
    "undirected": [False, True],
    "null": [(), (), "n/a", ["1", "a"]],
    "encoding": [None, None, None, None, "latin-1", "utf-16", "shift_jis", "utf-7"],
    "types": [None, None, None, None, {"name": "int"}, {"id": "string"}, {"balance": "float[]"}],
}


def _table() -> pa.Table:
    kinds = pa.array(["a", None, "c"]).dictionary_encode()
    return pa.table(
        {"source": [1, 2, 3], "target": [2, 3, 1], "x": kinds, "l": [["a"], None, ["b", "c"]], "t": ["é", "", "z"]}
    )


def _written(kind: str) -> bytes:
    sink = io.BytesIO()
    if kind == "parquet":
        pa.parquet.write_table(_table(), sink)
    elif kind == "feather":
        pa.feather.write_feather(_table(), sink, compression="lz4")
    else:
        with (pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream)(sink, _table().schema) as writer:
            writer.write_table(_table())
    return sink.getvalue()


# What is damaged, and the files beside it. The first name is that of the damaged file; a folder is loaded where there
# are others, but for mappings.
SOURCES: dict[str, tuple[str, Callable[[], bytes], dict[str, str]]] = {
    "vertices": ("P.csv", lambda: PEOPLE.encode(), {"K.csv": KNOWS}),
    "edges": ("K.csv", lambda: KNOWS.encode(), {"P.csv": PEOPLE}),
    "plain": ("A.csv", lambda: PLAIN.encode(), {"A_r_A.csv": "source,target\n1,2\n"}),
    "UTF-16": ("A.csv", lambda: PLAIN.encode("utf-16"), {}),
    "packed": ("P.csv.gz", lambda: gzip.compress(PEOPLE.encode()), {"K.csv": KNOWS}),
    "list": ("g.txt", lambda: LIST.encode(), {}),
    "scores": ("g.csv", lambda: SCORES.encode(), {}),
    "packed list": ("g.txt.gz", lambda: gzip.compress(LIST.encode()), {}),
    "edge table": ("g.csv", lambda: b'source,target,w\n1,2,0.5\n2,"3",1\n', {}),
    "graph": ("g.graph", lambda: GRAPH.encode(), {}),
    "sif": ("g.sif", lambda: SIF.encode(), {}),
    "sif with tabs": ("g.sif", lambda: SIF.replace(" ", "\t").encode(), {}),
    "parquet": ("g.parquet", lambda: _written("parquet"), {}),
    "arrow": ("g.arrow", lambda: _written("arrow"), {}),
    "stream": ("g.arrow", lambda: _written("stream"), {}),
    "feather": ("g.feather", lambda: _written("feather"), {}),
    "mapping": ("map.toml", lambda: MAPPING.encode(), {"P.csv": PEOPLE, "K.csv": KNOWS}),
    "schema of Kùzu": ("schema.cypher", lambda: SCHEMA.encode(), KUZU),
    "copies of Kùzu": ("copy.cypher", lambda: COPY.encode(), KUZU),
    "rows of Kùzu": ("p.csv", lambda: KUZU["p.csv"].encode(), KUZU),
}


def run_case(seed: int, folder: Path) -> None:
    """Loads one damaged source, or opens a damaged folder. Raises whatever is no GQueryError, and AssertionError when
    the graph is not whole."""
    source = random.Random(seed)
    if source.random() < STORES:
        run_store(source, folder / str(seed))
        return
    name, original, others = SOURCES[source.choice(list(SOURCES))]
    input = write(folder / str(seed), {**others, name: mutate(original(), source)})
    options = {option: source.choice(values) for option, values in OPTIONS.items()}
    try:
        graph = load(input if others and not name.endswith(".toml") else input / name, **options)  # type: ignore[arg-type]
    except GQueryError as error:
        str(error)
    else:
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


def run_cases(first: int, count: int, seconds: float = SECONDS) -> list[str]:
    """What went wrong, with the seed of each case. A case that takes longer ends the process, with a traceback."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            faulthandler.dump_traceback_later(seconds, exit=True)
            try:
                run_case(seed, Path(folder))
            except Exception as error:
                wrong.append(f"seed {seed}: {type(error).__name__}: {error}")
            finally:
                faulthandler.cancel_dump_traceback_later()
    return wrong


def _batch(first: int, count: int) -> list[str]:
    """`run_cases` in a process of its own; one that dies is looked into until the seed is known."""
    script = f"from tests.fuzz.files import run_cases; print('\\n'.join(run_cases({first}, {count})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout.split("\n")[:-1] if done.stdout.strip() else []
    if count == 1:
        end = signal.Signals(-done.returncode).name if done.returncode < 0 else f"exit {done.returncode}"
        return [f"seed {first}: {end}\n{done.stderr[-2000:]}"]
    half = count // 2
    return _batch(first, half) + _batch(first + half, count - half)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=FIRST)
    chosen = parser.parse_args()
    print(f"{chosen.count:,} broken files from seed {chosen.first}", flush=True)
    wrong = []
    for first in range(chosen.first, chosen.first + chosen.count, _BATCH):
        wrong += _batch(first, min(_BATCH, chosen.first + chosen.count - first))
    print("\n".join(wrong) or "nothing went wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
