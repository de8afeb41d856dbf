"""gquery, DuckDB and Ladybug over one network, in one process. Each is asked with a text of its own and the same
parameters, and keeps what it can of a text that is asked again."""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.ldbc.network import Network

HERE = Path(__file__).parent
THREADS = 2

Rows = list[tuple[Any, ...]]


def comparable(rows: Rows) -> Rows:
    """Answers as they are compared: collected texts have no order, and engines have types of their own for numbers."""
    return [tuple(map(_comparable, row)) for row in rows]


def _comparable(value: Any) -> Any:
    texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return sorted(value) if texts else float(value) if isinstance(value, Decimal) else value


class Engine(ABC):
    """A loaded network. texts: of the queries that can be asked, by name."""

    def __init__(self, folder: str, ending: str) -> None:
        self.texts = {file.stem: file.read_text() for file in (HERE / folder).glob(f"*.{ending}")}

    def given(self, name: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """The parameters that a query's text speaks of."""
        return {key: value for key, value in parameters.items() if f"${key}" in self.texts[name]}

    @abstractmethod
    def ask(self, name: str, parameters: dict[str, Any]) -> Rows:
        """All rows, in order."""


class Gquery(Engine):
    def __init__(self, network: Network) -> None:
        import gquery

        super().__init__("queries", "cypher")
        self.graph = gquery.from_arrow(vertices=network.vertices, edges=network.edges).with_settings(threads=THREADS)

    def ask(self, name: str, parameters: dict[str, Any]) -> Rows:
        return self.graph.query(self.texts[name], self.given(name, parameters)).rows()


class DuckDB(Engine):
    """Tables as one would make them for these queries: what has one value is a column, friendships stand in both
    directions, and ids that queries begin with have an index."""

    def __init__(self, network: Network) -> None:
        import duckdb

        super().__init__("sql", "sql")
        self.connection = duckdb.connect(config={"threads": THREADS})
        given = {labels[-1]: table for labels, table in network.vertices.items()}
        given |= {f"{one[-1]}_{type_}_{other[-1]}": table for (one, type_, other), table in network.edges.items()}
        self.connection.execute("CREATE SCHEMA given")
        for name, table in given.items():
            self.connection.register("rows", table)
            self.connection.execute(f'CREATE TABLE given."{name}" AS FROM rows')
        self.connection.execute((HERE / "tables.sql").read_text())
        self.connection.execute("DROP SCHEMA given CASCADE")

    def ask(self, name: str, parameters: dict[str, Any]) -> Rows:
        return self.connection.execute(self.texts[name], self.given(name, parameters)).fetchall()


class Ladybug(Engine):
    """Its own Cypher, where that says the same: it has no super-labels, so Message is both of what it stands for."""

    def __init__(self, network: Network) -> None:
        import ladybug

        super().__init__("ladybug", "cypher")
        self._folder = tempfile.TemporaryDirectory(prefix="ladybug-")
        self.connection: Any = ladybug.Connection(ladybug.Database(str(Path(self._folder.name) / "db")), THREADS)
        for labels, table in network.vertices.items():
            columns = ", ".join(f"{name} {_ladybug_type(table.schema.field(name).type)}" for name in table.column_names)
            self.connection.execute(f"CREATE NODE TABLE {labels[-1]}({columns}, PRIMARY KEY(id))")
            self._copy(labels[-1], table, "")
        for type_ in dict.fromkeys(type_ for _, type_, _ in network.edges):
            made = {(one[-1], other[-1]): table for (one, each, other), table in network.edges.items() if each == type_}
            ends = ", ".join(f"FROM {source} TO {target}" for source, target in made)
            held = next(iter(made.values())).schema
            columns = "".join(f", {name} {_ladybug_type(held.field(name).type)}" for name in held.names[2:])
            self.connection.execute(f"CREATE REL TABLE {type_}({ends}{columns})")
            for (source, target), table in made.items():
                self._copy(type_, table, f" (from='{source}', to='{target}')")
        self._prepared: dict[str, Any] = {}

    def _copy(self, name: str, table: pa.Table, options: str) -> None:
        path = Path(self._folder.name) / "rows.parquet"
        pq.write_table(table, path)
        self.connection.execute(f"COPY {name} FROM '{path}'{options}")

    def ask(self, name: str, parameters: dict[str, Any]) -> Rows:
        if name not in self._prepared:
            self._prepared[name] = self.connection.prepare(self.texts[name])
        answer = self.connection.execute(self._prepared[name], self.given(name, parameters))
        return [tuple(row) for row in answer.get_all()]


def _ladybug_type(type_: pa.DataType) -> str:
    names = {pa.int64(): "INT64", pa.string(): "STRING", pa.date32(): "DATE", pa.timestamp("ms"): "TIMESTAMP_MS"}
    return names[type_]


ENGINES: dict[str, type[Any]] = {"gquery": Gquery, "ladybug": Ladybug, "duckdb": DuckDB}
