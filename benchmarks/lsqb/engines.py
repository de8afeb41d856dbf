"""gquery, Ladybug and DuckDB over one generated network, each in a process of its own.

A worker process loads the network once and then answers queries by name, one at a time; the parent may kill it when a
query takes too long, and start another.
"""

from __future__ import annotations

import multiprocessing
import shutil
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.lsqb.statements import CYPHER, LADYBUG, LADYBUG_EDGES, SQL, SQL_TABLES

THREADS = 2


@dataclass(frozen=True)
class Answer:
    """count is None when the engine cannot answer; `note` says why. seconds: from text to count. memory: bytes that
    the process grew by at most while it answered. own: bytes that the engine itself accounts for, 0 when it does
    not say."""

    count: int | None
    seconds: float
    memory: int
    own: int = 0
    note: str = ""


class Engine(ABC):
    """A loaded network that can be asked."""

    @abstractmethod
    def ask(self, name: str, run: int) -> tuple[int, int]:
        """The count of a query, and the bytes that the engine says it took. `run` numbers the asking."""


class Gquery(Engine):
    def __init__(self, folder: Path, memory: str) -> None:
        import gquery

        self._handle = gquery.Graph
        saved = folder.with_suffix(".gq")
        if not saved.exists():
            gquery.load(folder, super_labels={"Message": ["Post", "Comment"]}).save(saved)
        self.graph = gquery.open(saved).with_settings(memory_limit=memory, threads=THREADS)

    def ask(self, name: str, run: int) -> tuple[int, int]:
        # A new handle remembers no plans, and a text not seen before no tree: every run plans from scratch.
        cold = self._handle(self.graph.snapshot, settings=self.graph.settings)
        result = cold.query(f"{CYPHER[name]}// {run}")
        return result.scalar(), result.progress.memory.peak


class GqueryAgain(Gquery):
    """The same where texts are asked again, as applications do."""

    def ask(self, name: str, run: int) -> tuple[int, int]:
        result = self.graph.query(CYPHER[name])
        return result.scalar(), result.progress.memory.peak


class DuckDB(Engine):
    def __init__(self, folder: Path, memory: str) -> None:
        import duckdb

        saved = folder.with_suffix(".duckdb")
        fresh = not saved.exists()
        spill = {"temp_directory": str(folder.with_suffix(".spill")), "max_temp_directory_size": "8GB"}
        self.connection = duckdb.connect(str(saved), config={"threads": THREADS, "memory_limit": memory, **spill})
        if fresh:
            for path in sorted(folder.glob("*_*.csv")):
                read = f"read_csv('{path}', delim='|', header=false, skip=1, names=['source', 'target'])"
                self.connection.execute(f'CREATE TABLE "{path.stem}" AS FROM {read}')
            for statement in SQL_TABLES:
                self.connection.execute(statement)

    def ask(self, name: str, run: int) -> tuple[int, int]:
        row = self.connection.execute(f"SELECT count(*) {SQL[name]}").fetchone()
        assert row is not None
        return int(row[0]), 0


class Ladybug(Engine):
    def __init__(self, folder: Path, memory: str) -> None:
        import ladybug

        saved = folder.with_suffix(".lbug")
        fresh = not saved.exists()
        database = ladybug.Database(str(saved), buffer_pool_size=_bytes(memory))
        self.connection: Any = ladybug.Connection(database, THREADS)
        if not fresh:
            return
        for path in sorted(folder.glob("*.csv")):
            if "_" not in path.stem:
                self.connection.execute(f"CREATE NODE TABLE {path.stem}(id INT64, PRIMARY KEY(id))")
                self.connection.execute(f"COPY {path.stem} FROM '{path}' (HEADER=true, DELIM='|')")
        for type_, pairs in LADYBUG_EDGES.items():
            ends = ", ".join(f"FROM {source} TO {target}" for source, target in pairs)
            self.connection.execute(f"CREATE REL TABLE {type_}({ends})")
            for source, target in pairs:
                file = folder / f"{source}_{type_}_{target}.csv"
                options = f"HEADER=true, DELIM='|', from='{source}', to='{target}'"
                self.connection.execute(f"COPY {type_} FROM '{file}' ({options})")

    def ask(self, name: str, run: int) -> tuple[int, int]:
        return int(self.connection.execute(LADYBUG[name]).get_next()[0]), 0


ENGINES = {"gquery": Gquery, "gquery again": GqueryAgain, "ladybug": Ladybug, "duckdb": DuckDB}
PEERS = ("ladybug", "duckdb")


class Worker:
    """An engine in a process of its own; `loading` says how long it may take to load."""

    def __init__(self, name: str, folder: Path, memory: str) -> None:
        self.arguments = (name, folder, memory)
        self._start()

    def _start(self) -> None:
        self._here, there = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        self._process = context.Process(target=_serve, args=(*self.arguments, there), daemon=True)
        self._process.start()
        there.close()
        self._here.recv()

    def ask(self, name: str, run: int, timeout: float) -> Answer:
        """One answer; an engine that is slower than `timeout` seconds, or dies, is started anew."""
        self._here.send((name, run))
        try:
            if self._here.poll(timeout):
                answer: Answer = self._here.recv()
                return answer
            note = f"over {timeout:g} s"
        except (EOFError, ConnectionResetError):
            note = "crashed"
        self.close()
        self._start()
        return Answer(None, timeout, 0, note=note)

    def close(self) -> None:
        self._process.kill()
        self._process.join()


def _serve(name: str, folder: Path, memory: str, pipe: Connection) -> None:
    engine: Engine = ENGINES[name](folder, memory)  # type: ignore[abstract]
    pipe.send("ready")
    while True:
        query, run = pipe.recv()
        before = _reset_peak()
        began = time.perf_counter()
        try:
            count, own = engine.ask(query, run)
            answer = Answer(count, time.perf_counter() - began, max(0, _status("VmHWM") - before), own)
        except Exception as error:  # whatever an engine raises is its answer
            answer = Answer(None, time.perf_counter() - began, 0, note=f"{type(error).__name__}: {error}"[:200])
        pipe.send(answer)


def _reset_peak() -> int:
    """Forgets the process's peak memory; returns what it holds now, in bytes."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(field)


def _bytes(text: str) -> int:
    units = {"KB": 10**3, "MB": 10**6, "GB": 10**9}
    return int(float(text[:-2]) * units[text[-2:].upper()])


def forget(folder: Path) -> None:
    """Removes what the engines keep of a network."""
    for suffix in (".gq", ".duckdb", ".lbug", ".spill"):
        path = folder.with_suffix(suffix)
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
