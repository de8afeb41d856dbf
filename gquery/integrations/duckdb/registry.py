"""The graphs that one DuckDB database knows by name, and what gquery's doors into DuckDB ask of a graph."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import pyarrow as pa

from gquery.errors import BindError, did_you_mean


class Result(Protocol):
    """A lazy answer: every `reader()` starts a run of its own, `cancel()` stops it. expected_rows: about how many, None
    where nobody knows."""

    @property
    def schema(self) -> pa.Schema: ...
    @property
    def expected_rows(self) -> int | None: ...
    def reader(self) -> pa.RecordBatchReader: ...
    def cancel(self) -> None: ...


class Graph(Protocol):
    """What can be attached: anything that answers queries."""

    def query(self, text: str, parameters: Mapping[str, Any] | None = None) -> Result: ...


class Registry:
    """Graphs by name."""

    def __init__(self) -> None:
        self._graphs: dict[str, Graph] = {}

    def add(self, name: object, graph: Graph) -> None:
        """Puts a graph under a name; an earlier one there is replaced. Raises BindError for what is no name."""
        self._graphs[checked(name)] = graph

    def find(self, name: str) -> Graph:
        """The graph of a name. Raises BindError when nothing is attached under it."""
        graph = self._graphs.get(name)
        if graph is None:
            known = ", ".join(f"`{known}`" for known in self._graphs)
            hint = did_you_mean(name, self._graphs) or (f"attached: {known}" if known else None)
            raise BindError(
                f"no graph is attached as `{name}`", hint=hint or f"attach one: gquery.attach(con, graph, '{name}')"
            )
        return graph


def checked(name: object) -> str:
    """A name for a graph. Raises BindError for anything but text without NUL."""
    if not isinstance(name, str) or not name or "\0" in name:
        raise BindError(f"{name!r} is no name for a graph", hint="a name is text, such as 'social'")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise BindError(f"{name!r} is no name for a graph", hint="it is not valid Unicode") from None
    return name


_offers: dict[int, Graph] = {}
_tokens = itertools.count(1)


@contextmanager
def offered(graph: Graph) -> Iterator[int]:
    """A number that stands for the graph in SQL, while the block runs."""
    token = next(_tokens)
    _offers[token] = graph
    try:
        yield token
    finally:
        del _offers[token]


def accept(token: object) -> Graph:
    """The graph behind a number that `offered` gave. Raises BindError for anything else."""
    graph = _offers.get(token) if isinstance(token, int) else None
    if graph is None:
        raise BindError("a graph is attached from Python", hint="call gquery.attach(con, graph, name)")
    return graph
